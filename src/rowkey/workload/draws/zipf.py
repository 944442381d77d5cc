"""The draw `zipf`: ranks of which the k-th comes in proportion to 1 / k^theta."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused
from rowkey.workload.contract import Draw, Option, scattered

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

MOST_TABLED = 1 << 17
"""Values for which a table is kept; above it each draw computes its rank."""


def zipf_ranks(
    chance: np.random.Generator, count: int, distinct: int, theta: float
) -> np.ndarray[Any, Any]:
    """`count` ranks of 0 .. distinct-1.

    Cost: about 8 ns each by a table for up to 131,072 values, 150 ns above.
    """
    if distinct <= MOST_TABLED:
        return _looked_up(chance, count, *_table(distinct, theta))
    return by_rejection(chance, count, distinct, theta)


@lru_cache(maxsize=64)
def harmonic(distinct: int, theta: float) -> float:
    """The sum of 1 / k^theta for k up to `distinct`; its tail by an integral."""
    import numpy as np

    listed = min(distinct, 1_000_000)
    total = float((np.arange(1, listed + 1, dtype=np.float64) ** -theta).sum())
    if distinct > listed:
        total += _area(distinct + 0.5, theta) - _area(listed + 0.5, theta)
    return total


def _area(x: Any, theta: float) -> Any:
    """The integral of x^-theta, up to a constant."""
    import numpy as np

    return np.log(x) if theta == 1 else (x ** (1 - theta)) / (1 - theta)


def _area_inverse(area: Any, theta: float) -> Any:
    import numpy as np

    return np.exp(area) if theta == 1 else (area * (1 - theta)) ** (1 / (1 - theta))


@lru_cache(maxsize=16)
def _table(distinct: int, theta: float) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Walker's alias table: for every rank a threshold, and side by side itself and another."""
    import numpy as np

    shares = np.arange(1, distinct + 1, dtype=np.float64) ** -theta
    scaled = (shares / shares.sum() * distinct).tolist()
    threshold, other = [1.0] * distinct, list(range(distinct))
    small = [rank for rank, share in enumerate(scaled) if share < 1]
    large = [rank for rank, share in enumerate(scaled) if share >= 1]
    while small and large:
        low, high = small.pop(), large[-1]
        threshold[low], other[low] = scaled[low], high
        scaled[high] -= 1 - scaled[low]
        if scaled[high] < 1:
            small.append(large.pop())
    highest = np.minimum(np.array(threshold) * 2.0**32, 2.0**32 - 1)
    pairs = np.stack([np.arange(distinct), np.array(other, np.int64)], axis=1)
    return highest.astype(np.uint32), pairs.ravel()


@lru_cache(maxsize=16)
def _scattered_table(
    distinct: int, theta: float
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The same with each rank renumbered beforehand."""
    threshold, pairs = _table(distinct, theta)
    return threshold, scattered(pairs, distinct)


def _looked_up(
    chance: np.random.Generator,
    count: int,
    threshold: np.ndarray[Any, Any],
    pairs: np.ndarray[Any, Any],
) -> np.ndarray[Any, Any]:
    """Ranks by the alias method: one random number and two look-ups each.

    The upper half of the number's bits chooses a rank, the lower half between it and its alias:
    shares are right to 2^-32.

    Source: Walker, An efficient method for generating discrete random variables with general
    distributions, ACM TOMS 3 (1977).
    """
    import numpy as np

    drawn = chance.integers(0, 1 << 64, count, dtype=np.uint64, endpoint=False)
    lower = drawn.astype(np.uint32)
    drawn >>= np.uint64(32)
    drawn *= np.uint64(len(threshold))
    drawn >>= np.uint64(32)
    places = drawn.view(np.int64)
    is_other = lower > threshold.take(places)
    places <<= 1
    places |= is_other
    return pairs.take(places)


def by_rejection(
    chance: np.random.Generator, count: int, distinct: int, theta: float
) -> np.ndarray[Any, Any]:
    """Ranks by rejection-inversion: no table, whatever the number of values.

    Source: Hörmann and Derflinger, Rejection-inversion to generate variates from monotone discrete
    distributions, ACM TOMACS 6 (1996).
    """
    import numpy as np

    out = np.empty(count, np.int64)
    filled = 0
    while filled < count:
        ranks, is_kept = _tried(chance, count - filled, distinct, theta)
        good = ranks[is_kept]
        out[filled : filled + len(good)] = good
        filled += len(good)
    return out - 1


def ranks_among(
    chance: np.random.Generator, distinct: np.ndarray[Any, Any], theta: float
) -> np.ndarray[Any, Any]:
    """A rank for each event, each of 0 .. distinct-1 of its own.

    Cost: about 150 ns each, as by rejection among the same number for all.
    """
    import numpy as np

    out = np.empty(len(distinct), np.int64)
    left = np.arange(len(distinct))
    while len(left):
        ranks, is_kept = _tried(chance, len(left), distinct[left], theta)
        out[left[is_kept]] = ranks[is_kept]
        left = left[~is_kept]
    return out - 1


def _tried(
    chance: np.random.Generator, count: int, distinct: Any, theta: float
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Ranks from 1 under a smooth area, and which of them are kept."""
    import numpy as np

    low, high = _area(1.5, theta) - 1.0, _area(distinct + 0.5, theta)
    areas = low + chance.random(count) * (high - low)
    ranks = np.clip(np.floor(_area_inverse(areas, theta) + 0.5), 1, distinct)
    return ranks, areas >= _area(ranks + 0.5, theta) - ranks**-theta


class Zipf(Draw):
    """The k-th most frequent value comes in proportion to 1 / k^theta.

    YCSB's default is 0.99; towns, words and users lie between 0.8 and 1.2.
    """

    name = "zipf"
    options = (Option("theta", (float, int), "the exponent", 0.99, "a number above 0, at most 5"),)

    def __init__(self, given: Mapping[str, Any]) -> None:
        super().__init__(given)
        self.theta = float(self.chosen["theta"])
        if not 0 < self.theta <= 5:
            raise Refused("theta", f"{self.theta} is out of range", "a number above 0, at most 5")

    def draw(
        self, chance: np.random.Generator, first: int, count: int, distinct: int
    ) -> np.ndarray[Any, Any]:
        if distinct <= MOST_TABLED:
            return _looked_up(chance, count, *_scattered_table(distinct, self.theta))
        return scattered(by_rejection(chance, count, distinct, self.theta), distinct)

    def heaviest_share(self, distinct: int, events: int | None = None) -> float:
        return 1 / harmonic(distinct, self.theta)
