"""The distribution `sequential`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.workload.contract import Distribution

if TYPE_CHECKING:
    import numpy as np


class SequentialDistribution(Distribution):
    """Values in ascending order, from the first again after the last."""

    name = "sequential"
    is_ascending = True
    default_arrivals = frozenset({"sequential"})

    def draw_indexes(
        self, rng: np.random.Generator, first: int, count: int, distinct: int
    ) -> np.ndarray[Any, Any]:
        """Return the value index of each of the next events: one after the other."""
        import numpy as np

        return np.arange(first, first + count, dtype=np.int64) % distinct
