"""The mutations of an event: put, null, delete, replace, and refused values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import assume, given

from rowkey.cells import LATEST, Cell, CellType, RowCells
from rowkey.design import Design
from rowkey.errors import RowError
from rowkey.rows import build_cell_blocks
from rows import random_layouts

if TYPE_CHECKING:
    from rowkey.rows import Layout

LOGS = Design(
    "logs",
    "[host][desc(ts)]",
    fields={
        "host": "text",
        "ts": "timestamp_ms",
        "level": {"type": "choice", "of": ["INFO", "WARN"]},
        "note": {"type": "text", "nullable": True, "family": "e", "qualifier": "n"},
        "size": {"type": "i32", "pack": "p"},
        "user": {"type": "text", "pack": "p", "nullable": True},
    },
    families={"d": {}, "e": {}},
).layout
LOG: dict[str, Any] = {"host": "web-1", "ts": 5, "level": "WARN", "note": "x", "size": -1,
                       "user": "ann"}  # fmt: skip
KEY_FIELDS: dict[str, Any] = {"host": "web-1", "ts": 5}
ITEMS = Design(
    "items",
    "[order]",
    fields={
        "order": "u32",
        "item": {"type": "text", "at": "qualifier"},
        "price": "u64",
        "note": {"type": "text", "nullable": True},
    },
).layout


def get_coordinates(layout: Layout, row: random_layouts.Row) -> tuple[bytes, bytes]:
    """Return the row key of an event and the prefix of its qualifiers."""
    before = b"" if layout.qualifier_prefix is None else layout.qualifier_prefix.encode(row)
    return random_layouts.encode_or_reject(layout, row).row, before


@given(data=st.data(), layout=random_layouts.draw_layouts())
def test_deleting_an_event_removes_only_its_own_cells(data: st.DataObject, layout: Layout) -> None:
    """Deleting an event removes its cells, and none of another event."""
    rows = data.draw(st.lists(random_layouts.draw_rows(layout), min_size=1, max_size=4))
    stored, others = random_layouts.CellStore(), random_layouts.CellStore()
    gone = get_coordinates(layout, rows[0])
    for row in rows[1:]:
        if get_coordinates(layout, row) != gone:
            stored.apply(random_layouts.encode_or_reject(layout, row))
            others.apply(random_layouts.encode_or_reject(layout, row))
    stored.apply(random_layouts.encode_or_reject(layout, rows[0]))
    known = {name: value for name, value in rows[0].items() if name in layout.identity_fields}
    stored.apply(layout.encode_delete(known, salt=0))
    assert others.row_cells() == stored.row_cells()


@given(data=st.data(), layout=random_layouts.draw_layouts(slices=False))
def test_a_delete_of_a_family_with_an_empty_column_leaves_only_that_column(
    data: st.DataObject, layout: Layout
) -> None:
    """Without the delete of a family that has an empty column, only that column is left."""
    row = data.draw(random_layouts.draw_rows(layout))
    put = random_layouts.encode_or_reject(layout, row)
    forgetful = {cell.family for cell in put.cells if not cell.qualifier}
    stored = random_layouts.CellStore()
    stored.apply(put)
    known = {name: value for name, value in row.items() if name in layout.identity_fields}
    deletes = layout.encode_delete(known, salt=0)
    kept = [
        cell
        for cell in deletes.cells
        if cell.cell_type != CellType.DELETE_FAMILY or cell.family not in forgetful
    ]
    stored.apply(RowCells(deletes.row, kept))
    assert all(not cell.qualifier for one in stored.row_cells() for cell in one.cells)


@given(data=st.data(), layout=random_layouts.draw_layouts())
def test_replacing_an_event_clears_the_fields_that_are_not_given(
    data: st.DataObject, layout: Layout
) -> None:
    """Replacing an event clears the fields that are not given, except those of the key."""
    before = data.draw(random_layouts.draw_rows(layout))
    after = data.draw(random_layouts.draw_rows(layout))
    kept = set(layout.identity_fields) | set(layout.placed_fields.get("timestamp", ()))
    packed = {name for slot in layout.slots if len(slot.fields) > 1 for name in slot.field_names}
    left_out = data.draw(st.sets(st.sampled_from(sorted(layout.fields))))
    left_out = {name for name in left_out - kept if name not in packed}
    given_ = {n: before[n] if n in kept else after[n] for n in layout.fields if n not in left_out}
    stored = random_layouts.CellStore()
    stored.apply(random_layouts.encode_or_reject(layout, before))
    try:
        change = layout.encode_event(given_, salt=0)
    except RowError:
        assume(False)
    stored.apply(change._replace(cells=layout.event_writer.encode_clearing_deletes(given_)))
    stored.apply(change)
    rows = list(stored.row_cells())
    if not rows:  # a required column was left out, and no other column has a value
        assert all(value is None for name, value in given_.items() if name not in kept)
        return
    [whole] = rows
    expected = {name: given_.get(name) for name in layout.fields}
    assert repr([expected]) == repr(layout.decode_events(*whole))
    assert [] == layout.event_reader.split_cells(*whole)[1]


@given(data=st.data(), layout=random_layouts.draw_layouts())
def test_a_put_of_some_fields_changes_only_those(data: st.DataObject, layout: Layout) -> None:
    before, after = (
        data.draw(random_layouts.draw_rows(layout)),
        data.draw(random_layouts.draw_rows(layout)),
    )
    kept = set(layout.identity_fields) | set(layout.placed_fields.get("timestamp", ()))
    packed = {name for slot in layout.slots if len(slot.fields) > 1 for name in slot.field_names}
    changed = data.draw(st.sets(st.sampled_from(sorted(layout.fields)))) - kept - packed
    given_ = {n: after[n] if n in changed else before[n] for n in layout.fields}
    partly = {n: value for n, value in given_.items() if n in changed | kept}
    stored = random_layouts.CellStore()
    stored.apply(random_layouts.encode_or_reject(layout, before))
    stored.apply(random_layouts.encode_or_reject(layout, partly))
    assert repr([given_]) == repr(layout.decode_events(*stored.row_cells()[0]))


def test_a_row_is_written_as_the_bytes_of_its_values_in_cell_order() -> None:
    """Columns hold the bytes of their values, in cell order, and a packed cell a small map."""
    row, cells = LOGS.encode_event(LOG, timestamp=7)
    assert b"web-1\0" + (2**63 - 1 - 5).to_bytes(8) == row
    assert [
        Cell("d", b"level", 7, b"WARN"),
        Cell("d", b"p", 7, b"\x82\x00\xff\x01\xa3ann"),
        Cell("e", b"n", 7, b"x"),
    ] == cells


def test_putting_null_deletes_the_column() -> None:
    """A null deletes its column, and is left out of a packed cell."""
    _, cells = LOGS.encode_event({**KEY_FIELDS, "note": None, "size": 3, "user": None})
    assert [
        Cell("d", b"p", LATEST, b"\x81\x00\x03"),
        Cell("e", b"n", LATEST, cell_type=CellType.DELETE_COLUMN),
    ] == cells


def test_deleting_an_event_of_a_wide_row_deletes_each_of_its_cells() -> None:
    """Deleting an event of a wide row deletes each cell that the event may have."""
    row, cells = ITEMS.encode_delete({"order": 1, "item": "tea"}, timestamp=9)
    assert (b"\0\0\0\1", [b"tea\0note", b"tea\0price"]) == (row, [c.qualifier for c in cells])
    assert {(9, CellType.DELETE_COLUMN)} == {(cell.timestamp, cell.cell_type) for cell in cells}


def test_qualifier_text_and_column_name_are_not_confused() -> None:
    """Item `a` with column `bc` has another qualifier than item `ab` with column `c`."""
    fields = {"id": "u8", "item": {"type": "text", "at": "qualifier"}, "bc": "u8", "c": "u8"}
    layout = Design("t", "[id]", fields=fields).layout
    row, cells = layout.encode_event({"id": 1, "item": "a", "bc": 1, "c": 2})
    _, more = layout.encode_event({"id": 1, "item": "ab", "bc": 3, "c": 4})
    expected = [{"id": 1, "item": "a", "bc": 1, "c": 2}, {"id": 1, "item": "ab", "bc": 3, "c": 4}]
    assert expected == layout.decode_events(
        row, sorted([*more, *cells], key=lambda cell: cell.qualifier)
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**LOG, "hots": 1}, "hots: the design has no such field; .* Did you mean host"),
        ({**LOG, "x": 1, "y": 2}, "does not have these fields: x, y"),
        ({"host": "a", "note": "x"}, "ts: the row has no value for this field"),
        ({**LOG, "level": "warn"}, "level: 'warn' is not a declared choice; expected one of INFO"),
        ({**LOG, "level": None}, "level: the value is null.*Declare the field nullable"),
        ({**KEY_FIELDS, "user": "ann"}, "d:p: user is given without size.*written whole"),
        ({**KEY_FIELDS, "user": None}, "d:p: a null is given without size"),
        (KEY_FIELDS, "row: the row has no value that is stored in a cell"),
        ({**LOG, "size": 2**31}, "size: 2147483648 is out of range"),
        ({**LOG, "note": 5}, "note: 5 is a whole number; expected text"),
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_stored_is_refused_with_its_field(
    row: random_layouts.Row, message: str
) -> None:
    """The error of an invalid row names the wrong field."""
    with pytest.raises(RowError, match=message):
        LOGS.encode_event(row)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"level": ["WARN", None]},
            "level: the value is missing.*declare the field nullable",
        ),
        ({"level": ["WARN", "x"]}, "level: 'x' is not a declared choice"),
        ({"user": ["a", "b"]}, "d:p: user is given without size"),
        ({"user": ["a", "b"], "size": [1, None]}, "d:p: user is given without size"),
        ({"hots": [1, 2]}, "batch: the design has no such field: hots"),
        ({}, "batch: the batch has no column that is stored in cells"),
    ],
)
def test_a_batch_that_cannot_be_stored_is_refused_with_its_column(
    columns: dict[str, Any], message: str
) -> None:
    """The error of an invalid batch names the wrong column."""
    batch = pa.record_batch({"host": ["a", "b"], "ts": [1, 2], **columns})
    with pytest.raises(RowError, match=message):
        build_cell_blocks(LOGS, batch)


def test_a_field_in_the_qualifier_is_required() -> None:
    """A field of the qualifier is required in rows and batches."""
    with pytest.raises(RowError, match="item: the row has no value for this field"):
        ITEMS.encode_event({"order": 1, "price": 2})
    with pytest.raises(RowError, match="item: the batch has no such column; it has order, price"):
        build_cell_blocks(ITEMS, pa.record_batch({"order": [1], "price": [2]}))


def test_a_counter_cell_is_found_by_its_field_name() -> None:
    """A counter is found by its field name, and a packed field has no cell of its own."""
    assert ("d", b"tea\0price") == ITEMS.find_column("price", {"order": 1, "item": "tea"})
    assert ("e", b"n") == LOGS.find_column("note", {})
    with pytest.raises(RowError, match="size: the field has no cell of its own"):
        LOGS.find_column("size", {})


def test_a_put_that_would_clear_other_fields_of_a_packed_cell_is_refused() -> None:
    fields: dict[str, Any] = {
        "id": {"type": "u8", "pack": "p"},
        "note": {"type": "text", "pack": "p", "nullable": True},
        "n": "u8",
    }
    layout = Design("t", "[id]", fields=fields).layout
    message = "d:p: the row has no note, .* packs with id: .* note would be deleted.* Give note"
    with pytest.raises(RowError, match=message):
        layout.encode_event({"id": 1, "n": 2})
    with pytest.raises(RowError, match=message):
        build_cell_blocks(layout, pa.record_batch({"id": [1], "n": [2]}))
    row: dict[str, Any] = {"id": 1, "n": 2, "note": None}
    assert [row] == [{**event} for event in layout.decode_events(*layout.encode_event(row))]
