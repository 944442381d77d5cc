"""Cells that the design did not write are skipped or refused by name, and never misread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import assume, given

import strategies
from rowkey.cells import Cell, RowCells
from rowkey.design import Design
from rowkey.errors import DesignRefused, RowError
from rowkey.rows import decode_event_columns
from rows import random_layouts

if TYPE_CHECKING:
    from rowkey.rows import Layout

NAN = b"\x7f\xf8\0\0\0\0\0\0"


@st.composite
def spoil_cells(draw: st.DrawFn, change: RowCells) -> RowCells:
    """Return the cells of a row with a changed value, qualifier or key."""
    key, cells = change
    at = draw(st.integers(0, len(cells) - 1))
    cell = cells[at]._replace(
        timestamp=draw(st.sampled_from([0, 1, random_layouts.NOW, 2**63 - 2]))
    )
    which = draw(st.integers(0, 4))
    if which < 3:
        cell = cell._replace(value=draw(strategies.mutated_bytes(cell.value)))
    elif which == 3:
        cell = cell._replace(qualifier=draw(strategies.mutated_bytes(cell.qualifier)))
    else:
        key = draw(strategies.mutated_bytes(key))
    assume(key and cell.qualifier not in {c.qualifier for i, c in enumerate(cells) if i != at})
    return RowCells(key, [*cells[:at], cell, *cells[at + 1 :]])


def read_or_refuse(read: Any) -> str:
    """Return the result of a reading, or that it is refused."""
    try:
        return repr(read())
    except (RowError, DesignRefused):
        return "refused"


@given(data=st.data(), layout=random_layouts.draw_layouts())
def test_a_batch_is_refused_exactly_if_its_damaged_row_is(
    data: st.DataObject, layout: Layout
) -> None:
    """A batch with a damaged cell is refused exactly if its row is refused."""
    stored = random_layouts.CellStore()
    for row in data.draw(st.lists(random_layouts.draw_rows(layout), min_size=1, max_size=3)):
        change = random_layouts.encode_or_reject(layout, row)
        stored.apply(data.draw(spoil_cells(change)) if data.draw(st.booleans()) else change)
    rows = stored.row_cells()
    expected = read_or_refuse(
        lambda: [event for one in rows for event in layout.decode_events(*one)]
    )
    found = read_or_refuse(
        lambda: random_layouts.from_arrow(layout, decode_event_columns(layout, stored.batch()))
    )
    assert expected == found


FIELDS: dict[str, Any] = {
    "host": "text",
    "item": {"type": "u8", "at": "qualifier"},
    "size": "u16",
    "note": {"type": "text", "nullable": True, "max_bytes": 3},
    "load": {"type": "float64", "nullable": True},
    "level": {"type": "choice", "of": ["INFO"], "nullable": True},
    "day": {"type": "date", "nullable": True},
    "code": {"type": "digits", "width": 2, "nullable": True},
    "a": {"type": "i32", "pack": "p", "nullable": True},
    "b": {"type": "uuid", "pack": "p", "nullable": True},
    "m": {"type": "i32", "pack": "m:protobuf", "nullable": True},
}
WIDE = Design("t", "[host]", fields=FIELDS).layout
REQUIRED_FIELDS = Cell("d", b"\7size", 1, b"\0\5")


def to_arrow(key: bytes, cells: list[Cell]) -> pa.RecordBatch:
    """Return the cells of one row as an Arrow batch."""
    listed = [(key, c.family, c.qualifier, c.timestamp, c.value) for c in cells]
    rows = [dict(zip(random_layouts.SCHEMA.names, one, strict=True)) for one in listed]
    return pa.RecordBatch.from_pylist(rows, random_layouts.SCHEMA)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("size", b"\5", "0x05 is not a valid u16; expected 2 bytes"),
        ("size", b"", "the empty value is not a valid u16"),
        ("note", b"\xff", "ff are not UTF-8"),
        ("note", b"a\0", "contains U"),
        ("note", b"long", "6c6f6e67 has the wrong length, 4 bytes; expected 0 to 3 bytes"),
        ("load", NAN, "NaN has no position in the order"),
        ("load", b"\0", "00 has the wrong length, 1 byte; expected 8 bytes"),
        ("level", b"WARN", "0x5741524e is not a valid choice; expected one of INFO"),
        ("day", b"\x7f\xff\xff\xff", "2147483647 days after 1970-01-01 is not a date"),
        ("code", b"1x", "'1x' is not a text of 2 decimal digits"),
        ("p", b"\xc1", "c1 is not valid MessagePack"),
        ("p", b"", "the empty value is not valid MessagePack"),
        ("p", b"\x01", "the value is a MessagePack int; expected a MessagePack map"),
        ("p", b"\x81\x00\xa1x", "'x' is not a value of a, which is i32"),
        ("p", b"\x81\x00\xce\xff\xff\xff\xff", "4294967295 is not a valid i32"),
        ("p", b"\x81\x01\xc4\x01x", "is not a valid uuid"),
        ("p", b"\x81\x00\xc4\x01x", "78 is not a valid i32"),
        ("m", b"\xff", "0xff is not a valid Protocol Buffers message"),
        ("m", b"\x08\xfe\xff\xff\xff\x1f", "is not a valid i32"),
    ],
)  # fmt: skip
def test_cell_bytes_that_are_no_value_are_refused_with_row_and_column(
    column: str, value: bytes, message: str
) -> None:
    """The error names the row, the column and the bytes, for rows and batches."""
    cells = [Cell("d", b"\7" + column.encode(), 1, value)]
    path = rf"row key 61620*, column d:\\x07{column}: .*"
    for read in (
        lambda: WIDE.decode_events(b"ab\0", cells),
        lambda: decode_event_columns(WIDE, to_arrow(b"ab\0", cells)),
    ):
        with pytest.raises(RowError, match=path + message):
            read()


@pytest.mark.parametrize(
    "cell",
    [Cell("d", b"\7other", 1), Cell("e", b"\7size", 1), Cell("d", b"", 1), Cell("d", b"\7", 1)],
)
def test_an_undeclared_cell_is_skipped_and_reported(cell: Cell) -> None:
    """An undeclared cell is skipped, is found as such, and is no event by itself."""
    event = dict.fromkeys(FIELDS) | {"host": "ab", "item": 7, "size": 5}
    cells = sorted([cell, REQUIRED_FIELDS])
    assert [event] == WIDE.decode_events(b"ab\0", cells)
    assert [event] == decode_event_columns(WIDE, to_arrow(b"ab\0", cells)).to_pylist()
    assert [] == WIDE.decode_events(b"ab\0", [cell])
    assert [cell] == [one.cell for one in WIDE.event_reader.split_cells(b"ab\0", cells)[1]]
    assert 0 == decode_event_columns(WIDE, to_arrow(b"ab\0", [cell])).num_rows


def test_a_cell_with_an_offset_outside_of_its_time_slice_is_skipped() -> None:
    """A cell with second 60 of a minute is skipped, and found as undeclared."""
    layout = Design("t", "[time_slice(ts, 1m)]", fields={"ts": "timestamp_s"}).layout
    key = (120).to_bytes(8)
    cells = [Cell("d", b"\x3b", 1), Cell("d", b"\x3c", 1)]
    assert [{"ts": 179}] == layout.decode_events(key, cells)
    assert cells[1:] == [one.cell for one in layout.event_reader.split_cells(key, cells)[1]]
    assert 1 == decode_event_columns(layout, to_arrow(key, cells)).num_rows


def test_values_that_a_later_design_added_to_a_packed_cell_are_skipped() -> None:
    """Values that a later design appended to a packed cell are skipped."""
    for column, value in ((b"p", b"\x82\x00\x05\x09\xa1x"), (b"m", b"\x08\x0a\x4a\x01x")):
        (event,) = WIDE.decode_events(
            b"ab\0", [REQUIRED_FIELDS, Cell("d", b"\7" + column, 1, value)]
        )
        assert 5 == event["a" if column == b"p" else "m"]


@given(data=st.data(), layout=random_layouts.draw_layouts())
def test_a_batch_has_only_the_requested_fields_in_their_order(
    data: st.DataObject, layout: Layout
) -> None:
    """A batch of some fields has these columns of the whole batch, in the requested order."""
    stored = random_layouts.CellStore()
    for row in data.draw(st.lists(random_layouts.draw_rows(layout), max_size=3)):
        stored.apply(random_layouts.encode_or_reject(layout, row))
    names = data.draw(st.lists(st.sampled_from(sorted(layout.fields)), unique=True, min_size=1))
    cells = stored.batch()
    assert decode_event_columns(layout, cells).select(names) == decode_event_columns(
        layout, cells, names
    )


def test_a_batch_with_a_missing_cell_column_is_refused() -> None:
    """A missing column and an unknown field are refused by name."""
    cells = to_arrow(b"ab\0", [REQUIRED_FIELDS])
    with pytest.raises(RowError, match="hots: the design has no such field"):
        decode_event_columns(WIDE, cells, ["hots"])
    with pytest.raises(RowError, match="value: the batch of cells has no such column"):
        decode_event_columns(WIDE, cells.drop_columns(["value"]))
