"""The rule `full_scan_read`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.plan import proposed_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class FullScanRead(Rule):
    """A read that goes through the whole table.

    What it does: plans each declared read, and looks for those that the key does not narrow
    although they ask for something.

    Why it hurts: it reads every row of the table for the few that are wanted, on every server, and
    takes longer with each day of data.

    Use instead: the fields it asks for at the front of the key, those with one value first; or a
    second table with such a key. A scan of everything is declared without conditions.

    Source: claim 2 sorts reads into get, range and full scan; claim 52 has the key serve the
    queries, fields of equality before the field of the range. Both agree.
    """

    name = "full_scan_read"
    code = "RK601"
    severity: ClassVar[Severity] = "warning"
    claims = (1, 2, 52, 88)
    bad = """\
table  = "orders"
key    = "[bucket(order, 16)][order]"
splits = "per_bucket"

[fields]
order = "u64"
user  = "u32"

[[reads]]
name  = "orders of a user"
where = "user = ?"
limit = 100
"""
    good = """\
table  = "orders"
key    = "[bucket(user, 16)][user][order]"
splits = "per_bucket"

[fields]
order = "u64"
user  = "u32"

[[reads]]
name  = "orders of a user"
where = "user = ?"
limit = 100
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for one in subject.reads:
            if one.plan is None or not one.plan.is_full_scan or not one.bounds:
                continue
            asked = " and ".join(one.bounds)
            new = proposed_key(subject.key, one.bounds, one.read.order)
            yield self.finding(
                one.path,
                f"nothing in the key narrows {one.read.name}: it asks for {asked}, and reads every "
                "row of the table",
                f"A key that serves it is {new.key}; or keep a second table with it."
                if new is not None
                else "No one key serves it.",
                value=one.read.name,
                fields=list(one.bounds),
                proposed=new.key if new is not None else None,
            )
