"""The rule `unencoded_keys`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.design import KeyPath
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class UnencodedKeys(Rule):
    """Keys take most of the space, and no block encoding shortens them.

    What it does: where the length of keys is known, takes their share of an event's bytes, and
    looks for families without a data block encoding.

    Why it hurts: neighbouring cells share most of their key. Stored whole each time, keys fill the
    blocks in the cache, where compression does not help, because cached blocks are not compressed.

    Use instead: FAST_DIFF, which stores only the difference from the previous cell; ROW_INDEX_V1
    for reads of single rows from large blocks.

    Source: HBase book, "Data Block Encoding Types"; the verdict on claim 33.
    """

    name = "unencoded_keys"
    code = "RK410"
    severity: ClassVar[Severity] = "info"
    claims = (33,)
    bad_design = """\
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
    good_design = """\
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
    MIN_KEY_BYTES = 24
    """Bytes of a key below which nothing is reported: every cell has 20 bytes besides its key."""
    MIN_KEY_SHARE = 0.5

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family that stores long keys without a block encoding."""
        mean = subject.mean_key_bytes
        cells = sum(cell.event_share for cell in subject.cells)
        if mean is None or mean <= self.MIN_KEY_BYTES or cells < 2:
            return
        share = mean * cells / subject.event_bytes
        for name, family in subject.families.items():
            if share >= self.MIN_KEY_SHARE and family.encoding == "NONE":
                yield self.build_finding(
                    subject.find_nearest_path("families", name, "encoding")
                    if subject.is_declared("families", name)
                    else "key",
                    f"row keys take {share:.0%} of the stored bytes, because family {name} has "
                    "no block encoding and repeats the whole key in every cell",
                    'Set encoding = "FAST_DIFF".',
                    value=family.encoding,
                    family=name,
                    share=share,
                )

    def build_fix(self, subject: LintSubject, finding: Finding) -> Mapping[KeyPath, Any]:
        """Return the FAST_DIFF block encoding for the family of a finding."""
        return {("families", str(finding.evidence["family"]), "encoding"): "FAST_DIFF"}
