"""The range of qualifiers that a read needs of a row with many events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
import pytest
from hypothesis import assume, given

import strategies
from rowkey.design import Design
from rowkey.schema import Equal, OneOf, Range
from rows import random_layouts

if TYPE_CHECKING:
    from rowkey.rows import Layout
    from rowkey.schema import Bound

HOURS = Design(
    "t",
    "[host][time_slice(ts, 1h)]",
    fields={"host": "text", "ts": "timestamp_s", "n": {"type": "u8", "at": "qualifier"}},
).layout
LATEST_FIRST = Design("t", "[desc(time_slice(ts, 1h))]", fields={"ts": "timestamp_s"}).layout


@given(data=st.data(), layout=random_layouts.draw_layouts())
def test_the_qualifier_range_of_a_read_holds_every_matching_event(
    data: st.DataObject, layout: Layout
) -> None:
    """No cell of an event within the bounds has a qualifier outside of the range."""
    row = data.draw(random_layouts.draw_rows(layout))
    names = data.draw(st.sets(st.sampled_from(sorted(layout.fields))))
    bounds = {
        n: data.draw(strategies.bounds_around(layout.fields[n], row[n])) for n in sorted(names)
    }
    first, behind = layout.find_qualifier_range(bounds)
    for cell in random_layouts.encode_or_reject(layout, row).cells:
        assert first <= cell.qualifier
        assert not behind or cell.qualifier < behind


@given(data=st.data(), layout=random_layouts.draw_layouts(slices=True))
def test_a_fully_specified_event_has_its_own_qualifier_range(
    data: st.DataObject, layout: Layout
) -> None:
    """Where all qualifier fields are known, the range holds the cells of one event."""
    one, other = (
        data.draw(random_layouts.draw_rows(layout)),
        data.draw(random_layouts.draw_rows(layout)),
    )
    assume(layout.qualifier_prefix is not None)
    assert layout.qualifier_prefix is not None
    first, behind = layout.find_qualifier_range({name: Equal(value) for name, value in one.items()})
    random_layouts.encode_or_reject(layout, one)
    assert layout.qualifier_prefix.encode(one) == first
    for cell in random_layouts.encode_or_reject(layout, other).cells:
        is_within = first <= cell.qualifier and (not behind or cell.qualifier < behind)
        assert is_within == (
            layout.qualifier_prefix.encode(one) == layout.qualifier_prefix.encode(other)
        )


@pytest.mark.parametrize(
    ("layout", "bounds", "expected"),
    [
        (HOURS, {"ts": Range(3_600, 3_700)}, ("0000", "0065")),
        (HOURS, {"ts": Range(3_500, 3_700)}, ("", "")),
        (HOURS, {"ts": Range(3_600, None)}, ("", "")),
        (HOURS, {"ts": Equal(3_601)}, ("0001", "0002")),
        (HOURS, {"ts": Equal(3_601), "n": Range(2, 3)}, ("000102", "000104")),
        (HOURS, {"ts": OneOf((3_601, 7_209))}, ("0001", "000a")),
        (HOURS, {"ts": Range(-5, 5)}, ("", "")),
        (HOURS, {"n": Equal(5)}, ("", "")),
        (HOURS, {"host": Equal("a")}, ("", "")),
        (LATEST_FIRST, {"ts": Range(7_200, 7_209)}, ("fff6", "")),
        (LATEST_FIRST, {"ts": Equal(7_201)}, ("fffe", "ffff")),
    ],
)  # fmt: skip
def test_a_time_range_narrows_the_qualifiers_only_within_one_slice(
    layout: Layout, bounds: dict[str, Bound], expected: tuple[str, str]
) -> None:
    assert expected == tuple(end.hex() for end in layout.find_qualifier_range(bounds))


@given(times=st.lists(st.integers(0, 2**32), min_size=1, max_size=8, unique=True))
def test_in_a_descending_time_slice_events_are_newest_first(times: list[int]) -> None:
    """In a descending slice the events of a row are newest first."""
    stored = random_layouts.CellStore()
    for time in times:
        stored.apply(LATEST_FIRST.encode_event({"ts": time}))
    found: list[Any] = [
        event["ts"] for one in stored.row_cells() for event in LATEST_FIRST.decode_events(*one)
    ]
    assert sorted(times, reverse=True) == found
