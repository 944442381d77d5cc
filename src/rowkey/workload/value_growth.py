"""How the rows of a value grow from a recording to the table.

The chance that two events have the same values, by the time between them, tells it: it stays where
values last (users, devices), and falls to nothing where they come and go (sessions, orders). The
other rows of a value in a longer time are all events of that time, times the mean of this chance
over its pairs of moments.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

LAG_COUNT = 12
"""Distances in time at which the chance is measured, in parts of the recording."""
MIDDLE, FAR = LAG_COUNT // 3, 2 * LAG_COUNT // 3
"""The first lags of the middle and of the last third, which are compared."""
HEAVY_SHARE = 0.03
"""Share of all events from which on a value keeps its share, however many others come: a season, a
country, the largest tenant."""
SHORT_PAUSE_SHARE = 0.05
"""Share of the pauses of a value that are shorter than the one taken for its step."""
MAX_STEP_ERROR = 0.1
"""Part of a step by which a pause differs at most from whole steps."""
REGULAR_SHARE = 0.5
"""Share of pauses of whole steps from which on a value has a pace of its own, as a sensor has: it
does not become faster when others come."""
MIN_CLOCK_STEPS = 5
"""Shortest distances of two events that such a step has at least."""
DEVIATIONS = 1.96
_STEP_COUNT = 2_000
"""Distances at which the mean over a longer time is summed up."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with the interval in which the true one lies in 95 of 100 cases."""

    low: float
    value: float
    high: float

    def scale(self, factor: float) -> Estimate:
        """Return so many times the figure."""
        return Estimate(self.low * factor, self.value * factor, self.high * factor)


class ValueGrowth:
    """The chance that two events have the same values, by the time between them.

    Args:
        groups: for each sampled event, the number of its values, from 0.
        places: for each, when it came: 0 at the begin of the recording, 1 at its end.

    Cost: 30 ms for 50,000 events of as many values.
    """

    def __init__(self, groups: np.ndarray[Any, Any], places: Floats) -> None:
        import numpy as np

        sizes = np.bincount(groups)
        self.is_heavy = sizes >= max(HEAVY_SHARE * len(groups), 2)
        """Whether each value keeps its share of all events."""
        candidates = np.flatnonzero(self.is_heavy)
        if len(candidates):
            clock_step = float(np.diff(np.unique(places)).min(initial=1.0))
            for value in candidates.tolist():
                own_places = np.sort(places[groups == value])
                self.is_heavy[value] = not _is_regular(own_places, clock_step)
        lags = np.minimum((places * LAG_COUNT).astype(np.int64), LAG_COUNT - 1)
        totals = np.bincount(lags, minlength=LAG_COUNT).astype(np.float64)
        self._pair_counts = _count_pairs(totals[np.newaxis])[0]
        repeated = np.flatnonzero(sizes > 1)  # a value of one event is in no pair
        numbers = np.full(len(sizes), -1)
        numbers[repeated] = np.arange(len(repeated))
        rows = numbers[groups]
        inside = rows >= 0
        counts = np.bincount(
            rows[inside] * LAG_COUNT + lags[inside], minlength=len(repeated) * LAG_COUNT
        )
        pairs = _count_pairs(counts.reshape(-1, LAG_COUNT).astype(np.float64))
        is_heavy = self.is_heavy[repeated]
        self._heavy = _LagCurve(pairs[is_heavy], self._pair_counts)
        self._others = _LagCurve(pairs[~is_heavy], self._pair_counts)

    def compare_windows(self, length: float, *, heavy: bool) -> Estimate:
        """Return how the mean chance over all pairs of moments of a longer time compares.

        Args:
            length: the longer time, in lengths of the recording.
            heavy: whether of the values that keep their share, or of all others.

        Returns:
            The mean chance in the longer time, divided by that in the recording.
        """
        curve = self._heavy if heavy else self._others
        return curve.compare(length, lambda lags, end: 2 * (end - lags) / end)

    def measure_persistence(self) -> float:
        """Return how long values live: 0 if they come and go, 1 if they stay for ever.

        Of those that keep their share of all events, if there is no other.
        """
        return (self._others if not self.is_heavy.all() else self._heavy).final_share

    def compare_spans(self, length: float, *, heavy: bool) -> Estimate:
        """Return how the mean chance in a longer time from an event on compares; see above."""
        curve = self._heavy if heavy else self._others
        return curve.compare(length, lambda lags, _: lags**0)


class _LagCurve:
    """The chance that two events have one of some values, by the time between them.

    Args:
        pairs: for each value and lag, the pairs of its events.
        pair_counts: for each lag, the pairs of all events.
    """

    def __init__(self, pairs: Floats, pair_counts: Floats) -> None:
        import numpy as np

        self._counts = np.maximum(pair_counts, 1.0)
        self._shares = pairs.sum(0) / self._counts
        middle, far = slice(MIDDLE, FAR), slice(FAR, LAG_COUNT)
        middle_shares = pairs[:, middle].sum(1) / self._counts[middle].sum()
        far_shares = pairs[:, far].sum(1) / self._counts[far].sum()
        self._middle, self._far = float(middle_shares.sum()), float(far_shares.sum())
        # Values differ much: the change of each is compared with itself.
        change = middle_shares - far_shares
        self._change = self._middle - self._far
        self._change_error = DEVIATIONS * float(np.sqrt(change @ change))

    @cached_property
    def final_share(self) -> float:
        """How much of the chance is left at the end of the recording: 1 if values last."""
        mean = float((self._shares * self._counts).sum() / self._counts.sum())
        return min(self._far / mean, 1.0) if mean else 0.0

    def compare(self, length: float, weigh: Callable[[Floats, float], Floats]) -> Estimate:
        """Return the mean chance over a time, divided by that over the recording."""
        import numpy as np

        inside = (np.arange(_STEP_COUNT) + 0.5) / _STEP_COUNT
        shares = self._interpolate(inside)
        base = float((shares * weigh(inside, 1.0)).mean())
        if not base or length == 1:
            return Estimate(1.0, 1.0, 1.0)
        measured = float((shares * weigh(inside, length)).mean()) / length
        later = 1 + inside * (length - 1)
        later_weights = weigh(later, length) * (length - 1) / length

        def measure(extend: Callable[[Floats], Floats]) -> float:
            """Return the mean where the chance goes on in one way."""
            return (measured + float((extend(later) * later_weights).mean())) / base

        flat = measure(lambda lags: np.full(len(lags), self._far))
        fastest = measure(lambda lags: self._decline(lags, self._change + self._change_error))
        if self._change <= self._change_error:  # no fall can be seen
            return Estimate(min(fastest, flat), flat, flat)
        linear = measure(lambda lags: self._decline(lags, self._change))
        fading = measure(self._fade)
        return Estimate(min(fastest, linear), float(np.sqrt(linear * fading)), max(fading, linear))

    def _interpolate(self, lags: Floats) -> Floats:
        """Return the chance at lags within the recording."""
        import numpy as np

        chances: Floats = np.interp(lags, np.arange(LAG_COUNT) / LAG_COUNT, self._shares)
        return chances

    @cached_property
    def _places(self) -> tuple[float, float]:
        """The mean lags of the middle and of the last third."""
        return (MIDDLE + FAR - 1) / 2 / LAG_COUNT, (FAR + LAG_COUNT - 1) / 2 / LAG_COUNT

    def _decline(self, lags: Floats, change: float) -> Floats:
        """Return a chance that goes on falling by as much as it fell, until it is 0."""
        import numpy as np

        middle, far = self._places
        return np.maximum(self._far - max(change, 0.0) / (far - middle) * (lags - far), 0.0)

    def _fade(self, lags: Floats) -> Floats:
        """Return a chance that goes on falling by as large a part."""
        import numpy as np

        middle, far = self._places
        rate = np.log(self._middle / max(self._far, self._middle * 1e-3)) / (far - middle)
        chances: Floats = self._far * np.exp(-rate * (lags - far))
        return chances


def _is_regular(places: Floats, clock_step: float) -> bool:
    """Return whether a value comes in equal steps of time, some of which the sample may lack.

    Args:
        places: when its events came, in ascending order.
        clock_step: the shortest distance of two events.
    """
    import numpy as np

    pauses = np.diff(places)
    step = float(np.quantile(pauses, SHORT_PAUSE_SHARE, method="higher"))
    if step < MIN_CLOCK_STEPS * clock_step:
        return False
    steps = pauses / step
    return float((np.abs(steps - np.round(steps)) <= MAX_STEP_ERROR).mean()) >= REGULAR_SHARE


def _count_pairs(counts: Floats) -> Floats:
    """Return for each row of counts by place the pairs at each distance between two places."""
    import numpy as np

    pairs = np.empty_like(counts)
    for lag in range(LAG_COUNT):
        pairs[:, lag] = (counts[:, : LAG_COUNT - lag] * counts[:, lag:]).sum(1)
    pairs[:, 0] -= counts.sum(1)  # no event is a pair with itself
    return pairs
