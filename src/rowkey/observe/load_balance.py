"""Judge how evenly the load is spread over the servers, from the counters of intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import TYPE_CHECKING

from rowkey.hotspots import MIN_EVENTS_PER_SERVER, compute_even_deviation, compute_even_skew
from rowkey.messages import Message
from rowkey.simulate import LEVEL_NAMES, classify_skew

if TYPE_CHECKING:
    from rowkey.observe.region_deltas import CounterName, LoadInterval, RegionDelta

IDLE, THIN, UNKNOWN = "idle", "thin", "unknown"
"""Levels besides even, warm and hot: no operations, too few, or an unknown number of them."""
LOAD_LEVEL_NAMES = LEVEL_NAMES | {
    IDLE: Message("verdict.idle", "idle"),
    THIN: Message("verdict.thin", "too few"),
    UNKNOWN: Message("verdict.unknown", "not known"),
}
"""What users read for the levels of a load."""
MAX_UNKNOWN_SHARE = 0.02
"""Share of an interval's operations that may lie in regions with unknown counters, estimated from
earlier intervals: in a large table some region moves in every interval."""
MAX_STALE_INTERVALS = 2
"""Intervals for which the last known rate of a region is used."""


@dataclass(frozen=True, slots=True)
class LoadBalance:
    """How evenly reads or writes are spread over the region servers.

    Args:
        level: even, warm or hot; idle without operations, thin with too few of them, unknown if no
            interval has known counters.
        operation_count: operations in the intervals with known counters.
        servers: region servers.
        skew: load of the fullest server over its fair share, as the mean of all windows weighted
            by load; None unless the level is even, warm or hot.
        even_skew: the skew of an even design with as many operations.
        window_count: windows with enough operations; each has one interval or several.
        fullest_server: the fullest server of the last window.
        reason: why there are no figures, or an empty string.
    """

    level: str
    operation_count: int
    servers: int
    skew: float | None = None
    even_skew: float | None = None
    window_count: int = 0
    fullest_server: str = ""
    reason: str = ""

    @property
    def is_hot(self) -> bool:
        """Whether the imbalance wastes half of the servers' capacity."""
        return self.level == "hot"

    @property
    def is_uneven(self) -> bool:
        """Whether the load is warm or hot, so that a cause is searched."""
        return self.level in {"warm", "hot"}


def judge_balance(
    intervals: Sequence[LoadInterval],
    counter: CounterName,
    known_intervals: Sequence[LoadInterval] | None = None,
) -> LoadBalance:
    """Return how evenly the reads or writes of some intervals were spread over the servers.

    Args:
        intervals: in the order of time.
        counter: writes or reads.
        known_intervals: the result of `select_known_intervals`, if the caller already has it.
    """
    servers = len(intervals[-1].servers) if intervals else 0
    known_intervals = (
        select_known_intervals(intervals, counter) if known_intervals is None else known_intervals
    )
    if not known_intervals:
        return LoadBalance(UNKNOWN, 0, servers, reason=_explain_unknown(intervals))
    events = sum(one.sum_operations(counter) for one in known_intervals)
    if not events:
        return LoadBalance(IDLE, 0, servers, reason=f"no {counter}")
    windows = list(_build_windows(known_intervals, counter))
    if not windows:
        why = (
            f"{events:,} {counter} are too few for a verdict: {servers} servers need "
            f"{MIN_EVENTS_PER_SERVER} each"
        )
        return LoadBalance(THIN, events, servers, reason=why)
    return _judge_windows(windows, events)


def select_known_intervals(
    intervals: Sequence[LoadInterval], counter: CounterName
) -> list[LoadInterval]:
    """Return the intervals in which the counters of nearly all load are known.

    An interval with an unknown region is left out, because that region may have had the most load,
    unless the region had almost none in the intervals before.

    Args:
        intervals: in the order of time.
        counter: writes or reads.
    """
    known_intervals: list[LoadInterval] = []
    for number, one in enumerate(intervals):
        gaps = [region for region in one.regions if region.get_count(counter) is None]
        history = intervals[max(number - MAX_STALE_INTERVALS, 0) : number] if gaps else ()
        operations = _estimate_rate(gaps, history, counter) * one.length_s
        if not gaps or operations < MAX_UNKNOWN_SHARE * one.sum_operations(counter):
            known_intervals.append(one)
    return known_intervals


def _estimate_rate(
    regions: Sequence[RegionDelta], earlier_intervals: Sequence[LoadInterval], counter: CounterName
) -> float:
    """Return the last known operations per second of regions; infinite if unknown."""
    rates = {
        (region.start, region.stop): operations / one.length_s
        for one in earlier_intervals
        for region in one.regions
        if (operations := region.get_count(counter)) is not None
    }
    return sum(rates.get((region.start, region.stop), inf) for region in regions)


def _build_windows(
    intervals: Sequence[LoadInterval], counter: CounterName
) -> Iterator[dict[str, int]]:
    """Yield the operations per server of windows that have enough operations for a verdict.

    All intervals of a window have the same servers; a restarted server has another name and begins
    a new window. The last intervals are left out if they have too few operations for a window.
    """
    window: dict[str, int] = {}
    for interval in intervals:
        loads = interval.sum_by_server(counter)
        same = window.keys() == loads.keys()
        window = {name: load + window[name] if same else load for name, load in loads.items()}
        if sum(window.values()) >= MIN_EVENTS_PER_SERVER * len(window):
            yield window
            window = {}


def _judge_windows(windows: Sequence[Mapping[str, int]], operation_count: int) -> LoadBalance:
    """Return the skew and the verdict over all windows."""
    totals = [sum(loads.values()) for loads in windows]
    total_operations = sum(totals)
    skew = even = variance = 0.0
    for loads, total in zip(windows, totals, strict=True):
        servers = len(loads)
        skew += max(loads.values()) * servers / total_operations
        even += float(compute_even_skew(total, servers)) * total / total_operations
        variance += (float(compute_even_deviation(total, servers)) * total / total_operations) ** 2
    last = windows[-1]
    level = classify_skew(skew, even, 3 * sqrt(variance), len(last))
    fullest = max(last, key=lambda name: last[name])
    return LoadBalance(level, operation_count, len(last), skew, even, len(windows), fullest)


def _explain_unknown(intervals: Sequence[LoadInterval]) -> str:
    """Return why no interval has known counters."""
    if not intervals:
        return "the counters were read only once; a rate needs two readings"
    lacking = [region.reason for region in intervals[-1].regions if region.reason]
    return f"{len(lacking)} of {len(intervals[-1].regions)} regions have no rate: {lacking[0]}"
