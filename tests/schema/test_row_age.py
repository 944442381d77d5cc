"""How old the rows are that a read of a time range asks for."""

from __future__ import annotations

import numpy as np
import pytest

from rowkey.errors import InvalidArgument
from rowkey.schema import Duration, RowAge, parse_row_age

HOUR = 3_600


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("latest", RowAge("latest")),
        (" uniform ", RowAge("uniform")),
        ("exp(90m)", RowAge("exp", Duration(90, "m"))),
    ],
)
def test_a_row_age_survives_printing_and_parsing(text: str, expected: RowAge) -> None:
    """What is printed is parsed again."""
    assert expected == parse_row_age(text) == parse_row_age(str(expected))


@pytest.mark.parametrize(
    ("text", "problem", "remedy"),
    [
        ("newest", "'newest' is not an age", ""),
        ("latests", "'latests' is not an age", "Did you mean latest?"),
        ("exp", "'exp' is not an age", "Give its mean, such as exp(1h)."),
        ("latest(1h)", "'latest(1h)' is not an age", ""),
        ("exp(1)", "'1' is not a length of time", ""),
        ("exp(0s)", "the mean of 'exp(0s)' is zero", ""),
    ],
)
def test_an_invalid_row_age_is_refused_with_a_suggestion(
    text: str, problem: str, remedy: str
) -> None:
    """The error says what is wrong, and what was probably meant."""
    with pytest.raises(InvalidArgument) as caught:
        parse_row_age(text)
    assert caught.value.mistake.problem.startswith(problem)
    assert remedy in caught.value.mistake.remedy


@pytest.mark.parametrize("oldest", [0, 1, 5 * HOUR, 1_000 * HOUR])
def test_exponential_ages_are_distributed_as_random_draws(oldest: int) -> None:
    """They are distributed as draws of NumPy, without those that are older than all rows."""
    chances = (np.arange(2_000) + 0.5) / 2_000
    ages = RowAge("exp", Duration(2, "h")).compute_ages(chances, oldest, 10**9)
    draws = np.random.default_rng(3).exponential(2 * HOUR, 40_000)
    expected = np.quantile(draws[draws <= max(oldest, 1)] if oldest else [0.0], chances)
    assert np.abs(np.sort(ages) - expected)[20:-20].max() <= 0.05 * oldest + 1
    assert 0 <= ages.min() <= ages.max() <= oldest


def test_uniform_ages_cover_all_of_the_time_and_latest_ages_are_0() -> None:
    """Uniform ages cover all of the time at equal steps; the latest are 0."""
    chances = np.array([0.0, 0.25, 0.5, 1.0])
    assert [0, 25, 50, 100] == RowAge("uniform").compute_ages(chances, 100, 1).tolist()
    assert [0, 0, 0, 0] == RowAge("latest").compute_ages(chances, 100, 1).tolist()
