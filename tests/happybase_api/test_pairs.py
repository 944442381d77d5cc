"""Row dictionaries decoded from cell blocks equal those built from cells."""

from __future__ import annotations

import random
import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.cells import Cell, RowCells
from rowkey.hbase.wire.cellblocks import decode_rows, encode_cells
from rowkey.hbase.wire.proto import WireFormatError
from rowkey.hbase.wire.row_items import RowItem, decode_row_items

TAGGED_CELL = bytes.fromhex(
    "00000026000000100000000100027232016471000003bb2cc3d8000476000b00090800000000000927c0"
)
"""r2, d:q, with a time to live."""

lengths = st.integers(0, 3)
stamps = st.integers(0, 2**63 - 1)
columns = st.tuples(st.sampled_from(["d", "cf", "é"]), st.binary(max_size=3))
cells = st.builds(
    lambda c, at, value: Cell(c[0], c[1], at, value), columns, stamps, st.binary(max_size=9)
)
some_rows = st.lists(
    st.builds(RowCells, st.binary(min_size=1, max_size=9), st.lists(cells, min_size=1, max_size=4)),
    max_size=4,
)


@st.composite
def draw_similar_rows(draw: st.DrawFn) -> list[RowCells]:
    """Draw rows with the same lengths and columns, except one row at times."""
    named = draw(st.lists(columns, min_size=1, max_size=3, unique=True))
    size, value_bytes = draw(st.integers(4, 6)), draw(lengths)
    chance = random.Random(draw(st.integers()))
    rows = [
        RowCells(
            chance.randbytes(size),
            [Cell(*one, chance.randrange(2**63), chance.randbytes(value_bytes)) for one in named],
        )
        for _ in range(draw(st.integers(1, 90)))
    ]
    if draw(st.booleans()):
        rows[chance.randrange(len(rows))] = RowCells(b"odd", [Cell("d", b"odd", 1, b"value")])
    return rows


blocks = st.lists(some_rows | draw_similar_rows(), max_size=3).map(
    lambda parts: [row for part in parts for row in part]
)


def _encode_rows(rows: list[RowCells]) -> bytes:
    return b"".join(encode_cells(row, some) for row, some in rows)


def _counts(rows: list[RowCells]) -> list[int]:
    return [len(row.cells) for row in rows]


def _build_pairs(rows: list[RowCells], *, timestamps: bool) -> list[RowItem]:
    """Return the dictionaries of rows built from cells."""
    return [
        (
            row,
            {
                cell.family.encode() + b":" + cell.qualifier: (
                    (cell.value, cell.timestamp) if timestamps else cell.value
                )
                for cell in some
            },
        )
        for row, some in rows
    ]


@given(blocks, st.booleans())
def test_dictionaries_from_a_block_equal_those_built_from_its_cells(
    rows: list[RowCells], timestamps: bool
) -> None:
    block, counts = _encode_rows(rows), _counts(rows)
    made = _build_pairs(decode_rows(block, counts), timestamps=timestamps)
    assert made == decode_row_items(block, counts, timestamps=timestamps)
    assert made == decode_row_items(memoryview(block), counts, timestamps=timestamps)


@pytest.mark.parametrize("odd", range(0, 5_000, 617))
def test_one_different_qualifier_among_thousands_of_equal_rows_is_kept(odd: int) -> None:
    """Among thousands of equal rows, the one with another qualifier keeps it."""
    rows = [RowCells(b"%05d" % at, [Cell("d", b"q", at, b"v%05d" % at)]) for at in range(5_000)]
    rows[odd] = RowCells(rows[odd].row, [rows[odd].cells[0]._replace(qualifier=b"Q")])
    block = _encode_rows(rows)
    assert _build_pairs(rows, timestamps=True) == decode_row_items(
        block, _counts(rows), timestamps=True
    )


def test_rows_of_equal_lengths_with_different_columns_keep_their_columns() -> None:
    rows = [RowCells(b"%05d" % at, [Cell("d", b"%05d" % at, 1, b"v")]) for at in range(3_000)]
    assert _build_pairs(rows, timestamps=False) == decode_row_items(
        _encode_rows(rows), _counts(rows)
    )


def test_a_cell_with_tags_has_its_value_without_them() -> None:
    """A cell with tags has its value without them among many with and without tags."""
    assert [(b"r2", {b"d:q": b"v"})] * 30 == decode_row_items(TAGGED_CELL * 30, [1] * 30)


@given(blocks, st.data())
def test_a_truncated_or_changed_block_gives_rows_or_wire_format_error(
    rows: list[RowCells], data: st.DataObject
) -> None:
    block = bytearray(_encode_rows(rows))
    if not block:
        return
    place = data.draw(st.integers(0, len(block) - 1))
    if data.draw(st.booleans()):
        del block[place:]
    else:
        block[place] = data.draw(st.integers(0, 255))
    with suppress(WireFormatError):
        assert len(rows) == len(decode_row_items(bytes(block), _counts(rows)))


@given(st.binary(max_size=200), st.lists(st.integers(0, 5), max_size=9))
def test_random_bytes_give_wire_format_error_or_the_counted_rows(
    block: bytes, counts: list[int]
) -> None:
    """Random bytes give WireFormatError or as many rows as counted."""
    with suppress(WireFormatError):
        assert len(counts) == len(decode_row_items(block, counts))


@pytest.mark.parametrize(
    ("block", "counts"),
    [
        (TAGGED_CELL[:-1], [1]),
        (TAGGED_CELL[:9], [1]),
        (TAGGED_CELL + b"\0", [1]),
        (TAGGED_CELL, [2]),
        (TAGGED_CELL, []),
        (struct.pack(">IIIH", 10, 2**32 - 1, 0, 0), [1]),
        (bytes(14), [1]),
    ],
)
def test_a_block_with_fewer_or_more_cells_than_counted_is_refused(
    block: bytes, counts: list[int]
) -> None:
    """A block with fewer or more cells than counted, or impossible lengths, is refused."""
    with pytest.raises(WireFormatError):
        decode_row_items(block, counts)
