"""Assembles the keys of many rows from the bytes of their parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa
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
from rowkey.keys.key_length import MAX_KEY_BYTES, build_length_error
from rowkey.keys.parts.sequence import SequencePart

if TYPE_CHECKING:
    from rowkey.keys.batches.columns import ColumnBatch

BLOCK_ROWS = 32_768
"""Rows encoded at a time, so that the bytes of one part are still in cache for the next."""

MAX_INT32_OFFSET = (1 << 31) - 1
"""Bytes that 32-bit offsets of an Arrow binary array can reach."""


def assemble_keys(sequence: SequencePart, columns: ColumnBatch) -> pa.Array:
    """Return the joined parts of all rows, which are their row keys, as an Arrow binary array."""
    width = sequence.framing.width
    if width is not None:
        return _assemble_fixed_keys(sequence, columns, width)
    return _KeyBuffer(len(columns)).fill_keys(sequence, columns)


class _KeyBuffer:
    """Keys of different lengths, written block by block into one buffer.

    The first block decides the first size of the buffer, which grows if that is too little.
    """

    def __init__(self, row_count: int) -> None:
        self.row_count = row_count
        self.offsets = np.zeros(row_count + 1, np.int64)
        self.data = np.empty(0, np.uint8)

    def fill_keys(self, sequence: SequencePart, columns: ColumnBatch) -> pa.Array:
        """Write all keys and return them as an Arrow binary array."""
        used_bytes = 0
        for start in range(0, self.row_count, BLOCK_ROWS):
            runs = merge_runs(sequence.encode_parts(columns.slice(start, start + BLOCK_ROWS)))
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
        large = used_bytes > MAX_INT32_OFFSET
        offsets = self.offsets if large else self.offsets.astype(np.int32)
        return _build_binary_array(
            pa.large_binary() if large else pa.binary(), offsets, self.data[:used_bytes]
        )


def _assemble_fixed_keys(sequence: SequencePart, columns: ColumnBatch, width: int) -> pa.Array:
    """Return keys of one width; each part writes its columns of one table, block by block."""
    count = len(columns)
    out = np.empty(count, f"V{width}")
    for start in range(0, count, BLOCK_ROWS):
        pieces = sequence.encode_parts(columns.slice(start, start + BLOCK_ROWS))
        write_fixed_rows(pieces, out[start : start + BLOCK_ROWS])
    if count and width > MAX_KEY_BYTES:
        raise build_length_error(width)
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
    for extreme in (int(lengths.min()), int(lengths.max())):
        if not 0 < extreme <= MAX_KEY_BYTES:
            raise build_length_error(extreme)


def _build_binary_array(arrow_type: pa.DataType, offsets: IntArray, data: ByteBuffer) -> pa.Array:
    """Return an Arrow binary array of offsets and data, without a copy."""
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(arrow_type, len(offsets) - 1, buffers)
