from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given

from portal.load_columns import START_MS, build_interval, draw_intervals
from rowkey.portal.live.load_column import LoadColumn, build_minute_columns
from rowkey.portal.live.load_map import build_axis, build_load_map

if TYPE_CHECKING:
    from rowkey.observe import LoadInterval

WIDTH_MS = 60_000
END = b"\xff" * 9
"""Stands for the end of a table."""


def list_columns(intervals: Sequence[tuple[int, LoadInterval]]) -> list[LoadColumn]:
    """Return the minutes of intervals in the order of time."""
    columns = [one for end_ms, each in intervals for one in build_minute_columns(each, end_ms)]
    return sorted(columns, key=lambda one: one.start_ms)


def divide_naively(columns: list[LoadColumn], starts: Sequence[bytes]) -> dict[int, list[int]]:
    """Return the writes by minute and row, each range divided over the rows that it overlaps."""
    rows = list(pairwise([*starts, END]))
    found: dict[int, list[int]] = {}
    for column in columns:
        cells = found.setdefault(column.start_ms // WIDTH_MS, [0] * len(rows))
        sums: dict[tuple[bytes, bytes], int] = {}
        for one in columns:
            if one.start_ms == column.start_ms and one.ranges == column.ranges:
                for place, pair in enumerate(one.ranges):
                    sums[pair] = sums.get(pair, 0) + int(one.counts[0, place])
        if column is not next(
            one for one in columns if (one.start_ms, one.ranges) == (column.start_ms, column.ranges)
        ):
            continue
        for (start, stop), count in sums.items():
            inside = [n for n, row in enumerate(rows) if row[0] < (stop or END) and start < row[1]]
            for number, row in enumerate(inside):
                share = count * (number + 1) // len(inside) - count * number // len(inside)
                cells[row] += share
    return found


def share_ranges(columns: list[LoadColumn]) -> list[LoadColumn]:
    """Return the columns with one object for equal ranges, as the history returns them."""
    known: dict[object, object] = {}
    return [
        LoadColumn(
            one.start_ms,
            one.length_ms,
            known.setdefault(one.ranges, one.ranges),  # type: ignore[arg-type]
            one.counts,
            one.servers,
        )
        for one in columns
    ]


@given(draw_intervals(10))
def test_load_map_cells_equal_those_of_a_naive_map(
    intervals: list[tuple[int, LoadInterval]],
) -> None:
    """Each cell has its share of the regions that it lies in, and sums by minute are kept."""
    columns = share_ranges(list_columns(intervals))
    found = build_load_map(columns, WIDTH_MS, intervals[-1][0] + WIDTH_MS, "writes")
    expected = divide_naively(columns, found.starts)
    first = found.start_ms // WIDTH_MS
    for place, cells in enumerate(found.counts.tolist()):
        assert expected.get(first + place, [0] * len(found.starts)) == cells
    assert sum(one.sum_operations("writes") for _, one in intervals) == found.counts.sum()
    assert found.counts.sum() == found.server_counts.sum()
    assert found.counts.sum(axis=1).tolist() == found.server_counts.sum(axis=1).tolist()


@given(draw_intervals(10))
def test_load_map_rows_are_not_moved_by_later_splits(
    intervals: list[tuple[int, LoadInterval]],
) -> None:
    """Every bound that a region ever had is one of a row, so that later splits move none."""
    columns = share_ranges(list_columns(intervals))
    edges = {key for one in columns for pair in one.ranges for key in pair}
    assert sorted(edges) == list(build_axis(columns))
    for count in range(1, len(columns)):
        assert set(build_axis(columns[:count])) <= edges


def test_the_load_map_of_4000_regions_has_at_most_100_rows() -> None:
    """Of 4,000 regions at two times, at most 100 rows are drawn, and no count is lost."""
    keys = [b"", *(number.to_bytes(2, "big") for number in range(1, 4_000)), b""]
    counts = np.ones((3, 4_000), np.int64)
    counts[2] = 0
    counts[0, 2_000] = 10**6
    columns = [LoadColumn(0, 60_000, tuple(pairwise(keys)), counts, {"s": (1, 1)})]
    columns.append(LoadColumn(60_000, 60_000, ((b"", b""),), np.array([[7], [0], [0]]), {}))
    starts = build_axis(columns, 100)
    assert len(starts) <= 100
    assert {(2_000).to_bytes(2, "big"), (2_001).to_bytes(2, "big")} <= set(starts)


def test_a_load_map_cell_is_unknown_if_half_of_its_time_is() -> None:
    """A cell is unknown if that is so for half of the time that was watched, or for longer."""
    unknown_ms = [0, 14_999, 15_000, 30_000]
    keys = [b"", b"a", b"b", b"c", b""]
    counts = np.array([[1] * 4, [0] * 4, unknown_ms])
    column = LoadColumn(0, 30_000, tuple(pairwise(keys)), counts, {})
    assert ((0, 1, 2, 4),) == build_load_map([column], WIDTH_MS, WIDTH_MS, "writes").unknown_boxes


def test_load_map_cells_and_minutes_without_counts_are_listed() -> None:
    """Cells without counts, and minutes without a reading, are listed."""
    intervals = [(START_MS // WIDTH_MS * WIDTH_MS + minute * WIDTH_MS, 11) for minute in (1, 4)]
    columns = [
        one
        for end_ms, seed in intervals
        for one in build_minute_columns(build_interval([5, 9], seed), end_ms)
    ]
    found = build_load_map(columns, WIDTH_MS, intervals[-1][0], "writes")
    unknown = [n for n, one in enumerate(build_interval([5, 9], 11).regions) if one.writes is None]
    assert ((1, 3),) == found.unknown_columns
    assert [[0, 1, n, n + 1] for n in unknown] == [
        list(box) for box in found.unknown_boxes if box[0] == 0
    ]
