"""The distribution `zipf`: the k-th most frequent value occurs in proportion to 1 / k^theta."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from rowkey.array_libraries import np
from rowkey.errors import InvalidArgument
from rowkey.workload.contract import Distribution, PluginOption, scatter_ranks

MAX_TABLE_VALUES = 1 << 17
"""Values for which a table is kept; above it each draw computes its rank."""


def draw_zipf_ranks(
    rng: np.random.Generator, count: int, distinct: int, theta: float
) -> np.ndarray[Any, Any]:
    """Return `count` ranks of 0 .. distinct-1.

    Cost: about 8 ns each by a table for up to 131,072 values, 150 ns above.
    """
    if distinct <= MAX_TABLE_VALUES:
        return _draw_by_alias(rng, count, *_build_alias_table(distinct, theta))
    return draw_by_rejection(rng, count, distinct, theta)


@lru_cache(maxsize=64)
def compute_harmonic(distinct: int, theta: float) -> float:
    """Return the sum of 1 / k^theta for k up to `distinct`; its tail by an integral."""
    listed = min(distinct, 1_000_000)
    total = float((np.arange(1, listed + 1, dtype=np.float64) ** -theta).sum())
    if distinct > listed:
        total += _integrate_power(distinct + 0.5, theta) - _integrate_power(listed + 0.5, theta)
    return total


def _integrate_power(x: Any, theta: float) -> Any:
    """Return the integral of x^-theta, up to a constant."""
    return np.log(x) if theta == 1 else (x ** (1 - theta)) / (1 - theta)


def _invert_integral(area: Any, theta: float) -> Any:
    """Return the x at which the integral of x^-theta has a value."""
    return np.exp(area) if theta == 1 else (area * (1 - theta)) ** (1 / (1 - theta))


@lru_cache(maxsize=16)
def _build_alias_table(
    distinct: int, theta: float
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return Walker's alias table: a threshold for each rank, and pairs of a rank and its alias."""
    shares = np.arange(1, distinct + 1, dtype=np.float64) ** -theta
    scaled = (shares / shares.sum() * distinct).tolist()
    threshold, aliases = [1.0] * distinct, list(range(distinct))
    small = [rank for rank, share in enumerate(scaled) if share < 1]
    large = [rank for rank, share in enumerate(scaled) if share >= 1]
    while small and large:
        low, high = small.pop(), large[-1]
        threshold[low], aliases[low] = scaled[low], high
        scaled[high] -= 1 - scaled[low]
        if scaled[high] < 1:
            small.append(large.pop())
    highest = np.minimum(np.array(threshold) * 2.0**32, 2.0**32 - 1)
    pairs = np.stack([np.arange(distinct), np.array(aliases, np.int64)], axis=1)
    return highest.astype(np.uint32), pairs.ravel()


@lru_cache(maxsize=16)
def _build_scattered_table(
    distinct: int, theta: float
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the alias table of ranks that are scattered beforehand."""
    threshold, pairs = _build_alias_table(distinct, theta)
    return threshold, scatter_ranks(pairs, distinct)


def _draw_by_alias(
    rng: np.random.Generator,
    count: int,
    threshold: np.ndarray[Any, Any],
    aliases: np.ndarray[Any, Any],
) -> np.ndarray[Any, Any]:
    """Return ranks drawn by the alias method: one random number and two look-ups each.

    The upper half of the number's bits chooses a rank, the lower half chooses between the rank and
    its alias. Shares are exact to 2^-32.

    Source: Walker, An efficient method for generating discrete random variables with general
    distributions, ACM TOMS 3 (1977).
    """
    numbers = rng.integers(0, 1 << 64, count, dtype=np.uint64, endpoint=False)
    lower = numbers.astype(np.uint32)
    numbers >>= np.uint64(32)
    numbers *= np.uint64(len(threshold))
    numbers >>= np.uint64(32)
    places = numbers.view(np.int64)
    is_other = lower > threshold.take(places)
    places <<= 1
    places |= is_other
    return aliases.take(places)


def draw_by_rejection(
    rng: np.random.Generator, count: int, distinct: int, theta: float
) -> np.ndarray[Any, Any]:
    """Return ranks drawn by rejection-inversion, which needs no table of the values.

    Source: Hörmann and Derflinger, Rejection-inversion to generate variates from monotone discrete
    distributions, ACM TOMACS 6 (1996).
    """
    out = np.empty(count, np.int64)
    filled = 0
    while filled < count:
        ranks, is_kept = _propose_ranks(rng, count - filled, distinct, theta)
        good = ranks[is_kept]
        out[filled : filled + len(good)] = good
        filled += len(good)
    return out - 1


def draw_ranks_among(
    rng: np.random.Generator, distinct: np.ndarray[Any, Any], theta: float
) -> np.ndarray[Any, Any]:
    """Return a rank for each event, drawn from its own range 0 .. distinct-1.

    Cost: about 150 ns each, as by rejection among the same number for all.
    """
    out = np.empty(len(distinct), np.int64)
    pending_indexes = np.arange(len(distinct))
    while len(pending_indexes):
        ranks, is_kept = _propose_ranks(rng, len(pending_indexes), distinct[pending_indexes], theta)
        out[pending_indexes[is_kept]] = ranks[is_kept]
        pending_indexes = pending_indexes[~is_kept]
    return out - 1


def _propose_ranks(
    rng: np.random.Generator, count: int, distinct: Any, theta: float
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return proposed ranks from 1, and a mask of the accepted ones."""
    low, high = _integrate_power(1.5, theta) - 1.0, _integrate_power(distinct + 0.5, theta)
    areas = low + rng.random(count) * (high - low)
    ranks = np.clip(np.floor(_invert_integral(areas, theta) + 0.5), 1, distinct)
    return ranks, areas >= _integrate_power(ranks + 0.5, theta) - ranks**-theta


class ZipfDistribution(Distribution):
    """The k-th most frequent value occurs in proportion to 1 / k^theta.

    YCSB's default exponent is 0.99; those of towns, words and users lie between 0.8 and 1.2.
    """

    name = "zipf"
    options = (
        PluginOption("theta", (float, int), "the exponent", 0.99, "a number above 0, at most 5"),
    )

    def __init__(self, raw_options: Mapping[str, Any]) -> None:
        super().__init__(raw_options)
        self.theta = float(self.option_values["theta"])
        if not 0 < self.theta <= 5:
            raise InvalidArgument(
                "theta", f"{self.theta} is out of range", "a number above 0, at most 5"
            )

    def draw_indexes(
        self, rng: np.random.Generator, first: int, count: int, distinct: int
    ) -> np.ndarray[Any, Any]:
        """Return the value index of each of the next events, by Zipf's law."""
        if distinct <= MAX_TABLE_VALUES:
            return _draw_by_alias(rng, count, *_build_scattered_table(distinct, self.theta))
        return scatter_ranks(draw_by_rejection(rng, count, distinct, self.theta), distinct)

    def compute_heaviest_share(self, distinct: int, events: int | None = None) -> float:
        return 1 / compute_harmonic(distinct, self.theta)
