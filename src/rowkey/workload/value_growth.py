"""How the rows of a value grow from a recording to the table.

The chance that two events have the same values, by the time between them, tells it: it stays where
values last (users, devices), and falls to nothing where they come and go (sessions, orders). The
other rows of a value in a longer time are all events of that time, times the mean of this chance
over its pairs of moments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np

if TYPE_CHECKING:
    Floats = np.ndarray[Any, np.dtype[np.float64]]

LAG_COUNT = 12
"""Distances in time at which the chance is measured, in parts of the recording."""
MIDDLE, FAR = LAG_COUNT // 3, 2 * LAG_COUNT // 3
"""The first lags of the middle and of the last third, which are compared."""
HEAVY_SHARE = 0.03
"""Share of all events from which on a value that the others do not explain keeps it, however many
others come: a country, the largest tenant."""
MAX_HEAVY_CHANCE = 0.05
"""Odds below which values like the smaller ones would not have one as large."""
MIN_LAG_PAIRS = 0.001
"""Pairs of events at a distance, in parts of the most, below which they say nothing of it."""
SHORT_PAUSE_SHARE = 0.05
"""Share of the pauses of a value that are shorter than the one taken for its step."""
MAX_STEP_ERROR = 0.1
"""Part of a step by which a pause differs at most from whole steps."""
REGULAR_SHARE = 0.5
"""Share of pauses of whole steps from which on a value has a pace of its own, as a sensor has: it
does not become faster when others come."""
MIN_REGULAR_PAUSES = 10
"""Pauses that show by themselves that a value has a step; fewer do where most values have one."""
MAX_END_PAUSES = 2
"""Mean pauses from an end of the recording up to which a value with a step lives beyond it."""
MIN_CLOCK_STEPS = 5
"""Shortest distances of two events that such a step has at least."""
DEVIATIONS = 1.96
MIN_DEVIATIONS = 2.0
"""Standard deviations from which on a fall of the chance counts; in full from one more on."""
MAX_UNSEEN = 3.0
"""What may come in the mean though none came, in 95 of 100 cases."""
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
        groups: for each sampled event, the index of its group of equal values, from 0.
        places: for each, when it came: 0 at the begin of the recording, 1 at its end.

    Cost: 30 ms for 50,000 events of as many values.
    """

    def __init__(self, groups: np.ndarray[Any, Any], places: Floats) -> None:
        sizes = np.bincount(groups)
        steps = _find_steps(groups, places)
        self.is_heavy = _find_heavy(sizes) & (steps == 0)
        """Whether each value keeps its share of all events."""
        lags = np.minimum((places * LAG_COUNT).astype(np.int64), LAG_COUNT - 1)
        repeated = np.flatnonzero(sizes > 1)  # a value of one event is in no pair
        numbers = np.full(len(sizes), -1)
        numbers[repeated] = np.arange(len(repeated))
        rows = numbers[groups]
        inside = rows >= 0
        cell_counts = np.bincount(
            rows[inside] * LAG_COUNT + lags[inside], minlength=len(repeated) * LAG_COUNT
        )
        counts = cell_counts.reshape(-1, LAG_COUNT).astype(np.float64)
        _spread_steps(counts, rows[inside], places[inside], steps[repeated])
        singles = np.flatnonzero(~inside & (steps[groups] == 0))
        totals = counts.sum(0) + np.bincount(lags[singles], minlength=LAG_COUNT)
        totals += (len(groups) - totals.sum()) / LAG_COUNT
        self._pair_counts = _count_pairs(totals[np.newaxis])[0]
        pairs = _count_pairs(counts)
        is_heavy = self.is_heavy[repeated]
        self._heavy = _LagCurve(pairs[is_heavy], self._pair_counts, int(self.is_heavy.sum()))
        self._others = _LagCurve(pairs[~is_heavy], self._pair_counts, int((~self.is_heavy).sum()))

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
        """Return the mean chance in a longer time after an event, relative to the recording."""
        curve = self._heavy if heavy else self._others
        return curve.compare(length, lambda lags, _: lags**0)


class _LagCurve:
    """The chance that two events have one of some values, by the time between them.

    Args:
        pairs: for each value and lag, the pairs of its events.
        pair_counts: for each lag, the pairs of all events.
        value_count: how many values there are, those of one event included.
    """

    def __init__(self, pairs: Floats, pair_counts: Floats, value_count: int) -> None:
        self._counts = np.maximum(pair_counts, 1.0)
        self._shares = pairs.sum(0) / self._counts
        near, middle, far = slice(MIDDLE), slice(MIDDLE, FAR), slice(FAR, LAG_COUNT)
        middle_shares = pairs[:, middle].sum(1) / self._counts[middle].sum()
        far_shares = pairs[:, far].sum(1) / self._counts[far].sum()
        self._near = float(pairs[:, near].sum() / self._counts[near].sum())
        self._middle, self._far = float(middle_shares.sum()), float(far_shares.sum())
        # Values differ much: the change of each is compared with itself.
        change = middle_shares - far_shares
        self._change = self._middle - self._far
        self._deviation = float(np.sqrt(change @ change))
        self._far_high = self._far + DEVIATIONS * self._deviation
        if not self._far:
            self._far_high = self._bound_unseen(value_count)

    def _bound_unseen(self, value_count: int) -> float:
        """Return how large the chance may be at distances at which no two events had one value.

        Source: the rule of three: what none of n pairs of values showed is rarer than 3 / n.
        """
        first = int(np.flatnonzero(self._shares).max(initial=-1)) + 1
        seen_share = (1 - first / LAG_COUNT) ** 2
        pairs = value_count**2 / 2 * seen_share
        return min(MAX_UNSEEN / pairs, self._near) if pairs else 0.0

    @cached_property
    def final_share(self) -> float:
        """How much of the chance is left at the end of the recording: 1 if values last."""
        mean = float((self._shares * self._counts).sum() / self._counts.sum())
        return min(self._far / mean, 1.0) if mean else 0.0

    def compare(self, length: float, weigh: Callable[[Floats, float], Floats]) -> Estimate:
        """Return the mean chance over a time, divided by that over the recording."""
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
        high = measure(lambda lags: np.full(len(lags), self._far_high))
        steepest = max(self._change + DEVIATIONS * self._deviation, self._near - self._middle)
        low = measure(lambda lags: self._decline(lags, steepest))
        if self._change <= MIN_DEVIATIONS * self._deviation:  # no fall can be seen
            return Estimate(min(low, flat), flat, high)
        linear = measure(lambda lags: self._decline(lags, self._change))
        falling = float(np.sqrt(linear * measure(self._fade)))
        certainty = min(self._change / self._deviation - MIN_DEVIATIONS, 1.0)
        value = flat ** (1 - certainty) * falling**certainty
        return Estimate(min(low, linear, value), value, max(high, value))

    def _interpolate(self, lags: Floats) -> Floats:
        """Return the chance at lags within the recording, also where it has hardly any events."""
        known = np.flatnonzero(self._counts > MIN_LAG_PAIRS * self._counts.max())
        chances: Floats = np.interp(lags, known / LAG_COUNT, self._shares[known])
        return chances

    @cached_property
    def _places(self) -> tuple[float, float]:
        """The mean lags of the middle and of the last third."""
        return (MIDDLE + FAR - 1) / 2 / LAG_COUNT, (FAR + LAG_COUNT - 1) / 2 / LAG_COUNT

    def _decline(self, lags: Floats, change: float) -> Floats:
        """Return a chance that goes on falling by as much as it fell, until it is 0."""
        middle, far = self._places
        return np.maximum(self._far - max(change, 0.0) / (far - middle) * (lags - far), 0.0)

    def _fade(self, lags: Floats) -> Floats:
        """Return a chance that goes on falling by as large a part."""
        middle, far = self._places
        rate = np.log(self._middle / max(self._far, self._middle * 1e-3)) / (far - middle)
        chances: Floats = self._far * np.exp(-rate * (lags - far))
        return chances


def _find_heavy(sizes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return which values are so large that those below them do not explain them.

    Of n values of which each exceeds a size the more rarely, by the same factor for each further
    mean, one is above `mean * log(n / odds)` with these odds. Equal values are thus not heavy,
    however few they are.

    Source: the union bound over exponential distributions.

    >>> import numpy as np
    >>> _find_heavy(np.array([100] * 12)).any(), _find_heavy(np.array([900] + [10] * 500)).sum()
    (np.False_, np.int64(1))
    """
    order = np.argsort(-sizes, kind="stable")
    ordered = sizes[order]
    large = int(np.count_nonzero(ordered >= max(HEAVY_SHARE * ordered.sum(), 2)))
    places = np.arange(large)
    below = np.maximum(len(sizes) - 1 - places, 1)
    means = (ordered.sum() - np.cumsum(ordered)[:large]) / below
    heavy = ordered[:large] > means * np.log((below + 1) / MAX_HEAVY_CHANCE)
    heavy[places == len(sizes) - 1] = len(sizes) == 1  # there are none below it
    found = np.zeros(len(sizes), np.bool_)
    found[order[: int(np.flatnonzero(heavy).max(initial=-1)) + 1]] = True
    return found


def order_groups(groups: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the order of events by the numbers of their groups, below 2^32; stable.

    >>> import numpy as np
    >>> order_groups(np.array([70_000, 4_464, 4_464, 0])).tolist()
    [3, 1, 2, 0]
    """
    # NumPy sorts 16 bits in a quarter of the time.
    return np.lexsort((groups.astype(np.uint16), (groups >> 16).astype(np.uint16)))


def _find_steps(groups: np.ndarray[Any, Any], places: Floats) -> Floats:
    """Return for each value the step of time in which its events come; 0 if they have none.

    The sample may lack some of the events. Few events are regular by chance, so that they count
    only where most values are.
    """
    order = np.argsort(places, kind="stable")
    order = order[order_groups(groups[order])]
    pauses = np.diff(places[order])
    owners = groups[order][1:]
    inside = owners == groups[order][:-1]
    pauses, owners = pauses[inside], owners[inside]
    steps = np.zeros(int(groups.max(initial=-1)) + 1)
    if not len(pauses):
        return steps
    order = np.argsort(pauses)
    pauses = pauses[order[order_groups(owners[order])]]
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    counts = np.diff(np.append(starts, len(owners)))
    found = pauses[starts + np.ceil(SHORT_PAUSE_SHARE * (counts - 1)).astype(np.int64)]
    clock_step = float(np.diff(np.unique(places)).min(initial=1.0))
    found = np.where(found >= MIN_CLOCK_STEPS * clock_step, found, 0.0)
    ratios = pauses / np.maximum(np.repeat(found, counts), 1e-12)
    is_whole = np.abs(ratios - np.round(ratios)) <= MAX_STEP_ERROR
    fitting = np.add.reduceat(is_whole.astype(np.int64), starts) - 1  # the step fits itself
    shares = fitting / np.maximum(counts - 1, 1)
    are_most = fitting[found > 0].sum() >= REGULAR_SHARE * max(int((counts - 1).sum()), 1)
    is_regular = (shares >= REGULAR_SHARE) | (counts == 1)
    is_regular &= (counts >= MIN_REGULAR_PAUSES) | (are_most and counts.max() > 1)
    if are_most and counts.max() > 1:
        steps[:] = 1.0  # what came once may come again after the recording
    steps[owners[starts]] = np.where(is_regular, found, 0.0)
    return steps


def _spread_steps(
    counts: Floats, rows: np.ndarray[Any, Any], places: Floats, steps: Floats
) -> None:
    """Spread the events of values with a step evenly over their steps.

    How many of them lie in two parts of the recording depends on how the step fits into it.

    Args:
        counts: for each value and place, the events; changed.
        rows: for each event, its value.
        places: for each event, when it came.
        steps: for each value its step, or 0.
    """
    first, last = np.ones(len(counts)), np.zeros(len(counts))
    np.minimum.at(first, rows, places)
    np.maximum.at(last, rows, places)
    chosen = np.flatnonzero(steps)
    first, last, steps = (one[chosen, np.newaxis] for one in (first, last, steps))
    pauses = MAX_END_PAUSES * (last - first) / (counts[chosen].sum(1, keepdims=True) - 1)
    begins = np.where(first <= pauses, 0.0, first - steps / 2)
    ends = np.where(1 - last <= pauses, 1.0, last + steps / 2)
    edges = np.arange(LAG_COUNT + 1) / LAG_COUNT
    shares = np.diff(np.clip(edges, begins, ends)) / (ends - begins)
    counts[chosen] = counts[chosen].sum(1, keepdims=True) * shares


def _count_pairs(counts: Floats) -> Floats:
    """Return for each row of counts by place the pairs at each distance between two places."""
    pairs = np.empty_like(counts)
    for lag in range(LAG_COUNT):
        pairs[:, lag] = (counts[:, : LAG_COUNT - lag] * counts[:, lag:]).sum(1)
    pairs[:, 0] -= counts.sum(1)  # no event is a pair with itself
    return pairs
