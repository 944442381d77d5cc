"""The rule `constant_column`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import cell_bytes
from rowkey.errors import counted
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class ConstantColumn(Rule):
    """A column that has the same value in every event.

    What it does: counts the values of each column in a sample of a thousand events or more.

    Why it hurts: what is the same in all rows tells nothing of any, and takes a cell of each: the
    key, the family, the name and 20 bytes.

    Use instead: leave the field out, and keep its value where the table is described. Or let it be
    `nullable` and write it only where it differs.

    Source: KeyValue.java, 20 bytes and key, family and qualifier a cell; claim 22 asks for small
    cells.
    """

    name = "constant_column"
    code = "RK513"
    severity: ClassVar[Severity] = "info"
    claims = (22,)
    bad = """\
table  = "visits"
key    = "[bucket(user, 16)][user][ts]"
splits = "per_bucket"

[fields]
ts      = "timestamp_s"
user    = "u32"
page    = "u32"
version = "u8"
"""
    good = """\
table  = "visits"
key    = "[bucket(user, 16)][user][ts]"
splits = "per_bucket"

[fields]
ts      = "timestamp_s"
user    = "u32"
page    = "u32"
"""
    data = "ts,user,page,version\n" + "".join(
        f"{1_760_000_000 + n},{n * 7919 % 4001},{n % 89},1\n" for n in range(1_200)
    )
    ENOUGH = 1_000
    """Events below which one value may be chance."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        if subject.seen is None or subject.seen.events < self.ENOUGH:
            return
        for cell in subject.cells:
            name = cell.fields[0] if len(cell.fields) == 1 else ""
            facts = subject.fact(name)
            if facts.distinct != 1 or facts.nulls or facts.seen < self.ENOUGH:
                continue
            spent = cell_bytes(0, len(cell.family.encode()), len(cell.qualifier), 0)
            yield self.finding(
                subject.at("fields", name),
                f"{name} has one value in all {counted(facts.seen, 'event')}, and a cell of at "
                "least "
                f"{spent + subject.key.body.framing.least:,} bytes in each",
                "Leave it out, or make it nullable and write it where it differs.",
                value=name,
                events=facts.seen,
            )
