"""Bytes of many cells as Arrow arrays, and Arrow arrays as slices of one buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rowkey.errors import RowError
from rowkey.keys import Spans

if TYPE_CHECKING:
    from rowkey.keys import Pieces

Ints = np.ndarray[tuple[int], np.dtype[Any]]
Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]

MOST_BYTES = (1 << 31) - 1
"""Bytes that 32-bit offsets of an Arrow binary array can reach."""


def binary_array(pieces: Pieces, valid: Mask | None = None) -> pa.Array:
    """An Arrow binary array of pieces.

    Args:
        pieces: the bytes, one for each row that is valid.
        valid: which rows have bytes; None if all have. The others are null.
    """
    packed = pieces.spans().packed()
    lengths = packed.inner
    bitmap = None
    if valid is not None:
        lengths = np.zeros(len(valid), np.int64)
        lengths[valid] = packed.inner
        bitmap = pa.py_buffer(np.packbits(valid, bitorder="little"))
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    large = int(offsets[-1]) > MOST_BYTES
    at = offsets if large else offsets.astype(np.int32)
    kind = pa.large_binary() if large else pa.binary()
    buffers = [bitmap, pa.py_buffer(at), pa.py_buffer(packed.data)]
    return pa.Array.from_buffers(kind, len(lengths), buffers)


def spans_of(array: pa.Array) -> Spans:
    """The strings of an Arrow array of text or bytes, as slices of its buffer.

    Args:
        array: without nulls.
    """
    wide = pa.types.is_large_binary(array.type) or pa.types.is_large_string(array.type)
    if not len(array):
        return Spans.of([])
    _, offsets, data = array.buffers()
    span = slice(array.offset, array.offset + len(array) + 1)
    at = np.frombuffer(offsets, np.int64 if wide else np.int32)[span].astype(np.int64)
    raw = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    return Spans(raw[: at[-1]], at[:-1], np.diff(at))


def plain(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The same values as one array that is neither chunked, coded, viewed nor of fixed width."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    kind = array.type
    if pa.types.is_dictionary(kind):
        return plain(array.dictionary_decode())
    if pa.types.is_fixed_size_binary(kind) or pa.types.is_binary_view(kind):
        return array.cast(pa.binary())
    return array.cast(pa.string()) if pa.types.is_string_view(kind) else array


def column_of(batch: pa.RecordBatch, name: str) -> pa.Array | None:
    """A column of a batch, or None if it has none of that name.

    Raises:
        RowError: several columns have the name.
    """
    found = batch.schema.get_all_field_indices(name)
    if len(found) > 1:
        raise RowError(name, f"{len(found)} columns of the batch have this name", "one")
    return batch.column(found[0]) if found else None


def refuse_nulls(name: str, valid: Mask) -> None:
    """Refuse a column with a null in it, of a field that has none.

    Raises:
        RowError: there is one.
    """
    if not valid.all():
        row = int(np.argmin(valid))
        remedy = "Declare the field nullable, or leave the row out."
        raise RowError(name, f"row {row} has no value", remedy=remedy)


def scattered(values: pa.Array, at: Ints, count: int) -> pa.Array:
    """The values as a column of so many rows, null where none is.

    Args:
        values: some values.
        at: the row of each, ascending and distinct.
        count: rows of the column.
    """
    if len(values) == count:
        return values
    source = np.zeros(count, np.int64)
    source[at] = np.arange(len(at))
    missing = np.ones(count, np.bool_)
    missing[at] = False
    return values.take(pa.array(source, mask=missing))
