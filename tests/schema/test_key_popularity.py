"""How often a read asks for each of its values."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import InvalidArgument
from rowkey.schema import KeyPopularity, parse_key_popularity


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sample", KeyPopularity()),
        ("uniform", KeyPopularity("uniform")),
        ("zipf", KeyPopularity("zipf", 0.99)),
        (" zipf ( 1.25 ) ", KeyPopularity("zipf", 1.25)),
        ("zipf(2)", KeyPopularity("zipf", 2.0)),
    ],
)
def test_a_popularity_survives_printing_and_parsing(text: str, expected: KeyPopularity) -> None:
    """What is printed is parsed again."""
    assert expected == parse_key_popularity(text) == parse_key_popularity(str(expected))


@pytest.mark.parametrize(
    ("text", "problem", "remedy"),
    [
        ("", "'' is not a popularity", ""),
        ("ziph(1.2)", "'ziph(1.2)' is not a popularity", "Did you mean zipf?"),
        ("uniform(2)", "'uniform(2)' is not a popularity", ""),
        ("zipf(-1)", "'zipf(-1)' is not a popularity", ""),
        ("zipf(0)", "the exponent of 'zipf(0)' is out of range", ""),
        ("zipf(5.1)", "the exponent of 'zipf(5.1)' is out of range", ""),
        ("z" * 99, f"'{'z' * 64}' is not a popularity", ""),
    ],
)
def test_an_invalid_popularity_is_refused_with_a_suggestion(
    text: str, problem: str, remedy: str
) -> None:
    """The error says what is wrong, and what was probably meant."""
    with pytest.raises(InvalidArgument) as caught:
        parse_key_popularity(text)
    assert caught.value.mistake.problem.startswith(problem)
    assert remedy in caught.value.mistake.remedy


@given(st.lists(st.integers(1, 50), min_size=1, max_size=30), st.floats(0.1, 5))
def test_popularity_shares_agree_with_a_loop_over_ranked_values(
    counts: list[int], exponent: float
) -> None:
    """They agree with a loop over values from the most frequent to the rarest."""
    loop = {"sample": Counter(dict(enumerate(counts))), "uniform": Counter(range(len(counts)))}
    ranked = sorted(range(len(counts)), key=lambda place: (-counts[place], place))
    by_rank = {place: rank**-exponent for rank, place in enumerate(ranked, 1)}
    for shape, weights in (*loop.items(), ("zipf", by_rank)):
        expected = [weights[place] / sum(weights.values()) for place in range(len(counts))]
        popularity = parse_key_popularity(shape)
        if shape == "zipf":
            popularity = KeyPopularity("zipf", exponent)
        assert pytest.approx(expected) == popularity.compute_shares(np.array(counts)).tolist()
