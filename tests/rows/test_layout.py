"""Each field of an event has a place, no two share a cell, and all are readable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import strategies
from rowkey.design import Design
from rowkey.errors import InvalidDesign, RowError
from rowkey.rows import DEFAULT_FAMILY, PLACEMENTS, Layout, build_layout

if TYPE_CHECKING:
    from rowkey.keys import Key

NAMES = ("a", "b", "c", "t")
FAMILIES: dict[str, Any] = {"d": {}, "e": {}}
WORDS = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "u32"]), "nullable": st.booleans()},
    optional={
        "family": st.sampled_from(["d", "e"]),
        "qualifier": st.sampled_from(["a", "b", "q", ""]),
        "pack": st.sampled_from(["a", "p"]),
        "at": st.just("qualifier"),
    },
)
FIELDS = st.fixed_dictionaries({"a": WORDS, "b": WORDS, "c": WORDS}).map(
    lambda fields: {**fields, "t": {"type": "timestamp_ms"}}
)
KEYS = ["[t]", "[a][t]", "[digest(a, 4)][t]", "[truncate(a, 2)][b]", "[time_slice(t, 1h)]",
        "[bucket(a, 16)][b][desc(time_slice(t, 1d))]", "[t:u32]"]  # fmt: skip


def build_layout_or_reject(key: str, fields: dict[str, Any]) -> Layout | None:
    """Build the layout of a design, and reject an invalid example."""
    try:
        return Design("t", key, fields=fields, families=FAMILIES).layout
    except InvalidDesign:
        return None


def list_placements(layout: Layout) -> dict[str, list[str]]:
    """Return the names of the placements of each field."""
    found: dict[str, list[str]] = {name: [] for name in layout.fields}
    for place, names in layout.placed_fields.items():
        for name in names:
            found[name].append(place)
    return found


@given(key=st.sampled_from(KEYS), fields=FIELDS)
def test_no_two_cells_of_an_event_have_the_same_coordinates(
    key: str, fields: dict[str, Any]
) -> None:
    """Each cell of an event has its own family and qualifier, and one is always written."""
    layout = build_layout_or_reject(key, fields)
    assume(layout is not None)
    assert layout is not None
    cells = layout.estimate_cells()
    coordinates = [(cell.family, cell.qualifier) for cell in cells]
    assert len(coordinates) == len(set(coordinates))
    assert any(not cell.optional for cell in cells)
    held = [name for cell in cells for name in cell.fields]
    assert sorted(held) == sorted(
        name for place in ("column", "packed") for name in layout.placed_fields.get(place, ())
    )


@given(key=st.sampled_from(KEYS), fields=FIELDS)
def test_a_field_is_stored_only_in_its_declared_place(key: str, fields: dict[str, Any]) -> None:
    """A field is only in its declared place, or only in a key that holds it completely."""
    layout = build_layout_or_reject(key, fields)
    assume(layout is not None)
    assert layout is not None
    whole = {"[t]": "t", "[a][t]": "at", "[digest(a, 4)][t]": "t", "[truncate(a, 2)][b]": "b",
             "[time_slice(t, 1h)]": "t", "[t:u32]": ""}.get(key, "bt")  # fmt: skip
    for name, places in list_placements(layout).items():
        words = fields[name]
        asked = {"family", "qualifier", "pack", "at"} & set(words)
        if name in whole and not asked:
            assert [] == places
        else:
            kind = words.get("at") or ("packed" if "pack" in words else "column")
            assert [kind] == places


@given(data=st.data(), key=strategies.keys())
def test_every_field_can_be_decoded_from_key_cell_or_qualifier(
    data: st.DataObject, key: Key
) -> None:
    """A field that the key does not decode completely is in a cell or in the qualifier."""
    assume(key.is_decodable)
    row = data.draw(strategies.rows(key))
    layout = build_layout(key, key.fields)
    try:
        decoded = key.decode(key.encode(row, salt=0))
    except RowError:
        assume(False)
    sliced = {rest.field for rest in layout.time_remainders}
    stored = set(layout.placed_fields.get("column", ()))
    for name, value in row.items():
        if name not in stored | sliced:
            assert repr(value) == repr(decoded[name])
    assert set(layout.lossy_key_fields) == stored


@pytest.mark.parametrize(
    ("unit", "length", "width"),
    [("s", "1m", 1), ("s", "256s", 1), ("s", "257s", 2), ("s", "1h", 2), ("ms", "1m", 2),
     ("ms", "65536ms", 2), ("ms", "1h", 4), ("us", "1h", 4), ("us", "2h", 8), ("ns", "1d", 8)],
)  # fmt: skip
def test_the_offset_in_a_time_slice_has_the_fewest_bytes_possible(
    unit: str, length: str, width: int
) -> None:
    """The offset in a slice has the least of 1, 2, 4 and 8 bytes that hold the slice."""
    fields = {"host": "text", "ts": f"timestamp_{unit}", "load": "float64", "note": "text"}
    layout = Design("t", f"[host][time_slice(ts, {length})]", fields=fields).layout
    (rest,) = layout.time_remainders
    assert (width, "ts", True) == (rest.width, rest.field, layout.has_shared_rows)
    assert float(width) == layout.estimate_qualifier_bytes()
    assert {} == {
        name: p for name, p in list_placements(layout).items() if p and name in ("host", "ts")
    }


@given(
    times=st.sets(st.integers(0, 2**40), min_size=1, max_size=30),
    length=st.sampled_from([("1m", 60), ("1h", 3_600), ("1d", 86_400)]),
)
def test_events_of_a_time_slice_share_a_row_but_no_cell(
    times: set[int], length: tuple[str, int]
) -> None:
    """Each slice is a row, in which different times have different offsets of one width."""
    word, seconds = length
    design = Design("t", f"[time_slice(ts, {word})]", fields={"ts": "timestamp_s"})
    (rest,) = design.layout.time_remainders
    keys = {time: design.key.encode({"ts": time}) for time in times}
    assert len({time // seconds for time in times}) == len(set(keys.values()))
    cells = {(keys[time], (time % rest.length_units).to_bytes(rest.width)) for time in times}
    assert (seconds, len(times)) == (rest.length_units, len(cells))


def test_in_a_descending_time_slice_the_offset_descends() -> None:
    """In a descending slice the offset descends too."""
    layout = Design("t", "[desc(time_slice(ts, 1h))]", fields={"ts": "timestamp_s"}).layout
    assert [True] == [rest.descending for rest in layout.time_remainders]


def test_a_field_in_the_qualifier_has_no_cell_of_its_own() -> None:
    """The value of a qualifier field is before each qualifier, and has no cell of its own."""
    fields = {"order": "u32", "item": {"type": "u16", "at": "qualifier"}, "price": "u64"}
    layout = Design("t", "[order]", fields=fields).layout
    assert (True, 2.0) == (layout.has_shared_rows, layout.estimate_qualifier_bytes())
    assert [b"price"] == [cell.qualifier for cell in layout.estimate_cells()]


def test_an_event_without_columns_has_a_marker_cell() -> None:
    """An event whose columns may all be absent has a cell with an empty qualifier."""
    bare = Design("t", "[id]", fields={"id": "u32"}).layout
    sparse = Design(
        "t", "[id]", fields={"id": "u32", "note": {"type": "text", "nullable": True}}
    ).layout
    sure = Design("t", "[id]", fields={"id": "u32", "note": "text"}).layout
    markers = [[c for c in one.estimate_cells() if not c.fields] for one in (bare, sparse, sure)]
    assert [1, 1, 0] == list(map(len, markers))
    assert (DEFAULT_FAMILY, b"", 0.0) == (
        markers[0][0].family, markers[0][0].qualifier, markers[0][0].mean_value_bytes,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"a": "text", "b": {"type": "text", "qualifier": "a"}}, "d:a is already the cell of a"),
        ({"a": "text", "b": {"type": "text", "pack": "a"}}, "d:a is already the cell of a"),
        ({"a": {"type": "text", "qualifier": "x"}, "b": {"type": "text", "qualifier": "x"}},
         "d:x is already the column of a"),
        ({"a": {"type": "text", "qualifier": "", "nullable": True}},
         "is already the marker cell of rows without columns"),
    ],
)  # fmt: skip
def test_two_fields_with_the_same_cell_are_a_mistake(fields: dict[str, Any], what: str) -> None:
    """Two fields with one qualifier or one packed cell name are a mistake of the design."""
    with pytest.raises(InvalidDesign, match=what) as caught:
        Design("t", "[id]", fields={"id": "u32", **fields})
    assert 1 == len(caught.value.mistakes)


@pytest.mark.parametrize("name", sorted(PLACEMENTS))
def test_each_placement_has_a_name_and_a_description(name: str) -> None:
    """Each placement has its own name and a description."""
    assert name == PLACEMENTS[name].name
    assert (PLACEMENTS[name].__doc__ or "").strip()
