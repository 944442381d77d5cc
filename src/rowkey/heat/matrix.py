"""The heat map: operations by time and region, at most so many columns however long it lasts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

MOST_COLUMNS = 240
"""Columns kept; beyond, the width of a column doubles."""


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
        self.counts: dict[int, np.ndarray[Any, Any]] = {}

    def add(self, windows: np.ndarray[Any, Any], counts: np.ndarray[Any, Any]) -> None:
        """Add the counts of one-second windows, as `WindowCounts.add` takes them."""
        import numpy as np

        numbers = windows // self.width_s
        firsts = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 1))
        summed = np.add.reduceat(counts, firsts, axis=0)
        for number, row in zip(numbers[firsts].tolist(), summed, strict=True):
            self._add(number, row)
        while self.counts and max(self.counts) - min(self.counts) >= self.most:
            self._widen()

    def _add(self, number: int, row: np.ndarray[Any, Any]) -> None:
        held = self.counts.get(number)
        if held is None:
            self.counts[number] = row.copy()
        else:
            held += row

    def _widen(self) -> None:
        """Double the width of a column."""
        before, self.counts = self.counts, {}
        self.width_s *= 2
        for number, row in before.items():
            self._add(number // 2, row)

    def dense(self) -> tuple[int, np.ndarray[Any, Any]]:
        """The start of the first column in seconds since 1970, and a row of counts for each."""
        import numpy as np

        if not self.counts:
            return 0, np.zeros((0, self.regions), np.int64)
        first, last = min(self.counts), max(self.counts)
        out = np.zeros((last - first + 1, self.regions), np.int64)
        for number, row in self.counts.items():
            out[number - first] = row
        return first * self.width_s, out
