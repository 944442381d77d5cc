"""The middle of a region is found in bounded memory."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from rowkey.engines.region_tracker import RegionOutline, find_middle_row

MARKS = 16


@given(sizes=st.lists(st.integers(1, 9), min_size=1, max_size=400))
def test_the_estimated_middle_of_a_region_halves_its_bytes(sizes: list[int]) -> None:
    """The bytes before the found row are half of all, but for those between two marks."""
    with patch.object(RegionOutline, "MAX_MARKS", MARKS):
        outline = RegionOutline()
        for number, size in enumerate(sizes):
            outline.add(number.to_bytes(2, "big"), size)
            assert len(outline._rows) < MARKS
        rows, marked = outline.finish()
    assert sum(sizes) == sum(marked)
    found = find_middle_row(rows, marked)
    index = 0 if found is None else int.from_bytes(found, "big")
    sums = list(accumulate(sizes))
    exact = bisect_left(sums, sums[-1] / 2)
    assert abs(sums[index] - sums[exact]) <= max(marked)
    if len(sizes) < MARKS:
        assert index == exact
