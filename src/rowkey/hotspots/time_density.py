"""How densely events lie in time, in a sample and in the table that it is of."""

from __future__ import annotations

from dataclasses import dataclass
from math import isclose
from typing import Any

from rowkey.array_libraries import np, pa, pc
from rowkey.design import Design
from rowkey.hotspots.leading_parts import CLOCK_ARRIVALS
from rowkey.keys import Field
from rowkey.plan import DeclaredRead
from rowkey.schema import NANOSECONDS

STRAY_SHARE = 0.01
"""Share of the earliest and of the latest times that do not count if they are far from the others:
some clocks say 1970. They are if nothing came for longer than all others took."""
MIN_RATE_EVENTS, MIN_RATE_S = 10, 1.0
"""Events, and the seconds that they take, from which on a recording tells a rate."""
SAME_RATE = 0.02
"""Relative difference up to which the sample is taken to be at the declared rate."""
MAX_SHARED_TIMES = 0.5
"""Share of events with another time than the one before, up to which their step is kept."""


@dataclass(frozen=True, slots=True)
class TimeDensity:
    """The time that a sample covers, and how densely events lie in time.

    Args:
        time: the field that holds the time of an event.
        first: the earliest time, as an internal value of the field.
        last: the latest time.
        unit_ns: nanoseconds of a unit of the field.
        sample_rate: events a second in the sample.
        rate: events a second in the table.
        step_ns: the greatest time that divides all times between events.
        has_bursts: whether the sample was generated with the declared bursts, so that within its
            time the table is like it.
        stray_count: how many times of the sample lie far before or after all others, and do not
            count.
        is_one_moment: whether all others are one, so that only the declared rate tells how long the
            events took.
    """

    time: Field
    first: int
    last: int
    unit_ns: int
    sample_rate: float
    rate: float
    step_ns: int
    has_bursts: bool = False
    stray_count: int = 0
    is_one_moment: bool = False

    @property
    def field(self) -> str:
        """Return the name of the field that holds the time of an event."""
        return self.time.name

    @property
    def first_ms(self) -> int:
        """Return the earliest time in milliseconds since 1970."""
        return self.first * self.unit_ns // NANOSECONDS["ms"]

    @property
    def duration_s(self) -> float:
        """Return the seconds that the sample covers."""
        return (self.last - self.first + 1) * self.unit_ns / NANOSECONDS["s"]

    @property
    def sample_factor(self) -> float:
        """Return how many times as many events the table has in the time of the sample."""
        return 1.0 if self.has_bursts else self.rate / self.sample_rate

    def count_events(self, span: float) -> float:
        """Return the events of a time, for each event of the sample.

        Args:
            span: the time, in lengths of the sample, at least 1.
        """
        return self.sample_factor + (span - 1) * self.rate / self.sample_rate

    def place_times(self, rows: pa.RecordBatch) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the time of each row, from 0 at the first to 1 at the last; outliers at the ends.

        A row without a time has that of the row before it. Those of one moment are taken to come
        one after the other.
        """
        times = self.time.to_internal_batch(pc.fill_null_forward(rows.column(self.field)))
        if self.is_one_moment:
            return (np.arange(len(times)) + 0.5) / len(times)
        places = (times - self.first) / max(self.last - self.first + 1, 1)
        inside: np.ndarray[Any, np.dtype[np.float64]] = np.clip(places, 0.0, 1.0)
        return inside

    def compare_span(self, read: DeclaredRead, resolution_ns: int = 0) -> float:
        """Return how many times as long as the sample a read's time is; at least 1."""
        span = max(read.get_span(self.field) or 0, resolution_ns // self.unit_ns)
        return max(span / (self.last - self.first + 1), 1.0)


def measure_time_density(
    design: Design, rows: pa.RecordBatch, event_count: int, *, is_generated: bool
) -> TimeDensity | None:
    """Measure how densely events lie in time.

    Without a declared rate the table is like the recording, of which the sample may be a declared
    share.

    Args:
        design: the design.
        rows: a uniform sample of the events, in the order of their arrival.
        event_count: how many events it is a sample of.
        is_generated: whether they were generated at the declared rate, bursts included.

    Returns:
        None if no field holds the time, if events do not arrive by the clock, or if no rate is
        declared and they are too few, or took too short, to tell one.
    """
    writes = design.writes
    time = writes.time
    if time is None or time.type.unit_ns is None or writes.arrival not in CLOCK_ARRIVALS:
        return None
    times = np.sort(time.to_internal_batch(rows.column(time.name).drop_null()))
    if not len(times):
        return None
    kept = _leave_out_strays(times)
    first, last = int(kept[0]), int(kept[-1])
    is_one_moment = first == last
    if is_one_moment:
        if writes.rate is None:
            return None
        seconds = event_count / (design.sample_share or 1.0) / writes.rate
        last += max(round(seconds * NANOSECONDS["s"] / time.type.unit_ns) - 1, 0)
    distances = np.diff(kept)
    step = max(int(np.gcd.reduce(distances)), 1)  # a minute, if all times are whole minutes
    last += step - 1
    seconds = (last - first + 1) * time.type.unit_ns / NANOSECONDS["s"]
    sample_rate = event_count / seconds
    rate = writes.rate
    if rate is None:
        if not is_generated and (event_count < MIN_RATE_EVENTS or seconds < MIN_RATE_S):
            return None
        rate = sample_rate if is_generated else sample_rate / (design.sample_share or 1.0)
    elif isclose(sample_rate, rate, rel_tol=SAME_RATE):
        rate = sample_rate
    # Events generated for some seconds are a thin sample of the day that all of them name.
    has_bursts = is_generated and sample_rate > rate
    unit_ns = time.type.unit_ns
    # Events at equal distances have a step too, by which others may come between them.
    is_shared = np.count_nonzero(distances) < MAX_SHARED_TIMES * len(kept)
    step_ns = step * unit_ns if is_shared else unit_ns
    return TimeDensity(
        time,
        first,
        last,
        unit_ns,
        sample_rate,
        rate,
        step_ns,
        has_bursts,
        len(times) - len(kept),
        is_one_moment,
    )


def _leave_out_strays(times: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, Any]:
    """Return ascending times without the few that lie far before or far after all others."""
    count = int(len(times) * STRAY_SHARE)
    length = times[-1 - count] - times[count]
    pauses = np.flatnonzero(np.diff(times) > length)
    early, late = pauses[pauses < count], pauses[pauses >= len(times) - 1 - count]
    return times[early.max(initial=-1) + 1 : late.min(initial=len(times) - 1) + 1]
