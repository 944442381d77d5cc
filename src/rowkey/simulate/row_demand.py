"""How often a read asks for the values of each sampled row."""

from __future__ import annotations

from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np
from rowkey.errors import ReadError
from rowkey.workload import order_groups

if TYPE_CHECKING:
    from rowkey.keys import ColumnBatch
    from rowkey.plan import DeclaredRead
    from rowkey.simulate.ranked_rows import RankedRows

_REPETITIONS = 20
"""Samples that are drawn like a sample, to see how much the ranks of its values vary."""
_SEED = 0


class RowDemand:
    """How often a read asks for the values of each sampled row, by its `keys`.

    All rows with the same values are asked for together as often as `keys` says, and each of them
    as often as the others.

    Args:
        columns: the sampled rows, in the order of their arrival.
        ranked_rows: the same rows, to compare their values.

    Raises:
        ReadError: no row of the sample has a value in all fields that its conditions test.
    """

    def __init__(self, read: DeclaredRead, columns: ColumnBatch, ranked_rows: RankedRows) -> None:
        self._read = read
        rows = _find_able_rows(read, columns)
        groups = ranked_rows.number_groups(read.equality_fields)[rows]
        self._group_sizes = np.bincount(groups)
        ranks = np.argsort(np.argsort(self._group_sizes, kind="stable"))
        order = order_groups(ranks[groups])
        self.rows: np.ndarray[Any, Any] = rows[order]
        """The rows whose values may be asked for, those with the fewest equal ones first."""
        self.sizes: np.ndarray[Any, Any] = self._group_sizes[groups][order]
        """For each of them, how many rows have its values in the read's equality conditions."""
        self._groups = groups[order]
        self.weights: np.ndarray[Any, Any] = np.ones(len(rows))
        """For each of them, how often it is asked for, relative to the others."""
        if read.keys.shape == "sample":
            return
        values = ranked_rows.number_groups(read.parameter_fields)[self.rows]
        _, codes, self._counts = np.unique(values, return_inverse=True, return_counts=True)
        self.weights = (read.keys.compute_shares(self._counts) / self._counts)[codes]

    @cached_property
    def _sums(self) -> np.ndarray[Any, Any]:
        """Return the sum of the weights up to and with each row."""
        sums: np.ndarray[Any, Any] = np.cumsum(self.weights)
        return sums

    @property
    def mean_further_rows(self) -> float:
        """Return how many other rows of the sample have the values that are asked for, mean."""
        return float((self.weights * (self.sizes - 1)).sum()) / float(self._sums[-1])

    def choose_rows(
        self, count: int, is_able: np.ndarray[Any, Any] | None = None
    ) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return rows that stand for the answers, in the order of `rows`, and for how many each.

        The rows are divided into so many parts of equal importance. Of each part a row is taken
        that has as many equal ones as its mean row, so each value, and each size of answer, has its
        share of them, however uneven or periodic the sample is. A row is as important as it is
        asked for; where that is not as often as it has equal ones, half of the importance is that
        of the rows its answers find, so that rare answers with many rows are not missed.

        Args:
            count: how many; an important row comes several times.
            is_able: for each row of the sample, whether it may be taken; None if all may.

        Returns:
            The rows, and their weights, which are 1 in the mean.

        Source: defensive importance sampling; Owen, Monte Carlo theory, methods and examples
            (2013), section 9.6.
        """
        rows, row_sizes, row_weights = self.rows, self.sizes, self.weights
        if is_able is not None and is_able[rows].any():
            chosen = is_able[rows]
            rows, row_sizes, row_weights = rows[chosen], row_sizes[chosen], row_weights[chosen]
        importance = row_weights
        if self._read.keys.shape != "sample":
            found = row_weights * row_sizes
            importance = row_weights / row_weights.sum() + found / found.sum()
        sums = np.cumsum(importance)
        edges = np.searchsorted(sums, np.arange(count + 1) * float(sums[-1]) / count, "right")
        edges = np.minimum(edges, len(rows) - 1)
        edges[-1] = len(rows)
        places = []
        for start, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            stop = max(end, start + 1)
            sizes, parts = row_sizes[start:stop], importance[start:stop]
            mean = float(sizes @ parts) / float(parts.sum())
            nearest = sizes[abs(sizes - mean).argmin()]
            first, last = sizes.searchsorted(nearest), sizes.searchsorted(nearest, "right")
            part_sums = np.cumsum(parts[first:last])
            places.append(start + int(first) + int(part_sums.searchsorted(part_sums[-1] / 2)))
        chosen = np.array(places, np.intp)
        weights = row_weights[chosen] / importance[chosen]
        return rows[chosen], weights / weights.mean()

    def spread_rows(self, count: int) -> np.ndarray[Any, Any]:
        """Return rows at equal steps of weight, in the order of `rows`.

        Args:
            count: how many; a row with a high weight comes several times.
        """
        steps = (np.arange(count) + 0.5) * float(self._sums[-1]) / count
        places = np.minimum(np.searchsorted(self._sums, steps, "right"), len(self.rows) - 1)
        rows: np.ndarray[Any, Any] = self.rows[places]
        return rows

    def measure_error(
        self, mean_rows: float, limited_rows: float, limit: float, completeness: float
    ) -> float:
        """Return the standard error of the mean rows of an answer, because the sample is a part.

        If the values of the sample are some of many, each came into it with all its rows. If they
        are all that there are, only the number of rows of each is by chance.

        Args:
            mean_rows: the mean without a limit.
            limited_rows: the mean with it.
            limit: rows that an answer has at most.
            completeness: how nearly the sample has all values, from 0 to 1.

        Source: the ratio estimator of cluster sampling; Cochran, Sampling Techniques (1977), 9A.
        """
        # No `@`: BLAS divides so few numbers among threads, which wait for milliseconds on a busy
        # machine, and take as much time of its cores.
        shares = self.weights / self._sums[-1]
        further = self.sizes - 1
        factor = (mean_rows - 1) / max(float((shares * further).sum()), 1e-9)
        rows = np.minimum(1 + further * factor, limit)
        deviations = rows - (shares * rows).sum()
        by_value = np.bincount(self._groups, shares * deviations)
        # One row more or less changes the rows of a value, and how often they are found.
        changes = shares * (np.where(rows < limit, factor, 0.0) + deviations / self.sizes)
        by_chance = (np.bincount(self._groups, changes) ** 2 * self._group_sizes).sum()
        among_many = (by_value**2).sum()
        variance = (1 - completeness) * among_many + completeness * by_chance
        if limit < inf:  # numbers up to a limit differ the less, the nearer to it their mean is
            most = max(limited_rows * (limit - limited_rows), 0.0)
            variance *= min(most / max(float((shares * deviations**2).sum()), 1e-9), 1.0)
        return float(np.sqrt(variance))

    @cached_property
    def effective_count(self) -> float:
        """Return how many rows, each asked for as often, would tell the shares as well.

        For `uniform` it is lower by the values that the sample lacks.

        Source: Chao, Nonparametric estimation of the number of classes in a population (1984).
        """
        error = 1 / len(self.rows)
        if self._read.keys.shape == "uniform":
            counts = self._counts
            once, twice = int((counts == 1).sum()), int((counts == 2).sum())
            lacking = once * max(once - 1, 0) / (2 * (twice + 1))
            # Rows of different values are independent, those of one are not: the larger counts.
            error = max(self._sum_squares(), lacking / (len(counts) * (len(counts) + lacking)))
        return 1 / error

    @cached_property
    def rank_error(self) -> float:
        """Return the sum of the square errors of shares because ranks are not known; `zipf` only.

        Of several values with about as many rows the sample does not tell which is asked for most.
        That makes it uncertain where the reads fall, and not how unevenly.

        Source: for the weights of rows, Kish, Survey Sampling (1965), section 11.7.
        """
        if self._read.keys.shape != "zipf":
            return 0.0
        return self._sum_squares() + self._estimate_rank_error()

    def _sum_squares(self) -> float:
        """Return the sum of the squares of the rows' shares."""
        return float(((self.weights / self._sums[-1]) ** 2).sum())

    def _estimate_rank_error(self) -> float:
        """Return the mean square error of the shares of all values that comes from their ranks.

        Samples like this one rank its values as far from its own ranks as those are from the true
        ones.
        """
        compute_shares = self._read.keys.compute_shares
        rng, shares = np.random.default_rng(_SEED), compute_shares(self._counts)
        errors = [
            float(((compute_shares(rng.poisson(self._counts)) - shares) ** 2).sum())
            for _ in range(_REPETITIONS)
        ]
        return sum(errors) / _REPETITIONS


def _find_able_rows(read: DeclaredRead, columns: ColumnBatch) -> np.ndarray[Any, Any]:
    """Return the rows that have a value in all fields that a read's conditions test.

    Raises:
        ReadError: there is no such row.
    """
    is_able = np.ones(len(columns), np.bool_)
    for test in read.conditions:
        missing = columns.find_nulls(test.field)
        if missing is not None and test.needs_value:
            is_able &= ~missing
    able = np.flatnonzero(is_able)
    if not len(able):
        what = "no row of the sample has a value in all fields that its conditions test"
        remedy = "Give a sample with rows that this read can find."
        raise ReadError(f"read {read.name}", what, remedy=remedy)
    return able
