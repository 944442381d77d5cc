"""Conversions between cell values, Arrow arrays and slices of one buffer."""

from __future__ import annotations

from typing import Any, TypeAlias

from rowkey.array_libraries import np, pa
from rowkey.errors import RowError
from rowkey.keys import ByteColumn, SlicedByteColumn

IntArray: TypeAlias = "np.ndarray[tuple[int], np.dtype[Any]]"
BoolArray: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.bool_]]"

MAX_INT32_OFFSET = (1 << 31) - 1
"""Bytes that 32-bit offsets of an Arrow binary array can reach."""


def build_binary_array(pieces: ByteColumn, valid: BoolArray | None = None) -> pa.Array:
    """Return an Arrow binary array from byte strings, with null in the rows that have none.

    Args:
        pieces: the byte strings, one for each row that is valid.
        valid: which rows have bytes; None if all have. The others are null.
    """
    packed = pieces.to_sliced().to_packed()
    lengths = packed.inner_lengths
    bitmap = None
    if valid is not None:
        lengths = np.zeros(len(valid), np.int64)
        lengths[valid] = packed.inner_lengths
        bitmap = pa.py_buffer(np.packbits(valid, bitorder="little"))
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    large = int(offsets[-1]) > MAX_INT32_OFFSET
    at = offsets if large else offsets.astype(np.int32)
    kind = pa.large_binary() if large else pa.binary()
    buffers = [bitmap, pa.py_buffer(at), pa.py_buffer(packed.data)]
    return pa.Array.from_buffers(kind, len(lengths), buffers)


def to_byte_column(array: pa.Array) -> SlicedByteColumn:
    """Return the strings of an Arrow array of text or bytes as slices of its buffer.

    Args:
        array: without nulls.
    """
    wide = pa.types.is_large_binary(array.type) or pa.types.is_large_string(array.type)
    if not len(array):
        return SlicedByteColumn.from_list([])
    _, offsets, data = array.buffers()
    span = slice(array.offset, array.offset + len(array) + 1)
    at = np.frombuffer(offsets, np.int64 if wide else np.int32)[span].astype(np.int64)
    raw = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    return SlicedByteColumn(raw[: at[-1]], at[:-1], np.diff(at))


def to_contiguous_array(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return an Arrow column as one array of variable width, without dictionary or views."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    kind = array.type
    if pa.types.is_dictionary(kind):
        return to_contiguous_array(array.dictionary_decode())
    if pa.types.is_fixed_size_binary(kind) or pa.types.is_binary_view(kind):
        return array.cast(pa.binary())
    return array.cast(pa.string()) if pa.types.is_string_view(kind) else array


def find_column(batch: pa.RecordBatch, name: str) -> pa.Array | None:
    """Return a column of a batch; None if the batch has none of that name.

    Raises:
        RowError: several columns have the name.
    """
    indexes = batch.schema.get_all_field_indices(name)
    if len(indexes) > 1:
        what, remedy = (
            f"{len(indexes)} columns of the batch have this name",
            f"Keep one column {name}.",
        )
        raise RowError(f"column {name}", what, "one column", remedy)
    return batch.column(indexes[0]) if indexes else None


def scatter_values(values: pa.Array, at: IntArray, count: int) -> pa.Array:
    """Return a column with values in some rows and null in all others.

    Args:
        at: the row of each value, ascending and distinct.
    """
    if len(values) == count:
        return values
    source = np.zeros(count, np.int64)
    source[at] = np.arange(len(at))
    missing = np.ones(count, np.bool_)
    missing[at] = False
    return values.take(pa.array(source, mask=missing))
