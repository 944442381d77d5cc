"""RocksDB keys sort as HBase's cells do and decode to the cells they were built from."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from rowkey.cells import LATEST, Cell, CellType, Family, FamilyView, build_sort_key
from rowkey.engines.pairs.cell_columns import build_keys, escape_array, parse_columns, wrap_values
from rowkey.engines.pairs.layout import (
    NEXT_PIECE_START,
    PIECE_END,
    build_key,
    escape,
    parse_key,
    unescape,
    unwrap_value,
    wrap_value,
)
from rowkey.engines.pairs.row_decoder import parse_rows, select_visible_columns

PIECES = st.one_of(st.binary(max_size=9), st.text("\0\1\2a", max_size=5).map(str.encode))
ROWS = PIECES.filter(bool)
TIMES = st.one_of(st.integers(0, LATEST - 1), st.sampled_from([0, 1, 255, 256, LATEST - 1]))
VALUES = st.one_of(PIECES, st.sampled_from([b"\xc1", b"\xc1\x00", b"\xc1\x01" + bytes(9), b""]))
CELLS = st.tuples(ROWS, PIECES, TIMES, st.sampled_from(CellType))
PUTS = st.lists(st.tuples(ROWS, PIECES, TIMES, st.none() | VALUES), min_size=1, max_size=80)


@given(st.lists(CELLS, max_size=30))
def test_stored_keys_sort_as_cells_do(cells: list[tuple[bytes, bytes, int, CellType]]) -> None:
    """Keys sort by row, family and qualifier, newest first, deletes before puts."""

    def order(cell: tuple[bytes, bytes, int, CellType]) -> tuple[object, ...]:
        row, qualifier, timestamp, kind = cell
        return row, *build_sort_key(Cell("d", qualifier, timestamp, cell_type=kind))

    assert sorted(cells, key=order) == sorted(cells, key=lambda cell: build_key(*cell))


@given(CELLS)
def test_a_stored_key_decodes_to_the_coordinates_of_its_cell(
    cell: tuple[bytes, bytes, int, CellType],
) -> None:
    assert cell == parse_key(build_key(*cell))


@given(ROWS, ROWS, PIECES, TIMES)
def test_the_bounds_of_a_row_range_enclose_exactly_the_keys_of_its_rows(
    row: bytes, other: bytes, qualifier: bytes, timestamp: int
) -> None:
    key = build_key(row, qualifier, timestamp, CellType.PUT)
    assert (row >= other) == (key >= escape(other))
    within = escape(other) + PIECE_END <= key < escape(other) + NEXT_PIECE_START
    assert (row == other) == within


@given(PIECES)
def test_unescaping_an_escaped_text_returns_the_text(piece: bytes) -> None:
    """Unescaping an escaped text gives the text, and an escaped text has no zero."""
    assert piece == unescape(escape(piece))
    assert b"\0" not in escape(piece)


@given(VALUES, st.none() | st.integers(1, 2**62))
def test_a_stored_value_decodes_to_the_value_and_its_time_to_live(
    value: bytes, ttl_ms: int | None
) -> None:
    """A stored value decodes to the value and its time to live, whatever its bytes."""
    assert (value, ttl_ms) == unwrap_value(wrap_value(value, ttl_ms))


def test_a_value_without_a_time_to_live_is_stored_without_a_copy() -> None:
    """A value without a time to live is stored and read without a copy."""
    assert b"text" == wrap_value(b"text")
    assert b"" == wrap_value(b"")


def binary(pieces: list[bytes | None]) -> pa.Array:
    """Return an Arrow array of bytes that begins in the middle of its buffer."""
    return pa.array([b"\xc1before", *pieces], pa.binary()).slice(1)


@given(PUTS, st.booleans(), st.booleans())
def test_keys_encoded_from_columns_equal_keys_encoded_one_by_one(
    puts: list[tuple[bytes, bytes, int, bytes | None]], one_qualifier: bool, one_time: bool
) -> None:
    if one_qualifier:
        puts = [(row, puts[0][1], time, value) for row, _, time, value in puts]
    if one_time:
        puts = [(row, qualifier, puts[0][2], value) for row, qualifier, _, value in puts]
    rows, qualifiers, times, values = (list(column) for column in zip(*puts, strict=True))
    keys = build_keys(
        escape_array(binary(rows)),
        qualifiers[0] if one_qualifier else binary(qualifiers),
        times[0] if one_time else times,
    )
    assert [build_key(row, name, time, CellType.PUT) for row, name, time, _ in puts] == keys
    stored = wrap_values(binary(values))
    assert [None if value is None else wrap_value(value) for value in values] == stored


@given(PUTS)
def test_cells_decoded_as_columns_equal_cells_decoded_one_by_one(
    puts: list[tuple[bytes, bytes, int, bytes | None]],
) -> None:
    cells = [(row, name, time, value or b"") for row, name, time, value in puts]
    keys = [build_key(row, name, time, CellType.PUT) for row, name, time, _ in cells]
    columns = parse_columns(keys, [wrap_value(value) for *_, value in cells])
    found = zip(
        columns.rows.to_pylist(),
        columns.qualifiers.to_pylist(),
        columns.timestamps.tolist(),
        columns.values.to_pylist(),
        strict=True,
    )
    assert cells == list(found)
    assert columns.has_only_puts


@given(
    st.lists(st.tuples(CELLS, VALUES, st.none() | st.just(9)), min_size=1, max_size=60),
    st.integers(1, 3),
    st.tuples(st.integers(0, 300), st.integers(300, LATEST)),
)
def test_a_selection_returns_the_same_cells_as_columns_and_as_rows(
    stored: list[tuple[tuple[bytes, bytes, int, CellType], bytes, int | None]],
    versions: int,
    time_range: tuple[int, int],
) -> None:
    pairs = {
        build_key(*cell): wrap_value(value, ttl_ms) if cell[3] == CellType.PUT else b""
        for cell, value, ttl_ms in stored
    }
    keys = sorted(pairs)
    values = [pairs[key] for key in keys]
    family = Family("d", versions=3, ttl_s=1)
    view = FamilyView(family, 1_200, versions=versions, time_range=time_range)
    seen = select_visible_columns(parse_columns(keys, values), view)
    deletes = any(cell[3] != CellType.PUT for cell, _, _ in stored)
    ttls = any(value[:2] == b"\xc1\x01" for value in values)
    assert (seen is None) == (deletes or ttls)
    if seen is not None:
        expected = [
            (row, cell.qualifier, cell.timestamp, cell.value)
            for row, cells in parse_rows("d", keys, values, view)
            for cell in cells
        ]
        rows, names = seen.rows.to_pylist(), seen.qualifiers.to_pylist()
        times, found = seen.timestamps.tolist(), seen.values.to_pylist()
        assert expected == list(zip(rows, names, times, found, strict=True))
