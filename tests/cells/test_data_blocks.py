"""Data blocks are encoded as HBase does: decoders written from its formats read them back."""

from __future__ import annotations

from random import Random

import pytest

from rowkey.cells import ATTRIBUTES, BlockCell, encode_block, find_compressor, split_blocks

FAMILY = b"d"
CELLS = [
    BlockCell(b"a", b"q", 1_700_000_000_000, b"one"),
    BlockCell(b"a", b"q", 1_699_999_999_000, b"one"),
    BlockCell(b"a", b"qq", 1_700_000_000_001, b"two"),
    BlockCell(b"ab", b"", 0, b""),
    BlockCell(b"ab" * 200, b"q", 255, b"x" * 300),
    BlockCell(b"b" * 400, b"q", 256, b"x" * 300),
    BlockCell(b"b" * 399 + b"c", b"q", 2**62, b"x" * 300),
]


class BlockReader:
    """Reads an encoded block, by the formats in the comments of HBase's encoders."""

    def __init__(self, block: bytes) -> None:
        self.block = block
        self.place = 0

    def take(self, count: int) -> bytes:
        """Return the next bytes."""
        self.place += count
        assert self.place <= len(self.block)
        return self.block[self.place - count : self.place]

    def take_int(self, count: int) -> int:
        """Return the next bytes as a number, the highest byte first."""
        return int.from_bytes(self.take(count))

    def take_packed_int(self) -> int:
        """Return the next number of seven bits a byte."""
        number = shift = 0
        while True:
            byte = self.take_int(1)
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    def end_cell(self) -> None:
        """Read the sequence number of a cell."""
        assert b"\0" == self.take(1)

    def is_at_end(self) -> bool:
        """Return whether all was read."""
        return self.place == len(self.block)


def split_key(key: bytes, value: bytes) -> BlockCell:
    """Return the cell of a flat key and a value."""
    row_stop = 2 + int.from_bytes(key[:2])
    assert (key[row_stop : row_stop + 2], key[-1:]) == (b"\x01d", b"\x04")
    stamp = int.from_bytes(key[-9:-1])
    return BlockCell(key[2:row_stop], key[row_stop + 2 : -9], stamp, value)


def read_plain(reader: BlockReader) -> list[BlockCell]:
    """Return the cells of a block without an encoding."""
    cells = []
    while not reader.is_at_end():
        key_bytes, value_bytes = reader.take_int(4), reader.take_int(4)
        cells.append(split_key(reader.take(key_bytes), reader.take(value_bytes)))
        reader.end_cell()
    return cells


def read_row_index(reader: BlockReader) -> list[BlockCell]:
    """Return the cells of a ROW_INDEX_V1 block; its offsets are those of its rows."""
    assert 7 == reader.take_int(2)
    size = int.from_bytes(reader.block[-4:])
    cells = read_plain(BlockReader(reader.take(size)))
    offsets = [reader.take_int(4) for _ in range(reader.take_int(4))]
    assert size == reader.take_int(4)
    assert len({cell.row for cell in cells}) == len(offsets) == len(set(offsets))
    assert 0 == offsets[0]
    return cells


def read_prefix(reader: BlockReader) -> list[BlockCell]:
    """Return the cells of a PREFIX block."""
    assert 2 == reader.take_int(2)
    reader.take(4)
    cells, key = [], b""
    while not reader.is_at_end():
        rest, value_bytes, common = (reader.take_packed_int() for _ in range(3))
        key = key[:common] + reader.take(rest)
        cells.append(split_key(key, reader.take(value_bytes)))
        reader.end_cell()
    return cells


def read_key_rest(reader: BlockReader, key: bytes, key_bytes: int, common: int) -> bytes:
    """Return row, family and qualifier of a DIFF or FAST_DIFF cell after the one of a key."""
    row_stop = 2 + int.from_bytes(key[:2])
    if key and common >= row_stop:
        return key[:common] + reader.take(key_bytes - 9 - common)
    head = key[:common] + reader.take(max(2 - common, 0))
    row = head + reader.take(2 + int.from_bytes(head[:2]) - len(head))
    return row + b"\x01d" + reader.take(key_bytes - 11 - len(row))


def read_diff(reader: BlockReader) -> list[BlockCell]:
    """Return the cells of a DIFF block."""
    assert 3 == reader.take_int(2)
    reader.take(4)
    assert b"\x01d" == reader.take(2)
    cells: list[BlockCell] = []
    key, key_bytes, value_bytes = b"", 0, 0
    while not reader.is_at_end():
        flag = reader.take_int(1)
        key_bytes = key_bytes if flag & 1 else reader.take_packed_int()
        value_bytes = value_bytes if flag & 2 else reader.take_packed_int()
        start = read_key_rest(reader, key, key_bytes, reader.take_packed_int())
        stamp = int.from_bytes(reader.take((flag >> 4 & 7) + 1), "little")
        stamp = -stamp if flag & 128 else stamp
        stamp = cells[-1].timestamp - stamp if flag & 8 else stamp
        key = start + stamp.to_bytes(8) + (b"\x04" if flag & 4 else reader.take(1))
        cells.append(split_key(key, reader.take(value_bytes)))
        reader.end_cell()
    return cells


def read_fast_diff(reader: BlockReader) -> list[BlockCell]:
    """Return the cells of a FAST_DIFF block."""
    assert 4 == reader.take_int(2)
    reader.take(4)
    cells: list[BlockCell] = []
    key, key_bytes, value_bytes = b"", 0, 0
    while not reader.is_at_end():
        flag = reader.take_int(1)
        key_bytes = key_bytes if flag & 8 else reader.take_packed_int()
        value_bytes = value_bytes if flag & 16 else reader.take_packed_int()
        common = reader.take_packed_int()
        if cells:
            start = read_key_rest(reader, key, key_bytes, common)
            stamp = key[-9:-1][: flag & 7] + reader.take(8 - (flag & 7))
            key = start + stamp + (b"\x04" if flag & 32 else reader.take(1))
        else:
            key = reader.take(key_bytes)
        value = cells[-1].value if flag & 64 else reader.take(value_bytes)
        cells.append(split_key(key, value))
        reader.end_cell()
    return cells


READERS = {
    "NONE": read_plain,
    "PREFIX": read_prefix,
    "DIFF": read_diff,
    "FAST_DIFF": read_fast_diff,
    "ROW_INDEX_V1": read_row_index,
}


def draw_cells(seed: int) -> list[BlockCell]:
    """Return random cells with much in common, in the order of HBase."""
    chance = Random(seed)
    cells = {
        BlockCell(
            bytes(chance.choices(b"ab", k=chance.choice([1, 3, 3, 300]))),
            bytes(chance.choices(b"qr", k=chance.randrange(4))),
            chance.choice([0, 255, 65_536, 1_700_000_000_000, chance.getrandbits(62)]),
            bytes(chance.choices(b"v", k=chance.choice([0, 2, 200]))),
        )
        for _ in range(60)
    }
    return sorted(cells, key=lambda cell: (cell.row, cell.qualifier, -cell.timestamp))


@pytest.mark.parametrize("encoding", ATTRIBUTES["encoding"].choices)
def test_a_data_block_is_decoded_in_each_encoding(encoding: str) -> None:
    """A decoder gives the cells of a block back, in each encoding that a family may declare."""
    for cells in (CELLS, CELLS[:1], *map(draw_cells, range(20))):
        reader = BlockReader(encode_block(cells, FAMILY, encoding))
        assert cells == READERS[encoding](reader)
        assert reader.is_at_end()


def test_a_fast_diff_block_has_the_bytes_that_hbase_writes() -> None:
    """Two cells in FAST_DIFF: flags, lengths and common bytes as FastDiffDeltaEncoder writes."""
    cells = [BlockCell(b"r1", b"q", 256, b"v"), BlockCell(b"r2", b"q", 257, b"v")]
    first = "00 10 01 00 0002 7231 01 64 71 0000000000000100 04 76 00"
    second = "7f 03 32 71 01 00"  # same lengths, type and value; 7 bytes of the timestamp
    expected = bytes.fromhex("0004 00000034" + first + second)
    assert expected == encode_block(cells, FAMILY, "FAST_DIFF")


def test_a_block_ends_with_the_cell_that_reaches_its_size() -> None:
    """Blocks hold all cells in their order, and all but the last have the size or more."""
    blocks = list(split_blocks(CELLS, FAMILY, 300))
    assert CELLS == [cell for block in blocks for cell in block]
    sizes = [len(encode_block(block, FAMILY, "NONE")) for block in blocks]
    assert all(size >= 300 for size in sizes[:-1])
    assert [] == list(split_blocks([], FAMILY, 300))


@pytest.mark.parametrize("codec", ATTRIBUTES["compression"].choices)
def test_each_codec_shrinks_repeated_bytes(codec: str) -> None:
    """Each codec of HBase but LZO is there, and shrinks a repeated byte to less than a tenth."""
    compress = find_compressor(codec)
    assert (compress is None) == (codec == "LZO")
    if compress is not None:
        share = len(compress(b"a" * 65_536)) / 65_536
        assert share == 1 if codec == "NONE" else share < 0.1
