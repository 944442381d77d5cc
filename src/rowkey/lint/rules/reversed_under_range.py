"""The rule `reversed_under_range`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.heat import splits_at_quantiles, spread_key
from rowkey.lint.contract import Rule
from rowkey.schema import Call, FieldRef, Range

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import PlannedRead, Subject
    from rowkey.schema import Term


class ReversedUnderRange(Rule):
    """A read of a stretch, or of an order, over a field whose bytes are turned round.

    What it does: looks for reads that ask a stretch of a field, or rows in its order, where the key
    has the field whole but turned round, padded or numbered, and nowhere in its own order.

    Why it hurts: neighbours are far apart once their last digit comes first. One hour of the
    seconds of a day, reversed, is 3,600 runs that span 86,333 of the 86,400 rows: the read goes
    through nearly all of them.

    Use instead: `desc(field)` for the latest first, which is 2^63 - 1 less the time; a bucket in
    front for spread.

    Source: claims 54 and 55 reverse the text of a time and promise ranges of time, which is wrong;
    claims 12 and 44 say that order is lost. The figures are computed.
    """

    name = "reversed_under_range"
    code = "RK111"
    severity: ClassVar[Severity] = "warning"
    claims = (12, 13, 43, 44, 54, 55, 66)
    bad = """\
table  = "orders"
key    = "[reverse(time)][shop]"
splits = { algorithm = "uniform", regions = 16 }

[fields]
time   = "timestamp_ms"
shop   = { type = "text", max_bytes = 16 }
amount = "u32"

[writes]
arrival = "random"

[[reads]]
name  = "orders of an hour"
where = "time >= ? and time < ?"
span  = "1h"
limit = 1000
"""
    good = """\
table  = "orders"
key    = "[bucket(shop, 16)][shop][desc(time)]"
splits = "per_bucket"

[fields]
time   = "timestamp_ms"
shop   = { type = "text", max_bytes = 16 }
amount = "u32"

[[reads]]
name  = "orders of an hour"
where = "shop = ? and time >= ? and time < ?"
span  = "1h"
limit = 1000
"""

    OF_TIME = "A reversed time serves no range of time: {} separate runs."
    RUNS: ClassVar = (
        (86_400_000_000_000, "a month of days is 30"),
        (1_000_000_000, "an hour of seconds is 3,600"),
        (1_000_000, "a second of milliseconds is 1,000"),
        (1_000, "a millisecond of microseconds is 1,000"),
        (1, "a microsecond of nanoseconds is 1,000"),
    )
    """A stretch of a time whose values are so many nanoseconds apart."""
    OF_OTHERS = "What spreads neighbours gives their order up: a range of them is no range of keys."

    def findings(self, subject: Subject) -> Iterator[Finding]:
        turned = {name: shown for shown, name in self._turned(subject)}
        for one in subject.reads:
            ranged = {name for name in turned if isinstance(one.bounds.get(name), Range)}
            ordered = {ordering.field for ordering in one.read.order} & set(turned)
            for name in sorted(ranged | ordered):
                what = "a stretch of" if name in ranged else "the order of"
                tick = subject.design.fields[name].type.tick
                runs = next((said for apart, said in self.RUNS if tick and apart <= tick), None)
                yield self.finding(
                    one.path,
                    f"{one.read.name} asks {what} {name}, but {turned[name]} keeps no order: "
                    "values that are neighbours lie far apart",
                    self._remedy(subject, name, turned[name], one),
                    value=turned[name],
                    verdict=self.OF_OTHERS if runs is None else self.OF_TIME.format(runs),
                    field=name,
                    read=one.read.name,
                )

    @staticmethod
    def _remedy(subject: Subject, name: str, shown: str, one: PlannedRead) -> str:
        """The field the way round that its reads want it, and what must stand in front of it."""
        orders = [o for asked in (one, *subject.reads) for o in asked.read.order]
        wanted = [o.descending for o in orders if o.field == name]
        bare: Term = FieldRef(name)
        turned: Term = Call("desc", (bare,))
        forms = [turned if wanted[0] else bare] if wanted else [turned, bare]
        written = f"Write [{forms[0]}]"
        if len(forms) > 1:
            written += f" for the greatest first, or [{bare}]"
        place = next(n for n, (notation, _) in enumerate(subject.parts()) if notation == shown)
        if subject.key.parts[place] is not subject.leading:
            return f"{written}."
        if subject.design.fields[name].type.tick is None:
            return f"{written}, and cut with {splits_at_quantiles(subject.design)}."
        terms = subject.key.terms
        made = spread_key(
            subject.design, subject.facts, (*terms[:place], forms[0], *terms[place + 1 :])
        )
        return f"Take {made.words}; {made.costs}."

    @staticmethod
    def _turned(subject: Subject) -> Iterator[tuple[str, str]]:
        """The fields that the key has whole, in no order anywhere, with the part's notation."""
        for shown, part in subject.parts():
            for name in part.fields:
                others = [p for p in subject.key.parts if p.fields == (name,)]
                is_kept = any(p.order.ascends or p.order.descends for p in others)
                if part.fields == (name,) and part.residue(name).nothing and not is_kept:
                    yield shown, name
