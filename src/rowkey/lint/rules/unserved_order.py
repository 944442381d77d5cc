"""The rule `unserved_order`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.proposals import ANOTHER_KEY
from rowkey.schema import Equal

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class UnservedOrder(Rule):
    """The key cannot return the rows of a read in the requested order.

    What it does: looks for reads that want another order than the key gives, forwards and
    backwards. Without a limit it is a remark, as all rows are wanted anyway. If the key holds the
    field reversed, reversed-under-range reports it; if nothing narrows the read, full-scan-read
    does.

    Why it hurts: all rows of the answer are read and sorted in memory before the first is returned.
    A limit does not help: the latest ten of a million cost a million.

    Use instead: the field of the order directly after the fields that the read fixes.

    Source: HBase stores rows in the order of their keys and knows no other: HBase book, "Sort
    Order". Claim 52, fields are ordered by their use: those with one value before the ordered one.
    """

    name = "unserved_order"
    code = "RK602"
    severity: ClassVar[Severity] = "warning"
    claims = (52,)
    bad_design = """\
table  = "orders"
key    = "[bucket(user, 16)][user][shop][time]"
splits = "per_bucket"

[fields]
user   = "u32"
shop   = "u32"
time   = "timestamp_ms"
amount = "u32"

[[reads]]
name  = "latest orders of a user"
where = "user = ?"
order = "time desc"
limit = 20
"""
    good_design = """\
table  = "orders"
key    = "[bucket(user, 16)][user][desc(time)][shop]"
splits = "per_bucket"

[fields]
user   = "u32"
shop   = "u32"
time   = "timestamp_ms"
amount = "u32"

[[reads]]
name  = "latest orders of a user"
where = "user = ?"
order = "time desc"
limit = 20
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each read whose order the key cannot give."""
        for one in subject.reads:
            plan, read = one.plan, one.read
            if plan is None or not plan.needs_sort or plan.is_point or not plan.fan_out:
                continue
            if plan.is_full_scan and one.bounds:
                continue  # full-scan-read reports it
            if any(order.field in subject.unordered_fields for order in read.order):
                continue  # reversed-under-range reports it
            spared = "" if read.limit is None else f", in spite of the limit of {read.limit:,}"
            comes = ", ".join(map(str, plan.row_order)) or "no field order"
            yield self.build_finding(
                f"{one.path}.order",
                f"the read '{read.name}' wants the order {', '.join(map(str, read.order))}, "
                f"but the key gives {comes}, so all rows of the answer are sorted in memory "
                f"before the first is returned{spared}",
                ANOTHER_KEY,
                severity="info" if read.limit is None else None,
                value=read.name,
                wanted=[str(o) for o in read.order],
                given=[name for name, bound in one.bounds.items() if isinstance(bound, Equal)],
                comes=[str(o) for o in plan.row_order],
                needs_key=True,
            )
