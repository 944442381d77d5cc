"""The distribution `uniform`."""

from __future__ import annotations

from typing import Any

from rowkey.array_libraries import np
from rowkey.workload.contract import Distribution


class UniformDistribution(Distribution):
    """Every value is equally frequent."""

    name = "uniform"
    default_arrivals = frozenset({"clock", "random", "per", "bulk_sorted"})

    def draw_indexes(
        self, rng: np.random.Generator, first: int, count: int, distinct: int
    ) -> np.ndarray[Any, Any]:
        """Return the value index of each of the next events: all equally likely."""
        kind = "u4" if distinct <= 1 << 32 else "u8"
        drawn: np.ndarray[Any, Any] = rng.integers(0, distinct, count, dtype=kind)
        return drawn
