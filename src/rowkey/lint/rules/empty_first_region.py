"""The rule `empty_first_region`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import counted
from rowkey.heat import region_shares
from rowkey.lint.contract import Rule
from rowkey.regions import to_binary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class EmptyFirstRegion(Rule):
    """A first split at the lowest key there can be.

    What it does: asks the leading part whether any key lies before the first split.

    Why it hurts: the region before it is empty for ever. It is counted, placed and balanced like
    any other, so that one server has a region less to do.

    Use instead: leave the first split out; n regions have n - 1 splits.

    Source: claim 56 begins its splits with 00, under which no key begins. A table's first region
    has no start: HBase book, "Pre-splitting tables with RegionSplitter".
    """

    name = "empty_first_region"
    code = "RK204"
    severity: ClassVar[Severity] = "info"
    claims = (56,)
    bad = """\
table  = "users"
key    = "[bucket(user, 8)][user]"
splits = [
  "\\\\x00", "\\\\x01", "\\\\x02", "\\\\x03", "\\\\x04", "\\\\x05", "\\\\x06", "\\\\x07",
]

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }
"""
    good = """\
table  = "users"
key    = "[bucket(user, 8)][user]"
splits = ["\\\\x01", "\\\\x02", "\\\\x03", "\\\\x04", "\\\\x05", "\\\\x06", "\\\\x07"]

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }
"""
    also = ("RK202",)

    def findings(self, subject: Subject) -> Iterator[Finding]:
        boundaries = subject.boundaries
        if boundaries is None or len(boundaries) == 1 or "missed_splits" in subject.causes:
            return
        if region_shares(subject.key, boundaries)[0] > 0 or subject.design.cut.needs_sample:
            return
        yield self.finding(
            "splits",
            f"no key lies before the first split, {to_binary(boundaries.splits[0])}: the first of "
            f"{counted(len(boundaries), 'region')} stays empty",
            "Leave the first split out.",
            value=to_binary(boundaries.splits[0]),
            verdict="Splits from 00 on leave the region before them empty, whatever the keys.",
            regions=len(boundaries),
        )
