"""The least skew over servers that any placement of indivisible loads has."""

from __future__ import annotations

from typing import Any

from rowkey.array_libraries import np

CHANCE_SEED = 0
MIN_WINDOW_RATIO = 1.05
"""Least skew in windows, over that of all events together, up to which it may be chance."""


def compute_least_skew(loads: np.ndarray[Any, Any], servers: int) -> float:
    """Return the skew below which no assignment of loads to servers can bring them.

    Args:
        loads: the loads, each of which lies on one server as a whole.
        servers: how many servers.

    Source: of the s k + 1 largest loads some server holds k + 1, for any k (Graham, 1969).

    >>> import numpy as np
    >>> [compute_least_skew(np.array(loads), 2) for loads in ([1, 1, 1], [6, 1, 1], [1] * 8)]
    [1.3333333333333333, 1.5, 1.0]
    """
    total = float(loads.sum())
    if not total:
        return 1.0
    ordered = np.sort(loads)[::-1]
    sums = np.concatenate([[0.0], np.cumsum(ordered, dtype=float)])
    held = np.arange((len(loads) - 1) // servers + 1)  # k, where the server holds k + 1
    stops = held * servers + 1
    fullest = float((sums[stops] - sums[stops - held - 1]).max())
    return max(fullest * servers / total, 1.0)


def compute_least_window_skew(
    codes: np.ndarray[Any, Any], windows: np.ndarray[Any, Any], servers: int
) -> float:
    """Return the least skew in windows that any placement of some values can have.

    What chance alone would add in such windows is left out.

    Args:
        codes: a number for each event; events with equal numbers always lie on one server.
        windows: the window of each.
        servers: how many servers.

    Cost: two sorts of the events.
    """
    if not len(codes):
        return 1.0
    overall = compute_least_skew(np.bincount(codes), servers)
    measured = _average_least_skew(codes, windows, servers)
    shuffled = np.random.default_rng(CHANCE_SEED).permutation(codes)
    by_chance = _average_least_skew(shuffled, windows, servers)
    windowed = measured - max(by_chance - overall, 0.0)
    return windowed if windowed > MIN_WINDOW_RATIO * overall else overall


def _average_least_skew(
    codes: np.ndarray[Any, Any], windows: np.ndarray[Any, Any], servers: int
) -> float:
    """Return the mean over windows, weighted by events, of their least skew."""
    width = int(codes.max()) + 1
    pairs, counts = np.unique(windows * width + codes, return_counts=True)
    starts = np.flatnonzero(np.diff(pairs // width, prepend=-1))
    parts = np.split(counts, starts[1:])
    return float(sum(compute_least_skew(part, servers) * part.sum() for part in parts) / len(codes))
