"""The busiest minute of a table of which a sample has a part: some of its events or entities.

A share of the events has few of each burst, and all events of a share of the entities are few
bursts; so both have other peaks than the table. Two things can be estimated from either: how much
of the load falls into busy times that many values have in common, and how many events of one value
come together. How busy the busiest window of a server gets follows from both by a formula.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np
from rowkey.hotspots import compute_even_deviation, compute_even_skew
from rowkey.simulate.poisson_mixture import compute_likelihoods, estimate_mixture
from rowkey.workload import Estimate

if TYPE_CHECKING:
    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Ints = np.ndarray[Any, np.dtype[np.int64]]

GRID_SIZE = 64
"""Sizes of bursts, and heights of the common load, that are told apart."""
MIN_FACTOR = 1.2
"""Events of a value in the table, for each of the part, up to which the part shows its bursts."""
DEVIATIONS = 2.0
"""Standard deviations from which on a structure is believed rather than taken for chance."""
STEP_DEVIATIONS = 3.0
"""The same for each of some twenty lengths of a step that are tried."""
MAX_CHANCE = 0.05
"""Odds below which the events of no value meet by chance."""
MIN_SHARE = 1e-6
"""Share of the events or windows below which a size or height is only a rest of the estimate."""
RANGE_DEVIATIONS = 1.96
MAX_TAIL = 1 - 1e-12
MAX_EXPONENT = 600.0
"""Far below the largest exponent of a float."""
BISECTIONS = 24


@dataclass(frozen=True, slots=True)
class PartGrowth:
    """How a table follows from a part of it.

    Args:
        copies: values of the table for each one of the part.
        thinning: events of the part for each event of its values in the table; at most 1.
    """

    copies: float
    thinning: float


class CommonLoad:
    """The load of busy times that many entities have in common, in parts of its mean.

    It is counted in the finest steps of time in which the events of some entities tell where those
    of others lie. `heights` has its heights, `shares` how much of the time has each, and
    `step_bursts` how many bursts the busiest step has.

    Args:
        entities: for each sampled event, the number of what comes by itself, such as its user.
        windows: its window.
        window_count: how many windows there are.

    Source: least-squares cross-validation, leaving out entities instead of events; Rudemo,
    Empirical choice of histograms and kernel density estimators (1982).
    """

    def __init__(self, entities: Ints, windows: Ints, window_count: int) -> None:
        codes, counts = np.unique(entities * window_count + windows, return_counts=True)
        owners, _ = _number_runs(codes // window_count)
        filled_windows, places = np.unique(codes % window_count, return_inverse=True)
        sizes = counts.astype(np.float64)
        mean_size = float(sizes @ sizes) / float(sizes.sum())
        self.heights, self.shares = np.ones(1), np.ones(1)
        self.step_bursts = float(sizes.sum()) / mean_size
        best = -1.0
        for shift in range((window_count - 1).bit_length() - 1, -1, -1):  # the longest steps first
            numbers, firsts = _number_runs(filled_windows >> shift)
            starts = filled_windows[firsts] >> shift << shift
            lengths = (np.minimum(starts + (1 << shift), window_count) - starts) / window_count
            step_count = (window_count - 1 >> shift) + 1
            steps = numbers[places]
            score = _score_steps(owners, steps, sizes, lengths, step_count)
            if score >= best:
                continue
            best = score
            # As many bursts of a mean size as each step has, if all were equally long.
            bursts = np.bincount(steps, sizes) / lengths / step_count / mean_size
            self.heights, self.shares = _estimate_heights(bursts, lengths)
            self.step_bursts = float(bursts.max())
        kept = self.shares > MIN_SHARE
        self.heights, self.shares = self.heights[kept], self.shares[kept]


def _score_steps(
    owners: Ints, steps: Ints, sizes: Floats, lengths: Floats, step_count: int
) -> float:
    """Return how badly the load of each step tells that of the others; less is better.

    It is the score of the cross-validation, with what chance may have taken off it.

    Args:
        owners: for each entity's events of a window, the index of the entity, ascending.
        steps: for each, the index of its step among those with events, ascending for each entity.
        sizes: how many events these are.
        lengths: the length of each step with events, as a share of all time.
        step_count: how many steps there are, empty ones too.
    """
    count, totals, loads = float(sizes.sum()), np.bincount(owners, sizes), np.bincount(steps, sizes)
    _, firsts = _number_runs(owners * len(lengths) + steps)
    entity_loads = np.add.reduceat(sizes, firsts)  # of each entity in each of its steps
    entity_steps, entity_numbers = steps[firsts], owners[firsts]
    others = loads[entity_steps] - entity_loads
    met = entity_loads * others / (count - totals[entity_numbers]).clip(1)
    score = float((loads**2 / lengths).sum()) / count**2
    score -= 2 * float((met / lengths[entity_steps]).sum()) / count
    # Entities that stay are in many steps, which then are not independent of each other.
    stays = float(np.bincount(entity_numbers)[entity_numbers] @ entity_loads) / count
    noise = sqrt(2 * (step_count - 1) * stays) * float(entity_loads @ entity_loads) / count**2
    return score + STEP_DEVIATIONS * noise


def _estimate_heights(bursts: Floats, lengths: Floats) -> tuple[Floats, Floats]:
    """Return the heights of a load in parts of its mean, and how much of the time has each.

    Args:
        bursts: how many bursts each step with events has.
        lengths: its length, as a share of all time; the rest of the time has none.
    """
    counts = np.append(bursts, 0.0)
    weights = np.append(lengths, 1 - lengths.sum()).clip(0)
    counts, places = np.unique(counts, return_inverse=True)  # most are alike
    weights = np.bincount(places, weights).astype(np.float64)
    means = np.linspace(0.1, sqrt(float(counts.max()) * 1.2 + 1), GRID_SIZE) ** 2
    chances = compute_likelihoods(counts, means[np.newaxis])
    chances = chances * estimate_mixture(counts, np.ones(len(counts)), weights, means)
    expected = chances @ means / chances.sum(1)
    shares, heights = _average_classes(np.searchsorted(means, expected), weights, expected)
    return heights / float(heights @ shares), shares


class PartLoad:
    """The load of a window of a server, in a table of which a sample has a part.

    Args:
        groups: for each sampled event, the index of its group of equal values; a group lies on one
            server at a time.
        common_load: how much of the load falls into busy times that many values have in common.
        windows: the window of each event.
        window_count: how many windows there are.
        growth: how the table follows from the sample.

    Cost: 0.2 s for 100,000 events, whatever the number of windows; memory follows the events.
    """

    def __init__(
        self,
        groups: Ints,
        common_load: CommonLoad,
        windows: Ints,
        window_count: int,
        growth: PartGrowth,
    ) -> None:
        self._window_count = window_count
        codes, sizes = np.unique(groups * window_count + windows, return_counts=True)
        self._windows, self._sizes = codes % window_count, sizes.astype(np.float64)
        self._owners, _ = _number_runs(codes // window_count)
        self._totals = np.bincount(self._owners, self._sizes)
        self._growth = growth
        self._common_load = common_load
        self.mean = len(groups) * growth.copies / growth.thinning / window_count
        """Events of a mean window on all servers."""
        self._burst_sizes, self._burst_shares = self._estimate_bursts()

    def estimate_maximum(self, server_shares: Floats, min_events: int = 0) -> Estimate:
        """Return the events of the busiest window of any server, in 95 of 100 tables.

        What chance makes of a table, and of the part from which its load is known.

        Args:
            server_shares: the share of a window's events that each server takes.
            min_events: events of a window on all servers from which on it counts.
        """
        shares, servers = server_shares, len(server_shares)
        if self._growth.copies < MIN_FACTOR:  # the part shows which server is busier
            error = 1 / (self._common_load.step_bursts * float(shares.max()))
        else:  # others lie elsewhere, so that some server has more of the large ones
            draws = self._growth.copies * self._totals.sum() ** 2 / (self._totals @ self._totals)
            lifted = min(float(shares.max() * compute_even_skew(draws, servers)), 1.0)
            rest = (1 - lifted) / max(1 - float(shares.max()), 1e-9)
            shares = np.append(np.delete(shares, shares.argmax()) * rest, lifted)
            error = 1 / self._common_load.step_bursts
            error += float(compute_even_deviation(draws, servers)) ** 2
        low, likely, high = (
            self._find_maximum(chance, shares, min_events) for chance in (0.025, 0.5, 0.975)
        )
        common = self.mean * float(self._common_load.heights.max() * shares.max())
        in_bursts = max(1 - common / likely, 0)
        error = RANGE_DEVIATIONS * sqrt(error + in_bursts**2 * self._burst_error**2)
        return Estimate(low / (1 + error), likely, high * (1 + error))

    def _find_maximum(self, chance: float, server_shares: Floats, min_events: int) -> float:
        """Return what the busiest window of any server has at most, with some chance."""
        digits = 2 + len(str(len(server_shares)))  # of shares that are told apart
        shares, numbers = np.unique(np.round(server_shares, digits), return_counts=True)
        heights, height_shares = self._common_load.heights, self._common_load.shares
        means = self.mean * np.outer(heights, shares).ravel()
        others = self.mean * np.outer(heights, 1 - shares).ravel()
        counts = self._window_count * np.outer(height_shares, numbers).ravel()

        def is_enough(most: float) -> bool:
            tails = self._compute_tails(most, means)
            tails *= self._compute_tails(min_events - most, others)
            return float(counts @ np.log1p(-tails)) >= log(chance)

        low = high = float(means.max())
        while not is_enough(high):
            low, high = high, 2 * high + 1
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            low, high = (low, middle) if is_enough(middle) else (middle, high)
        return high

    def _compute_tails(self, events: float, means: Floats) -> Floats:
        """Return how likely windows with some mean events have more; 1 from the mean down.

        Source: Lugannani and Rice, Saddle point approximation for the distribution of the sum of
        independent random variables (1980), for a Poisson number of bursts.
        """
        tails = np.full(len(means), MAX_TAIL)
        is_above = (events > means) & (means > 0)
        tails[means == 0] = 0.0 if events > 0 else MAX_TAIL
        if not is_above.any():
            return tails
        sizes = self._burst_sizes
        rates = means[is_above, np.newaxis] * (self._burst_shares / sizes)
        low, high = np.zeros(len(rates)), np.full(len(rates), MAX_EXPONENT / sizes.max())
        for _ in range(BISECTIONS):
            tilt = (low + high) / 2
            is_low = (rates * sizes * np.exp(tilt[:, np.newaxis] * sizes)).sum(1) < events
            low, high = np.where(is_low, tilt, low), np.where(is_low, high, tilt)
        grown = np.exp(tilt[:, np.newaxis] * sizes)
        exponent = np.maximum(tilt * events - (rates * (grown - 1)).sum(1), 1e-12)
        root = np.sqrt(2 * exponent)
        scaled = tilt * np.sqrt((rates * sizes**2 * grown).sum(1))
        density = np.exp(-exponent) / sqrt(2 * np.pi)
        above = np.array([NormalDist().cdf(-one) for one in root.tolist()])
        tails[is_above] = np.clip(above + density * (1 / scaled - 1 / root), 0.0, MAX_TAIL)
        return tails

    def _estimate_bursts(self) -> tuple[Floats, Floats]:
        """Return sizes of bursts in the table, and which share of its events comes in each."""
        others = self._measure_excess()[self._owners] * (self._sizes - 1)
        by_value = np.bincount(self._owners, others * self._sizes)
        self._burst_error = sqrt(float(by_value @ by_value)) / max(float(by_value.sum()), 1e-9)
        factor, weights = 1 / self._growth.thinning, self._sizes / self._sizes.sum()
        highest = float(others.max()) * 2 * factor + 1
        further = np.concatenate([[0.0], np.geomspace(0.1, highest, GRID_SIZE - 1)])
        if factor < MIN_FACTOR:
            shares, further = _average_classes(np.searchsorted(further, others), weights, others)
        else:
            shares = estimate_mixture(others, np.full(len(others), factor), weights, further)
            # Many sizes explain few meetings about as well; only their number is certain.
            mean = float(others @ weights) * factor
            shares = shares * min(mean / max(float(shares @ further), 1e-9), 1.0)
            shares[0] += 1 - shares.sum()
        kept = shares > MIN_SHARE
        return 1 + further[kept], shares[kept]

    def _measure_excess(self) -> Floats:
        """Return for each value which part of its meetings in a window a steady pace leaves open.

        A steady value follows the load that others have in common. Values with as many events are
        judged together where one shows too little by itself.

        Source: for one value among all, Bernstein's inequality.
        """
        sizes, totals, count = self._sizes, self._totals, len(self._totals)
        _, places = np.unique(self._windows, return_inverse=True)
        loads = np.bincount(places, sizes)
        other_pairs = totals.sum() ** 2 - totals @ totals
        meeting = max((loads @ loads - sizes @ sizes) / max(other_pairs, 1), 1 / self._window_count)
        pairs = np.bincount(self._owners, sizes * (sizes - 1))
        expected = totals * (totals - 1) * meeting
        classes = np.log2(totals).astype(np.int64)
        class_pairs, class_expected = np.bincount(classes, pairs), np.bincount(classes, expected)
        class_bound = class_expected + DEVIATIONS * np.sqrt(2 * class_expected)
        odds = log(count / MAX_CHANCE)
        bound = expected + 2 * np.sqrt(expected * odds) + 2 / 3 * odds
        together = 1 - class_bound / class_pairs.clip(1e-9)
        alone = 1 - bound / pairs.clip(1e-9)
        excess: Floats = np.maximum(together[classes], alone).clip(0, 1)
        return excess


def _number_runs(values: Ints) -> tuple[Ints, Ints]:
    """Return the index of each sorted value's run of equal ones, and where each run begins."""
    is_new = np.diff(values, prepend=values[0] - 1) != 0
    return np.cumsum(is_new) - 1, np.flatnonzero(is_new)


def _average_classes(classes: Ints, weights: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Return the weight of each class and the mean of its values."""
    sums = np.bincount(classes, weights).astype(np.float64)
    means: Floats = np.bincount(classes, weights * values) / sums.clip(1e-300)
    return sums, means
