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

    Cost: about 15 ns each by a table for up to 131,072 values, 150 ns above.
    """
    by = _by_table if distinct <= MOST_TABLED else by_rejection
    return by(chance, count, distinct, theta)


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
    """Walker's alias table: a threshold and another rank for every rank."""
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
    return np.array(threshold), np.array(other)


def _by_table(
    chance: np.random.Generator, count: int, distinct: int, theta: float
) -> np.ndarray[Any, Any]:
    """Ranks by the alias method: one random number and two look-ups each.

    Source: Walker, An efficient method for generating discrete random variables with general
    distributions, ACM TOMS 3 (1977).
    """
    import numpy as np

    threshold, other = _table(distinct, theta)
    spot = chance.random(count)
    spot *= distinct
    ranks = spot.astype(np.int64)
    spot -= ranks
    return np.where(spot < threshold.take(ranks), ranks, other.take(ranks))


def by_rejection(
    chance: np.random.Generator, count: int, distinct: int, theta: float
) -> np.ndarray[Any, Any]:
    """Ranks by rejection-inversion: no table, whatever the number of values.

    Source: Hörmann and Derflinger, Rejection-inversion to generate variates from monotone discrete
    distributions, ACM TOMACS 6 (1996).
    """
    import numpy as np

    low, high = _area(1.5, theta) - 1.0, _area(distinct + 0.5, theta)
    out = np.empty(count, np.int64)
    filled = 0
    while filled < count:
        areas = low + chance.random(count - filled) * (high - low)
        ranks = np.clip(np.floor(_area_inverse(areas, theta) + 0.5), 1, distinct)
        kept = areas >= _area(ranks + 0.5, theta) - ranks**-theta
        good = ranks[kept]
        out[filled : filled + len(good)] = good
        filled += len(good)
    return out - 1


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
        return scattered(zipf_ranks(chance, count, distinct, self.theta), distinct)

    def heaviest_share(self, distinct: int) -> float:
        return 1 / harmonic(distinct, self.theta)
