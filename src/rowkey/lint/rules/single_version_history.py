"""The rule `single_version_history`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class SingleVersionHistory(Rule):
    """Events that are versions of one row, of which one is kept.

    What it does: looks for a field that is the cells' timestamp, so that events of one key are
    versions of one row, in families that keep one version because the file does not say how many.

    Why it hurts: of every key the newest event stays, and all history is dropped at the next
    compaction, without a word.

    Use instead: `versions` as many as are wanted, be it 1, or the time in the key.

    Source: HBASE-10941: the default is 1 since 0.96. Claim 26 says 3, which is wrong.
    """

    name = "single_version_history"
    code = "RK402"
    severity: ClassVar[Severity] = "warning"
    claims = (26,)
    bad = """\
table  = "prices"
key    = "[bucket(item, 16)][item]"
splits = "per_bucket"

[fields]
item  = "u32"
ts    = { type = "timestamp_ms", at = "timestamp" }
price = "u32"

[families.d]
compression = "ZSTD"
"""
    good = """\
table  = "prices"
key    = "[bucket(item, 16)][item]"
splits = "per_bucket"

[fields]
item  = "u32"
ts    = { type = "timestamp_ms", at = "timestamp" }
price = "u32"

[families.d]
versions = 10
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        placed = subject.design.layout.stored.get("timestamp", ())
        layout = subject.design.layout
        if not placed or layout.shares_rows or placed[0] in layout.identity:
            return
        for name in {cell.family: None for cell in subject.cells}:
            if subject.says("families", name, "versions"):
                continue
            yield self.finding(
                subject.at("families", name)
                if subject.says("families", name)
                else subject.at("fields", placed[0]),
                f"{placed[0]} is the time of the cells, so events of one key are versions, and "
                f"family {name} keeps 1",
                "Say how many versions are wanted, or put the time into the key.",
                value=1,
                verdict="The default is 1 version since 0.96, not 3.",
                family=name,
            )
