"""How many rows of the table an answer returns, of which a sample has only a part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from statistics import fmean
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np
from rowkey.simulate.poisson_mixture import compute_likelihoods, estimate_mixture

if TYPE_CHECKING:
    from rowkey.workload import Estimate

    Floats = np.ndarray[Any, np.dtype[np.float64]]

GRID_SIZE = 64
"""Mean rows of a value that are told apart."""
MIN_FACTOR = 1.2
"""Factor up to which the sample has nearly all rows of a value: they are as many as it shows."""
MAX_UNSEEN = 3.0
"""What may come in the mean though none came, in 95 of 100 cases."""
MAX_COUNTED_LIMIT = 2_000
"""Limit above which a value is taken to have its mean rows, since chance changes little."""


@dataclass(frozen=True, slots=True)
class AnswerRows:
    """The rows of one answer.

    Args:
        own: rows of the sample that it returns and that its values are from.
        others: other rows of the sample that it returns.
        factor: how many rows of the table each of the others stands for.
        max_count: rows of the table that it has at most, perhaps infinite.
    """

    own: float
    others: int
    factor: Estimate
    max_count: float

    @property
    def count(self) -> float:
        """Return how many rows of the table the answer has without a limit."""
        return self.bound_count(self.factor.value)

    def bound_count(self, factor: float) -> float:
        """Return how many rows the answer has if each other row stands for `factor` rows."""
        return min(self.own + self.others * factor, self.max_count)


def average_factor(answers: Sequence[AnswerRows], weights: Sequence[float]) -> float:
    """Return the mean number of rows of the table that a row of the sample stands for in answers.

    1 if no answer returns rows other than its own.

    Args:
        weights: how many answers each of these stands for.
    """
    others = fsum(one.others * weight for one, weight in zip(answers, weights, strict=True))
    rows = fsum(
        one.others * one.factor.value * weight for one, weight in zip(answers, weights, strict=True)
    )
    return rows / others if others else 1.0


def measure_growth_margin(
    answers: Sequence[AnswerRows], weights: Sequence[float], limit: float
) -> float:
    """Return how far the mean rows of answers may differ because the growth is not known.

    Args:
        weights: for each, how often it stands.
        limit: rows that an answer returns at most.
    """
    low, value, high = (
        fmean([min(one.bound_count(factor), limit) for one, factor in each], weights)
        for each in (
            [(one, one.factor.low) for one in answers],
            [(one, one.factor.value) for one in answers],
            [(one, one.factor.high) for one in answers],
        )
    )
    return max(value - low, high - value)


def measure_limit_margin(
    answers: Sequence[AnswerRows], weights: Sequence[float], expected: Sequence[float], limit: float
) -> float:
    """Return how many more rows answers have at most, whatever the distribution of their rows is.

    As many as if all answers that the sample does not fill had their mean, up to the limit: the
    more values differ, the fewer rows are left of the same mean.

    Args:
        weights: for each, how often it stands.
        expected: the rows that each is expected to have.
        limit: rows that an answer returns at most; perhaps infinite.

    Source: Jensen's inequality.
    """
    unsure = [
        (one.count, rows, weight)
        for one, rows, weight in zip(answers, expected, weights, strict=True)
        if one.factor.value > MIN_FACTOR and one.own + one.others < limit
    ]
    if limit > MAX_COUNTED_LIMIT or not unsure:
        return 0.0
    counts, rows, parts = zip(*unsure, strict=True)
    most = min(fmean(counts, parts), limit)
    return abs(most - fmean(rows, parts)) * fsum(parts) / fsum(weights)


def measure_unseen_margin(answers: Sequence[AnswerRows], further: float) -> float:
    """Return how many rows answers may have of which no trial found any.

    Args:
        further: other rows with the same values in the whole sample, mean.

    Source: the rule of three: what none of n trials showed is rarer than 3 / n.
    """
    if any(one.others for one in answers):
        return 0.0
    highest = max(one.factor.high for one in answers)
    return min(MAX_UNSEEN / len(answers), further) * highest


def expect_rows(
    answers: Sequence[AnswerRows], weights: Sequence[float], limit: float
) -> list[float]:
    """Return how many rows each answer returns, in the mean over what the sample does not show.

    A value of which the sample has no further row may have none, or some that it missed. How often
    which is the case follows from all answers together: the distribution of the mean rows of a
    value is estimated under which the sampled numbers are the most likely ones.

    Args:
        answers: the answers.
        weights: for each, how often it stands.
        limit: rows that an answer returns at most; perhaps infinite.

    >>> from rowkey.workload import Estimate
    >>> factor = Estimate(20, 20, 20)  # values with ten more rows: a twentieth of them is here
    >>> answers = [AnswerRows(1, number % 2, factor, 720) for number in range(100)]
    >>> [round(rows, 1) for rows in expect_rows(answers, [1] * 100, 8)][:2]
    [7.6, 7.8]
    """
    max_count = max(one.max_count for one in answers)
    limit = min(limit, max_count)
    rows = [min(one.count, limit) for one in answers]
    factors = np.array([one.factor.value for one in answers])
    seen = np.array([one.own + one.others for one in answers], np.float64)
    is_unsure = (factors > MIN_FACTOR) & (seen < limit)
    if limit > MAX_COUNTED_LIMIT or not is_unsure.any():
        return rows
    others = np.array([one.others for one in answers], np.float64)
    means, shares = _estimate_distribution(others, factors, np.array(weights), max_count)
    expected = np.array(rows, np.float64)
    for factor in np.unique(factors[is_unsure]):
        chosen = is_unsure & (factors == factor)
        shown = seen[chosen].astype(np.int64)
        chances = compute_likelihoods(others[chosen], means / factor) * shares
        chances /= chances.sum(1, keepdims=True)
        missing = _average_capped(means * (1 - 1 / factor), int(limit))  # by mean and cap
        expected[chosen] = shown + (chances * missing[:, int(limit) - shown].T).sum(1)
    return [
        min(count, one.max_count) for one, count in zip(answers, expected.tolist(), strict=True)
    ]


def _estimate_distribution(
    others: Floats, factors: Floats, weights: Floats, max_count: float
) -> tuple[Floats, Floats]:
    """Return mean rows of a value, and which share of the answers is of values with each."""
    highest = min(float((others * factors).max()) * 2 + 1, max_count)
    means = np.concatenate([[0.0], np.geomspace(0.01, highest, GRID_SIZE - 1)])
    return means, estimate_mixture(others, factors, weights, means)


def _average_capped(means: Floats, max_cap: int) -> Floats:
    """Return the mean of Poisson numbers that count up to a cap, for each mean and cap from 0."""
    numbers = np.arange(max_cap)
    log_factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, max_cap)))])[:max_cap]
    logs = np.log(np.maximum(means, 1e-300))[:, np.newaxis]
    chances = np.exp(numbers * logs - means[:, np.newaxis] - log_factorials)
    above = 1 - np.minimum(np.cumsum(chances, 1), 1)
    capped: Floats = np.concatenate([np.zeros((len(means), 1)), np.cumsum(above, 1)], 1)
    return capped
