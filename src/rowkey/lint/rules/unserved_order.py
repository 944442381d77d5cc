"""The rule `unserved_order`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class UnservedOrder(Rule):
    """A read whose order the key gives neither way.

    What it does: looks for reads whose rows come from the key in another order than they are asked
    in, forwards and backwards. Without a limit it is only told, for all of the rows are wanted.
    Where the key holds a field back to front, reversed-under-range says so instead; where nothing
    narrows the read, full-scan-read does.

    Why it hurts: all rows of the answer are read and sorted in memory before the first is returned.
    A limit spares none of them: the latest ten of a million cost a million.

    Use instead: the field that the rows are wanted by right behind those that the read gives one
    value of.

    Source: HBase stores rows in the order of their keys and knows no other: HBase book, "Sort
    Order". Claim 52, fields are ordered by their use: those with one value before the ordered one.
    """

    name = "unserved_order"
    code = "RK602"
    severity: ClassVar[Severity] = "warning"
    claims = (52,)
    bad = """\
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
    good = """\
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

    PROPOSED = 20
    """Reads, from the first on, for which a key is looked for: each takes milliseconds."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        turned = set(self._turned(subject))
        for index, one in enumerate(subject.reads):
            plan, read = one.plan, one.read
            if plan is None or not plan.needs_sort or plan.is_point or not plan.fan_out:
                continue
            if (plan.is_full_scan and one.bounds) or turned & {o.field for o in read.order}:
                continue
            better = subject.serving_key(one) if index < self.PROPOSED else None
            spared = "" if read.limit is None else f"; the limit of {read.limit:,} spares none"
            comes = ", ".join(map(str, plan.orders)) or "no order of fields"
            yield self.finding(
                subject.at("reads", index, "order"),
                f"{read.name} wants {', '.join(map(str, read.order))}, and the key gives {comes}: "
                f"all rows of the answer are read and sorted before the first is returned{spared}",
                f"A table with {better.words} gives that order." if better else "",
                severity="info" if read.limit is None else None,
                value=read.name,
                wanted=[str(o) for o in read.order],
                comes=[str(o) for o in plan.orders],
                proposal=better.key if better is not None else None,
            )

    @staticmethod
    def _turned(subject: Subject) -> Iterator[str]:
        """The fields that the key holds whole, in no order of theirs anywhere."""
        for name in subject.key.fields:
            own = [part for part in subject.key.parts if part.fields == (name,)]
            is_whole = any(part.residue(name).nothing for part in own)
            if is_whole and not any(p.order.ascends or p.order.descends for p in own):
                yield name
