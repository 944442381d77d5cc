"""Arrow arrays of text or bytes as slices of one buffer, without copying."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rowkey.errors import Refused
from rowkey.keys.batches.pieces import Spans

if TYPE_CHECKING:
    from collections.abc import Iterable


def spans_of(array: pa.Array) -> Spans:
    """The strings of an Arrow array without nulls.

    Raises:
        Refused: the array holds neither text nor bytes.
    """
    kind = array.type
    if pa.types.is_fixed_size_binary(kind):
        return _fixed(array, kind.byte_width)
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        width: type[np.signedinteger] = np.int32
    elif pa.types.is_large_string(kind) or pa.types.is_large_binary(kind):
        width = np.int64
    else:
        raise Refused("", f"a column of {kind}", "text or bytes")
    _, offsets, data = array.buffers()
    if not len(array):
        return Spans.of([])
    at = np.frombuffer(offsets, width)[array.offset : array.offset + len(array) + 1].astype(
        np.int64
    )
    raw = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    return Spans(raw[: at[-1]], at[:-1], np.diff(at))


def _fixed(array: pa.Array, width: int) -> Spans:
    data = np.frombuffer(array.buffers()[1], np.uint8)
    starts = (np.arange(len(array), dtype=np.int64) + array.offset) * width
    return Spans(data, starts, np.full(len(array), width, np.int64))


def spans_from(values: Iterable[str | bytes]) -> Spans:
    """Python text or bytes as slices of one buffer."""
    return Spans.of([v.encode() if isinstance(v, str) else v for v in values])


def array_of(spans: Spans) -> pa.Array:
    """An Arrow binary array of the strings."""
    packed = spans.packed()
    offsets = np.zeros(len(packed) + 1, np.int64)
    np.cumsum(packed.inner, out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(packed.data)]
    return pa.Array.from_buffers(pa.large_binary(), len(packed), buffers).cast(pa.binary())
