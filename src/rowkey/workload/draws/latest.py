"""The draw `latest`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused
from rowkey.workload.contract import Draw, Option
from rowkey.workload.draws.zipf import Zipf, harmonic, ranks_among, zipf_ranks

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np


LISTED = 1_000_000
"""Terms that are added one by one; from there on an integral is right to a millionth."""


class Latest(Draw):
    """Values appear one after the other, and the newest come most often.

    Every `every`-th event brings a new value, and the k-th newest comes in proportion to
    1 / k^theta. Once `distinct` values have appeared, each new one takes the number of the oldest,
    which comes no more: a window of the newest `distinct` moves on, as over sessions or articles.

    Source: YCSB's distribution `latest`, a zipfian over the age of records that are inserted.
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
        if first // self.chosen["every"] >= distinct - 1:
            ages = zipf_ranks(chance, count, distinct, self.ages.theta)
        else:
            ages = ranks_among(chance, np.minimum(newest + 1, distinct), self.ages.theta)
        return np.asarray((newest - ages) % distinct)

    def heaviest_share(self, distinct: int, events: int | None = None) -> float:
        """Share of the first value, which has been there longest.

        From its appearance to its replacement a value takes `every` events, whichever it is, but
        for those that appeared while there were few.
        """
        if events is None:
            return 1 / distinct
        every, theta = self.chosen["every"], self.ages.theta
        newer, more = divmod(events, every)
        if newer < distinct:
            share = (newer + 1) ** -theta / harmonic(newer + 1, theta)
            return float(every * _while_few(newer, theta) + more * share) / events
        lives, age = divmod(newer - distinct, distinct)
        among = harmonic(distinct, theta)
        taken = _while_few(distinct, theta) + lives + harmonic(age, theta) / among
        return float(every * taken + more * (age + 1) ** -theta / among) / events

    def newest_share(self, distinct: int, parts: int) -> float | None:
        """The newest come most: H(n / parts) of H(n), where H is the harmonic sum."""
        theta = self.ages.theta
        return harmonic(max(distinct // parts, 1), theta) / harmonic(distinct, theta)


def _while_few(count: int, theta: float) -> float:
    """The shares of the first value at each of the first `count` appearances, added up.

    The sum of k^-theta / H(k), where H is the harmonic sum; its tail by the integral of H' / H.
    """
    import numpy as np

    listed = min(count, LISTED)
    shares = np.arange(1, listed + 1, dtype=np.float64) ** -theta
    total = float((shares / np.cumsum(shares)).sum())
    if count > listed:
        total += float(np.log(harmonic(count, theta) / harmonic(listed, theta)))
    return total
