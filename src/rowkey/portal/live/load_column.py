"""The load of a table in one stretch of time: the requests of its key ranges and servers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np
from rowkey.render import MAX_MAP_ROWS

if TYPE_CHECKING:
    from rowkey.observe import LoadInterval

    IntArray = np.ndarray[Any, np.dtype[np.int64]]
    KeyRange = tuple[bytes, bytes]


MINUTE_MS = 60_000
"""The shortest column, in milliseconds."""
MAX_PIECES = 60
"""Columns that one interval is divided over, at most: of a longer one the last hour counts."""
WRITES, READS, UNKNOWN_MS = range(3)
"""The rows of `LoadColumn.counts`."""
_MIN_WEIGHT_SHARE = 0.01
"""What a range without load weighs, as a share of the mean: cold ranges are joined evenly."""
_SEARCH_STEPS = 8
"""Halvings in the search for the least load of a group: its error is then 1/256."""


@dataclass(frozen=True, slots=True)
class LoadColumn:
    """The requests of a table's key ranges and servers in one stretch of time.

    Regions that were split, merged or joined within that time are there as they were before and
    after, so that ranges may overlap.

    Args:
        start_ms: its begin, milliseconds since 1970, a multiple of its layer's width.
        length_ms: how much of it the counters were watched.
        ranges: the first row key and the stop key of each range, in their order; an empty stop key
            is the end of the table.
        counts: writes, reads, and the milliseconds in which both are unknown, by range.
        servers: writes and reads of each server.
    """

    start_ms: int
    length_ms: int
    ranges: tuple[KeyRange, ...]
    counts: IntArray
    servers: Mapping[str, tuple[int, int]]


def build_minute_columns(interval: LoadInterval, end_ms: int) -> list[LoadColumn]:
    """Return what each minute has of an interval: its counts, divided by time.

    Args:
        end_ms: when it ended, milliseconds since 1970.
    """
    ranges = tuple(interval.bounds)
    lengths = _divide_time(end_ms - max(round(interval.length_s * 1_000), 1), end_ms)
    total_ms = sum(length for _, length in lengths)
    known = [region.writes is not None and region.reads is not None for region in interval.regions]
    counts = np.array(
        [
            [region.writes or 0 for region in interval.regions],
            [region.reads or 0 for region in interval.regions],
        ],
        np.int64,
    )
    numbers = {name: number for number, name in enumerate(interval.servers)}
    servers_of_regions = [numbers[region.server] for region in interval.regions]
    columns, done_ms = [], 0
    for start_ms, length_ms in lengths:
        before, done_ms = done_ms, done_ms + length_ms
        parts = counts * done_ms // total_ms - counts * before // total_ms
        unknown_ms = np.where(known, 0, length_ms)
        by_server = np.zeros((len(interval.servers), 2), np.int64)
        np.add.at(by_server, servers_of_regions, parts.T)
        servers = {
            name: (int(by_server[n, 0]), int(by_server[n, 1])) for name, n in numbers.items()
        }
        column = LoadColumn(start_ms, length_ms, ranges, np.vstack((parts, unknown_ms)), servers)
        columns.append(limit_ranges(column))
    return columns


def _divide_time(start_ms: int, end_ms: int) -> list[tuple[int, int]]:
    """Return the begin of each minute that a stretch of time touches, and its share of it."""
    first = max(start_ms // MINUTE_MS, (end_ms - 1) // MINUTE_MS - MAX_PIECES + 1)
    minutes = range(first, (end_ms - 1) // MINUTE_MS + 1)
    return [
        (
            minute * MINUTE_MS,
            min((minute + 1) * MINUTE_MS, end_ms) - max(minute * MINUTE_MS, start_ms),
        )
        for minute in minutes
    ]


def merge_columns(columns: Sequence[LoadColumn], start_ms: int) -> LoadColumn:
    """Return one column with the sums of several.

    Args:
        columns: at least one.
        start_ms: the begin of the result.
    """
    length_ms = sum(one.length_ms for one in columns)
    servers: dict[str, tuple[int, int]] = {}
    for column in columns:
        for name, (writes, reads) in column.servers.items():
            before = servers.get(name, (0, 0))
            servers[name] = (before[0] + writes, before[1] + reads)
    ranges = columns[0].ranges
    if all(one.ranges == ranges for one in columns):
        counts: IntArray = np.sum([one.counts for one in columns], axis=0)
        return LoadColumn(start_ms, length_ms, ranges, counts, servers)
    ranges = tuple(sorted({one for column in columns for one in column.ranges}, key=_get_order))
    places = {one: place for place, one in enumerate(ranges)}
    counts = np.zeros((3, len(ranges)), np.int64)
    for column in columns:  # no range is twice in a column
        counts[:, [places[one] for one in column.ranges]] += column.counts
    return limit_ranges(LoadColumn(start_ms, length_ms, ranges, counts, servers))


def limit_ranges(column: LoadColumn) -> LoadColumn:
    """Return a column with at most `MAX_MAP_ROWS` ranges: only cold neighbours are joined."""
    if len(column.ranges) <= MAX_MAP_ROWS:
        return column
    starts = choose_groups(column.counts[WRITES] + column.counts[READS], MAX_MAP_ROWS)
    groups = [column.ranges[a:b] for a, b in _iterate_spans(starts, len(column.ranges))]
    sums = np.add.reduceat(column.counts[:UNKNOWN_MS], starts, axis=1)
    unknown_ms = np.maximum.reduceat(column.counts[UNKNOWN_MS], starts)
    joined: dict[KeyRange, IntArray] = {}
    for number, group in enumerate(groups):
        one = (group[0][0], max(group, key=lambda pair: _get_order((b"", pair[1])))[1])
        counts = np.append(sums[:, number], unknown_ms[number])
        joined[one] = joined[one] + counts if one in joined else counts
    ranges = tuple(sorted(joined, key=_get_order))
    table: IntArray = np.array([joined[one] for one in ranges]).T
    return LoadColumn(column.start_ms, column.length_ms, ranges, table, column.servers)


def _get_order(one: KeyRange) -> tuple[bytes, bool, bytes]:
    """Return the sort key of a range: its first row key, then its stop key, the end last."""
    return one[0], not one[1], one[1]


def _iterate_spans(starts: Sequence[int], stop: int) -> Iterator[tuple[int, int]]:
    """Yield the begin and the end of each group."""
    yield from zip(starts, [*starts[1:], stop], strict=True)


def choose_groups(weights: IntArray, max_count: int) -> list[int]:
    """Return where groups of neighbours begin, so that the load of the fullest group is small.

    Whatever has more load than that stays alone.

    Args:
        weights: the load of each range.
        max_count: groups at most, at least 2.

    >>> import numpy as np
    >>> choose_groups(np.array([0, 0, 0, 90, 0, 80, 0, 0]), 5)
    [0, 3, 4, 5, 6]
    """
    if len(weights) <= max_count:
        return list(range(len(weights)))
    total = float(weights.sum()) or 1.0
    sums = np.cumsum(weights + _MIN_WEIGHT_SHARE * total / len(weights)).tolist()
    # Two neighbouring groups have more than the limit, so this limit is always enough.
    low, high = 0.0, 2 * sums[-1] / (max_count - 1)
    best = _group_by_limit(sums, high, max_count)
    for _ in range(_SEARCH_STEPS):
        middle = (low + high) / 2
        groups = _group_by_limit(sums, middle, max_count)
        if groups:
            best, high = groups, middle
        else:
            low = middle
    return best


def _group_by_limit(sums: Sequence[float], limit: float, max_count: int) -> list[int]:
    """Return the begins of groups of at most so much load; none if there would be too many."""
    starts: list[int] = []
    at, done = 0, 0.0
    while at < len(sums):
        if len(starts) == max_count:
            return []
        starts.append(at)
        at = max(bisect_right(sums, done + limit, at), at + 1)
        done = sums[at - 1]
    return starts
