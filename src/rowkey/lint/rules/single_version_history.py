"""The rule `single_version_history`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.schema import Range

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class SingleVersionHistory(Rule):
    """Events are stored as versions of one row, but only one version is kept.

    What it does: looks for a field that is the timestamp of the cells, so that events with the same
    key are versions of one row, in families that keep one version: because the file does not
    declare `versions`, or although a read asks for a range of that time.

    Why it hurts: only the newest event of every key survives; the next compaction drops the rest
    without an error.

    Use instead: the time in the key, if reads ask for a range of it; else `versions`, with as many
    as are wanted, even 1.

    Source: HBASE-10941: the default is 1 since 0.96. Claim 26 says 3, which is wrong.
    """

    name = "single_version_history"
    code = "RK402"
    severity: ClassVar[Severity] = "warning"
    claims = (26,)
    bad_design = """\
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
    good_design = """\
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

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family that keeps one version of a row's events."""
        placed = subject.design.layout.placed_fields.get("timestamp", ())
        layout = subject.design.layout
        if not placed or layout.has_shared_rows or placed[0] in layout.identity_fields:
            return
        time = placed[0]
        read = next(
            (one.read for one in subject.reads if isinstance(one.bounds.get(time), Range)), None
        )
        for name in {cell.family: None for cell in subject.cells}:
            if subject.families[name].versions > 1:
                continue
            if read is not None:
                yield self.build_finding(
                    subject.format_path("fields", time),
                    f"the read '{read.name}' asks for a range of {time}, but {time} is the cell "
                    f"timestamp, and family {name} keeps 1 version: each event replaces the "
                    "one before it",
                    f"Put {time} into the key, so that each event is a row.",
                    value=1,
                    family=name,
                    read=read.name,
                )
                return
            if subject.is_declared("families", name, "versions"):
                continue
            yield self.build_finding(
                subject.format_path("families", name)
                if subject.is_declared("families", name)
                else subject.format_path("fields", time),
                f"{time} is the cell timestamp, so events with the same key are versions "
                f"of one row, but family {name} keeps only 1 version",
                "Declare how many versions to keep, or put the time into the key.",
                value=1,
                verdict="The default is 1 version since HBase 0.96, not 3.",
                family=name,
            )
