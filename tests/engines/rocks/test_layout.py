"""Keys sort as cells do, and are taken apart into what they were composed of, one or many."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from rowkey.cells import LATEST, Cell, Family, Kind, View, in_order
from rowkey.engines.pairs.columns import compose_keys, escape_rows, take_columns_apart, wrap_values
from rowkey.engines.pairs.layout import (
    BEHIND,
    END,
    compose,
    escape,
    take_apart,
    unescape,
    unwrap,
    wrap,
)
from rowkey.engines.pairs.reading import rows_one_by_one, seen_columns

PIECES = st.one_of(st.binary(max_size=9), st.text("\0\1\2a", max_size=5).map(str.encode))
ROWS = PIECES.filter(bool)
TIMES = st.one_of(st.integers(0, LATEST - 1), st.sampled_from([0, 1, 255, 256, LATEST - 1]))
VALUES = st.one_of(PIECES, st.sampled_from([b"\xc1", b"\xc1\x00", b"\xc1\x01" + bytes(9), b""]))
CELLS = st.tuples(ROWS, PIECES, TIMES, st.sampled_from(Kind))
PUTS = st.lists(st.tuples(ROWS, PIECES, TIMES, st.none() | VALUES), min_size=1, max_size=80)


@given(st.lists(CELLS, max_size=30))
def test_keys_sort_as_cells_do(cells: list[tuple[bytes, bytes, int, Kind]]) -> None:
    """By row, by qualifier, newest first, deletes before puts: RocksDB's order is HBase's."""

    def order(cell: tuple[bytes, bytes, int, Kind]) -> tuple[object, ...]:
        row, qualifier, timestamp, kind = cell
        return row, *in_order(Cell("d", qualifier, timestamp, kind=kind))

    assert sorted(cells, key=order) == sorted(cells, key=lambda cell: compose(*cell))


@given(CELLS)
def test_keys_are_taken_apart(cell: tuple[bytes, bytes, int, Kind]) -> None:
    """Nothing of a cell's coordinates is lost."""
    assert cell == take_apart(compose(*cell))


@given(ROWS, ROWS, PIECES, TIMES)
def test_bounds_hold_rows(row: bytes, other: bytes, qualifier: bytes, timestamp: int) -> None:
    """A range of rows is the range of their escapes; a row ends where `BEHIND` follows it."""
    key = compose(row, qualifier, timestamp, Kind.PUT)
    assert (row >= other) == (key >= escape(other))
    within = escape(other) + END <= key < escape(other) + BEHIND
    assert (row == other) == within


@given(PIECES)
def test_escapes_are_undone(piece: bytes) -> None:
    """And leave no zero."""
    assert piece == unescape(escape(piece))
    assert b"\0" not in escape(piece)


@given(VALUES, st.none() | st.integers(1, 2**62))
def test_values_are_unwrapped(value: bytes, ttl_ms: int | None) -> None:
    """A value comes back with its time to live, whatever it begins with."""
    assert (value, ttl_ms) == unwrap(wrap(value, ttl_ms))


def test_a_plain_value_is_stored_as_it_is() -> None:
    """Its bytes need no copy when they are read, and no tag on disk."""
    assert b"text" == wrap(b"text")
    assert b"" == wrap(b"")


def binary(pieces: list[bytes | None]) -> pa.Array:
    """An Arrow array of bytes that begins in the middle of its buffer."""
    return pa.array([b"\xc1before", *pieces], pa.binary()).slice(1)


@given(PUTS, st.booleans(), st.booleans())
def test_many_keys_are_those_of_one_each(
    puts: list[tuple[bytes, bytes, int, bytes | None]], one_qualifier: bool, one_time: bool
) -> None:
    """Columns are composed as cells are, with one qualifier or timestamp for all or one each."""
    if one_qualifier:
        puts = [(row, puts[0][1], time, value) for row, _, time, value in puts]
    if one_time:
        puts = [(row, qualifier, puts[0][2], value) for row, qualifier, _, value in puts]
    rows, qualifiers, times, values = (list(column) for column in zip(*puts, strict=True))
    keys = compose_keys(
        escape_rows(binary(rows)),
        qualifiers[0] if one_qualifier else binary(qualifiers),
        times[0] if one_time else times,
    )
    assert [compose(row, name, time, Kind.PUT) for row, name, time, _ in puts] == keys
    stored = wrap_values(binary(values))
    assert [None if value is None else wrap(value) for value in values] == stored


@given(PUTS)
def test_many_cells_are_taken_apart_as_one_each(
    puts: list[tuple[bytes, bytes, int, bytes | None]],
) -> None:
    """Rows of any lengths, with escapes or without, and wrapped values."""
    cells = [(row, name, time, value or b"") for row, name, time, value in puts]
    keys = [compose(row, name, time, Kind.PUT) for row, name, time, _ in cells]
    columns = take_columns_apart(keys, [wrap(value) for *_, value in cells])
    found = zip(
        columns.rows.to_pylist(),
        columns.qualifiers.to_pylist(),
        columns.timestamps.tolist(),
        columns.values.to_pylist(),
        strict=True,
    )
    assert cells == list(found)
    assert columns.only_puts


@given(
    st.lists(st.tuples(CELLS, VALUES, st.none() | st.just(9)), min_size=1, max_size=60),
    st.integers(1, 3),
    st.tuples(st.integers(0, 300), st.integers(300, LATEST)),
)
def test_columns_see_what_rows_see(
    stored: list[tuple[tuple[bytes, bytes, int, Kind], bytes, int | None]],
    versions: int,
    time_range: tuple[int, int],
) -> None:
    """Versions, times and times to live select the same cells at once as row by row."""
    pairs = {
        compose(*cell): wrap(value, ttl_ms) if cell[3] == Kind.PUT else b""
        for cell, value, ttl_ms in stored
    }
    keys = sorted(pairs)
    values = [pairs[key] for key in keys]
    family = Family("d", versions=3, ttl_s=1)
    view = View(family, 1_200, versions=versions, time_range=time_range)
    seen = seen_columns(take_columns_apart(keys, values), view)
    deletes = any(cell[3] != Kind.PUT for cell, _, _ in stored)
    ttls = any(value[:2] == b"\xc1\x01" for value in values)
    assert (seen is None) == (deletes or ttls)
    if seen is not None:
        expected = [
            (row, cell.qualifier, cell.timestamp, cell.value)
            for row, cells in rows_one_by_one("d", keys, values, view)
            for cell in cells
        ]
        rows, names = seen.rows.to_pylist(), seen.qualifiers.to_pylist()
        times, found = seen.timestamps.tolist(), seen.values.to_pylist()
        assert expected == list(zip(rows, names, times, found, strict=True))
