"""The distribution `sequential`."""

from __future__ import annotations

from typing import Any

from rowkey.array_libraries import np
from rowkey.workload.contract import Distribution


class SequentialDistribution(Distribution):
    """Values in ascending order, from the first again after the last."""

    name = "sequential"
    is_ascending = True
    default_arrivals = frozenset({"sequential"})

    def draw_indexes(
        self, rng: np.random.Generator, first: int, count: int, distinct: int
    ) -> np.ndarray[Any, Any]:
        """Return the value index of each of the next events: one after the other."""
        return np.arange(first, first + count, dtype=np.int64) % distinct
