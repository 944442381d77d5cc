"""The rule `sorted_import`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class SortedImport(Rule):
    """An import in the order of the row keys.

    What it does: looks for `arrival = "bulk_sorted"` where no salt spreads the rows.

    Why it hurts: every client works on the same region at the same time, and all of them move on to
    the next together. One server works, whatever the key.

    Use instead: the rows shuffled, each client a different stretch; or finished files, loaded in
    bulk.

    Source: HBase book, "Lock-step import": claim 79 randomises the order, which is right.
    """

    name = "sorted_import"
    code = "RK701"
    severity: ClassVar[Severity] = "warning"
    claims = (79,)
    bad = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[writes]
arrival = "bulk_sorted"
"""
    good = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[writes]
arrival = "random"
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        found = subject.causes.get("moving_front")
        if found is not None and subject.design.writes.arrival == "bulk_sorted":
            yield self.finding(
                subject.nearest("writes", "arrival"),
                found.message,
                found.remedy,
                value=subject.design.writes.arrival,
            )
