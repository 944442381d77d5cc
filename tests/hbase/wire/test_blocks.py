"""Puts from columns, compared with the scalar encoder."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.cells import LATEST, MAX_CELL_BYTES, Cell, CellBlock, RowCells
from rowkey.engines.cell_blocks import to_row_cells
from rowkey.errors import InvalidArgument
from rowkey.hbase.wire import encoded_puts as module
from rowkey.hbase.wire.cellblocks import encode_cells
from rowkey.hbase.wire.encoded_puts import EncodedPuts, encode_puts
from rowkey.hbase.wire.proto import ProtoMessage

VECTOR = bytes.fromhex("000000190000001000000001000272310164717fffffffffffffff0476")
ACTION = bytes.fromhex("1a0c080112080a02723110024001")
"""The field 3 of the golden Multi: index 1, a put of r1, one cell."""

_bytes = st.binary(max_size=20) | st.sampled_from([b"", b"\x00", b"\xff" * 9, b"v" * 300])
_stamps = st.integers(0, LATEST)


@st.composite
def blocks(draw: st.DrawFn) -> list[CellBlock]:
    """Draw blocks of the same rows, with equal lengths or not, nulls or not, whole or sliced."""
    key = draw(st.sampled_from([st.binary(min_size=1, max_size=9), st.binary(min_size=3)]))
    if draw(st.booleans()):
        key = st.binary(min_size=4, max_size=4)
    rows = draw(st.lists(key, max_size=12))

    def column(each: Any) -> Any:
        lines = draw(st.lists(each, min_size=len(rows) + 1, max_size=len(rows) + 1))
        return pa.array(lines, pa.binary()).slice(1)

    keys = pa.array([b"", *rows], pa.binary()).slice(1)
    found = []
    for _ in range(draw(st.integers(1, 3))):
        each = draw(st.sampled_from([_bytes, st.binary(min_size=5, max_size=5)]))
        timestamps: Any = draw(_stamps)
        if draw(st.booleans()):
            stamps = st.lists(_stamps, min_size=len(rows), max_size=len(rows))
            timestamps = draw(stamps.map(lambda listed: np.array(listed, np.int64)))
        found.append(
            CellBlock(
                keys,
                draw(st.sampled_from(["d", "wide", "ä"])),
                column(each) if draw(st.booleans()) else draw(_bytes),
                column(each | st.none() if draw(st.booleans()) else each),
                timestamps,
            )
        )
    return found


def _build_expected(given_blocks: list[CellBlock]) -> list[tuple[int, RowCells]]:
    """Return the puts with their numbers in key order, built one by one."""
    filled = [(number, row) for number, row in enumerate(to_row_cells(given_blocks)) if row.cells]
    return sorted(filled, key=lambda pair: pair[1].row)


def _check(puts: EncodedPuts, expected: list[tuple[int, RowCells]], start: int, stop: int) -> None:
    """Compare a slice of puts with the expected puts."""
    cut = puts.slice_puts(start, stop, first_index=300)
    part = [row for _, row in expected[start:stop]]
    assert b"".join(encode_cells(*row) for row in part) == cut.cells
    told = []
    for action in ProtoMessage(cut.actions).iter_messages(3):
        put = action.get_message(2)
        assert put is not None
        told.append((action.get_uint(1), put.get_bytes(1), put.get_uint(2), put.get_uint(8)))
    assert [(300 + at, row.row, 2, len(row.cells)) for at, row in enumerate(part)] == told


@given(blocks(), st.data(), st.sampled_from([1, 200, 16 << 20]))
def test_puts_encoded_from_blocks_equal_those_of_the_scalar_encoder(
    given_blocks: list[CellBlock], data: st.DataObject, at_once: int
) -> None:
    """Any slice of the puts has the actions and cells of the scalar encoder."""
    expected = _build_expected(given_blocks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PORTION_BYTES", at_once)
        puts = encode_puts(given_blocks)
    assert len(expected) == len(puts)
    assert [number for number, _ in expected] == puts.numbers.tolist()
    assert [row.row for _, row in expected] == puts.rows.to_pylist()
    start = data.draw(st.integers(0, len(puts)))
    _check(puts, expected, start, data.draw(st.integers(start, len(puts))))
    _check(puts, expected, 0, len(puts))


@given(blocks(), st.binary(max_size=4))
def test_count_below_returns_the_number_of_puts_with_a_smaller_key(
    given_blocks: list[CellBlock], key: bytes
) -> None:
    puts = encode_puts(given_blocks)
    assert sum(row < key for row in puts.rows.to_pylist()) == puts.count_below(key)


@given(blocks(), st.integers(0, 2_000), st.integers(1, 5))
def test_a_request_takes_as_many_puts_as_fit(
    given_blocks: list[CellBlock], size: int, count: int
) -> None:
    """A request has as many puts as fit its limits, and at least one."""
    puts = encode_puts(given_blocks)

    def bytes_of(start: int, stop: int) -> int:
        return sum(map(len, puts.slice_puts(start, stop)))

    start = 0
    while start < len(puts):
        stop = puts.find_request_end(start, len(puts), size, count)
        taken = stop - start
        assert 1 <= taken <= count
        assert taken == 1 or bytes_of(start, stop) <= size
        assert stop == len(puts) or taken == count or bytes_of(start, stop + 1) > size
        start = stop


def test_an_encoded_put_has_the_recorded_bytes() -> None:
    """The put of the vector has the recorded cell and action."""
    rows = pa.array([b"r1"], pa.binary())
    cut = encode_puts([CellBlock(rows, "d", b"q", pa.array([b"v"], pa.binary()))]).slice_puts(0, 1)
    assert VECTOR == cut.cells
    padded = ACTION.replace(b"\x1a\x0c\x08\x01", b"\x1a\x10\x08\x81\x80\x80\x80\x00")
    assert padded == cut.actions


def test_columns_without_rows_give_no_puts() -> None:
    """Columns without rows or without values give no puts."""
    empty = pa.array([], pa.binary())
    rows, nulls = pa.array([b"a", b"b"], pa.binary()), pa.array([None, None], pa.binary())
    for given_blocks in (
        [],
        [CellBlock(empty, "d", b"q", empty)],
        [CellBlock(rows, "d", b"q", nulls)],
    ):
        puts = encode_puts(given_blocks)
        assert (0, 0, (b"", b"")) == (len(puts), puts.count_below(b"z"), puts.slice_puts(0, 0))


def test_two_puts_of_one_row_keep_their_order() -> None:
    """Two puts of one row stay two actions in their order, so that the later one wins."""
    rows = pa.array([b"b", b"a", b"b", b"a"], pa.binary())
    values = pa.array([b"1", b"2", b"3", b"4"], pa.binary())
    assert [1, 3, 0, 2] == encode_puts([CellBlock(rows, "d", b"q", values)]).numbers.tolist()


def test_a_cell_count_of_two_bytes_is_encoded() -> None:
    rows = pa.array([b"r", b"s"], pa.binary())
    values = [pa.array([b"v", b"v" if at < 3 else None], pa.binary()) for at in range(300)]
    given_blocks = [CellBlock(rows, "d", b"%d" % at, one) for at, one in enumerate(values)]
    _check(encode_puts(given_blocks), _build_expected(given_blocks), 0, 2)


def test_text_large_binary_and_chunked_arrays_are_encoded_as_bytes() -> None:
    rows = pa.chunked_array([["a"], ["b"]], pa.string())
    values = pa.array([b"v", b"w"], pa.large_binary())
    stamps = pa.chunked_array([[7], [8]], pa.int64())
    puts = encode_puts([CellBlock(rows, "d", values, values, stamps)])
    cells = [
        encode_cells(row, [Cell("d", value, stamp, value)])
        for row, value, stamp in [(b"a", b"v", 7), (b"b", b"w", 8)]
    ]
    assert b"".join(cells) == puts.slice_puts(0, 2).cells


_KEYS = pa.array([b"a", b"b", b"c"], pa.binary())
_VALUES = pa.array([b"1", b"2", b"3"], pa.binary())


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([b"a", b"", b"c"], r"rows\[1\]: the row key has 0 bytes; expected 1 to 32,767 bytes"),
        ([b"a", b"b", b"c" * 32_768], r"rows\[2\]: the row key has 32,768 bytes"),
        ([b"a", None, b"c"], r"rows\[1\]: the item is null"),
    ],
)
def test_an_invalid_row_key_is_rejected_with_its_row_number(
    rows: list[bytes | None], message: str
) -> None:
    """An invalid row key raises an error with the number of its row."""
    with pytest.raises(InvalidArgument, match=message):
        encode_puts([CellBlock(pa.array(rows, pa.binary()), "d", b"q", _VALUES)])


@pytest.mark.parametrize("extra", [0, 1])
@pytest.mark.parametrize("order", [[b"a", b"b", b"c"], [b"c", b"b", b"a"]])
def test_a_cell_of_10_mib_is_encoded_and_a_larger_one_refused(
    extra: int, order: list[bytes]
) -> None:
    """A cell of 10 MiB with its length is accepted, and one more byte is refused."""
    size = MAX_CELL_BYTES - len(encode_cells(b"b", [Cell("d", b"q", 1)])) + extra
    rows = pa.array(order, pa.binary())
    block = CellBlock(rows, "d", b"q", pa.array([b"", bytes(size), None], pa.binary()), 1)
    if extra:
        with pytest.raises(InvalidArgument, match=r"rows\[1\]: .* has 10,485,761 bytes"):
            encode_puts([block])
    else:
        expected = sorted(to_row_cells([block])[:2])
        cells = b"".join(encode_cells(*row) for row in expected)
        assert cells == encode_puts([block]).slice_puts(0, 2).cells


def test_a_row_larger_than_a_request_is_rejected() -> None:
    """A row of many large cells that exceeds a request is refused."""
    rows = pa.array([b"a", b"b"], pa.binary())
    values = pa.array([b"", bytes(MAX_CELL_BYTES - 100)], pa.binary())
    with pytest.raises(
        InvalidArgument, match=r"rows\[1\]: the cells of the row have \d+,\d+,\d+ bytes; expected"
    ):
        encode_puts([CellBlock(rows, "d", b"%d" % at, values) for at in range(13)])


@pytest.mark.parametrize(
    ("timestamps", "message"),
    [
        (-1, "timestamp: -1 is out of range"),
        (2**63, "timestamp: 9223372036854775808 is out of range"),
        (np.array([1, 2, -7]), r"timestamps\[2\]: the timestamp is -7"),
        (np.array([1, 2]), "timestamps: .* 2 items for 3 rows; expected one item for each row"),
        (np.array([1.0, 2.0, 3.0]), "timestamps: the array has the type float64; expected int64"),
        (pa.array([1, None, 3]), r"timestamps\[1\]: the item is null; expected milliseconds"),
        (["x", "y", "z"], "timestamps: the array has the type <U1; expected int64"),
    ],
)
def test_a_timestamp_out_of_range_is_rejected_with_its_row_number(
    timestamps: Any, message: str
) -> None:
    """A timestamp out of range raises an error with the number of its row."""
    with pytest.raises(InvalidArgument, match=message):
        encode_puts([CellBlock(_KEYS, "d", b"q", _VALUES, timestamps)])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"family": ""}, "family: the family name is empty"),
        ({"family": "f" * 128}, "family: .* has 128 bytes"),
        ({"family": b"d"}, "family: b'd' has the type bytes; expected text"),
        ({"qualifiers": pa.array([b"q"])}, "qualifiers: the array has 1 item for 3 rows"),
        ({"qualifiers": pa.array([b"q", None, b"q"])}, r"qualifiers\[1\]: the item is null"),
        (
            {"qualifiers": "q"},
            "the array has the type str; expected an Arrow array of binary or text",
        ),
        ({"values": pa.array([b"v"] * 4)}, "values: the array has 4 items for 3 rows"),
        ({"values": pa.array([1, 2, 3])}, "values: the array has the type int64"),
        ({"rows": [b"a"]}, "rows: the array has the type list"),
        (
            {"rows": pa.array([b"a", b"b", b"x"])},
            "rows: cell block 2 has other row keys than cell block 1",
        ),
        (
            {"rows": pa.array([b"a", b"b"])},
            "rows: cell block 2 has other row keys than cell block 1",
        ),
    ],
)
def test_each_defect_of_a_column_is_reported(change: dict[str, Any], message: str) -> None:
    """Each defect of a column is in the error."""
    plain = {"rows": _KEYS, "family": "d", "qualifiers": b"q", "values": _VALUES}
    with pytest.raises(InvalidArgument, match=message):
        encode_puts([CellBlock(**plain), CellBlock(**(plain | change))])
