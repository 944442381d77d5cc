"""Trials of a declared read with values of the sample, and the cost that they show together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, hypot, inf, sqrt
from statistics import fmean
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np
from rowkey.plan import DeclaredRead, Plan
from rowkey.simulate.answer_rows import (
    AnswerRows,
    expect_rows,
    measure_growth_margin,
    measure_limit_margin,
    measure_unseen_margin,
)
from rowkey.simulate.read_cost import ReadCost, ReadMargins
from rowkey.simulate.read_load import MARGIN_DEVIATIONS, AnswerLoad, TrialLoad

if TYPE_CHECKING:
    from rowkey.simulate.row_demand import RowDemand
    from rowkey.simulate.row_scale import MissingRows


@dataclass(frozen=True, slots=True)
class ReadTrial:
    """The cost of one trial of a read.

    Args:
        fan_out: ranges of its plan.
        residual_fields: fields whose conditions are tested after reading.
        is_full_scan: whether nothing in the key narrows it.
        is_get: whether it knows the whole row keys.
        serves_order: whether rows come in the requested order, forwards or backwards.
        answer: the rows that it returns, before the limit.
        read_rows: rows read for them.
        load: the regions that it touches, with its operations on them.
    """

    fan_out: int
    residual_fields: tuple[str, ...]
    is_full_scan: bool
    is_get: bool
    serves_order: bool
    answer: AnswerRows
    read_rows: float
    load: TrialLoad

    @classmethod
    def from_plan(
        cls, plan: Plan, answer: AnswerRows, read_rows: float, load: TrialLoad
    ) -> ReadTrial:
        """Return the cost of a trial from its plan and the operations that it costs."""
        return cls(
            plan.fan_out,
            plan.residual_fields,
            plan.is_full_scan,
            plan.is_point,
            plan.serves_order or plan.serves_backwards,
            answer,
            read_rows,
            load,
        )


@dataclass(frozen=True, slots=True)
class RowOrigins:
    """In which regions the rows lie whose values a read asks for.

    Args:
        trials: the region of the row of each trial.
        shares: by region, how often the rows in it are asked for, in shares.
        effective_count: rows, each asked for as often, that would tell the shares as well.
        rank_error: sum of the square errors of the shares of values whose ranks are not known.
    """

    trials: np.ndarray[Any, Any]
    shares: np.ndarray[Any, Any]
    effective_count: float
    rank_error: float


def summarize_trials(
    read: DeclaredRead,
    trials: Sequence[ReadTrial],
    assumption: str,
    origins: RowOrigins,
    demand: RowDemand,
    completeness: float,
    missing: MissingRows | None,
    row_bytes: float,
) -> ReadCost:
    """Return the cost of a read, averaged over its trials.

    Args:
        assumption: what was assumed to run them.
        origins: where the rows lie whose values it asks for.
        demand: how often these values are asked for.
        completeness: how nearly the sample has all of them, from 0 to 1.
        missing: the rows of values that the sample lacks.
        row_bytes: the mean bytes of a row.
    """
    weights = [one.load.weight for one in trials]
    fans = [one.fan_out for one in trials]
    regions = [len(one.load.regions) for one in trials]
    answers, limit = [one.answer for one in trials], read.limit or inf
    returned_rows = expect_rows(answers, weights, limit)
    read_rows = [
        _adapt_read_rows(one, min(one.answer.count, limit), expected)
        for one, expected in zip(trials, returned_rows, strict=True)
    ]
    mean_rows = fmean(returned_rows, weights)
    unlimited_rows = fmean([one.count for one in answers], weights)
    sample_error = demand.measure_error(unlimited_rows, mean_rows, limit, completeness)
    rows_margin = hypot(
        max(_compute_margin(returned_rows, weights), MARGIN_DEVIATIONS * sample_error),
        measure_growth_margin(answers, weights, limit),
        measure_limit_margin(answers, weights, returned_rows, limit),
        min(measure_unseen_margin(answers, demand.mean_further_rows), limit),
    )
    residual_fields = trials[0].residual_fields
    mean_read_rows, loads = fmean(read_rows, weights), tuple(one.load for one in trials)
    if missing is not None and mean_rows:
        all_rows = missing.add_to_mean(mean_rows)
        more = all_rows.value / mean_rows
        unsure = max(all_rows.value - all_rows.low, all_rows.high - all_rows.value)
        rows_margin = hypot(rows_margin * (1 - missing.values.share), unsure)
        mean_rows, mean_read_rows = all_rows.value, mean_read_rows * more
        loads = tuple(one.scale_rows(more) for one in loads)
    return ReadCost(
        read.name,
        (fmean(fans, weights), max(fans)),
        (fmean(regions, weights), max(regions)),
        mean_rows,
        mean_read_rows,
        residual_fields,
        any(one.is_full_scan for one in trials),
        all(one.serves_order for one in trials),
        assumption,
        margins=ReadMargins(
            _compute_margin(fans, weights),
            _compute_margin(regions, weights),
            rows_margin,
            max(_compute_margin(read_rows, weights), 0.0 if residual_fields else rows_margin),
        ),
        row_bytes=row_bytes,
        load=AnswerLoad(
            loads,
            origins.shares,
            origins.effective_count,
            origins.rank_error,
        ),
        is_get=all(one.is_get for one in trials),
    )


def _adapt_read_rows(trial: ReadTrial, returned_rows: float, expected_rows: float) -> float:
    """Return the rows that a trial reads if it returns fewer or more than it found.

    Args:
        returned_rows: the rows that it returns by what the sample shows.
        expected_rows: those that it returns in the mean over what the sample does not show.
    """
    if expected_rows >= returned_rows:
        has_shared_rows = trial.read_rows < returned_rows  # several events lie in one row
        return trial.read_rows if has_shared_rows else max(trial.read_rows, expected_rows)
    return max(trial.read_rows * expected_rows / returned_rows, expected_rows)


def _compute_margin(values: Sequence[float], weights: Sequence[float]) -> float:
    """Return how far the mean of trials may lie from the true mean; 0 for a single trial.

    >>> _compute_margin([5.0, 5.0], [1, 1]), round(_compute_margin([0.0, 2.0] * 50, [1] * 100), 3)
    (0.0, 0.197)
    """
    count = len(values)
    if count < 2:
        return 0.0
    mean = fmean(values, weights)
    squares = (
        (weight * (value - mean)) ** 2 for value, weight in zip(values, weights, strict=True)
    )
    return MARGIN_DEVIATIONS * sqrt(fsum(squares) * count / (count - 1)) / fsum(weights)
