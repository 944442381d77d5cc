"""The rule `endless_row`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import FOREVER_S
from rowkey.lint.contract import Rule
from rowkey.messages import format_days, format_number

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class EndlessRow(Rule):
    """A row grows for as long as the table exists.

    What it does: looks at rows that many events share because a field is in the qualifier. If that
    field is a time and the key has none, only a `ttl` limits the row. From the rate and the value
    counts, where known, it computes when a row reaches a million cells.

    Why it hurts: a row is never split, so its region grows past every limit. A get of more than 1
    GB fails. The busiest entities get there first.

    Use instead: a `time_slice` or `time_bucket` of that time in the key, or the time itself, which
    makes each event a row. Or a `ttl`.

    Source: HBase book, "Rows vs. Columns": rows rather than a million columns; claim 46 agrees with
    a million. hbase.table.max.rowsize, 1 GB: RowTooBigException.
    """

    name = "endless_row"
    code = "RK506"
    looks_at_sample = True
    severity: ClassVar[Severity] = "info"
    claims = (46,)
    bad_design = """\
table  = "inbox"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
ts   = { type = "timestamp_ms", at = "qualifier" }
text = { type = "text", max_bytes = 200 }
"""
    good_design = """\
table  = "inbox"
key    = "[bucket(user, 16)][user][ts]"
splits = "per_bucket"

[fields]
user = "u64"
ts   = "timestamp_ms"
text = { type = "text", max_bytes = 200 }
"""
    MAX_CELLS_PER_ROW = 1_000_000
    """Cells of a row. Source: verdict on claim 46."""
    DAY_S = 86_400
    SLICES = (("1d", 86_400), ("1h", 3_600), ("10m", 600), ("1m", 60), ("1s", 0))
    """Lengths of a time slice with their seconds, of which the first is proposed whose rows have so
    few cells, and on average few enough for another rule, on the length of slices, to be silent."""
    MAX_MEAN_CELLS = 3_600
    """Cells of a mean row of such a slice. Source: verdict on claim 41."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if rows collect events without a limit."""
        opening = subject.design.layout.qualifier_prefix
        fields = subject.design.fields
        if opening is None or any(fields[n].type.unit_ns for n in subject.key.fields):
            return
        times = [field.name for field in opening.fields if field.type.unit_ns is not None]
        if not times:
            return
        ttl = max(subject.families[cell.family].ttl_s for cell in subject.cells)
        speed = self.estimate_cells_per_second(subject)
        if ttl != FOREVER_S and (speed is None or speed * ttl <= self.MAX_CELLS_PER_ROW):
            return
        names = ", ".join(subject.key.fields)
        length, _ = self.SLICES[0]
        what = f"all events with the same {names} share one row, which grows without limit"
        if ttl != FOREVER_S:
            what = f"one row holds all events of {ttl / self.DAY_S:,.1f} days with the same {names}"
        if speed is not None:
            days = self.MAX_CELLS_PER_ROW / speed / self.DAY_S
            what += f"; a mean row reaches a million cells after about {format_days(days)}"
            fullest = speed * self._compare_fullest_row(subject)
            if fullest * self.DAY_S > self.MAX_CELLS_PER_ROW:
                hours = self.MAX_CELLS_PER_ROW / fullest / 3_600
                what += f", the fullest of the sample after {format_number(hours, 2)} hours"
            length = next(
                text
                for text, seconds in self.SLICES
                if fullest * seconds <= self.MAX_CELLS_PER_ROW
                and speed * seconds <= self.MAX_MEAN_CELLS
            )
        yield self.build_finding(
            subject.format_path("fields", times[0], "at"),
            what,
            f"Put [time_slice({times[0]}, {length})] or {times[0]} itself into the key.",
            severity="info" if speed is None else "warning",
            value="qualifier",
            cells_per_day=None if speed is None else speed * self.DAY_S,
            ttl_s=ttl,
        )

    @staticmethod
    def estimate_cells_per_second(subject: LintSubject) -> float | None:
        """Estimate the cells that an average row receives per second; None if unknown."""
        rate = subject.design.writes.rate
        counts = [subject.count_distinct(name) for name in subject.key.fields]
        if rate is None or not all(counts):
            return None
        return rate / prod(n for n in counts if n) * sum(cell.event_share for cell in subject.cells)

    @staticmethod
    def _compare_fullest_row(subject: LintSubject) -> float:
        """Return how many times the mean the fullest row of the sample holds; 1 if unknown."""
        sample = subject.sample
        if sample is None or subject.key.is_salted or not sample.keys:
            return 1.0
        counts = Counter(sample.keys).values()
        return max(counts) * len(counts) / sum(counts)
