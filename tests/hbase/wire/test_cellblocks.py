"""Cell blocks, compared with stored bytes of clusters and tested with arbitrary bytes."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.cells import LATEST, Cell, CellType, RowCells
from rowkey.errors import InvalidArgument
from rowkey.hbase.wire import cellblocks
from rowkey.hbase.wire.cellblocks import decode_cells, decode_rows, encode_cell, encode_cells
from rowkey.hbase.wire.proto import WireFormatError

PLAIN = "000000190000001000000001000272310164717fffffffffffffff0476"
TAGGED_CELL = "00000026000000100000000100027232016471000003bb2cc3d8000476000b00090800000000000927c0"
"""r2, d:q, with a time to live of 600,000 ms."""

edges = st.sampled_from([b"", b"\x00", b"\xff", b"\x00\xff", b"\xff" * 9])
names = st.binary(max_size=20) | edges
rows = st.binary(min_size=1, max_size=40) | st.sampled_from([b"\x00", b"\xff"])
families = st.sampled_from(["d", "cf", "f" * 127, "é", ""])
stamps = st.integers(0, 2**63 - 1) | st.sampled_from([0, 1, LATEST - 1, LATEST, -1, -(2**63)])
values = st.binary(max_size=60) | edges
cells = st.builds(Cell, families, names, stamps, values, st.sampled_from(CellType), st.none())
mutations = st.builds(RowCells, rows, st.lists(cells, max_size=5))
alike = st.builds(  # 9 and more cells of equal lengths one after the other: these are read in a run
    lambda many, row, family: [
        RowCells(row, [Cell(family, qualifier, stamp, value, kind)])
        for qualifier, stamp, value, kind in many
    ],
    st.lists(
        st.tuples(
            st.binary(min_size=2, max_size=2),
            stamps,
            st.binary(min_size=3, max_size=3),
            st.sampled_from(CellType),
        ),
        min_size=7,
        max_size=25,
    ),
    st.binary(min_size=1, max_size=9),
    families,
)
blocks = st.lists(st.lists(mutations, max_size=4) | alike, max_size=3).map(
    lambda parts: [row for part in parts for row in part]
)


def encode_rows(block: Sequence[RowCells]) -> bytes:
    """Return the bytes of some rows."""
    return b"".join(encode_cells(row, some) for row, some in block)


def encode_key_value(row: bytes, cell: Cell, tags: bytes = b"") -> bytes:
    """Encode a cell field by field as a KeyValue, with tags after the value."""
    family = cell.family.encode()
    key = struct.pack(">H", len(row)) + row + bytes((len(family),)) + family + cell.qualifier
    key += struct.pack(">qB", cell.timestamp, cell.cell_type)
    body = struct.pack(">II", len(key), len(cell.value)) + key + cell.value + tags
    return struct.pack(">I", len(body)) + body


def test_an_encoded_cell_has_the_recorded_bytes() -> None:
    """A put at the server's time has the bytes that every version stored and returned."""
    cell = Cell("d", b"q", LATEST, b"v")
    assert PLAIN == encode_cell(b"r1", cell).hex()
    assert ([(b"r1", cell)], 29) == decode_cells(bytes.fromhex(PLAIN))


def test_a_recorded_cell_with_tags_is_decoded() -> None:
    """A cell with a time to live among its tags is decoded, and so is the next cell."""
    cell = Cell("d", b"q", 4_102_444_800_000, b"v", ttl_ms=600_000)
    block = bytes.fromhex(TAGGED_CELL + PLAIN)
    expected = [(b"r2", cell), (b"r1", Cell("d", b"q", LATEST, b"v"))]
    assert (expected, len(block)) == decode_cells(block)


@given(row=rows, cell=cells)
def test_a_cell_is_encoded_as_a_key_value(row: bytes, cell: Cell) -> None:
    """The encoded bytes are those of the format, field by field."""
    assert encode_key_value(row, cell) == encode_cell(row, cell)


@given(block=blocks)
def test_encoded_rows_of_all_cell_types_are_decoded(block: list[RowCells]) -> None:
    """Rows of all cell types, empty qualifiers, 00 and FF bytes, and long keys survive."""
    sent = encode_rows(block)
    counts = [len(row.cells) for row in block]
    expected = [row if row.cells else RowCells(b"", []) for row in block]
    assert expected == decode_rows(sent, counts)
    assert expected == decode_rows(memoryview(sent), counts)
    assert [(row, cell) for row, some in block for cell in some] == decode_cells(sent)[0]


@given(block=blocks, data=st.data())
def test_decoding_continues_at_the_returned_offset(
    block: list[RowCells], data: st.DataObject
) -> None:
    """The offset returned after the first part is the start of the second part."""
    sent = encode_rows(block)
    whole, stop = decode_cells(sent)
    count = data.draw(st.integers(0, len(whole)))
    first, at = decode_cells(sent, count)
    second, end = decode_cells(sent, None, at)
    assert (whole, stop, count) == (first + second, end, len(first))


@given(
    block=st.lists(st.tuples(rows, cells, st.none() | st.integers(0, 2**63 - 1)), max_size=20),
    other=st.binary(max_size=9),
)
def test_the_time_to_live_is_found_among_tags(
    block: list[tuple[bytes, Cell, int | None]], other: bytes
) -> None:
    """A time to live is found among other tags, and a cell without one has none."""
    around = struct.pack(">HB", len(other) + 1, 77) + other
    sent = []
    for row, cell, ttl_ms in block:
        tags = around + (struct.pack(">HBq", 9, 8, ttl_ms) + around if ttl_ms is not None else b"")
        sent += [encode_key_value(row, cell, struct.pack(">H", len(tags)) + tags)]
        sent += [encode_key_value(row, cell, b"\x00\x00")]
    expected = [(row, cell._replace(ttl_ms=one)) for row, cell, ttl in block for one in (ttl, None)]
    assert expected == decode_cells(b"".join(sent))[0]


@pytest.mark.parametrize("tags", [b"", b"\x00\x00", b"\x00\x0b\x00\x09\x08" + bytes(8)])
def test_many_cells_of_equal_lengths_are_decoded(tags: bytes) -> None:
    """Many cells of equal lengths are decoded correctly."""
    cell = Cell("d", b"q", 7, b"v")
    expected = [(b"r", cell._replace(ttl_ms=0 if len(tags) > 2 else None))] * 40
    assert expected == decode_cells(encode_key_value(b"r", cell, tags) * 40)[0]


def test_more_columns_than_the_cache_holds_are_decoded() -> None:
    """More columns and families than the cache holds are decoded correctly."""
    many = [Cell(f"f{number}", b"%d" % number, number) for number in range(2_500)]
    assert [RowCells(b"r", many)] == decode_rows(encode_cells(b"r", many), [2_500])


def test_cells_of_a_block_share_the_object_of_their_family() -> None:
    """All cells of a block refer to the same object."""
    found = decode_cells(encode_cells(b"r", [Cell("family", b"q", n) for n in range(99)]))[0]
    assert 1 == len({id(cell.family) for _, cell in found})


@given(data=st.binary(max_size=200))
def test_any_bytes_decode_to_cells_or_raise_wire_format_error(data: bytes) -> None:
    """No bytes raise anything but WireFormatError, and decoded cells fit the block."""
    try:
        found, stop = decode_cells(data)
    except WireFormatError:
        return
    assert (len(data), True) == (stop, len(found) * 24 <= len(data))


@given(block=blocks, data=st.data())
def test_a_changed_block_decodes_to_cells_or_raises_wire_format_error(
    block: list[RowCells], data: st.DataObject
) -> None:
    """A block with changed or missing bytes raises nothing but WireFormatError."""
    sent = bytearray(encode_rows(block) or bytes.fromhex(PLAIN))
    for _ in range(data.draw(st.integers(1, 3))):
        sent[data.draw(st.integers(0, len(sent) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(sent[: data.draw(st.integers(0, len(sent)))])
    try:
        stop = decode_cells(cut)[1]
    except WireFormatError:
        return
    assert len(cut) == stop


@given(block=blocks.filter(lambda block: any(row.cells for row in block)), data=st.data())
def test_a_truncated_block_is_malformed(block: list[RowCells], data: st.DataObject) -> None:
    """A block with too few or too many bytes raises an error."""
    sent = encode_rows(block)
    counts = [len(row.cells) for row in block]
    with pytest.raises(WireFormatError):
        decode_rows(sent[: data.draw(st.integers(0, len(sent) - 1))], counts)
    with pytest.raises(WireFormatError):
        decode_rows(sent + bytes.fromhex(PLAIN), counts)


def pack_header(total: int, key: int, value: int, row: int) -> bytes:
    """Return the lengths of a cell."""
    return struct.pack(">IIIH", total, key, value, row)


@pytest.mark.parametrize(
    "block",
    [
        b"\x00",
        pack_header(25, 16, 1, 2),  # lengths alone
        pack_header(25, 11, 6, 0) + bytes(15),  # a key shorter than its fixed parts
        pack_header(25, 16, 1, 5) + bytes(15),  # a row longer than the key
        pack_header(25, 16, 2, 2) + bytes(15),  # a value longer than the cell
        pack_header(2**32 - 1, 16, 2**32 - 25, 2) + bytes(15),  # 4 GiB
        pack_header(25, 2**32 - 1, 1, 2) + bytes(15),
        pack_header(0, 0, 0, 0),
        bytes.fromhex(PLAIN.replace("016471", "036471")),  # a family longer than the column
        bytes.fromhex(PLAIN.replace("0164717f", "01ff717f")),  # a family that is no text
        bytes.fromhex(PLAIN[:-4] + "0576"),  # no such kind
        bytes.fromhex(TAGGED_CELL.replace("000b0009", "000a0009")),  # tags of another length
        bytes.fromhex(TAGGED_CELL.replace("000b0009", "000b0000")),  # an empty tag
        bytes.fromhex(TAGGED_CELL.replace("000b0009", "000b000a")),  # a tag longer than the tags
        encode_key_value(b"r", Cell("d", b"", 1), b"\x00"),  # tags without a length
        encode_key_value(
            b"r", Cell("d", b"", 1), b"\x00\x04\x00\x02\x08\x01"
        ),  # 1 byte of time to live
    ],
)
@pytest.mark.parametrize("before", [0, 1, 20])
def test_each_malformed_cell_is_rejected(block: bytes, before: int) -> None:
    """Each defect is reported, alone or after cells of equal lengths."""
    good = bytes.fromhex(PLAIN) * before
    with pytest.raises(WireFormatError, match="HBase's answer: "):
        decode_cells(good + block)
    with pytest.raises(WireFormatError):
        decode_rows(good + block, [1] * (before + 1))


@pytest.mark.parametrize("at", [16, 27])
def test_an_unknown_cell_type_within_a_run_is_malformed(at: int) -> None:
    """An unknown type or a bad family in a run of equal lengths is malformed."""
    block = bytearray.fromhex(PLAIN) * 40
    block[20 * 29 + at] = 0xFF
    with pytest.raises(WireFormatError):
        decode_cells(bytes(block))


def test_rows_of_the_greatest_length_are_decoded() -> None:
    """Rows of 32,767 bytes in a run of equal lengths are correct."""
    longest = [RowCells(b"r" * 32_767, [Cell("d", b"", n, b"v")]) for n in range(12)]
    assert longest == decode_rows(encode_rows(longest), [1] * 12)


def test_an_impossible_count_is_malformed() -> None:
    """A count of 2^63 cells is malformed."""
    with pytest.raises(WireFormatError, match="more cells"):
        decode_rows(bytes.fromhex(PLAIN), [2**63])


def test_a_decoded_row_without_cells_keeps_its_position() -> None:
    """A row without cells keeps its place."""
    nothing, one = RowCells(b"", []), RowCells(b"r1", [Cell("d", b"q", LATEST, b"v")])
    assert [nothing, one, nothing] == decode_rows(bytes.fromhex(PLAIN), [0, 1, 0])
    assert [] == decode_rows(b"", [])
    assert ([], 0) == decode_cells(b"")


@pytest.mark.parametrize(
    ("row", "cell"),
    [
        (b"r" * 32_768, Cell("d", b"", 1)),
        (b"r", Cell("d", b"", 2**63)),
        (b"r", Cell("d", b"", -(2**63) - 1)),
        (b"r", Cell("f" * 128, b"", 1)),
    ],
)
def test_values_too_long_for_the_format_are_rejected(row: bytes, cell: Cell) -> None:
    """A row, family or timestamp that does not fit its field raises an error."""
    with pytest.raises(InvalidArgument):
        encode_cell(row, cell)


def test_a_time_to_live_is_encoded_with_the_mutation_and_not_with_the_cell() -> None:
    """A cell's time to live is not encoded with the cell but with the mutation."""
    cell = Cell("d", b"q", LATEST, b"v", ttl_ms=5)
    assert PLAIN == encode_cell(b"r1", cell).hex()


def test_nine_cells_of_equal_lengths_are_decoded_as_a_run() -> None:
    """Nine cells of equal lengths are decoded as a run, as the tests above assume."""
    block = bytes.fromhex(PLAIN) * 11
    found = cellblocks._decode_run(block, 0, 11, [], [], cellblocks._ColumnCache())
    assert 11 == found


USUAL = encode_cell(b"row1", Cell("d", b"qual", 7, b"value"))
ODD_CELLS = {
    "the same": USUAL,
    "another last byte of the qualifier": encode_cell(b"row1", Cell("d", b"quaL", 7, b"value")),
    "a longer row, a shorter qualifier": encode_cell(b"row1q", Cell("d", b"ual", 7, b"value")),
    "a longer row, a shorter value": encode_cell(b"row12", Cell("d", b"qual", 7, b"valu")),
    "another kind": encode_cell(b"row1", Cell("d", b"qual", 7, b"value", CellType.DELETE)),
    "before 1970": encode_cell(b"row1", Cell("d", b"qual", -7, b"value")),
    "tags in the place of value": (
        (len(USUAL) - 4).to_bytes(4, "big") + USUAL[4:8] + (3).to_bytes(4, "big")
        + USUAL[12:-5] + b"val" + b"\x00\x00"
    ),
}  # fmt: skip
"""A cell among equal ones that differs in one part and has as many bytes."""


@pytest.mark.parametrize("odd", ODD_CELLS)
@pytest.mark.parametrize("place", [0, 1, 7, 19])
def test_an_odd_cell_among_equal_rows_is_decoded(odd: str, place: int) -> None:
    """Rows decoded together are those of the cells decoded one by one."""
    cells = [USUAL] * 20
    cells[place] = ODD_CELLS[odd]
    alone = [RowCells(row, [cell]) for one in cells for row, cell in decode_cells(one, 1)[0]]
    assert len(USUAL) == len(ODD_CELLS[odd])
    assert alone == decode_rows(b"".join(cells), [1] * 20)


def test_rows_of_equal_shape_are_decoded_together() -> None:
    """Equal rows are decoded together only if no cell differs."""
    columns = cellblocks._ColumnCache()
    for odd, cell in ODD_CELLS.items():
        rows, stop = cellblocks._decode_equal_rows(USUAL * 19 + cell, 0, 20, columns)
        at_once = odd in {"the same", "before 1970"}
        assert (20, 20 * len(USUAL)) == (len(rows), stop) if at_once else ([], 0) == (rows, stop)


@pytest.mark.parametrize(
    ("block", "count"),
    [
        (bytes(5), 9),
        (USUAL * 200 + USUAL[:9], 201),
        (USUAL * 200 + USUAL[:20], 201),
        (USUAL * 9, 10),
        (USUAL * 9, 8),
        (bytes.fromhex("00000013 0000000b 00000000 0000".replace(" ", "")) + bytes(9), 1),
        ((bytes.fromhex("00000013 0000000b 00000000 0000".replace(" ", "")) + bytes(9)) * 9, 9),
    ],
    ids=["zeros", "cut in a head", "cut in a row", "one too few", "one too many", "none", "nine"],
)
def test_a_defect_in_a_block_of_single_cell_rows_is_reported(block: bytes, count: int) -> None:
    """A defect is reported at any position, on each path."""
    with pytest.raises(WireFormatError):
        decode_rows(block, [1] * count)


stretches = st.lists(
    st.tuples(
        st.integers(1, 30),
        st.sampled_from((1, 1, 1, 0, 2, 3)),
        st.sampled_from((b"q", b"r", b"longer")),
        st.sampled_from((b"", b"v", b"other")),
        st.sampled_from((CellType.PUT, CellType.DELETE)),
    ),
    max_size=6,
)
"""A strategy of equal rows: their number, their cells, and all values."""


@given(stretches, st.sampled_from((1, 8, 9, 20, 200)))
def test_rows_at_the_edge_of_a_decoded_portion_are_correct(
    drawn: list[tuple[int, int, bytes, bytes, CellType]], portion: int
) -> None:
    """Rows at the edge of a portion or a run are correct."""
    rows = [
        RowCells(
            b"%05d" % number if cells else b"", [Cell("d", qualifier, number, value, kind)] * cells
        )
        for stretch, (count, cells, qualifier, value, kind) in enumerate(drawn)
        for number in range(100 * stretch, 100 * stretch + count)
    ]
    block = b"".join(encode_cells(row.row, row.cells) for row in rows)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(cellblocks, "_PORTION_CELLS", portion)
        assert rows == decode_rows(block, [len(row.cells) for row in rows])
