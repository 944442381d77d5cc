"""The distribution `latest`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rowkey.array_libraries import np
from rowkey.errors import InvalidArgument
from rowkey.workload.contract import Distribution, PluginOption
from rowkey.workload.distributions.zipf import (
    ZipfDistribution,
    compute_harmonic,
    draw_ranks_among,
    draw_zipf_ranks,
)

MAX_SUMMED_TERMS = 1_000_000
"""Terms that are added one by one; from there on an integral is right to a millionth."""


class LatestDistribution(Distribution):
    """New values appear over time, and the newest are the most frequent.

    Every `every`-th event has a new value, and the k-th newest value occurs in proportion to
    1 / k^theta. Once `distinct` values have appeared, each new one replaces the oldest, which does
    not occur again. Sessions and articles behave like this.

    Source: YCSB's distribution `latest`, a zipfian over the age of records that are inserted.
    """

    name = "latest"
    options = (
        PluginOption("theta", (float, int), "the exponent", 0.99, "a number above 0, at most 5"),
        PluginOption(
            "every", (int,), "events between two new values", 20, "a whole number of at least 1"
        ),
    )

    def __init__(self, raw_options: Mapping[str, Any]) -> None:
        super().__init__(raw_options)
        self.age_distribution = ZipfDistribution({"theta": self.option_values["theta"]})
        if self.option_values["every"] < 1:
            raise InvalidArgument(
                "every", f"{self.option_values['every']} is out of range", "at least 1"
            )

    def draw_indexes(
        self, rng: np.random.Generator, first: int, count: int, distinct: int
    ) -> np.ndarray[Any, Any]:
        """Return the value index of each of the next events: mostly one of the newest values."""
        newest = np.arange(first, first + count, dtype=np.int64) // self.option_values["every"]
        if first // self.option_values["every"] >= distinct - 1:
            ages = draw_zipf_ranks(rng, count, distinct, self.age_distribution.theta)
        else:
            ages = draw_ranks_among(
                rng, np.minimum(newest + 1, distinct), self.age_distribution.theta
            )
        return np.asarray((newest - ages) % distinct)

    def compute_heaviest_share(self, distinct: int, events: int | None = None) -> float:
        """Return the share of the first value, the one that exists longest.

        From its appearance to its replacement each value gets `every` events in all, except the
        first ones, which appeared while there were few values.
        """
        if events is None:
            return 1 / distinct
        every, theta = self.option_values["every"], self.age_distribution.theta
        newer, remainder = divmod(events, every)
        if newer < distinct:
            share = (newer + 1) ** -theta / compute_harmonic(newer + 1, theta)
            return float(every * _sum_first_shares(newer, theta) + remainder * share) / events
        lives, age = divmod(newer - distinct, distinct)
        harmonic = compute_harmonic(distinct, theta)
        share_sum = (
            _sum_first_shares(distinct, theta) + lives + compute_harmonic(age, theta) / harmonic
        )
        return float(every * share_sum + remainder * (age + 1) ** -theta / harmonic) / events

    def compute_newest_share(self, distinct: int, part_count: int) -> float | None:
        """Return H(n / parts) / H(n), where H is the harmonic sum."""
        theta = self.age_distribution.theta
        return compute_harmonic(max(distinct // part_count, 1), theta) / compute_harmonic(
            distinct, theta
        )


def _sum_first_shares(count: int, theta: float) -> float:
    """Return the sum of the first value's shares while `count` values appear.

    The sum of k^-theta / H(k), where H is the harmonic sum; its tail by the integral of H' / H.
    """
    listed = min(count, MAX_SUMMED_TERMS)
    shares = np.arange(1, listed + 1, dtype=np.float64) ** -theta
    total = float((shares / np.cumsum(shares)).sum())
    if count > listed:
        total += float(np.log(compute_harmonic(count, theta) / compute_harmonic(listed, theta)))
    return total
