"""The draw `uniform`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.workload.contract import Draw

if TYPE_CHECKING:
    import numpy as np


class Uniform(Draw):
    """Every value equally often."""

    name = "uniform"
    arrivals = frozenset({"clock", "random", "per", "bulk_sorted"})

    def draw(
        self, chance: np.random.Generator, first: int, count: int, distinct: int
    ) -> np.ndarray[Any, Any]:
        kind = "u4" if distinct <= 1 << 32 else "u8"
        drawn: np.ndarray[Any, Any] = chance.integers(0, distinct, count, dtype=kind)
        return drawn
