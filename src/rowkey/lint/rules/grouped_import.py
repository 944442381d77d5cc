"""The rule `grouped_import`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import counted
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class GroupedImport(Rule):
    """Rows that come grouped by the field which decides their region.

    What it does: looks, in the order of the sample's file, whether the values of the one field
    behind the leading hash or reversal only rise, with many rows of each value.

    Why it hurts: the key is spread, and the load is not. While the rows of one value last, one
    region takes all writes; with several writers that read the same order, they move from region to
    region in lock-step.

    Use instead: the same rows in another order: shuffled, or by time. Where they come by time and
    only the file is grouped, write `sort = true` under `[writes]`.

    Source: claim 79, the order of an import is randomised against lock-step: HBase book, "Import in
    Lock-step". An import in the order of the keys themselves is sorted-import.
    """

    name = "grouped_import"
    code = "RK702"
    severity: ClassVar[Severity] = "warning"
    claims = (79,)
    bad = """\
table  = "readings"
key    = "[bucket(meter, 16)][meter][ts]"
splits = "per_bucket"

[fields]
meter = "u32"
ts    = "timestamp_s"
value = "float64"
"""
    good = """\
table  = "readings"
key    = "[bucket(meter, 16)][meter][ts]"
splits = "per_bucket"

[fields]
meter = "u32"
ts    = "timestamp_s"
value = "float64"

[writes]
sort = true
"""
    data = "meter,ts,value\n" + "".join(
        f"{n // 100},{1_767_225_600 + n % 100 * 60},{n % 7}.5\n" for n in range(7_000)
    )
    RISING = 0.99
    """Share of rows that do not go back, from which on they are said to be grouped."""
    MANY = 100
    """Rows of each value from which on a batch of a client holds few values."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        part, seen, writes = subject.leading, subject.seen, subject.design.writes
        if part is None or seen is None or writes.sort or len(part.fields) != 1:
            return
        [name] = part.fields
        known = subject.fact(name)
        is_time = subject.design.fields[name].type.tick is not None
        if is_time or part.order.ascends or part.order.descends or not known.distinct:
            return
        each = seen.events / known.distinct
        if (known.rising or 0.0) < self.RISING or each < self.MANY:
            return
        yield self.finding(
            "key",
            f"the sample comes grouped by {name}, {counted(round(each), 'row')} of each value, "
            f"and {name} alone "
            "decides the region: while they last, one region takes all writes",
            "Load the rows shuffled or by time, or write sort = true under [writes] if they come "
            "by time.",
            value=name,
            rising=known.rising,
            distinct=known.distinct,
            rows_each=each,
        )
