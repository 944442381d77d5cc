"""The rule `duplicated_by_salt`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.keys import Source
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class DuplicatedBySalt(Rule):
    """Rows that are written again, under a salt that is drawn anew.

    What it does: counts the events of the sample whose key, the salt left aside, had come before,
    where chance decides a part of the key.

    Why it hurts: a row that is put a second time, as an update or after a time-out, draws another
    salt and stands beside the first. Sums count it twice, a get finds either, and a delete leaves
    one of them.

    Use instead: a bucket of fields of the event: the same event has the same key however often it
    is put.

    Source: claim 21 copies the book's list wrongly and has foo0003 under a- and under c-, which is
    what happens: HBase book, "Salting". Claim 14; of n salts, 1 - 1/n of the repeats draw another.
    """

    name = "duplicated_by_salt"
    code = "RK702"
    severity: ClassVar[Severity] = "error"
    claims = (14, 21)
    bad = """\
table  = "orders"
key    = "[salt(16)][order]"
splits = "per_bucket"

[fields]
order = "u64"
state = "u8"
"""
    good = """\
table  = "orders"
key    = "[bucket(order, 16)][order][change]"
splits = "per_bucket"

[fields]
order  = "u64"
change = "u32"
state  = "u8"
"""
    data = "order,change,state\n" + "".join(
        f"{n * 7919 % 601},{n // 600},{n % 5}\n" for n in range(1_200)
    )
    also = ("RK108", "RK118")

    def findings(self, subject: Subject) -> Iterator[Finding]:
        seen = subject.seen
        if seen is None or not seen.repeats or not subject.key.is_salted:
            return
        salts = subject.key.salt_count
        shown = next(s for s, part in subject.parts() if part.source is Source.CHANCE)
        twice = seen.repeats * (1 - 1 / salts)
        yield self.finding(
            "key",
            f"{seen.repeats:,} of {seen.events:,} events write a row that was written before, and "
            f"{shown} is drawn each time: about {twice:,.0f} stand twice",
            "Use a bucket of fields of the event.",
            value=shown,
            repeats=seen.repeats,
            duplicates=twice,
            salts=salts,
        )
