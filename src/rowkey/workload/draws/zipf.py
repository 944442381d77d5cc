"""The draw `zipf`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused
from rowkey.workload.contract import Draw, Option, scattered
from rowkey.workload.zipfian import harmonic, zipf_ranks

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np


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
