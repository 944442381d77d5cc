"""Arrow arrays of text or bytes as slices of one buffer, without copying."""

from __future__ import annotations

from collections.abc import Iterable

from rowkey.array_libraries import np, pa
from rowkey.errors import InvalidArgument
from rowkey.keys.batches.byte_columns import SlicedByteColumn


def to_byte_column(array: pa.Array) -> SlicedByteColumn:
    """Return the strings of an Arrow array without nulls, as slices of its buffer.

    Raises:
        InvalidArgument: the array holds neither text nor bytes.
    """
    arrow_type = array.type
    if pa.types.is_fixed_size_binary(arrow_type):
        return _read_fixed_width(array, arrow_type.byte_width)
    if pa.types.is_string(arrow_type) or pa.types.is_binary(arrow_type):
        width: type[np.signedinteger] = np.int32
    elif pa.types.is_large_string(arrow_type) or pa.types.is_large_binary(arrow_type):
        width = np.int64
    else:
        raise InvalidArgument(
            "", f"an Arrow column of the type {arrow_type} cannot be converted", "text or bytes"
        )
    _, offsets, data = array.buffers()
    if not len(array):
        return SlicedByteColumn.from_list([])
    positions = np.frombuffer(offsets, width)[array.offset : array.offset + len(array) + 1].astype(
        np.int64
    )
    raw = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    return SlicedByteColumn(raw[: positions[-1]], positions[:-1], np.diff(positions))


def _read_fixed_width(array: pa.Array, width: int) -> SlicedByteColumn:
    """Return the strings of an Arrow array of fixed-size binary values."""
    data = np.frombuffer(array.buffers()[1], np.uint8)
    starts = (np.arange(len(array), dtype=np.int64) + array.offset) * width
    return SlicedByteColumn(data, starts, np.full(len(array), width, np.int64))


def build_byte_column(values: Iterable[str | bytes]) -> SlicedByteColumn:
    """Return Python texts or byte strings as slices of one buffer."""
    return SlicedByteColumn.from_list([v.encode() if isinstance(v, str) else v for v in values])


def to_arrow_binary(spans: SlicedByteColumn) -> pa.Array:
    """Return the strings as an Arrow binary array."""
    packed = spans.to_packed()
    offsets = np.zeros(len(packed) + 1, np.int64)
    np.cumsum(packed.inner_lengths, out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(packed.data)]
    return pa.Array.from_buffers(pa.large_binary(), len(packed), buffers).cast(pa.binary())
