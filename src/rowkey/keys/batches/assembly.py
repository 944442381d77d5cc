"""Whole keys for many rows: parts side by side, and keys taken apart again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rowkey.errors import RowError
from rowkey.keys.batches.pieces import (
    Buffer,
    Fixed,
    Ints,
    Pieces,
    packed_dtype,
    runs_of,
    total_lengths,
    write_runs,
)
from rowkey.keys.bind import LONGEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.keys.batches.columns import Columns
    from rowkey.keys.contract import Part
    from rowkey.keys.key import Key

BLOCK = 32_768
"""Rows encoded at a time, so that what one part writes is still in cache for the next."""

MOST_BYTES = (1 << 31) - 1
"""Bytes that 32-bit offsets of an Arrow binary array can reach."""


def keys_of(key: Key, columns: Columns) -> pa.Array:
    """The row keys of all rows as an Arrow binary array."""
    width = key.body.framing.width
    if width is not None:
        return _fixed_keys(key, columns, width)
    return _Growing(len(columns)).filled(key, columns)


class _Growing:
    """Keys of different lengths, written one block after the other into one buffer.

    The buffer begins as large as the first block lets expect, and grows if that was too little.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.offsets = np.zeros(count + 1, np.int64)
        self.data = np.empty(0, np.uint8)

    def filled(self, key: Key, columns: Columns) -> pa.Array:
        """All keys, as an Arrow binary array."""
        used = 0
        for start in range(0, self.count, BLOCK):
            runs = runs_of(key.body.part_pieces(columns.slice(start, start + BLOCK)))
            lengths = total_lengths(runs)
            _check_lengths(lengths, start)
            ends = self.offsets[start + 1 : start + 1 + len(lengths)]
            np.cumsum(lengths, out=ends)
            ends += used
            self._reserve(int(ends[-1]), start + len(lengths))
            write_runs(runs, self.data, ends - lengths)
            used = int(ends[-1])
        return self._array(used)

    def _reserve(self, needed: int, rows: int) -> None:
        """Room for so many bytes, and for as many as the rows still to come are likely to need."""
        if needed <= len(self.data):
            return
        grown = np.empty(max(needed, int(needed / rows * self.count * 1.1)) + 64, np.uint8)
        grown[: len(self.data)] = self.data
        self.data = grown

    def _array(self, used: int) -> pa.Array:
        large = used > MOST_BYTES
        offsets = self.offsets if large else self.offsets.astype(np.int32)
        return _array(pa.large_binary() if large else pa.binary(), offsets, self.data[:used])


def _fixed_keys(key: Key, columns: Columns, width: int) -> pa.Array:
    """Keys of one width: each part writes its columns of one table, block by block."""
    count = len(columns)
    out = np.empty(count, f"V{width}")
    for start in range(0, count, BLOCK):
        pieces = key.body.part_pieces(columns.slice(start, start + BLOCK))
        write_side_by_side(pieces, out[start : start + BLOCK])
    if count and width > LONGEST:
        raise RowError("key", f"{width:,} bytes are too long", f"at most {LONGEST:,} bytes")
    data = out.view(np.uint8)
    if len(data) > MOST_BYTES:
        return _array(pa.large_binary(), np.arange(count + 1, dtype=np.int64) * width, data)
    return _array(pa.binary(), np.arange(0, (count + 1) * width, width, dtype=np.int32), data)


def write_side_by_side(pieces: Sequence[Pieces], out: np.ndarray[tuple[int], Any]) -> None:
    """Write pieces of fixed width into the rows of a table."""
    fixed = [piece if isinstance(piece, Fixed) else _regular(piece) for piece in pieces]
    table = out.view(packed_dtype([piece.items.dtype for piece in fixed]))
    for name, piece in zip(table.dtype.names or (), fixed, strict=True):
        table[name] = piece.items


def _regular(pieces: Pieces) -> Fixed:
    """Strings that happen to be of one width, as an array."""
    spans = pieces.spans()
    return spans.gathered(int(spans.inner[0]) if len(spans) else 1)


def _check_lengths(lengths: Ints, first: int) -> None:
    """Refuse keys that HBase would.

    Args:
        lengths: bytes of each key.
        first: the number of the first row.
    """
    if int(lengths.min()) == 0:
        row = first + int(lengths.argmin())
        what = f"every part of row {row} is left out, so the key is empty"
        raise RowError("key", what, "1 byte or more")
    if int(lengths.max()) > LONGEST:
        row = int(lengths.argmax())
        what = f"the key of row {first + row} has {int(lengths[row]):,} bytes"
        raise RowError("key", what, f"at most {LONGEST:,} bytes")


def _array(kind: pa.DataType, offsets: Ints, data: Buffer) -> pa.Array:
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(kind, len(offsets) - 1, buffers)


def parts_up_to(key: Key, depth: int) -> tuple[Part, ...]:
    """The leading parts whose bytes are sure to fill `depth` bytes of every key."""
    least = 0
    for index, part in enumerate(key.parts):
        least += part.framing.least
        if least >= depth and index + 1 <= len(key.parts) - key.body.omittable:
            return key.parts[: index + 1]
    return key.parts
