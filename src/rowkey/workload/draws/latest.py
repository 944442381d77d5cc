"""The draw `latest`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused
from rowkey.workload.contract import Draw, Option
from rowkey.workload.draws.zipf import Zipf, by_rejection

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np


class Latest(Draw):
    """Values appear one after the other, and the newest come most often.

    Every `every`-th event brings a new value, until all have appeared; the k-th newest comes in
    proportion to 1 / k^theta.
    """

    name = "latest"
    options = (
        Option("theta", (float, int), "the exponent", 0.99, "a number above 0, at most 5"),
        Option("every", (int,), "events between two new values", 20, "a whole number from 1 on"),
    )

    def __init__(self, given: Mapping[str, Any]) -> None:
        super().__init__(given)
        self.ages = Zipf({"theta": self.chosen["theta"]})
        if self.chosen["every"] < 1:
            raise Refused("every", f"{self.chosen['every']} is out of range", "1 and above")

    def draw(
        self, chance: np.random.Generator, first: int, count: int, distinct: int
    ) -> np.ndarray[Any, Any]:
        import numpy as np

        newest = np.arange(first, first + count, dtype=np.int64) // self.chosen["every"]
        newest = np.minimum(newest, distinct - 1)
        ages = by_rejection(
            chance, count, max(int(newest[-1]) + 1, 2) if count else 2, self.ages.theta
        )
        return np.asarray(np.maximum(newest - ages, 0))

    def heaviest_share(self, distinct: int) -> float:
        return 1 / distinct
