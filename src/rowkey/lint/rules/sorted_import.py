"""The rule `sorted_import`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class SortedImport(Rule):
    """The rows are imported in the order of their keys.

    What it does: looks for `arrival = "bulk_sorted"` where no salt spreads the rows.

    Why it hurts: all clients write to the same region at the same time and move on to the next one
    together. One server works, whatever the key.

    Use instead: the rows shuffled, with a different part for each client; or HFiles that are
    bulk-loaded.

    Source: HBase book, "Lock-step import": claim 79 randomises the order, which is right.
    """

    name = "sorted_import"
    code = "RK701"
    measured_by = "writes"
    severity: ClassVar[Severity] = "warning"
    claims = (79,)
    bad_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[writes]
arrival = "bulk_sorted"
"""
    good_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[writes]
arrival = "random"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if rows are imported in the order of their keys."""
        cause = subject.causes.get("moving_front")
        if cause is not None and subject.design.writes.arrival == "bulk_sorted":
            yield self.build_finding(
                subject.find_nearest_path("writes", "arrival"),
                cause.message,
                cause.remedy,
                value=subject.design.writes.arrival,
            )
