"""The sizes of cells, compared with encoded cells and with HBase's figures."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.cells import (
    CELL_OVERHEAD_BYTES,
    compute_block_bytes,
    compute_cell_bytes,
    compute_vlong_bytes,
)
from rowkey.errors import InvalidArgument

names = st.binary(max_size=40)


def encode_key_value(
    row: bytes, family: bytes, qualifier: bytes, value: bytes, tags: bytes
) -> bytes:
    """Encode a KeyValue field by field."""
    key = struct.pack(">H", len(row)) + row + bytes([len(family)]) + family + qualifier
    key += struct.pack(">QB", 1_700_000_000_000, 4)
    cell = struct.pack(">II", len(key), len(value)) + key + value
    return cell + (struct.pack(">H", len(tags)) + tags if tags else b"")


@given(row=names, family=names, qualifier=names, value=names, tags=names)
def test_the_computed_length_of_a_cell_equals_its_encoded_length(
    row: bytes, family: bytes, qualifier: bytes, value: bytes, tags: bytes
) -> None:
    expected = len(encode_key_value(row, family, qualifier, value, tags))
    lengths = len(row), len(family), len(qualifier), len(value), len(tags)
    assert expected == compute_cell_bytes(*lengths)


@pytest.mark.claims(5)
def test_the_overhead_of_a_small_cell_is_20_bytes() -> None:
    """16 bytes of row, 1 of family, 4 of qualifier and 8 of value make 49, 20 of them overhead."""
    assert (20, 49) == (CELL_OVERHEAD_BYTES, compute_cell_bytes(16, 1, 4, 8))


def test_tags_cost_their_bytes_and_2_more() -> None:
    assert compute_cell_bytes(16, 1, 4, 8) + 2 + 5 == compute_cell_bytes(16, 1, 4, 8, tags=5)


def test_a_cell_in_a_file_has_a_sequence_id_and_perhaps_a_tags_length() -> None:
    """In a file, a cell has its sequence id too, and a tags length if the file has tags."""
    cell = compute_cell_bytes(16, 1, 4, 8)
    assert cell + 1 == compute_block_bytes(16, 1, 4, 8)
    assert cell + 1 + 2 == compute_block_bytes(16, 1, 4, 8, file_has_tags=True)
    assert cell + 2 + 5 + 1 == compute_block_bytes(16, 1, 4, 8, 5, file_has_tags=True)
    assert cell + 3 == compute_block_bytes(16, 1, 4, 8, sequence_id=1_000)


def test_small_vlongs_take_one_byte_and_larger_ones_a_length_byte() -> None:
    """Small numbers take one byte, others a length byte and as many as they need."""
    lengths = {-113: 2, -112: 1, 127: 1, 128: 2, 255: 2, 256: 3, 65_535: 3, 2**62: 9, -(2**63): 9}
    assert lengths == {number: compute_vlong_bytes(number) for number in lengths}


@pytest.mark.parametrize(
    ("lengths", "part"),
    [((-1, 1, 1, 1), "row"), ((32_768, 1, 1, 1), "row"), ((1, 128, 1, 1), "family"),
     ((1, 1, -1, 1), "qualifier"), ((1, 1, 1, 2**31), "value")],
)  # fmt: skip
def test_a_negative_or_too_large_length_is_refused_by_name(
    lengths: tuple[int, int, int, int], part: str
) -> None:
    """A length below 0 or beyond HBase's limit is refused by name."""
    with pytest.raises(InvalidArgument) as caught:
        compute_cell_bytes(*lengths)
    assert part == caught.value.mistake.path


def test_a_sequence_id_of_more_than_8_bytes_is_refused() -> None:
    with pytest.raises(InvalidArgument):
        compute_vlong_bytes(2**63)
