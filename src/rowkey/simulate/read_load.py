"""The load of reads by region and by server, estimated from trials and the rows of a sample."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from rowkey.array_libraries import np
from rowkey.hotspots import Placements, compute_even_deviation, compute_even_skew
from rowkey.plan import DeclaredRead
from rowkey.simulate.verdict import NOISE_DEVIATIONS, classify_skew
from rowkey.workload import count_read_operations

MARGIN_DEVIATIONS = 1.96
"""Standard errors of a mean within which the true mean lies in 95 of 100 cases."""


@dataclass(frozen=True, eq=False)
class LoadEstimate:
    """Estimated operations on each of some places: regions or servers.

    Args:
        operations: the mean by place.
        deviations: the standard error of each.
        rank_variances: the part of its square that comes from not knowing which values are popular:
            it makes uncertain which place is busy, and not how uneven they are.
    """

    operations: np.ndarray[Any, Any]
    deviations: np.ndarray[Any, Any]
    rank_variances: np.ndarray[Any, Any]

    def scale(self, factor: float) -> LoadEstimate:
        """Return the load of so many times as many operations."""
        return LoadEstimate(
            factor * self.operations, factor * self.deviations, factor**2 * self.rank_variances
        )

    def add(self, other: LoadEstimate) -> LoadEstimate:
        """Return the sum with a load on the same places that was estimated independently."""
        return LoadEstimate(
            self.operations + other.operations,
            np.hypot(self.deviations, other.deviations),
            self.rank_variances + other.rank_variances,
        )

    @property
    def total(self) -> float:
        """Return the operations on all places."""
        return float(self.operations.sum())

    @property
    def margins(self) -> np.ndarray[Any, Any]:
        """Return how far each mean may lie from the true one, in 95 of 100 cases."""
        return MARGIN_DEVIATIONS * self.deviations

    @property
    def busiest_place(self) -> int:
        """Return the place with the most operations, the first of equal ones."""
        return int(self.operations.argmax())

    @property
    def busiest_share(self) -> tuple[float, float]:
        """Return the share of the busiest place with its margin; 0 without operations."""
        total, place = self.total, self.busiest_place
        if not total:
            return 0.0, 0.0
        return float(self.operations[place]) / total, float(self.margins[place]) / total

    @property
    def skew(self) -> float:
        """Return the load of the busiest place over its fair share; 1 without operations."""
        return self.busiest_share[0] * len(self.operations) if self.total else 1.0

    @cached_property
    def _effective_draws(self) -> float:
        """Return how many independent draws of one place would be as uncertain as this load.

        Of n draws, each of k places gets a share with a variance of (1 / k) (1 - 1 / k) / n.
        """
        places = len(self.operations)
        variance = float((self.deviations**2 - self.rank_variances).sum())
        if variance <= 0:
            return float("inf")
        return (places - 1) * self.total**2 / (places * variance)

    @property
    def even_skew(self) -> float:
        """Return the skew that even reads would show by chance, as uncertain as these are."""
        return float(compute_even_skew(self._effective_draws, len(self.operations)))

    @property
    def _noise(self) -> float:
        """Return how far above the skew of even reads chance may bring it."""
        deviation = compute_even_deviation(self._effective_draws, len(self.operations))
        return NOISE_DEVIATIONS * float(deviation)

    @property
    def is_within_chance(self) -> bool:
        """Return whether chance explains that the load is uneven."""
        return self.skew <= self.even_skew + self._noise

    @property
    def level(self) -> str:
        """Return whether the load is even, warm or hot, as that of writes is called."""
        return classify_skew(self.skew, self.even_skew, self._noise, len(self.operations))


@dataclass(frozen=True, eq=False, slots=True)
class TrialLoad:
    """The operations of one trial of a read by region.

    Args:
        origin: the region of the sampled row whose values the trial asks for.
        regions: the regions that it touches, ascending.
        operations: on each of them.
        rows: read on each of them.
        weight: the answers that it stands for, relative to other trials.
    """

    origin: int
    regions: np.ndarray[Any, Any]
    operations: np.ndarray[Any, Any]
    rows: np.ndarray[Any, Any]
    weight: float = 1.0

    def scale_rows(self, factor: float) -> TrialLoad:
        """Return the load of so many times as many rows in the same regions."""
        requests = count_read_operations(1, 0)
        operations = requests + factor * (self.operations - requests)
        return replace(self, operations=operations, rows=factor * self.rows)


@dataclass(frozen=True, eq=False)
class AnswerLoad:
    """The operations of the mean answer of a read by region.

    Trials are few, but every sampled row has a known region. So what an answer costs in the region
    of the row whose values it asks for is averaged over the trials with rows of that region, and
    weighted with the share of the answers that ask for rows there; a region without a trial has the
    mean of all. What an answer costs in other regions is averaged over all trials.

    Args:
        trials: of the read.
        origin_shares: by region, the share of the answers that ask for values of rows in it.
        row_count: how many sampled rows, each asked for as often, tell these shares as well.
        rank_error: sum of the square errors of the shares of values whose ranks are not known.

    Source: post-stratification; Cochran, Sampling Techniques (1977), section 5A.9.
    """

    trials: tuple[TrialLoad, ...]
    origin_shares: np.ndarray[Any, Any]
    row_count: float
    rank_error: float = 0.0

    def count_reads(self, least: int) -> AnswerLoad:
        """Return the same load in the reads that a region counts instead of operations.

        A region of HBase counts each row, and one read where it finds none.

        Args:
            least: the reads of a region without rows, 0 or 1.
        """
        trials = [replace(one, operations=np.maximum(one.rows, least)) for one in self.trials]
        return replace(self, trials=tuple(trials))

    def estimate_load(self, groups: np.ndarray[Any, Any], group_count: int) -> LoadEstimate:
        """Return the operations of the mean answer on each of some groups of regions.

        Args:
            groups: the group of each region, from 0.
            group_count: how many groups there are.

        Cost: proportional to the regions that all trials touch.
        """
        strata = self._strata
        loads = self.origin_shares * strata.means
        _, regions, operations = self._other_costs
        loads += np.bincount(regions, operations, len(loads)) / len(self.trials)
        summed = np.bincount(groups, loads, group_count)
        totals = [float(one.operations.sum()) for one in self.trials]
        total = float(np.average(totals, weights=self._weights))
        if not total:
            return LoadEstimate(*np.zeros((3, group_count)))
        # The total is that of the trials, which the read's mean cost shows too.
        scale = total / float(summed.sum())
        variances, ranks = self._estimate_variances(groups, group_count)
        return LoadEstimate(scale * summed, scale * np.sqrt(variances + ranks), scale**2 * ranks)

    @cached_property
    def _weights(self) -> np.ndarray[Any, Any]:
        """Return the weight of each trial, 1 in the mean."""
        weights = np.array([one.weight for one in self.trials])
        normal: np.ndarray[Any, Any] = weights / weights.mean()
        return normal

    @cached_property
    def _strata(self) -> _Strata:
        """Return the trials by the region of the row whose values they ask for."""
        origins = np.array([one.origin for one in self.trials], np.int64)
        own = np.zeros(len(self.trials))
        for number, one in enumerate(self.trials):
            own[number] = one.operations[one.regions == one.origin].sum()
        region_count, weights = len(self.origin_shares), self._weights
        mean = float(np.average(own, weights=weights))
        weight_sums = np.bincount(origins, weights, region_count)
        is_covered = weight_sums > 0
        divisors = np.where(is_covered, weight_sums, 1.0)
        means = np.where(
            is_covered, np.bincount(origins, weights * own, region_count) / divisors, mean
        )
        counts = np.bincount(origins, minlength=region_count)
        return _Strata(origins, weights * own, counts, means, mean)

    @cached_property
    def _other_costs(self) -> tuple[np.ndarray[Any, Any], ...]:
        """Return trial, region and weighted operations of what trials cost in other regions."""
        numbers = np.repeat(np.arange(len(self.trials)), [len(one.regions) for one in self.trials])
        regions = np.concatenate([one.regions for one in self.trials])
        operations = np.concatenate([one.operations for one in self.trials])
        operations = operations * self._weights[numbers]
        is_other = regions != self._strata.origins[numbers]
        return numbers[is_other], regions[is_other], operations[is_other]

    def _estimate_variances(
        self, groups: np.ndarray[Any, Any], group_count: int
    ) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return the variance of the estimate for each group, and what ranks add to it."""
        strata, shares = self._strata, self.origin_shares
        # The share of the rows in a region is known as well as so many rows tell it. One row is
        # added, for a group in which by chance no row lies has a variance too.
        means = np.bincount(groups, shares * strata.means, group_count)
        squares = np.bincount(groups, shares * strata.means**2, group_count)
        spreads: np.ndarray[Any, Any] = (squares - means**2).clip(0)
        variances = (spreads + strata.mean**2 / self.row_count) / self.row_count
        ranks = (spreads + strata.mean**2 * self.rank_error) * self.rank_error
        if len(self.trials) < 2:
            return variances, ranks
        own = shares**2 * strata.estimate_variances()
        variances += np.bincount(groups, own, group_count)
        variances += self._estimate_other_variances(groups, group_count)
        return variances, ranks

    def _estimate_other_variances(
        self, groups: np.ndarray[Any, Any], group_count: int
    ) -> np.ndarray[Any, Any]:
        """Return the variance, for each group, of what trials cost in other regions."""
        numbers, regions, operations = self._other_costs
        count = len(self.trials)
        if not len(numbers):
            return np.zeros(group_count)
        # Regions of one group that a trial touches are not independent: they are summed first.
        places, inverse = np.unique(numbers * group_count + groups[regions], return_inverse=True)
        summed, places = np.bincount(inverse, operations), places % group_count
        sums = np.bincount(places, summed, group_count)
        squares = np.bincount(places, summed**2, group_count)
        variances = (squares - sums**2 / count).clip(0) / (count - 1)
        # A group that by chance no trial touched has a variance too: up to one trial is added.
        added = min(len(places) / group_count, 1.0) * float(summed.mean()) ** 2
        total: np.ndarray[Any, Any] = (variances + added / count) / count
        return total


@dataclass(frozen=True, eq=False, slots=True)
class _Strata:
    """The trials of a read by the region of the row whose values they ask for.

    Args:
        origins: that region for each trial.
        own: operations of each trial in it, times its weight.
        counts: trials by region.
        means: mean operations in it of its trials, or of all where it has none.
        mean: that of all.
    """

    origins: np.ndarray[Any, Any]
    own: np.ndarray[Any, Any]
    counts: np.ndarray[Any, Any]
    means: np.ndarray[Any, Any]
    mean: float

    def estimate_variances(self) -> np.ndarray[Any, Any]:
        """Return the variance of the mean of each region.

        Few trials ask for rows of one region, so the spread is that of all trials relative to the
        means of their regions. Trials come sorted by what they cost, at equal steps, so it is that
        of neighbouring ones. The mean of a region without a trial differs from that of all as much
        as trials do.

        Source: successive differences; Wolter, Introduction to Variance Estimation (2007), 8.2.
        """
        middles = self.means[self.origins]
        ratios = self.own / np.where(middles > 0, middles, 1.0)
        order = np.argsort(self.origins, kind="stable")
        is_pair = np.diff(self.origins[order]) == 0
        pairs = np.diff(ratios[order])[is_pair]
        spread = float(self.own.var(ddof=1))
        relative = float((pairs**2).mean()) / 2 if len(pairs) else spread / max(self.mean**2, 1.0)
        covered = relative * self.means**2 / np.maximum(self.counts, 1)
        variances: np.ndarray[Any, Any] = np.where(self.counts > 0, covered, spread)
        return variances


@dataclass(frozen=True, eq=False)
class ReadLoad:
    """The load of one declared read at its rate, by region and by server.

    Args:
        rate: answers a second; 1 if none is declared.
        is_rate_declared: whether the design declares the rate.
        regions: operations a second by region.
        servers: operations a second by server, as HBase creates the table.
    """

    name: str
    rate: float
    is_rate_declared: bool
    regions: LoadEstimate
    servers: LoadEstimate

    @classmethod
    def from_answer(
        cls, answer: AnswerLoad, read: DeclaredRead, placements: Placements
    ) -> ReadLoad:
        """Return the load of a read at its rate.

        Args:
            answer: the load of its mean answer.
            placements: the server of each region.
        """
        rate = 1.0 if read.rate is None else read.rate
        regions = answer.estimate_load(np.arange(placements.regions), placements.regions)
        servers = answer.estimate_load(placements.assignments[0], placements.servers)
        return cls(read.name, rate, read.rate is not None, regions.scale(rate), servers.scale(rate))

    def add(self, other: ReadLoad) -> ReadLoad:
        """Return the load of two reads together."""
        return ReadLoad(
            f"{self.name}, {other.name}",
            self.rate + other.rate,
            self.is_rate_declared and other.is_rate_declared,
            self.regions.add(other.regions),
            self.servers.add(other.servers),
        )
