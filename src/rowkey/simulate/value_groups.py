"""Rows grouped by the values of some fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rowkey.array_libraries import np, pa


def number_values(rows: pa.RecordBatch, names: Iterable[str]) -> np.ndarray[Any, Any]:
    """Return a number from 0 for each row; equal ones have equal values in some fields."""
    groups = np.zeros(rows.num_rows, np.int64)
    for name in names:
        codes = rows.column(name).dictionary_encode().indices.fill_null(-1).to_numpy()
        _, groups = np.unique(groups * (len(codes) + 1) + codes + 1, return_inverse=True)
    return groups


def count_draws(groups: np.ndarray[Any, Any]) -> float:
    """Return how many groups of equal size are as concentrated as some groups.

    Source: the design effect of clusters; Kish, Survey Sampling (1965), section 5.4.
    """
    sizes = np.bincount(groups).astype(np.float64)
    return float(sizes.sum() ** 2 / (sizes @ sizes))
