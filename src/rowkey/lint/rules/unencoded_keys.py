"""The rule `unencoded_keys`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class UnencodedKeys(Rule):
    """Keys that are most of what is stored, written whole in every cell.

    What it does: where the length of keys is known, takes their share of an event's bytes, and
    looks for families without a data block encoding.

    Why it hurts: neighbouring cells share most of their key. Written whole each time, keys fill the
    blocks in the cache, where compression does not help, for blocks are cached unpacked.

    Use instead: FAST_DIFF, which writes what differs from the cell before; ROW_INDEX_V1 where
    single rows are looked for in wide blocks.

    Source: HBase book, "Data Block Encoding Types"; the verdict on claim 33.
    """

    name = "unencoded_keys"
    code = "RK410"
    severity: ClassVar[Severity] = "info"
    claims = (33,)
    bad = """\
table  = "visits"
key    = "[bucket(site, 16)][site][ts]"
splits = "per_bucket"

[fields]
ts     = "timestamp_ms"
site   = { type = "text", max_bytes = 60, mean_bytes = 40 }
clicks = "u32"
seen   = "u32"
left   = "u32"

[families.d]
versions = 1
"""
    good = """\
table  = "visits"
key    = "[bucket(site, 16)][site][ts]"
splits = "per_bucket"

[fields]
ts     = "timestamp_ms"
site   = { type = "text", max_bytes = 60, mean_bytes = 20 }
clicks = "u32"
seen   = "u32"
left   = "u32"

[families.d]
encoding = "FAST_DIFF"
"""
    LONG = 24
    """Bytes of a key below which nothing is said: the 20 of every cell's own are as many."""
    HALF = 0.5

    def findings(self, subject: Subject) -> Iterator[Finding]:
        mean = subject.known_key_bytes
        cells = sum(cell.share for cell in subject.cells)
        if mean is None or mean <= self.LONG or cells < 2:
            return
        share = mean * cells / subject.event_bytes
        for name, family in subject.families.items():
            if share >= self.HALF and family.encoding == "NONE":
                yield self.finding(
                    subject.nearest("families", name, "encoding")
                    if subject.says("families", name)
                    else "key",
                    f"keys are {share:.0%} of an event's bytes, and family {name} writes them "
                    "whole in every cell",
                    'Set encoding = "FAST_DIFF".',
                    value=family.encoding,
                    family=name,
                    share=share,
                )

    def fixed(self, subject: Subject, finding: Finding) -> Mapping[tuple[str | int, ...], Any]:
        return {("families", str(finding.evidence["family"]), "encoding"): "FAST_DIFF"}
