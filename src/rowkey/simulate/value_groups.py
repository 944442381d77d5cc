"""How concentrated rows are on the values of some fields."""

from __future__ import annotations

from typing import Any

from rowkey.array_libraries import np


def count_draws(groups: np.ndarray[Any, Any]) -> float:
    """Return how many groups of equal size are as concentrated as some groups.

    Source: the design effect of clusters; Kish, Survey Sampling (1965), section 5.4.
    """
    sizes = np.bincount(groups).astype(np.float64)
    return float(sizes.sum() ** 2 / (sizes @ sizes))
