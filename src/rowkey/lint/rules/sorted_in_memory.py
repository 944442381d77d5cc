"""The rule `sorted_in_memory`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.plan import proposed_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class SortedInMemory(Rule):
    """A read whose order the key gives neither way.

    What it does: plans each declared read with an order, and looks for those whose ranges, merged,
    do not come in it.

    Why it hurts: all rows of the answer are read and sorted before the first is given. A limit
    spares none of them: the latest 20 of a million are a million rows.

    Use instead: the fields of the order behind those of equality, `desc` around what comes last
    first; or a reversed scan, which needs no other key.

    Source: claim 52: equality before range. HBase book, "Reverse Timestamps", and the reversed Scan
    since 0.98 (HBASE-4811).
    """

    name = "sorted_in_memory"
    code = "RK602"
    severity: ClassVar[Severity] = "warning"
    claims = (13, 52)
    bad = """\
table  = "orders"
key    = "[bucket(user, 16)][user][order]"
splits = "per_bucket"

[fields]
order = "u64"
user  = "u32"
day   = "date"

[[reads]]
name  = "latest orders of a user"
where = "user = ?"
order = "day desc"
limit = 20

[writes]
arrival = "random"
"""
    good = """\
table  = "orders"
key    = "[bucket(user, 16)][user][desc(day)][order]"
splits = "per_bucket"

[fields]
order = "u64"
user  = "u32"
day   = "date"

[[reads]]
name  = "latest orders of a user"
where = "user = ?"
order = "day desc"
limit = 20

[writes]
arrival = "random"
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for one in subject.reads:
            plan = one.plan
            if plan is None or not one.read.order or not plan.needs_sort or plan.is_point:
                continue
            if plan.is_full_scan and one.bounds:
                continue  # it reads everything: that is said of it already
            order = ", ".join(map(str, one.read.order))
            limit = one.read.limit
            new = proposed_key(subject.key, one.bounds, one.read.order)
            spared = f", and the limit of {limit:,} spares none" if limit is not None else ""
            yield self.finding(
                one.path,
                f"{one.read.name} wants {order}, which the key gives neither way: all its rows are "
                f"read and sorted before the first{spared}",
                f"A key that serves it is {new.key}." if new is not None else "",
                value=one.read.name,
                order=order,
                proposed=new.key if new is not None else None,
            )
