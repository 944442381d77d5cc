"""The rule `endless_row`."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import FOREVER_S
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class EndlessRow(Rule):
    """A row that grows as long as the table lives.

    What it does: looks at rows that events share because a field stands in the qualifier. If that
    field is a time and the key has none, nothing ends a row but `ttl`; the rate and the numbers of
    values, where known, tell when it reaches a million cells.

    Why it hurts: a row is never split, so its region grows with it past every limit; a get of more
    than 1 GB fails; and the heavier an entity is, the sooner it comes to that.

    Use instead: a `time_slice` or `time_bucket` of that time in the key, or the time itself, with a
    row for each event. Or a `ttl`.

    Source: HBase book, "Rows vs. Columns": rows rather than a million columns; claim 46 agrees with
    a million. hbase.table.max.rowsize, 1 GB: RowTooBigException.
    """

    name = "endless_row"
    code = "RK506"
    severity: ClassVar[Severity] = "info"
    claims = (46,)
    bad = """\
table  = "inbox"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
ts   = { type = "timestamp_ms", at = "qualifier" }
text = { type = "text", max_bytes = 200 }
"""
    good = """\
table  = "inbox"
key    = "[bucket(user, 16)][user][ts]"
splits = "per_bucket"

[fields]
user = "u64"
ts   = "timestamp_ms"
text = { type = "text", max_bytes = 200 }
"""
    MOST = 1_000_000
    """Cells of a row. Source: verdict on claim 46."""
    DAY_S = 86_400

    def findings(self, subject: Subject) -> Iterator[Finding]:
        opening = subject.design.layout.opening
        fields = subject.design.fields
        if opening is None or any(fields[n].type.tick for n in subject.key.fields):
            return
        times = [field.name for field in opening.fields if field.type.tick is not None]
        if not times:
            return
        ttl = max(subject.families[cell.family].ttl_s for cell in subject.cells)
        speed = self.cells_per_second(subject)
        if ttl != FOREVER_S and (speed is None or speed * ttl <= self.MOST):
            return
        whose = ", ".join(subject.key.fields)
        what = f"nothing ends a row: events of the same {whose} share one, however long they come"
        if ttl != FOREVER_S:
            what = f"a row holds all events of a {whose} for {ttl / self.DAY_S:,.1f} days"
        if speed is not None:
            days = self.MOST / speed / self.DAY_S
            what += f"; it has a million cells after about {days:,.1f} days"
        yield self.finding(
            subject.at("fields", times[0], "at"),
            what,
            f"Put [time_slice({times[0]}, 1d)] or {times[0]} itself into the key.",
            severity="info" if speed is None else "warning",
            value="qualifier",
            cells_per_day=None if speed is None else speed * self.DAY_S,
            ttl_s=ttl,
        )

    @staticmethod
    def cells_per_second(subject: Subject) -> float | None:
        """Cells a second that come to a row on average, at least; None if nobody knows."""
        rate = subject.design.writes.rate
        counts = [subject.distinct(name) for name in subject.key.fields]
        if rate is None or not all(counts):
            return None
        return rate / prod(n for n in counts if n) * sum(cell.share for cell in subject.cells)
