"""The rule `empty_first_region`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.hotspots import compute_region_shares
from rowkey.lint.contract import Rule
from rowkey.messages import pluralize
from rowkey.regions import to_string_binary

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class EmptyFirstRegion(Rule):
    """The first split is at the lowest possible key.

    What it does: asks the leading part whether any key sorts before the first split.

    Why it hurts: the region before that split stays empty for ever. It is counted, assigned and
    balanced like any other, so one server has one region less to serve.

    Use instead: remove the first split; n regions have n - 1 splits.

    Source: claim 56 begins its splits with 00, under which no key begins. A table's first region
    has no start: HBase book, "Pre-splitting tables with RegionSplitter".
    """

    name = "empty_first_region"
    code = "RK204"
    severity: ClassVar[Severity] = "info"
    claims = (56,)
    bad_design = """\
table  = "users"
key    = "[bucket(user, 8)][user]"
splits = [
  "\\\\x00", "\\\\x01", "\\\\x02", "\\\\x03", "\\\\x04", "\\\\x05", "\\\\x06", "\\\\x07",
]

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }
"""
    good_design = """\
table  = "users"
key    = "[bucket(user, 8)][user]"
splits = ["\\\\x01", "\\\\x02", "\\\\x03", "\\\\x04", "\\\\x05", "\\\\x06", "\\\\x07"]

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }
"""
    other_codes = ("RK202",)

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the first split key leaves the first region empty."""
        boundaries = subject.boundaries
        if boundaries is None or len(boundaries) == 1 or "missed_splits" in subject.causes:
            return
        if (
            compute_region_shares(subject.key, boundaries)[0] > 0
            or subject.design.splits.needs_sample
        ):
            return
        yield self.build_finding(
            "splits",
            "no row key sorts before the first split key "
            f"{to_string_binary(boundaries.splits[0])}, so the first of "
            f"{pluralize(len(boundaries), 'region')} stays empty",
            "Remove the first split.",
            value=to_string_binary(boundaries.splits[0]),
            verdict="A first split at 00 leaves the region before it empty, whatever the keys.",
            regions=len(boundaries),
        )
