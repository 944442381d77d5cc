"""The map of a table's load over time: rows of one axis for all columns, and servers.

The axis has a row between any two neighbouring bounds that regions had in that time. So a split or
a move changes no row of the columns before it. The requests of a region that several rows lie in
are divided equally over them, as nobody knows better.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rowkey.array_libraries import np
from rowkey.portal.live.load_column import READS, UNKNOWN_MS, WRITES, choose_groups
from rowkey.render import MAX_MAP_ROWS

if TYPE_CHECKING:
    from rowkey.portal.live.load_column import IntArray, KeyRange, LoadColumn


LoadName = Literal["writes", "reads", "both"]
"""What a map shows."""
_COUNTERS: dict[str, list[int]] = {"writes": [WRITES], "reads": [READS], "both": [WRITES, READS]}
"""The rows of `LoadColumn.counts` that are summed."""
MAX_UNKNOWN_BOXES = 512
"""Boxes of cells without a known count that a map lists."""


@dataclass(frozen=True, slots=True, eq=False)
class LoadHistoryMap:
    """The load of a table by time and key, and by time and server.

    Args:
        start_ms: the begin of the first column, milliseconds since 1970.
        width_ms: milliseconds of a column.
        starts: the first row key of each row.
        counts: requests by column and row.
        servers: the names of the rows of `server_counts`.
        server_counts: requests by column and server.
        unknown_boxes: where requests are unknown for half of the time or more: first column, stop
            column, first row, stop row.
        unknown_columns: first and stop column of each stretch of time without a reading.
    """

    start_ms: int
    width_ms: int
    starts: tuple[bytes, ...]
    counts: IntArray
    servers: tuple[str, ...]
    server_counts: IntArray
    unknown_boxes: tuple[tuple[int, int, int, int], ...]
    unknown_columns: tuple[tuple[int, int], ...]


def build_load_map(
    columns: Sequence[LoadColumn], width_ms: int, stop_ms: int, load: LoadName
) -> LoadHistoryMap:
    """Return the map of some columns, from the first one on.

    Args:
        columns: in the order of time, at least one.
        width_ms: milliseconds of a column of the map.
        stop_ms: the end of its last column.
        load: what it shows.

    Cost: some tens of ms for 300 columns of 1,536 ranges.
    """
    start_ms = columns[0].start_ms // width_ms * width_ms
    n_columns = max((stop_ms - start_ms) // width_ms, 1)
    places = [min((one.start_ms - start_ms) // width_ms, n_columns - 1) for one in columns]
    starts = build_axis(columns)
    counts: IntArray = np.zeros((n_columns, len(starts)), np.int64)
    unknown = np.zeros((n_columns, len(starts)), np.int64)
    watched: IntArray = np.zeros(n_columns, np.int64)
    np.add.at(watched, places, [one.length_ms for one in columns])
    for numbers in _group_by_ranges(columns):
        group = [(places[number], columns[number].counts) for number in numbers]
        where = np.unique([place for place, _ in group])
        spread = _AxisSpread(columns[numbers[0]].ranges, starts)
        requests = _sum_by_place(group, where, _COUNTERS[load])
        counts[where[:, None], spread.rows] += spread.divide(requests)
        unknown_ms = _sum_by_place(group, where, [UNKNOWN_MS])
        if unknown_ms.any():
            # Ranges that overlap, as a region and its halves, were unknown one after the other.
            unknown[where[:, None], spread.rows] += spread.repeat(unknown_ms)
    names = tuple(sorted({name for one in columns for name in one.servers}))
    by_server = {name: number for number, name in enumerate(names)}
    server_counts: IntArray = np.zeros((n_columns, len(names)), np.int64)
    for place, column in zip(places, columns, strict=True):
        for name, pair in column.servers.items():
            server_counts[place, by_server[name]] += sum(pair[at] for at in _COUNTERS[load])
    gaps = tuple(_find_runs((watched == 0).tolist()))
    is_unknown = (2 * unknown >= watched[:, None]) & (unknown > 0)
    return LoadHistoryMap(
        start_ms,
        width_ms,
        starts,
        counts,
        names,
        server_counts,
        tuple(_find_boxes(is_unknown.tolist() if is_unknown.any() else [])),
        gaps,
    )


def build_axis(columns: Sequence[LoadColumn], max_rows: int = MAX_MAP_ROWS) -> tuple[bytes, ...]:
    """Return the first row key of each row: the bounds of all columns, or the hotter ones of them.

    Args:
        columns: at least one.
        max_rows: rows at most, at least 2. Above that, cold neighbours share a row.
    """
    layouts = [columns[numbers[0]].ranges for numbers in _group_by_ranges(columns)]
    edges = {b"", *(key for ranges in layouts for one in ranges for key in one)}
    starts = tuple(sorted(edges))
    if len(starts) <= max_rows:
        return starts
    weights: IntArray = np.zeros(len(starts), np.int64)
    for numbers, ranges in zip(_group_by_ranges(columns), layouts, strict=True):
        spread = _AxisSpread(ranges, starts)
        totals = sum(columns[number].counts[:UNKNOWN_MS].sum(axis=0) for number in numbers)
        weights[spread.rows] += spread.divide(np.array([totals]))[0]
    return tuple(starts[place] for place in choose_groups(weights, max_rows))


class _AxisSpread:
    """How the counts of ranges are divided over the rows of an axis.

    Args:
        ranges: in their order.
        starts: the first row key of each row.
    """

    def __init__(self, ranges: Sequence[KeyRange], starts: Sequence[bytes]) -> None:
        firsts = np.array([bisect_right(starts, start) - 1 for start, _ in ranges])
        stops = np.array([bisect_left(starts, stop) if stop else len(starts) for _, stop in ranges])
        self._sizes = stops - firsts
        self._ranges = np.repeat(np.arange(len(ranges)), self._sizes)
        begins = np.cumsum(self._sizes) - self._sizes
        self._numbers = np.arange(len(self._ranges)) - begins[self._ranges]
        rows = firsts[self._ranges] + self._numbers
        self._order = np.argsort(rows, kind="stable")
        self.rows, self._first_places = np.unique(rows[self._order], return_index=True)

    def divide(self, counts: IntArray) -> IntArray:
        """Return counts by column and row, from counts by column and range; sums stay equal."""
        if len(self.rows) == counts.shape[1] and (self._sizes == 1).all():
            return counts[:, self._order]
        sizes, numbers = self._sizes[self._ranges], self._numbers
        each = counts[:, self._ranges]
        parts = each * (numbers + 1) // sizes - each * numbers // sizes
        divided: IntArray = np.add.reduceat(parts[:, self._order], self._first_places, axis=1)
        return divided

    def repeat(self, counts: IntArray) -> IntArray:
        """Return by column and row the greatest count of the ranges that the row lies in."""
        each = counts[:, self._ranges][:, self._order]
        greatest: IntArray = np.maximum.reduceat(each, self._first_places, axis=1)
        return greatest


def _sum_by_place(
    group: Sequence[tuple[int, IntArray]], where: IntArray, counters: Sequence[int]
) -> IntArray:
    """Return the sums of some counters by column of the map and range.

    Args:
        group: the column of the map, and the counts, of each stored column.
        where: the columns of the map, ascending.
        counters: rows of the counts.
    """
    sums: IntArray = np.zeros((len(where), group[0][1].shape[1]), np.int64)
    rows = {place: row for row, place in enumerate(where.tolist())}
    for place, counts in group:
        for counter in counters:
            sums[rows[place]] += counts[counter]
    return sums


def _group_by_ranges(columns: Sequence[LoadColumn]) -> list[list[int]]:
    """Return the numbers of the columns that have the same ranges, as the same object."""
    groups: dict[int, list[int]] = {}
    for number, column in enumerate(columns):
        groups.setdefault(id(column.ranges), []).append(number)
    return list(groups.values())


def _find_runs(flags: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield the begin and the end of each run of true values."""
    start = None
    for place, flag in enumerate([*flags, False]):
        if flag and start is None:
            start = place
        elif not flag and start is not None:
            yield start, place
            start = None


def _find_boxes(flags: Sequence[Sequence[bool]]) -> list[tuple[int, int, int, int]]:
    """Return boxes of true cells: runs of rows, joined with equal runs of the column before."""
    boxes: list[tuple[int, int, int, int]] = []
    open_boxes: dict[tuple[int, int], int] = {}
    for column, cells in enumerate(flags):
        current: dict[tuple[int, int], int] = {}
        for run in _find_runs(cells):
            place = open_boxes.get(run)
            if place is not None:
                boxes[place] = (boxes[place][0], column + 1, *run)
            elif len(boxes) < MAX_UNKNOWN_BOXES:
                place = len(boxes)
                boxes.append((column, column + 1, *run))
            if place is not None:
                current[run] = place
        open_boxes = current
    return boxes
