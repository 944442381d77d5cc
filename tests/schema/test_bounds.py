from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from rowkey.schema import Bound, Equal, OneOf, Range, StartsWith, is_within_bound

CASES: list[tuple[Any, Bound, bool]] = [
    (5, Equal(5), True),
    (None, Equal(None), True),
    (5, OneOf((4, 5)), True),
    (None, OneOf((4, None)), True),
    (None, Range(), False),
    (5, Range(), True),
    (5, Range(5, 5), True),
    (5, Range(5, 6, includes_low=False), False),
    (6, Range(5, 6, includes_high=False), False),
    ("web-1", StartsWith("web"), True),
    ("we", StartsWith("web"), False),
    (None, StartsWith(""), False),
    (b"\x00\x01", StartsWith(b"\x00"), True),
]


@pytest.mark.parametrize(("value", "bound", "lies_within"), CASES)
def test_each_type_of_bound_matches_its_values_and_not_null(
    value: Any, bound: Bound, *, lies_within: bool
) -> None:
    """Each type of bound matches its values, and no range or prefix matches null."""
    assert lies_within == is_within_bound(value, bound)


@given(st.integers(), st.integers(), st.integers(), st.booleans(), st.booleans())
def test_a_range_bound_compares_both_of_its_ends(
    value: int, low: int, high: int, with_low: bool, with_high: bool
) -> None:
    """A range compares both ends, each inclusive or exclusive."""
    above = value >= low if with_low else value > low
    below = value <= high if with_high else value < high
    bound = Range(low, high, with_low, with_high)
    assert (above and below) == is_within_bound(value, bound)
