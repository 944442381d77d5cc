"""The distribution `hotspot`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rowkey.array_libraries import np
from rowkey.errors import InvalidArgument
from rowkey.workload.contract import Distribution, PluginOption, scatter_ranks


class HotspotDistribution(Distribution):
    """A few hot values take most events: a share `values` of the values takes a share `events`."""

    name = "hotspot"
    options = (
        PluginOption(
            "values",
            (float, int),
            "share of the values that are hot",
            0.2,
            "a number above 0, below 1",
        ),
        PluginOption(
            "events",
            (float, int),
            "share of the events that have a hot value",
            0.8,
            "a number above 0, below 1",
        ),
    )

    def __init__(self, raw_options: Mapping[str, Any]) -> None:
        super().__init__(raw_options)
        for name in ("values", "events"):
            if not 0 < self.option_values[name] < 1:
                raise InvalidArgument(
                    name,
                    f"{self.option_values[name]} is out of range",
                    "a number above 0 and below 1",
                )

    def _count_hot_values(self, distinct: int) -> int:
        """Return the number of hot values, at least one."""
        hot = round(distinct * float(self.option_values["values"]))
        return min(max(hot, 1), max(distinct - 1, 1))

    def draw_indexes(
        self, rng: np.random.Generator, first: int, count: int, distinct: int
    ) -> np.ndarray[Any, Any]:
        """Return the value index of each of the next events: mostly one of the hot values."""
        hot = self._count_hot_values(distinct)
        is_hot = rng.random(count) < self.option_values["events"]
        spot = rng.random(count)
        among_hot = (spot * hot).astype(np.int64)
        among_cold = hot + (spot * max(distinct - hot, 1)).astype(np.int64)
        ranks = np.where(is_hot, among_hot, np.minimum(among_cold, distinct - 1))
        return scatter_ranks(ranks, distinct)

    def compute_heaviest_share(self, distinct: int, events: int | None = None) -> float:
        if distinct == 1:
            return 1.0
        hot = self._count_hot_values(distinct)
        taken = float(self.option_values["events"])
        return max(taken / hot, (1 - taken) / max(distinct - hot, 1))
