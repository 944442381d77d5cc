"""The load by time and server of a table of which a sample has a part.

A part of the events shows few events of each burst, and a part of the entities shows few bursts; so
both have other peaks than the table. Three things can be estimated from either: where in time and
on servers the load lies that is common to many values; how many events of one value come together;
and how many such bursts there are. Tables with these are drawn at random, at the full rate, and
their peaks are counted.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.simulate.poisson_mixture import compute_likelihoods, estimate_mixture

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Ints = np.ndarray[Any, np.dtype[np.int64]]

GRID_SIZE = 64
"""Sizes of bursts, and heights of the common load, that are told apart."""
MIN_FACTOR = 1.2
"""Events of the table for each of the sample up to which the sample shows bursts as they are."""
DEVIATIONS = 2.0
"""Standard deviations from which on a structure is believed rather than taken for chance."""
MAX_CHANCE = 0.05
"""Odds below which values do not meet by chance."""
STEP_DEVIATIONS = 3.0
"""The same for each of some twenty divisions of time and servers that are tried."""
DENSE_BURSTS = 5.0
"""Bursts of one size in each window of a server from which on their sum is nearly normal."""
DRAW_COUNT = 12
"""Tables that are drawn."""


@dataclass(frozen=True, slots=True)
class PartGrowth:
    """How a table follows from a uniform sample of the events of a recording.

    Args:
        copies: values of the table for each one of the recording.
        thinning: events of the sample for each event of its values in the table; at most 1.
        heavy_factor: events of the table for each sampled one of a value that keeps its share.
    """

    copies: float
    thinning: float
    heavy_factor: float


class TableLoad:
    """The load by window and server of the table of which a sample has a part.

    Args:
        groups: for each sampled event, the number of its values that lie on one server at a time.
        servers: for each, its server.
        server_shares: how likely a new value is to lie on each server: its share of the regions.
        is_heavy: for each group, whether it keeps its share of all events.
        growth: how the table follows from the sample.
        seed: where randomness begins.

    Cost: 0.1 s for 100,000 events and 20,000 windows of servers.
    """

    def __init__(
        self,
        groups: Ints,
        servers: Ints,
        server_shares: Floats,
        is_heavy: np.ndarray[Any, Any],
        growth: PartGrowth,
        seed: int = 0,
    ) -> None:
        import numpy as np

        self._groups = groups
        self._servers = servers
        self._server_shares = server_shares
        self._growth = growth
        self._seed = seed
        self._is_heavy = is_heavy
        heavy_count = int(np.count_nonzero(is_heavy[groups]))
        self._light_events = (len(groups) - heavy_count) * growth.copies / growth.thinning
        self.event_count = self._light_events + heavy_count * growth.heavy_factor
        """Events of the table in the time of the sample."""
        self.server_count = len(server_shares)

    def draw_loads(
        self, windows: Ints, window_count: int, repetitions: int = 1
    ) -> Iterator[Floats]:
        """Yield loads by window and server, each of another table that may be the true one.

        Args:
            windows: for each sampled event, its window.
            window_count: how many windows there are.
            repetitions: how often the time of the sample comes again, with other bursts.
        """
        import numpy as np

        chance = np.random.default_rng(self._seed)
        bursts = _Bursts(self._groups, windows, self._servers, window_count)
        is_heavy = self._is_heavy[bursts.values[bursts.groups]]
        light = bursts.select(~is_heavy)
        # Values of which there are copies are spread anew; else their servers are known.
        has_copies = self._growth.copies > MIN_FACTOR
        shares = self._server_shares
        field = _CommonLoad(light, shares, window_count, counts_values=has_copies)
        heavy = self._sum_heavy(bursts.select(is_heavy), field.curve)
        sizes, counts = light.estimate_sizes(self._growth)
        spread = light.steady_spread / self._growth.copies
        heavy = np.tile(heavy, (repetitions, 1))
        common = np.tile(field.chances, (repetitions, 1)) / repetitions
        counts = counts * repetitions
        for _ in range(DRAW_COUNT):
            chances = common
            if has_copies and field.is_separable:
                noise = chance.standard_normal(len(shares)) * np.sqrt(spread / shares.clip(1e-9))
                chances = chances * np.maximum(1 + noise, 0.0)
                chances /= chances.sum()
            yield heavy + _draw_bursts(sizes, counts, chances, chance, self._growth)

    def _sum_heavy(self, bursts: _Bursts, curve: Floats) -> Floats:
        """Return the load of the values that keep their share: steady ones follow the others."""
        import numpy as np

        total = np.zeros((len(curve), self.server_count))
        excess = bursts.excess[bursts.groups]
        np.add.at(total, (bursts.windows, bursts.servers), bursts.sizes * excess)
        steady = np.bincount(bursts.servers, bursts.sizes * (1 - excess), self.server_count)
        total += np.outer(curve, steady)
        return total * self._growth.heavy_factor


class _Bursts:
    """The events of one value in one window on one server, for all of them.

    Args:
        groups: the value of each event.
        windows: its window.
        servers: its server.
        window_count: how many windows there are.
    """

    def __init__(self, groups: Ints, windows: Ints, servers: Ints, window_count: int) -> None:
        import numpy as np

        span = int(servers.max(initial=0)) + 1
        self.values, numbers = np.unique(groups, return_inverse=True)
        codes = (numbers * window_count + windows) * span + servers
        codes, sizes = np.unique(codes, return_counts=True)
        self.sizes = sizes.astype(np.float64)
        self.servers = codes % span
        self.windows = codes // span % window_count
        self.groups = codes // span // window_count
        self.totals = np.bincount(self.groups, self.sizes)
        self.excess = self._measure_excess(window_count)

    def select(self, chosen: np.ndarray[Any, Any]) -> _Bursts:
        """Return some of the bursts; all those of a value, or none."""
        import numpy as np

        part = copy(self)
        part.sizes, part.servers, part.windows = (
            one[chosen] for one in (self.sizes, self.servers, self.windows)
        )
        kept, part.groups = np.unique(self.groups[chosen], return_inverse=True)
        part.values, part.totals, part.excess = (
            one[kept] for one in (self.values, self.totals, self.excess)
        )
        return part

    def _measure_excess(self, window_count: int) -> Floats:
        """Return for each value which part of its meetings in a window a steady pace leaves open.

        A steady value follows the load that others have in common. Values with as many events are
        judged together where one shows too little by itself.
        """
        import numpy as np

        count = len(self.totals)
        loads = np.bincount(self.windows, self.sizes, window_count)
        squares = np.bincount(self.groups, self.sizes**2, count)
        # Pairs of events of other values, in the same window and in all.
        shared = np.bincount(self.groups, self.sizes * loads[self.windows], count) - squares
        met = loads @ loads - squares.sum() - 2 * shared
        events = self.totals.sum()
        all_pairs = events**2 - self.totals @ self.totals - 2 * self.totals * (events - self.totals)
        meeting = np.maximum(met / np.maximum(all_pairs, 1.0), 1 / window_count)
        pairs = squares - self.totals
        expected = self.totals * (self.totals - 1) * meeting
        classes = np.log2(self.totals).astype(np.int64)

        def compare(found: Any, bound: Any) -> Floats:
            """Return the part of what was found that is beyond what chance may make."""
            beyond: Floats = np.clip(1 - bound / np.maximum(found, 1e-9), 0.0, 1.0)
            return beyond

        class_expected = np.bincount(classes, expected)
        class_bound = class_expected + DEVIATIONS * np.sqrt(2 * class_expected)
        by_class = compare(np.bincount(classes, pairs), class_bound)[classes]
        # None of so many steady values has more by chance (Bernstein's inequality).
        odds = np.log(count / MAX_CHANCE)
        alone = compare(pairs, expected + 2 * np.sqrt(expected * odds) + 2 / 3 * odds)
        excess: Floats = np.maximum(by_class, alone)
        return excess

    @property
    def steady_spread(self) -> float:
        """Return how unevenly values that stay lie on servers by chance: 1 if there is only one."""
        pairs = float((self.totals * (self.totals - 1)) @ (1 - self.excess))
        count = float(self.totals.sum())
        return pairs / max(count * (count - 1), 1.0)

    def estimate_sizes(self, growth: PartGrowth) -> tuple[Floats, Floats]:
        """Return sizes of bursts in the table, and how many of each there are.

        Args:
            growth: how the table follows from the sample.
        """
        import numpy as np

        if not len(self.sizes):
            return np.zeros(0), np.zeros(0)
        others = self.excess[self.groups] * (self.sizes - 1)
        factor = 1 / growth.thinning
        events = float(self.sizes.sum()) * factor * growth.copies
        if factor < MIN_FACTOR:
            further, places = np.unique(np.round(others * factor, 1), return_inverse=True)
            shares = np.bincount(places, self.sizes) / self.sizes.sum()
        else:
            highest = float(others.max()) * 2 * factor + 1
            further = np.concatenate([[0.0], np.geomspace(0.1, highest, GRID_SIZE - 1)])
            factors = np.full(len(others), factor)
            shares = estimate_mixture(others, factors, self.sizes, further)
            # Many sizes explain few meetings about as well; only their number is certain.
            mean = float(others @ self.sizes / self.sizes.sum()) * factor
            shares = shares * min(mean / max(float(shares @ further), 1e-9), 1.0)
            shares[0] += 1 - shares.sum()
        known = shares > 1e-9
        return 1 + further[known], events * shares[known] / (1 + further[known])


class _CommonLoad:
    """Where in time and on which servers the load lies that is common to many values.

    It is counted in the finest steps of time, for all servers together or for each, in which the
    events of some values tell where those of others lie.

    Args:
        bursts: the events.
        server_shares: how likely each server is where nothing is known.
        window_count: how many windows there are.
        counts_values: whether servers take as many values, not events, as others.

    Source: least-squares cross-validation, leaving out values instead of events; Rudemo, Empirical
    choice of histograms and kernel density estimators (1982).
    """

    def __init__(
        self, bursts: _Bursts, server_shares: Floats, window_count: int, *, counts_values: bool
    ) -> None:
        import numpy as np

        self._bursts = bursts
        self._shares = server_shares
        self._window_count = window_count
        self.is_separable = True
        servers = self._shrink_servers(counts_values)
        self.curve = np.full(window_count, 1 / window_count)
        self.chances: Floats = np.outer(self.curve, servers)
        if len(bursts.totals) < 2:
            return
        whole = self._score(np.zeros_like(bursts.windows), np.ones(1))[0]
        span, best = len(server_shares), whole
        by_time, by_server = whole, self._score(bursts.servers, server_shares)[0]
        shifts = range(int(window_count - 1).bit_length() - 1, -1, -1)
        for shift in shifts:
            steps, lengths = bursts.windows >> shift, self._measure_steps(shift)
            score, noise = self._score(steps, lengths)
            if score + noise < best:
                best, by_time = score + noise, score
                heights = self._shrink(steps, lengths) / lengths
                self.curve = np.repeat(heights, 1 << shift)[:window_count]
                self.curve /= self.curve.sum()
        self.chances = np.outer(self.curve, servers)
        best = -abs(by_time * by_server)  # both scores are mean squares of densities
        for shift in shifts:
            places = (bursts.windows >> shift) * span + bursts.servers
            measures = np.outer(self._measure_steps(shift), server_shares).ravel()
            score, noise = self._score(places, measures)
            if score + noise < best:
                best, self.is_separable = score + noise, False
                heights = (self._shrink(places, measures) / measures).reshape(-1, span)
                self.chances = np.repeat(heights, 1 << shift, 0)[:window_count] * server_shares
                self.chances /= self.chances.sum()
                self.curve = self.chances.sum(1)

    def _measure_steps(self, shift: int) -> Floats:
        """Return how long steps of 2^shift windows are, in parts of the time."""
        import numpy as np

        counts = np.bincount(np.arange(self._window_count) >> shift)
        lengths: Floats = counts / self._window_count
        return lengths

    def _score(self, places: Ints, measures: Floats) -> tuple[float, float]:
        """Return how badly the events of some values tell where those of others lie.

        Args:
            places: the place of each burst.
            measures: how large each place is.

        Returns:
            The score, and by how much it is lower by chance where places tell nothing.
        """
        import numpy as np

        bursts = self._bursts
        count = float(bursts.sizes.sum())
        totals = np.bincount(places, bursts.sizes, len(measures))
        codes, numbers = np.unique(bursts.groups * len(measures) + places, return_inverse=True)
        own = np.bincount(numbers, bursts.sizes)
        at, of = codes % len(measures), codes // len(measures)
        others = own * (totals[at] - own) / (count - bursts.totals[of]).clip(1)
        square = float((totals**2 / measures).sum()) / count**2
        score = square - 2 * float((others / measures[at]).sum()) / count
        # Values that stay are in many places, which then are not independent of each other.
        stays = float((np.bincount(of)[of] * own).sum()) / count
        spread = np.sqrt(2 * (len(measures) - 1) * stays)
        return score, STEP_DEVIATIONS * spread * float((own**2).sum()) / count**2

    def _shrink(self, places: Ints, measures: Floats) -> Floats:
        """Return the share of all load in each place, without what chance adds to the largest."""
        import numpy as np

        bursts = self._bursts
        totals = np.bincount(places, bursts.sizes, len(measures))
        size = max(float((bursts.sizes**2).sum() / bursts.sizes.sum()), 1.0)
        relative = totals / measures / measures.size / size  # as if all places were equally large
        high = float(relative.max()) * 1.2 + 1
        means = np.linspace(np.sqrt(0.01), np.sqrt(high), GRID_SIZE) ** 2
        weights = measures / measures.sum()
        shares = estimate_mixture(relative, np.ones(len(relative)), weights, means)
        chances = compute_likelihoods(relative, np.broadcast_to(means, (len(relative), GRID_SIZE)))
        chances = chances * shares
        expected: Floats = (chances @ means) / chances.sum(1) * measures
        expected /= expected.sum()
        return expected

    def _shrink_servers(self, counts_values: bool) -> Floats:
        """Return the share of each server, as far as chance does not explain that it differs.

        Source: James and Stein, Estimation with quadratic loss (1961).
        """
        import numpy as np

        bursts, shares, count = self._bursts, self._shares, len(self._shares)
        servers, weights = bursts.servers, bursts.sizes
        if counts_values:
            codes, numbers = np.unique(bursts.groups * count + servers, return_inverse=True)
            weights = np.bincount(numbers, weights) / bursts.totals[codes // count]
            servers = codes % count
        found = np.bincount(servers, weights, count)
        total = float(found.sum())
        if not total:
            return shares
        size = max(float((weights**2).sum()) / total, 1e-9)
        expected = np.maximum(total * shares, 1e-9)
        distance = float(((found - expected) ** 2 / expected).sum()) / size
        bound = count - 1
        if counts_values:  # others than these will lie there: only what is certain counts
            bound += DEVIATIONS * np.sqrt(2 * bound)
        kept = max(1 - bound / max(distance, 1e-9), 0.0)
        moved: Floats = shares + kept * (found / total - shares)
        return moved


def _draw_bursts(
    sizes: Floats,
    counts: Floats,
    chances: Floats,
    chance: np.random.Generator,
    growth: PartGrowth,
) -> Floats:
    """Return the events in each window of each server, of bursts that fall at random.

    Args:
        sizes: sizes of bursts.
        counts: how many of each there are.
        chances: how likely a burst is to fall into each window of each server.
        chance: where randomness comes from.
        growth: whether sizes are means, from a part of the events.
    """
    import numpy as np

    is_mean = growth.thinning * MIN_FACTOR < 1
    spreads = sizes**2 + (sizes - 1) * is_mean
    is_single = sizes < 1.05
    is_dense = ~is_single & (counts > DENSE_BURSTS * chances.size)
    total = chance.poisson(chances * float((counts * sizes)[is_single].sum())).astype(np.float64)
    mean = float((counts * sizes)[is_dense].sum())
    if mean:
        deviations = np.sqrt(chances * float((counts * spreads)[is_dense].sum()))
        total += chances * mean + deviations * chance.standard_normal(chances.shape)
    sums = np.cumsum(chances.ravel())
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        if size < 1.05 or count > DENSE_BURSTS * chances.size:
            continue
        many = int(chance.poisson(count))
        places = np.searchsorted(sums, chance.random(many) * sums[-1], "right")
        many_events = 1 + chance.poisson(size - 1, many) if is_mean else size
        total += np.bincount(
            places.clip(0, chances.size - 1), np.broadcast_to(many_events, many), chances.size
        ).reshape(chances.shape)
    return np.maximum(total, 0.0)
