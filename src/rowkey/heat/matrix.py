"""The heat map: operations by time and region, at most so many columns however long it lasts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.heat.windows import summed

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
        import numpy as np

        self.regions = regions
        self.most = columns
        self.width_s = 1
        self._first = 0
        self._counts = np.zeros((0, regions), np.int64)

    def add(self, seconds: np.ndarray[Any, Any], counts: np.ndarray[Any, Any]) -> None:
        """Add the counts of one-second windows, as `WindowCounts.add` takes them."""
        first, last = int(seconds[0]), int(seconds[-1])
        if len(self._counts):
            first = min(first, self._first * self.width_s)
            last = max(last, (self._first + len(self._counts)) * self.width_s - 1)
        width_s = self.width_s
        while last // width_s - first // width_s >= self.most:
            width_s *= 2
        self._lay(first // width_s, last // width_s, width_s)
        numbers, counts = summed(seconds // width_s, counts)
        self._counts[numbers - self._first] += counts

    def _lay(self, first: int, last: int, width_s: int) -> None:
        """Lay the columns out anew: `first` to `last`, each `width_s` seconds wide."""
        import numpy as np

        laid = np.zeros((last - first + 1, self.regions), np.int64)
        if len(self._counts):
            held = np.arange(self._first, self._first + len(self._counts))
            numbers, counts = summed(held * self.width_s // width_s, self._counts)
            laid[numbers - first] = counts
        self._first, self._counts, self.width_s = first, laid, width_s

    def dense(self) -> tuple[int, np.ndarray[Any, Any]]:
        """The start of the first column in seconds since 1970, and a row of counts for each."""
        return self._first * self.width_s, self._counts
