"""How many rows of the table a sampled row stands for when a read finds it."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from math import isclose
from typing import TYPE_CHECKING, Any

from rowkey.hotspots import CLOCK_ARRIVALS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import pyarrow as pa

    from rowkey.design import Design
    from rowkey.plan import DeclaredRead

TRIMMED_SHARE = 0.01
"""Share of the earliest and of the latest times that do not count if they are far from the others:
some clocks say 1970."""
MAX_OUTLIER_FACTOR = 1.5
"""Times the length of the other times up to which the earliest and the latest are believed."""
MIN_STEADY_SHARE = 0.1
"""Share of its rows in the middle third that a value has in the first and the last, if it lasts."""
SAME_RATE = 0.02
"""Relative difference up to which the sample is taken to be at the declared rate."""
SECOND_NS = 1_000_000_000


class RowScale:
    """How many times as many rows as the sample the table has: in a given time, and in all.

    At a higher rate, and in a longer time, a value that lasts gets more rows (a user), and one that
    does not gets no more (an order). What lasts is measured by `measure_persistence`.

    Args:
        rows: a uniform sample of the events, in the order of their arrival.
        growth: rows of the table when it has its full size, for each row of the sample.
        density: how densely rows lie in time; None if they are not written by the clock.
        measurements: what was measured of the same rows before, which more is added to.
        is_bounded: whether the table has a full size; else `growth` is what the declared rate adds
            in the time of the sample.
    """

    def __init__(
        self,
        rows: pa.RecordBatch,
        growth: float,
        density: TimeDensity | None,
        measurements: dict[tuple[object, ...], Any],
        *,
        is_bounded: bool = True,
    ) -> None:
        self._is_bounded = is_bounded
        self._rows = rows
        self.growth = growth
        self._density = density
        self._measurements = measurements
        self._time_factors: dict[tuple[str, int], float | None] = {}

    def replace_growth(self, growth: float) -> RowScale:
        """Return the same scale with another growth of the table."""
        changed = copy(self)
        changed.growth = growth
        return changed

    @property
    def time_field(self) -> str | None:
        """Return the field that holds the time of an event, if rows are written by the clock."""
        return None if self._density is None else self._density.field

    def compute_factors(
        self, read: DeclaredRead, names: Iterable[str], resolution_ns: int = 0
    ) -> tuple[float, float]:
        """Return how many rows of the table a sampled row stands for.

        Args:
            read: the read.
            names: the fields in which the rows have the values that it asks for.
            resolution_ns: the least time of which all rows lie together in the key.

        Returns:
            The factor of rows within the time that it asks for, and of others.
        """
        names = tuple(name for name in names if name != self.time_field)
        measurement = "persistence", *names
        if measurement not in self._measurements:
            self._measurements[measurement] = measure_persistence(self._rows, names)
        time = read.name, resolution_ns
        if time not in self._time_factors:
            self._time_factors[time] = self._compute_time_factor(read, resolution_ns)
        persistence, time_factor = self._measurements[measurement], self._time_factors[time]
        other = 1 + persistence * (self.growth - 1)
        return other if time_factor is None else 1 + persistence * (time_factor - 1), other

    def describe_factor(self, read: DeclaredRead) -> str:
        """Return why the rows that a read returns count more than once; empty if they do not."""
        factor, _ = self.compute_factors(read, read.equality_fields)
        if isclose(factor, 1, rel_tol=SAME_RATE):
            return ""
        reasons = []
        if self._compute_time_factor(read) is None and self._is_bounded:
            reasons.append("the table grows by its rate and ttl")
        elif self._density is not None:
            if self._density.sample_factor != 1:
                reasons.append(
                    f"{_format_number(self._density.rate)} events a second are declared and the "
                    f"sample has {_format_number(self._density.sample_rate)}"
                )
            if (longer := self._density.compare_span(read)) > 1:
                reasons.append(f"`span` is {_format_number(longer)} times the time of the sample")
        text = (
            f"each row that it finds in the sample stands for {_format_number(factor)} of the table"
        )
        return f"{text}, because {' and '.join(reasons)}"

    def _compute_time_factor(self, read: DeclaredRead, resolution_ns: int = 0) -> float | None:
        """Return how many more rows the time of a read has; None if its length is unknown."""
        density = self._density
        if density is None:
            return None
        operators = {one.operator for one in read.conditions if one.field == density.field}
        is_exact = bool(operators & {"=", "in"})
        has_end = bool(operators & {"<", "<=", "between"}) or read.span is not None
        if is_exact or (has_end and operators & {">", ">=", "between"}):
            return density.compute_factor(read, resolution_ns)
        return None


@dataclass(frozen=True, slots=True)
class TimeDensity:
    """The time that a sample covers, and how densely events lie in time.

    Args:
        field: the field that holds the time of an event.
        first: the earliest time, as an internal value of the field.
        last: the latest time.
        unit_ns: nanoseconds of a unit of the field.
        sample_rate: events a second in the sample.
        rate: events a second in the table.
        has_bursts: whether the sample was generated with the declared bursts, so that within its
            time the table is like it.
    """

    field: str
    first: int
    last: int
    unit_ns: int
    sample_rate: float
    rate: float
    has_bursts: bool = False

    @property
    def sample_factor(self) -> float:
        """Return how many more events the table has in the time of the sample."""
        return 1.0 if self.has_bursts else self.rate / self.sample_rate

    def compute_factor(self, read: DeclaredRead, resolution_ns: int = 0) -> float:
        """Return how many more events the time of a read has, in whole steps of a resolution."""
        longer = self.compare_span(read, resolution_ns) - 1
        return self.sample_factor + longer * self.rate / self.sample_rate

    def compare_span(self, read: DeclaredRead, resolution_ns: int = 0) -> float:
        """Return how many times as long as the sample a read's time is; at least 1."""
        span = max(read.get_span(self.field) or 0, resolution_ns // self.unit_ns)
        return max(span / (self.last - self.first + 1), 1.0)


def _format_number(number: float) -> str:
    """Return a number with three significant digits.

    >>> _format_number(46_080.5), _format_number(4.0)
    ('46,100', '4')
    """
    return f"{float(f'{number:.3g}'):,.10g}"


def measure_persistence(rows: pa.RecordBatch, names: Collection[str]) -> float:
    """Return how much the values of some fields last through a sample: 0 not at all, 1 evenly.

    If values last, two rows with equal values lie one in the first and one in the last third of the
    sample as often as both in the same of these. If they occur for a short time, they never do: a
    value with most of its rows in the middle third lasted hardly longer than that.

    Args:
        rows: the sampled rows, in the order of their arrival.
        names: the fields; without any all rows have equal values.

    >>> import pyarrow as pa
    >>> rows = pa.record_batch({"user": ["a", "b"] * 50, "order": [n // 4 for n in range(100)]})
    >>> measure_persistence(rows, ["user"]), measure_persistence(rows, ["order"])
    (1.0, 0.0)
    """
    import numpy as np

    if not names:
        return 1.0
    groups = np.zeros(rows.num_rows, np.int64)
    for name in names:
        codes = rows.column(name).dictionary_encode().indices.fill_null(-1).to_numpy()
        _, groups = np.unique(groups * (len(codes) + 1) + codes + 1, return_inverse=True)
    third, count = rows.num_rows // 3, int(groups.max()) + 1
    first = np.bincount(groups[:third], minlength=count).astype(np.float64)
    last = np.bincount(groups[-third:] if third else [], minlength=count).astype(np.float64)
    middle = np.bincount(groups[third:-third] if third else [], minlength=count)
    is_steady = np.minimum(first, last) >= MIN_STEADY_SHARE * middle
    across = float(first @ (last * is_steady))
    within = float(first @ (first - 1) + last @ (last - 1)) / 2
    return min(across / max(within, 1.0), 1.0)


def measure_time_density(
    design: Design, rows: pa.RecordBatch, event_count: int, *, is_generated: bool
) -> TimeDensity | None:
    """Measure how densely events lie in time; without a declared rate the table is like them.

    Args:
        design: the design.
        rows: a uniform sample of the events, in the order of their arrival.
        event_count: how many events it is a sample of.
        is_generated: whether they were generated at the declared rate, bursts included.

    Returns:
        None if no field holds the time, or if events do not arrive by the clock.
    """
    import numpy as np

    writes = design.writes
    time = writes.time
    if time is None or time.type.unit_ns is None or writes.arrival not in CLOCK_ARRIVALS:
        return None
    times = np.sort(time.to_internal_batch(rows.column(time.name).drop_null()))
    trimmed = int(len(times) * TRIMMED_SHARE)
    if not len(times):
        return None
    first, last = int(times[0]), int(times[-1])
    trimmed_first, trimmed_last = int(times[trimmed]), int(times[-1 - trimmed])
    if last - first > MAX_OUTLIER_FACTOR * (trimmed_last - trimmed_first):
        margin = (trimmed_last - trimmed_first) * trimmed // (len(times) - 2 * trimmed)
        first, last = max(trimmed_first - margin, first), min(trimmed_last + margin, last)
    step = max(int(np.gcd.reduce(np.diff(times))), 1)  # a minute, if all times are whole minutes
    last += step - 1
    seconds = (last - first + 1) * time.type.unit_ns / SECOND_NS
    sample_rate = event_count / seconds
    rate = writes.rate
    if rate is None or isclose(sample_rate, rate, rel_tol=SAME_RATE):
        rate = sample_rate
    # Events generated for some seconds are a thin sample of the day that all of them name.
    has_bursts = is_generated and sample_rate > rate
    unit_ns = time.type.unit_ns
    return TimeDensity(time.name, first, last, unit_ns, sample_rate, rate, has_bursts)
