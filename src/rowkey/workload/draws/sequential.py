"""The draw `sequential`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.workload.contract import Draw

if TYPE_CHECKING:
    import numpy as np


class Sequential(Draw):
    """One value after the other in ascending order, from the first again after the last."""

    name = "sequential"
    ascends = True
    arrivals = frozenset({"sequential"})

    def draw(
        self, chance: np.random.Generator, first: int, count: int, distinct: int
    ) -> np.ndarray[Any, Any]:
        import numpy as np

        return np.arange(first, first + count, dtype=np.int64) % distinct
