"""The rule `random_salt`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import counted
from rowkey.keys import Source
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class RandomSalt(Rule):
    """A salt of chance, under reads or writes of single rows.

    What it does: looks for a part that chance decides, counts the keys or ranges that each declared
    read tries because of it, and the events of a sample whose row, the salt left aside, was written
    before: of n salts, 1 - 1/n of them draw another.

    Why it hurts: nobody knows where a row is. A get is n gets. A row that is put a second time
    stands twice, under two salts: sums count it twice. Increments and checked puts are impossible.

    Use instead: a bucket of fields that the reads give: it spreads as well and can be computed.
    Keep a salt where rows are only ever appended and read in stretches, or for one value's flood.

    Source: claims 14 and 78 salt by a random prefix, claim 15 by a hash, which lets a get work;
    claim 21 lists one row under two prefixes, as happens. Claim 87: n salts give at most n times
    the writes. HBase book, "Salting" and "Hashing".
    """

    name = "random_salt"
    code = "RK118"
    severity: ClassVar[Severity] = "info"
    claims = (14, 15, 21, 78, 87)
    bad = """\
table  = "orders"
key    = "[salt(16)][order]"
splits = "per_bucket"

[fields]
order  = "u64"
amount = "u32"

[[reads]]
name  = "an order"
where = "order = ?"
"""
    good = """\
table  = "orders"
key    = "[bucket(order, 16)][order]"
splits = "per_bucket"

[fields]
order  = "u64"
amount = "u32"

[[reads]]
name  = "an order"
where = "order = ?"
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        if not subject.key.is_salted:
            return
        salts = subject.key.salt_count or 1
        shown = next(s for s, part in subject.parts() if part.source is Source.CHANCE)
        gets = [one for one in subject.reads if one.plan is not None and one.plan.is_point]
        tried = f"; {gets[0].read.name} gets {counted(salts, 'row')} for one" if gets else ""
        repeats = (subject.seen.repeats or 0) if subject.seen is not None else 0
        twice = repeats * (1 - 1 / salts)
        if repeats:
            tried += (
                f"; {counted(repeats, 'event')} seen write{'s' * (repeats == 1)} a row again: "
                f"about {twice:,.0f} stand{'s' * (round(twice) == 1)} twice"
            )
        yield self.finding(
            "key",
            f"chance decides {shown}: a get tries every salt, and a row put twice stands twice"
            f"{tried}",
            "Use a bucket of the fields that reads give.",
            severity="warning" if gets or repeats else "info",
            value=shown,
            verdict="A hash spreads as evenly, and a get finds its row.",
            salts=salts,
            repeats=repeats,
            duplicates=twice,
            gets=[one.read.name for one in gets],
        )
