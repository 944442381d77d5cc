"""Texts of integers are recognised without matching the patterns of their forms."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from rowkey.advise.drafts.column_stats import ColumnStats
from rowkey.advise.drafts.text_forms import INTEGER_FORMS, TEXT_FORMS, parse_plain_integers

INTEGERS = st.integers(-(2**63), 2**63 - 1)
NEARLY_INTEGERS = st.one_of(
    INTEGERS.map(str),
    st.integers(-(2**66), 2**66).map(str),
    st.integers(0, 99).map("{:03d}".format),
    st.sampled_from(["-0", "+1", " 1", "1 ", "1.0", "1e3", "0x1F", "", "-", "٣", "1_000"]),
)


def is_plain_integer(text: str) -> bool:
    """Return whether Python writes a text as the same integer of 64 bits."""
    try:
        number = int(text)
    except ValueError:
        return False
    return str(number) == text and -(2**63) <= number < 2**63


@given(st.lists(NEARLY_INTEGERS, min_size=1, max_size=4))
def test_texts_are_parsed_only_if_python_writes_the_same_integer(texts: list[str]) -> None:
    """Texts are parsed if Python writes each of them as the same integer of 64 bits."""
    numbers = parse_plain_integers(pa.array(texts))
    expected = list(map(int, texts)) if all(map(is_plain_integer, texts)) else None
    assert expected == (None if numbers is None else numbers.to_pylist())


@given(INTEGERS)
def test_each_plain_integer_matches_the_patterns_of_integer_forms(number: int) -> None:
    """The patterns of the integer forms, and of digits if it has no sign, match an integer."""
    texts = pa.array([str(number)])
    matching = {one.name for one in TEXT_FORMS if one.matches_all(texts)}
    assert INTEGER_FORMS <= matching
    assert (number >= 0) == ("digits" in matching)


@given(st.lists(st.lists(NEARLY_INTEGERS, min_size=1, max_size=30), min_size=1, max_size=4))
def test_the_quick_path_for_integers_gives_the_same_statistics(batches: list[list[str]]) -> None:
    """A column has the statistics that it has if all its texts are matched by patterns."""

    class SlowColumnStats(ColumnStats):
        """Statistics that are collected from patterns alone."""

        def _add_plain_integers(self, texts: pa.Array) -> bool:
            """Add nothing."""
            return False

    quick, slow = ColumnStats("n", can_mark_null=True), SlowColumnStats("n", can_mark_null=True)
    many = [*map(str, range(20)), "123456789"]  # more than a choice has, and no calendar digits
    for texts in (many, *batches):
        quick.add_values(pa.array(texts))
        slow.add_values(pa.array(texts))
    names = [
        name
        for name in ColumnStats.__slots__
        if name not in ("_times", "_numbers", "_seen_numbers")
    ]
    assert {n: getattr(slow, n) for n in names} == {n: getattr(quick, n) for n in names}
