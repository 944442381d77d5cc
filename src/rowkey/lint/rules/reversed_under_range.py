"""The rule `reversed_under_range`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.proposals import ANOTHER_KEY, build_ordering_term, format_quantile_splits
from rowkey.schema import FieldRef, Range

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject, PlannedRead
    from rowkey.schema import Term


class ReversedUnderRange(Rule):
    """A read asks for a range or an order of a field that the key does not store in order.

    What it does: looks for reads that ask for a range of a field, or for rows in its order, where
    the key has the field whole but reversed, padded or coded, and nowhere in its own order.

    Why it hurts: neighbouring values are far apart if their last digit comes first. One hour of the
    seconds of a day, reversed, is 3,600 runs that span 86,333 of the 86,400 rows: the read scans
    nearly all of them.

    Use instead: `desc(field)` for the latest first, which is 2^63 - 1 minus the time; a bucket
    before it to spread writes.

    Source: claims 54 and 55 reverse the text of a time and promise ranges of time, which is wrong;
    claims 12 and 44 say that order is lost. The figures are computed.
    """

    name = "reversed_under_range"
    code = "RK111"
    measured_by = "reads"
    severity: ClassVar[Severity] = "warning"
    claims = (12, 13, 43, 44, 54, 55, 66)
    bad_design = """\
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
    good_design = """\
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

    TIME_VERDICT = "A reversed time cannot serve a time range: {} separate ranges of keys."
    RUN_EXAMPLES: ClassVar = (
        (86_400_000_000_000, "a month of days is 30"),
        (1_000_000_000, "an hour of seconds is 3,600"),
        (1_000_000, "a second of milliseconds is 1,000"),
        (1_000, "a millisecond of microseconds is 1,000"),
        (1, "a microsecond of nanoseconds is 1,000"),
    )
    """Examples of runs of numbers, by the nanoseconds between two values of a time."""
    OTHER_VERDICT = (
        "Spreading neighbouring values loses their order: a range of values is not a range of keys."
    )

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each range or order over a field that the key does not sort."""
        unordered = subject.unordered_fields
        for one in subject.reads:
            ranged = {name for name in unordered if isinstance(one.bounds.get(name), Range)}
            ordered = {ordering.field for ordering in one.read.order} & set(unordered)
            for name in sorted(ranged | ordered):
                what = "for a range of" if name in ranged else "for the order of"
                tick = subject.design.fields[name].type.unit_ns
                runs = next(
                    (text for unit_ns, text in self.RUN_EXAMPLES if tick and unit_ns <= tick), None
                )
                remedy = self._format_remedy(subject, name, unordered[name], one)
                yield self.build_finding(
                    one.path,
                    f"the read '{one.read.name}' asks {what} {name}, but {unordered[name]} "
                    "does not keep its order, so neighbouring values are far apart in the "
                    "table",
                    remedy,
                    value=unordered[name],
                    verdict=self.OTHER_VERDICT if runs is None else self.TIME_VERDICT.format(runs),
                    field=name,
                    read=one.read.name,
                    needs_key=remedy is ANOTHER_KEY,
                )

    @staticmethod
    def _format_remedy(
        subject: LintSubject, name: str, part_notation: str, planned_read: PlannedRead
    ) -> str:
        """Return the remedy: store the field in order, after a part that spreads the rows."""
        orders = [o for one in (planned_read, *subject.reads) for o in one.read.order]
        directions = [o.descending for o in orders if o.field == name]
        ascending: Term = FieldRef(name)
        descending = build_ordering_term(ascending, descending=True)
        forms = (
            [descending if directions[0] else ascending] if directions else [descending, ascending]
        )
        advice = f"Write [{forms[0]}]"
        if len(forms) > 1:
            advice += f" for the greatest first, or [{ascending}]"
        place = next(
            n for n, (notation, _) in enumerate(subject.iter_parts()) if notation == part_notation
        )
        if subject.key.parts[place] is not subject.leading_part:
            return f"{advice}."
        if subject.design.fields[name].type.unit_ns is None:
            return f"{advice}, and set {format_quantile_splits(subject.design)}."
        return ANOTHER_KEY
