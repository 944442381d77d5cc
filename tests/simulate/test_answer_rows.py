"""Rows of answers with a limit, from a part of the rows, agree with a count of all rows."""

from __future__ import annotations

import numpy as np
import pytest

from rowkey.simulate.answer_rows import (
    AnswerRows,
    average_factor,
    expect_rows,
    measure_growth_margin,
)
from rowkey.workload import Estimate


def draw_counts(shape: str, chance: np.random.Generator) -> np.ndarray:
    """Return the rows of each of 20,000 values."""
    means = {
        "equal": np.full(20_000, 15.0),
        "two": np.where(chance.random(20_000) < 0.5, 2.0, 60.0),
        "wide": chance.lognormal(2, 1, 20_000),
    }[shape]
    return chance.poisson(means)


@pytest.mark.parametrize("shape", ["equal", "two", "wide"])
@pytest.mark.parametrize("factor", [1, 4, 20])
def test_a_part_of_the_rows_predicts_the_rows_of_limited_answers(shape: str, factor: int) -> None:
    """Each 4th or 20th row of a table predicts what a limit of ten leaves of its answers."""
    chance = np.random.default_rng(3)
    counts = draw_counts(shape, chance)
    kept = chance.binomial(counts, 1 / factor)
    truth = float(kept @ np.minimum(counts, 10) / kept.sum())
    answers = [
        AnswerRows(1, int(count) - 1, Estimate(factor, factor, factor), np.inf)
        for count in chance.choice(kept, 500, p=kept / kept.sum())
    ]
    found = expect_rows(answers, [1.0] * len(answers), 10)
    assert pytest.approx(truth, rel=0.07) == np.mean(found)


def test_without_a_limit_the_sampled_rows_of_an_answer_are_multiplied() -> None:
    """An answer has its own row and its other rows times their factor, and not more than can be."""
    one, most = Estimate(2.0, 4.0, 5.0), [np.inf, 9.0]
    answers = [AnswerRows(1, 3, one, max_count) for max_count in most]
    assert [13.0, 9.0] == expect_rows(answers, [1, 1], np.inf)
    assert 4 == average_factor(answers, [1, 1])
    assert pytest.approx((13 + 9) / 2 - (7 + 7) / 2) == measure_growth_margin(
        answers, [1, 1], np.inf
    )


def test_a_value_with_more_rows_than_the_limit_returns_exactly_the_limit() -> None:
    """Where the sample has as many rows as the limit, the answer has exactly the limit."""
    answers = [
        AnswerRows(1, 30, Estimate(10, 10, 10), np.inf),
        AnswerRows(1, 0, Estimate(10, 10, 10), np.inf),
    ]
    found = expect_rows(answers, [1, 1], 20)
    assert 20 == found[0]
    assert 1 <= found[1] < 20
