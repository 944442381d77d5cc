"""Cells as columns, compared with the scalar decoder and tested with malformed bytes."""

from itertools import accumulate
from random import Random
from struct import pack, pack_into, unpack_from
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.cells import CellType
from rowkey.engines.cell_blocks import build_block_schema
from rowkey.errors import InvalidArgument
from rowkey.hbase.wire.arrow_columns import to_columns
from rowkey.hbase.wire.cell_offsets import find_cell_starts
from rowkey.hbase.wire.cellblocks import decode_cells
from rowkey.hbase.wire.proto import WireFormatError

FAMILIES = ["d", "wide", "ä"]
VECTOR = bytes.fromhex("000000190000001000000001000272310164717fffffffffffffff0476")
TAGGED_CELL = bytes.fromhex(
    "00000026000000100000000100027232016471000003bb2cc3d8000476000b00090800000000000927c0"
)


def encode_cell(
    row: bytes,
    family: str,
    qualifier: bytes,
    timestamp: int,
    value: bytes,
    kind: int = 4,
    tags: bytes = b"",
) -> bytes:
    """Return the bytes of a cell."""
    name = family.encode()
    key = pack(">H", len(row)) + row + bytes([len(name)]) + name + qualifier
    key += pack(">qB", timestamp, kind)
    body = pack(">II", len(key), len(value)) + key + value + tags
    return pack(">I", len(body)) + body


_plain = st.binary(max_size=30) | st.sampled_from([b"", b"\x00" * 8, b"\xff" * 8])
_tags = st.sampled_from([b"", b"", b"\x00\x00", TAGGED_CELL[-13:]])


def _build_cells(kinds: st.SearchStrategy[int], value: st.SearchStrategy[bytes]) -> Any:
    return st.builds(
        encode_cell,
        st.binary(min_size=1, max_size=40),
        st.sampled_from(FAMILIES),
        _plain,
        st.integers(-(2**63), 2**63 - 1),
        value,
        kinds,
        _tags,
    )


puts = _build_cells(
    st.just(4), _plain | st.lists(_build_cells(st.just(4), _plain), max_size=3).map(b"".join)
)
any_cells = _build_cells(st.sampled_from([int(kind) for kind in CellType]), _plain)


def _list_cells(block: bytes) -> list[dict[str, Any]]:
    """Return the cells of a block by the scalar decoder as columns have them."""
    return [
        {
            "row": row,
            "family": one.family,
            "qualifier": one.qualifier,
            "timestamp": one.timestamp,
            "value": one.value,
        }
        for row, one in decode_cells(block)[0]
    ]


def _starts(cells: list[bytes]) -> list[int]:
    return list(accumulate(map(len, cells), initial=0))


@given(st.lists(puts, max_size=30))
def test_decoded_columns_equal_the_cells_of_the_scalar_decoder(cells: list[bytes]) -> None:
    """Every line is the cell that the scalar decoder returns, without tags."""
    block = b"".join(cells)
    columns = to_columns(memoryview(block), FAMILIES)
    columns.validate(full=True)
    assert _list_cells(block) == columns.to_pylist()
    assert columns.schema.equals(build_block_schema())


@given(st.lists(puts, min_size=1, max_size=12), st.integers(4_100, 6_000))
def test_a_long_block_of_a_repeated_pattern_is_decoded(cells: list[bytes], count: int) -> None:
    """A pattern of cells repeated thousands of times is decoded, also if values hold cells."""
    repeated = [cells[index % len(cells)] for index in range(count)]
    block = b"".join(repeated)
    assert _starts(repeated) == find_cell_starts(block).tolist()
    expected = _list_cells(b"".join(repeated[-300:]))
    assert expected == to_columns(block, FAMILIES).slice(count - 300).to_pylist()


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 12))]
)
def test_cells_of_different_lengths_in_a_long_block_are_found(seed: int) -> None:
    """Cells of any length in a long block are found, also if values hold cells."""
    random = Random(seed)
    most = random.choice([1, 10, 300])

    def one(depth: int) -> bytes:
        value = random.randbytes(random.randrange(most))
        if depth and random.random() < 0.7:
            value = b"".join(one(depth - 1) for _ in range(random.randrange(5)))
        return encode_cell(b"r", "d", random.randbytes(random.randrange(4)), 1, value)

    cells = [one(seed % 4) for _ in range(6_000)]
    assert _starts(cells) == find_cell_starts(b"".join(cells)).tolist()


def test_long_cells_after_short_ones_are_decoded() -> None:
    """Long cells after short ones are decoded, though the decoder expects short ones."""
    cells = [encode_cell(b"r", "d", b"", 1, b"")] * 9_000 + [
        encode_cell(b"r", "d", b"", 1, b"v" * 9_000)
    ] * 900
    assert _starts(cells) == find_cell_starts(b"".join(cells)).tolist()
    backwards = cells[::-1]
    assert _starts(backwards) == find_cell_starts(b"".join(backwards)).tolist()


def test_recorded_cells_are_decoded_as_columns() -> None:
    """Cells recorded from a server, with and without a tag, are decoded."""
    columns = to_columns(VECTOR + TAGGED_CELL, ["x", "d"])
    expected = {
        "row": [b"r1", b"r2"],
        "family": ["d", "d"],
        "qualifier": [b"q", b"q"],
        "timestamp": [2**63 - 1, 4102444800000],
        "value": [b"v", b"v"],
    }
    assert expected == columns.to_pydict()
    assert [1, 1] == columns["family"].indices.to_pylist()
    assert ["x", "d"] == columns["family"].dictionary.to_pylist()


def test_an_empty_block_gives_columns_without_rows() -> None:
    """An empty block gives columns without rows and with the same schema."""
    assert build_block_schema().empty_table() == to_columns(b"", []).schema.empty_table()
    assert [] == to_columns(b"", []).to_pylist()


@given(st.lists(any_cells, min_size=1, max_size=5), st.data())
def test_a_changed_block_decodes_to_the_cells_of_the_scalar_decoder_or_both_raise(
    cells: list[bytes], data: st.DataObject
) -> None:
    """A changed block gives the same cells as the scalar decoder, or both raise."""
    block = bytearray(b"".join(cells))
    for _ in range(data.draw(st.integers(0, 3))):
        place = data.draw(st.integers(0, len(block) - 1))
        block[place] = data.draw(st.sampled_from([0, 1, 4, 0x7F, 0x80, 0xFF]) | st.integers(0, 255))
    wrong = bytes(block[: data.draw(st.integers(0, len(block)) | st.just(len(block)))])
    expected = _read_strictly(wrong)
    if expected is None:
        with pytest.raises((WireFormatError, InvalidArgument)):
            to_columns(wrong, FAMILIES)
    else:
        assert expected == to_columns(wrong, FAMILIES).to_pylist()


def _read_strictly(block: bytes) -> list[dict[str, Any]] | None:
    """Return the columns of a block read length by length, or None if malformed."""
    at, lines = 0, []
    while at < len(block):
        if len(block) < at + 24:
            return None
        size, key, value, row = unpack_from(">IIIH", block, at)
        stop, family_at, value_at = at + 4 + size, at + 14 + row, at + 12 + key
        if size < 20 or stop > len(block) or value_at + value > stop or family_at + 10 > value_at:
            return None
        tags = block[value_at + value : stop]
        if tags and (len(tags) < 2 or unpack_from(">H", tags)[0] != len(tags) - 2):
            return None
        qualifier_at = family_at + 1 + block[family_at]
        family = block[family_at + 1 : qualifier_at].decode(errors="replace")
        if qualifier_at > value_at - 9 or family not in FAMILIES or block[value_at - 1] != 4:
            return None
        line = {
            "row": block[at + 14 : family_at],
            "family": family,
            "qualifier": block[qualifier_at : value_at - 9],
            "timestamp": unpack_from(">q", block, value_at - 9)[0],
            "value": block[value_at : value_at + value],
        }
        lines.append(line)
        at = stop
    return lines


@pytest.mark.parametrize(
    ("at", "number", "message"),
    [
        (0, 0, "is shorter than|reaches"),  # what lies within it is followed, to whatever end
        (0, 2**32 - 1, "reaches"),
        (4, 17, "key or value longer than the cell"),
        (4, 2**32 - 8, "key or value longer than the cell"),
        (8, 2**32 - 16, "key or value longer than the cell"),
        (4, 0, "key or value longer than the cell"),
        (8, 0, "1 byte after its value"),
    ],
)
@pytest.mark.parametrize("others", [0, 1, 10_000])
def test_contradictory_lengths_are_malformed(
    at: int, number: int, message: str, others: int
) -> None:
    """A wrong length is malformed alone, among other cells, and in a long block."""
    wrong = bytearray(VECTOR)
    pack_into(">I", wrong, at, number)
    block = VECTOR * others + wrong + VECTOR * others
    with pytest.raises(WireFormatError, match=message):
        to_columns(block, ["d"])


@pytest.mark.parametrize("missing", [1, 3, 4, 28])
@pytest.mark.parametrize("count", [1, 2, 33, 9_000])
def test_a_truncated_block_is_malformed_as_columns(count: int, missing: int) -> None:
    """A block that lacks any part of its last cell raises an error."""
    block = (VECTOR * count)[:-missing]
    with pytest.raises(WireFormatError):
        to_columns(block, ["d"])


@pytest.mark.parametrize(("row", "family"), [(14, 0), (5, 0), (2, 3), (2, 16), (2, 255)])
def test_a_row_or_family_that_exceeds_its_key_is_malformed(row: int, family: int) -> None:
    wrong = bytearray(VECTOR)
    pack_into(">H", wrong, 12, row)
    wrong[16] = family
    with pytest.raises(WireFormatError):
        to_columns(bytes(wrong), ["d"])


@pytest.mark.parametrize("more", [-1, 1])
def test_tags_with_a_wrong_length_are_malformed(more: int) -> None:
    wrong = bytearray(TAGGED_CELL)
    wrong[-12] += more
    with pytest.raises(WireFormatError, match="tags"):
        to_columns(bytes(wrong), ["d"])


def test_a_block_with_a_delete_has_no_columns() -> None:
    """A block with a delete has no columns, and an unknown type is malformed."""
    delete = encode_cell(b"r", "d", b"", 1, b"", CellType.DELETE_FAMILY)
    with pytest.raises(InvalidArgument, match="DELETE_FAMILY"):
        to_columns(VECTOR + delete, ["d"])
    with pytest.raises(WireFormatError, match="type 5"):
        to_columns(encode_cell(b"r", "d", b"", 1, b"", 5), ["d"])


def test_the_error_of_an_unknown_family_lists_the_known_families() -> None:
    """A family without a number raises an error that lists the known families."""
    with pytest.raises(
        InvalidArgument, match=r"families: .* family 'd'; expected only e, f, as named"
    ):
        to_columns(VECTOR, ["e", "f"])
