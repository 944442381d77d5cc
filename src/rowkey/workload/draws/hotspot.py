"""The draw `hotspot`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused
from rowkey.workload.contract import Draw, Option, scattered

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np


class Hotspot(Draw):
    """A few values take most events: `events` of them go to `values` of the values."""

    name = "hotspot"
    options = (
        Option("values", (float, int), "share of the values that are hot", 0.2, "above 0, below 1"),
        Option("events", (float, int), "share of the events they take", 0.8, "above 0, below 1"),
    )

    def __init__(self, given: Mapping[str, Any]) -> None:
        super().__init__(given)
        for name in ("values", "events"):
            if not 0 < self.chosen[name] < 1:
                raise Refused(name, f"{self.chosen[name]} is out of range", "above 0, below 1")

    def _hot(self, distinct: int) -> int:
        hot = round(distinct * float(self.chosen["values"]))
        return min(max(hot, 1), max(distinct - 1, 1))

    def draw(
        self, chance: np.random.Generator, first: int, count: int, distinct: int
    ) -> np.ndarray[Any, Any]:
        import numpy as np

        hot = self._hot(distinct)
        is_hot = chance.random(count) < self.chosen["events"]
        spot = chance.random(count)
        among_hot = (spot * hot).astype(np.int64)
        among_cold = hot + (spot * max(distinct - hot, 1)).astype(np.int64)
        ranks = np.where(is_hot, among_hot, np.minimum(among_cold, distinct - 1))
        return scattered(ranks, distinct)

    def heaviest_share(self, distinct: int, events: int | None = None) -> float:
        if distinct == 1:
            return 1.0
        hot = self._hot(distinct)
        taken = float(self.chosen["events"])
        return max(taken / hot, (1 - taken) / max(distinct - hot, 1))
