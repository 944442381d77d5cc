"""Operations by window and region, listed only where there were any; and the heat map of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    Ints = np.ndarray[Any, Any]

TABLE_CELLS_PER_ENTRY = 4
"""Cells for each entry up to which a table of all cells is faster than sorting the entries."""
SMALL_TABLE_CELLS = 4_096
"""Cells up to which a table of all of them costs nothing."""
MOST_COLUMNS = 240
"""Columns kept; beyond, the width of a column doubles."""
MOST_UNMERGED = 1 << 18
"""Entries added before they are merged with those that are kept."""


@dataclass(frozen=True)
class RegionCounts:
    """Operations by window and region; memory grows with the operations, not with the regions.

    Args:
        region_count: how many regions there are.
        windows: the number of each window that has operations, ascending, each once.
        starts: where the entries of each window begin.
        regions: the region of each entry, ascending within its window.
        counts: the operations of each entry, at least one.
    """

    region_count: int
    windows: Ints
    starts: Ints
    regions: Ints
    counts: Ints

    @classmethod
    def from_events(cls, windows: Ints, regions: Ints, region_count: int) -> RegionCounts:
        """Count events.

        Args:
            windows: the window of each event, in any order; one event or more.
            regions: the region of each event.
            region_count: how many regions there are.

        Cost: 5 ns an event, 100 ns where windows and regions are many more than events.
        """
        import numpy as np

        first, last = int(windows.min()), int(windows.max())
        span = last - first + 1
        if _is_table_small(span * region_count, len(windows)):
            cells = regions if span == 1 else (windows - first) * region_count + regions
            return _from_table(np.arange(first, last + 1), cells, None, region_count)
        if (windows[1:] >= windows[:-1]).all():
            begins = _mark_changes(windows)
            numbers, rows = windows[begins], np.cumsum(begins) - 1
        else:
            numbers, rows = np.unique(windows, return_inverse=True)
        return _sum_cells(numbers, rows * region_count + regions, None, region_count)

    @classmethod
    def merge(cls, several: Sequence[RegionCounts]) -> RegionCounts:
        """Add up counts of the same regions; one or more of them."""
        import numpy as np

        if len(several) == 1:
            return several[0]
        region_count = several[0].region_count
        numbers, rows = np.unique(
            np.concatenate([one.windows for one in several]), return_inverse=True
        )
        rows = np.repeat(rows, np.concatenate([one.sizes for one in several]))
        cells = rows * region_count + np.concatenate([one.regions for one in several])
        counts = np.concatenate([one.counts for one in several])
        return _sum_cells(numbers, cells, counts, region_count)

    def __len__(self) -> int:
        """The number of windows."""
        return len(self.windows)

    @cached_property
    def sizes(self) -> Ints:
        """The number of entries of each window."""
        import numpy as np

        return np.append(self.starts[1:], len(self.regions)) - self.starts

    @cached_property
    def totals(self) -> Ints:
        """The operations of each window."""
        import numpy as np

        return np.add.reduceat(self.counts, self.starts)

    def widen(self, factor: int) -> RegionCounts:
        """Return the counts by windows that are so many times as wide; of one window or more."""
        import numpy as np

        numbers = self.windows // factor
        begins = _mark_changes(numbers)
        if begins.all():
            return RegionCounts(self.region_count, numbers, self.starts, self.regions, self.counts)
        rows = np.repeat(np.cumsum(begins) - 1, self.sizes)
        cells = rows * self.region_count + self.regions
        return _sum_cells(numbers[begins], cells, self.counts, self.region_count)

    def slice(self, start: int, stop: int) -> RegionCounts:
        """Return the counts of the windows from one place among them up to another."""
        first, last = int(self.sizes[:start].sum()), int(self.sizes[:stop].sum())
        return RegionCounts(
            self.region_count,
            self.windows[start:stop],
            self.starts[start:stop] - first,
            self.regions[first:last],
            self.counts[first:last],
        )

    def select(self, is_wanted: Ints) -> RegionCounts:
        """Return the counts of some windows, told by a truth value for each."""
        import numpy as np

        entries = np.repeat(is_wanted, self.sizes)
        sizes = self.sizes[is_wanted]
        return RegionCounts(
            self.region_count,
            self.windows[is_wanted],
            np.cumsum(sizes) - sizes,
            self.regions[entries],
            self.counts[entries],
        )

    def fill(self, table: Ints, first: int) -> None:
        """Write the counts into a table of zeros.

        Args:
            table: a row for each window, a column for each region.
            first: the window of its first row.
        """
        import numpy as np

        table[np.repeat(self.windows - first, self.sizes), self.regions] = self.counts


def _is_table_small(cells: int, entries: int) -> bool:
    return cells <= TABLE_CELLS_PER_ENTRY * entries + SMALL_TABLE_CELLS


def _mark_changes(values: Ints) -> Ints:
    """Mark the first of some values, and each that differs from the one before it."""
    import numpy as np

    changes = np.empty(len(values), np.bool_)
    changes[0] = True
    np.not_equal(values[1:], values[:-1], out=changes[1:])
    return changes


def _sum_cells(numbers: Ints, cells: Ints, counts: Ints | None, region_count: int) -> RegionCounts:
    """Add up the counts of equal cells.

    Args:
        numbers: the windows, each with an entry or more.
        cells: the cell of each entry: the place of its window times `region_count`, and its region.
        counts: the operations of each entry; one each if None.
        region_count: how many regions there are.
    """
    import numpy as np

    if _is_table_small(len(numbers) * region_count, len(cells)):
        return _from_table(numbers, cells, counts, region_count)
    if counts is None:
        found, sums = np.unique(cells, return_counts=True)
    else:
        order = np.argsort(cells, kind="stable")
        ordered = cells[order]
        begins = np.flatnonzero(_mark_changes(ordered))
        found, sums = ordered[begins], np.add.reduceat(counts[order], begins)
    return _from_cells(numbers, found, sums, region_count)


def _from_table(numbers: Ints, cells: Ints, counts: Ints | None, region_count: int) -> RegionCounts:
    """Add up the counts of equal cells in a table of all; windows without entries are left out."""
    import numpy as np

    # Sums of weights are floating-point numbers, exact up to 2^53 operations.
    table = np.bincount(cells, weights=counts, minlength=len(numbers) * region_count)
    found = np.flatnonzero(table)
    return _from_cells(numbers, found, table[found].astype(np.int64, copy=False), region_count)


def _from_cells(numbers: Ints, cells: Ints, counts: Ints, region_count: int) -> RegionCounts:
    """Return counts by cells that ascend, each listed once."""
    import numpy as np

    if len(numbers) == 1:
        return RegionCounts(region_count, numbers, np.zeros(1, np.intp), cells, counts)
    rows, regions = np.divmod(cells, region_count)
    starts = np.flatnonzero(_mark_changes(rows))
    return RegionCounts(region_count, numbers[rows[starts]], starts, regions, counts)


class Matrix:
    """Operations by column of time and by region.

    Args:
        regions: how many regions.
        columns: most columns kept.
    """

    def __init__(self, regions: int, columns: int = MOST_COLUMNS) -> None:
        self.regions = regions
        self.most = columns
        self.width_s = 1
        self._first, self._stop = 0, 0
        self._counts: list[RegionCounts] = []
        self._unmerged = 0

    def add(self, counts: RegionCounts) -> None:
        """Add the counts of windows of one second."""
        first, last = int(counts.windows[0]), int(counts.windows[-1])
        if self._counts:
            first = min(first, self._first * self.width_s)
            last = max(last, self._stop * self.width_s - 1)
        width_s = self.width_s
        while last // width_s - first // width_s >= self.most:
            width_s *= 2
        if width_s > self.width_s and self._counts:
            self._counts = [RegionCounts.merge(self._counts).widen(width_s // self.width_s)]
        self._first, self._stop, self.width_s = first // width_s, last // width_s + 1, width_s
        self._counts.append(counts.widen(width_s))
        self._unmerged += len(counts.counts)
        if self._unmerged > MOST_UNMERGED:
            self._counts, self._unmerged = [RegionCounts.merge(self._counts)], 0

    def dense(self) -> tuple[int, np.ndarray[Any, Any]]:
        """The start of the first column in seconds since 1970, and a row of counts for each."""
        import numpy as np

        table = np.zeros((self._stop - self._first, self.regions), np.int64)
        if self._counts:
            RegionCounts.merge(self._counts).fill(table, self._first)
        return self._first * self.width_s, table
