"""Sparse counts of operations by window and region, and the load map made from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np

if TYPE_CHECKING:
    IntArray = np.ndarray[Any, Any]

TABLE_CELLS_PER_ENTRY = 4
"""Cells for each entry up to which a table of all cells is faster than sorting the entries."""
SMALL_TABLE_CELLS = 4_096
"""Cells up to which a table of all of them costs nothing."""
MAX_COLUMNS = 240
"""Columns kept; beyond, the width of a column doubles."""
MAX_UNMERGED_ENTRIES = 1 << 18
"""Entries added before they are merged with those that are kept."""


@dataclass(frozen=True)
class RegionCounts:
    """Sparse counts of operations by window and region.

    Args:
        region_count: how many regions there are.
        windows: the index of each window that has operations, ascending, each once.
        starts: where the entries of each window begin.
        regions: the region of each entry, ascending within its window.
        counts: the operations of each entry, at least one.
    """

    region_count: int
    windows: IntArray
    starts: IntArray
    regions: IntArray
    counts: IntArray

    @classmethod
    def from_events(cls, windows: IntArray, regions: IntArray, region_count: int) -> RegionCounts:
        """Count events by window and region.

        Args:
            windows: the window of each event, in any order; one event or more.
            regions: the region of each event.
            region_count: how many regions there are.

        Cost: 5 ns an event, 100 ns where windows and regions are many more than events.
        """
        first, last = int(windows.min()), int(windows.max())
        span = last - first + 1
        if _is_table_small(span * region_count, len(windows)):
            cells = regions if span == 1 else (windows - first) * region_count + regions
            return _sum_in_table(np.arange(first, last + 1), cells, None, region_count)
        if (windows[1:] >= windows[:-1]).all():
            begins = _mark_changes(windows)
            numbers, rows = windows[begins], np.cumsum(begins) - 1
        else:
            numbers, rows = np.unique(windows, return_inverse=True)
        return _sum_cells(numbers, rows * region_count + regions, None, region_count)

    @classmethod
    def merge(cls, parts: Sequence[RegionCounts]) -> RegionCounts:
        """Add up counts of the same regions."""
        if len(parts) == 1:
            return parts[0]
        region_count = parts[0].region_count
        numbers, rows = np.unique(
            np.concatenate([one.windows for one in parts]), return_inverse=True
        )
        rows = np.repeat(rows, np.concatenate([one.entry_counts for one in parts]))
        cells = rows * region_count + np.concatenate([one.regions for one in parts])
        counts = np.concatenate([one.counts for one in parts])
        return _sum_cells(numbers, cells, counts, region_count)

    def __len__(self) -> int:
        """Return the number of windows."""
        return len(self.windows)

    @cached_property
    def entry_counts(self) -> IntArray:
        """Return how many regions have operations in each window."""
        return np.append(self.starts[1:], len(self.regions)) - self.starts

    @cached_property
    def window_totals(self) -> IntArray:
        """Return the operations of each window."""
        return np.add.reduceat(self.counts, self.starts)

    def widen_windows(self, factor: int) -> RegionCounts:
        """Return the counts by windows that are `factor` times as wide."""
        numbers = self.windows // factor
        begins = _mark_changes(numbers)
        if begins.all():
            return RegionCounts(self.region_count, numbers, self.starts, self.regions, self.counts)
        rows = np.repeat(np.cumsum(begins) - 1, self.entry_counts)
        cells = rows * self.region_count + self.regions
        return _sum_cells(numbers[begins], cells, self.counts, self.region_count)

    def slice_windows(self, start: int, stop: int) -> RegionCounts:
        """Return the counts of the windows from index `start` to `stop`."""
        first, last = int(self.entry_counts[:start].sum()), int(self.entry_counts[:stop].sum())
        return RegionCounts(
            self.region_count,
            self.windows[start:stop],
            self.starts[start:stop] - first,
            self.regions[first:last],
            self.counts[first:last],
        )

    def select_windows(self, is_wanted: IntArray) -> RegionCounts:
        """Return the counts of the windows that a boolean mask selects."""
        entries = np.repeat(is_wanted, self.entry_counts)
        sizes = self.entry_counts[is_wanted]
        return RegionCounts(
            self.region_count,
            self.windows[is_wanted],
            np.cumsum(sizes) - sizes,
            self.regions[entries],
            self.counts[entries],
        )

    def sum_groups(self, region_groups: IntArray, group_count: int) -> RegionCounts:
        """Return the counts with groups of regions in place of the regions.

        Args:
            region_groups: the group of each region.
            group_count: how many groups there are.
        """
        rows = np.repeat(np.arange(len(self)), self.entry_counts)
        cells = rows * group_count + region_groups[self.regions]
        return _sum_cells(self.windows, cells, self.counts, group_count)

    def fill_table(self, table: IntArray, first: int) -> None:
        """Write the counts into a dense table that is filled with zeros.

        Args:
            table: a row for each window, a column for each region.
            first: the window of its first row.
        """
        table[np.repeat(self.windows - first, self.entry_counts), self.regions] = self.counts


def _is_table_small(cells: int, entries: int) -> bool:
    """Return whether a dense table costs little more than sparse entries."""
    return cells <= TABLE_CELLS_PER_ENTRY * entries + SMALL_TABLE_CELLS


def _mark_changes(values: IntArray) -> IntArray:
    """Return a mask of the first value and of each value that differs from the previous one."""
    changes = np.empty(len(values), np.bool_)
    changes[0] = True
    np.not_equal(values[1:], values[:-1], out=changes[1:])
    return changes


def _sum_cells(
    numbers: IntArray, cells: IntArray, counts: IntArray | None, region_count: int
) -> RegionCounts:
    """Return counts in which entries of the same window and region are added up.

    Args:
        numbers: the windows, each with an entry or more.
        cells: the cell of each entry: the place of its window times `region_count`, and its region.
        counts: the operations of each entry; one each if None.
        region_count: how many regions there are.
    """
    if _is_table_small(len(numbers) * region_count, len(cells)):
        return _sum_in_table(numbers, cells, counts, region_count)
    if counts is None:
        unique_cells, sums = np.unique(cells, return_counts=True)
    else:
        order = np.argsort(cells, kind="stable")
        ordered = cells[order]
        begins = np.flatnonzero(_mark_changes(ordered))
        unique_cells, sums = ordered[begins], np.add.reduceat(counts[order], begins)
    return _from_cells(numbers, unique_cells, sums, region_count)


def _sum_in_table(
    numbers: IntArray, cells: IntArray, counts: IntArray | None, region_count: int
) -> RegionCounts:
    """Add up entries of the same window and region with a dense table."""
    # Sums of weights are floating-point numbers, exact up to 2^53 operations.
    table = np.bincount(cells, weights=counts, minlength=len(numbers) * region_count)
    found = np.flatnonzero(table)
    return _from_cells(numbers, found, table[found].astype(np.int64, copy=False), region_count)


def _from_cells(
    numbers: IntArray, cells: IntArray, counts: IntArray, region_count: int
) -> RegionCounts:
    """Build counts from ascending cells of windows and regions."""
    if len(numbers) == 1:
        return RegionCounts(region_count, numbers, np.zeros(1, np.intp), cells, counts)
    rows, regions = np.divmod(cells, region_count)
    starts = np.flatnonzero(_mark_changes(rows))
    return RegionCounts(region_count, numbers[rows[starts]], starts, regions, counts)


class LoadMap:
    """Operations by time column and region, for a heat map of the load.

    Args:
        regions: how many regions.
        max_columns: most columns kept.
    """

    def __init__(self, regions: int, max_columns: int = MAX_COLUMNS) -> None:
        self.regions = regions
        self.max_columns = max_columns
        self.width_s = 1
        self._first, self._stop = 0, 0
        self._counts: list[RegionCounts] = []
        self._unmerged = 0

    def add(self, counts: RegionCounts) -> None:
        """Add counts whose windows are seconds since 1970."""
        self._widen(int(counts.windows[0]), int(counts.windows[-1]), 1)
        self._append(counts.widen_windows(self.width_s))

    def _widen(self, first_s: int, last_s: int, width_s: int) -> None:
        """Extend the map to cover two seconds, with columns of at least some width."""
        width_s = max(width_s, self.width_s)
        if self._counts:
            first_s = min(first_s, self._first * self.width_s)
            last_s = max(last_s, self._stop * self.width_s - 1)
        while last_s // width_s - first_s // width_s >= self.max_columns:
            width_s *= 2
        if width_s > self.width_s and self._counts:
            self._counts = [RegionCounts.merge(self._counts).widen_windows(width_s // self.width_s)]
        self._first, self._stop, self.width_s = first_s // width_s, last_s // width_s + 1, width_s

    def _append(self, counts: RegionCounts) -> None:
        """Add counts whose windows are columns of this map."""
        self._counts.append(counts)
        self._unmerged += len(counts.counts)
        if self._unmerged > MAX_UNMERGED_ENTRIES:
            self._counts, self._unmerged = [RegionCounts.merge(self._counts)], 0

    def merge(self, other: LoadMap) -> None:
        """Add the counts of another load map of the same regions."""
        if not other._counts:
            return
        first, last = other._first * other.width_s, other._stop * other.width_s - 1
        self._widen(first, last, other.width_s)
        factor = self.width_s // other.width_s
        self._append(RegionCounts.merge(other._counts).widen_windows(factor))

    def to_dense(self) -> tuple[int, IntArray]:
        """Return the first column's start in seconds since 1970, and a dense array of counts.

        Cost: 8 bytes for each column and region, 192 MB for 100,000 regions.
        """
        return self.sum_groups(None, self.regions)

    def sum_groups(self, region_groups: IntArray | None, group_count: int) -> tuple[int, IntArray]:
        """Return what `to_dense` does, with groups of regions in place of the regions.

        Args:
            region_groups: the group of each region, from 0; None if each is its own.
            group_count: how many groups there are.
        """
        table = np.zeros((self._stop - self._first, group_count), np.int64)
        if self._counts:
            counts = RegionCounts.merge(self._counts)
            if region_groups is not None:
                counts = counts.sum_groups(region_groups, group_count)
            counts.fill_table(table, self._first)
        return self._first * self.width_s, table
