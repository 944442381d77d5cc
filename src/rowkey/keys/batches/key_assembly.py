"""Assembles the keys of many rows from the bytes of their parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa
from rowkey.errors import RowError
from rowkey.keys.batches.byte_columns import (
    ByteBuffer,
    ByteColumn,
    FixedByteColumn,
    IntArray,
    build_packed_dtype,
    merge_runs,
    sum_lengths,
    write_runs,
)
from rowkey.keys.key import Key
from rowkey.keys.part_interface import Part
from rowkey.keys.term_binding import EMPTY_KEY_REMEDY, LONG_KEY_REMEDY, MAX_KEY_BYTES

if TYPE_CHECKING:
    from rowkey.keys.batches.columns import ColumnBatch

BLOCK_ROWS = 32_768
"""Rows encoded at a time, so that the bytes of one part are still in cache for the next."""

MAX_INT32_OFFSET = (1 << 31) - 1
"""Bytes that 32-bit offsets of an Arrow binary array can reach."""


def assemble_keys(key: Key, columns: ColumnBatch) -> pa.Array:
    """Return the row keys of all rows as an Arrow binary array."""
    width = key.part_sequence.framing.width
    if width is not None:
        return _assemble_fixed_keys(key, columns, width)
    return _KeyBuffer(len(columns)).fill_keys(key, columns)


class _KeyBuffer:
    """Keys of different lengths, written block by block into one buffer.

    The first block decides the first size of the buffer, which grows if that is too little.
    """

    def __init__(self, row_count: int) -> None:
        self.row_count = row_count
        self.offsets = np.zeros(row_count + 1, np.int64)
        self.data = np.empty(0, np.uint8)

    def fill_keys(self, key: Key, columns: ColumnBatch) -> pa.Array:
        """Write all keys and return them as an Arrow binary array."""
        used_bytes = 0
        for start in range(0, self.row_count, BLOCK_ROWS):
            runs = merge_runs(
                key.part_sequence.encode_parts(columns.slice(start, start + BLOCK_ROWS))
            )
            lengths = sum_lengths(runs)
            check_key_lengths(lengths)
            ends = self.offsets[start + 1 : start + 1 + len(lengths)]
            np.cumsum(lengths, out=ends)
            ends += used_bytes
            self._reserve_bytes(int(ends[-1]), start + len(lengths))
            write_runs(runs, self.data, ends - lengths)
            used_bytes = int(ends[-1])
        return self._to_arrow(used_bytes)

    def _reserve_bytes(self, min_bytes: int, rows: int) -> None:
        """Grow the buffer to the needed bytes and an estimate for the remaining rows."""
        if min_bytes <= len(self.data):
            return
        buffer = np.empty(
            max(min_bytes, int(min_bytes / rows * self.row_count * 1.1)) + 64, np.uint8
        )
        buffer[: len(self.data)] = self.data
        self.data = buffer

    def _to_arrow(self, used_bytes: int) -> pa.Array:
        """Return the written keys as an Arrow binary array."""
        large = used_bytes > MAX_INT32_OFFSET
        offsets = self.offsets if large else self.offsets.astype(np.int32)
        return _build_binary_array(
            pa.large_binary() if large else pa.binary(), offsets, self.data[:used_bytes]
        )


def _assemble_fixed_keys(key: Key, columns: ColumnBatch, width: int) -> pa.Array:
    """Return keys of one width; each part writes its columns of one table, block by block."""
    count = len(columns)
    out = np.empty(count, f"V{width}")
    for start in range(0, count, BLOCK_ROWS):
        pieces = key.part_sequence.encode_parts(columns.slice(start, start + BLOCK_ROWS))
        write_fixed_rows(pieces, out[start : start + BLOCK_ROWS])
    if count and width > MAX_KEY_BYTES:
        raise RowError(
            "key",
            f"each key has {width:,} bytes",
            f"at most {MAX_KEY_BYTES:,} bytes",
            LONG_KEY_REMEDY,
        )
    data = out.view(np.uint8)
    if len(data) > MAX_INT32_OFFSET:
        return _build_binary_array(
            pa.large_binary(), np.arange(count + 1, dtype=np.int64) * width, data
        )
    return _build_binary_array(
        pa.binary(), np.arange(0, (count + 1) * width, width, dtype=np.int32), data
    )


def write_fixed_rows(pieces: Sequence[ByteColumn], out: np.ndarray[tuple[int], Any]) -> None:
    """Write pieces of fixed width into the rows of a table."""
    fixed = [
        piece if isinstance(piece, FixedByteColumn) else _to_fixed_width(piece) for piece in pieces
    ]
    table = out.view(build_packed_dtype([piece.items.dtype for piece in fixed]))
    for name, piece in zip(table.dtype.names or (), fixed, strict=True):
        table[name] = piece.items


def _to_fixed_width(pieces: ByteColumn) -> FixedByteColumn:
    """Return strings that all have the same length as a column of fixed width."""
    spans = pieces.to_sliced()
    return spans.to_fixed(int(spans.inner_lengths[0]) if len(spans) else 1)


def check_key_lengths(lengths: IntArray) -> None:
    """Raise RowError for a key that HBase refuses: an empty or too long one.

    Args:
        lengths: the bytes of each key, at least one.
    """
    if int(lengths.min()) == 0:
        what = "all fields of the key are null, so the key is empty"
        raise RowError("key", what, "1 byte or more", EMPTY_KEY_REMEDY)
    if int(lengths.max()) > MAX_KEY_BYTES:
        what = f"the key has {int(lengths.max()):,} bytes"
        raise RowError("key", what, f"at most {MAX_KEY_BYTES:,} bytes", LONG_KEY_REMEDY)


def _build_binary_array(arrow_type: pa.DataType, offsets: IntArray, data: ByteBuffer) -> pa.Array:
    """Return an Arrow binary array of offsets and data, without a copy."""
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(arrow_type, len(offsets) - 1, buffers)


def find_leading_parts(key: Key, depth: int) -> tuple[Part, ...]:
    """Return the leading parts that fill at least `depth` bytes of every key."""
    min_bytes = 0
    for index, part in enumerate(key.parts):
        min_bytes += part.framing.min_bytes
        if min_bytes >= depth and index + 1 <= len(key.parts) - key.part_sequence.omittable_count:
            return key.parts[: index + 1]
    return key.parts
