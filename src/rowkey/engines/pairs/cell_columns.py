"""Many cells as Arrow columns: their keys are composed from columns and parsed into them.

A scan pays for RocksDB's iterator and little else: what a loop in Python would do byte by byte,
NumPy does over the offsets of one Arrow array of keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa, pc
from rowkey.cells import LATEST, CellType
from rowkey.engines.pairs.layout import (
    PIECE_END,
    PUT_BYTE,
    TAIL_BYTES,
    VALUE_MARK,
    build_tail,
    escape,
    unwrap_value,
    wrap_value,
)

if TYPE_CHECKING:
    import numpy.typing as npt

_END_BYTE = PIECE_END[0]
_TAIL_AND_END_BYTES = TAIL_BYTES + 1


@dataclass(slots=True)
class CellColumns:
    """Cells of one family as columns, in the order of their keys.

    Args:
        rows: Arrow binary array.
        qualifiers: Arrow binary array.
        timestamps: int64, ms.
        type_bytes: the last byte of each key, 255 minus the cell type.
        values: Arrow binary array, unwrapped.
        value_list: the same values as a list; None if some were wrapped or filtered out.
        has_ttls: whether a cell has its own time to live, which `values` does not contain.
    """

    rows: Any
    qualifiers: Any
    timestamps: npt.NDArray[Any]
    type_bytes: npt.NDArray[Any]
    values: Any
    value_list: Sequence[bytes] | None
    has_ttls: bool

    @property
    def has_only_puts(self) -> bool:
        """Return whether all cells are puts without their own time to live."""
        return not self.has_ttls and bool((self.type_bytes == PUT_BYTE).all())

    def get_row_keys(self, starts: npt.NDArray[Any]) -> list[bytes]:
        """Return the row keys of the cells at the given indexes."""
        names: list[bytes] = self.rows.take(pa.array(starts)).to_pylist()
        return names

    def reverse_rows(self) -> CellColumns:
        """Return the cells with their rows in reverse order; cells of a row keep their order."""
        number = np.zeros(len(self.type_bytes), np.int64)
        number[self.find_row_starts()] = 1
        return self.take_cells(np.argsort(-np.cumsum(number), kind="stable"))

    def find_row_starts(self) -> npt.NDArray[Any]:
        """Return the indexes of the first cell of each row, ascending."""
        starts: npt.NDArray[Any] = np.flatnonzero(_mark_changes(self.rows))
        return starts

    def mask_versions(self, versions: int) -> npt.NDArray[Any]:
        """Return a mask of the `versions` newest cells of each column."""
        is_first: npt.NDArray[Any] = _mark_changes(self.rows) | _mark_changes(self.qualifiers)
        if versions == 1 or is_first.all():
            return is_first
        indexes = np.arange(len(is_first))
        first = np.maximum.accumulate(np.where(is_first, indexes, 0))
        mask: npt.NDArray[Any] = indexes - first < versions
        return mask

    def mask_qualifiers(self, start: bytes, stop: bytes) -> npt.NDArray[Any]:
        """Return a mask of the cells in a range of qualifiers; an empty stop means no end."""
        in_range = pc.greater_equal(self.qualifiers, start)
        if stop:
            in_range = pc.and_(in_range, pc.less(self.qualifiers, stop))
        mask: npt.NDArray[Any] = in_range.to_numpy(zero_copy_only=False)
        return mask

    def filter_cells(self, mask: npt.NDArray[Any]) -> CellColumns:
        """Return the cells for which a mask is true; these columns themselves if it always is."""
        if mask.all():
            return self
        return self.take_cells(np.flatnonzero(mask))

    def take_cells(self, indexes: npt.NDArray[Any]) -> CellColumns:
        """Return the cells at the given indexes, in that order."""
        arrow_indexes = pa.array(indexes)
        return CellColumns(
            self.rows.take(arrow_indexes),
            self.qualifiers.take(arrow_indexes),
            self.timestamps[indexes],
            self.type_bytes[indexes],
            self.values.take(arrow_indexes),
            None,
            self.has_ttls,
        )


def _mark_changes(array: Any) -> npt.NDArray[Any]:
    """Return a mask of the elements that differ from the element before, and of the first."""
    changes = np.ones(len(array), np.bool_)
    if len(array) > 1:
        changes[1:] = pc.not_equal(array[1:], array[:-1]).to_numpy(zero_copy_only=False)
    return changes


def parse_columns(keys: Sequence[bytes], stored: Sequence[bytes]) -> CellColumns:
    """Convert stored keys and values of one family to columns of cells.

    Cost: some 80 ns a cell, most of it for the Arrow arrays of the two lists.
    """
    array = pa.array(keys, pa.binary())
    _, places, buffer = array.buffers()
    offsets = np.frombuffer(places, np.int32)[: len(keys) + 1]
    data = np.frombuffer(buffer, np.uint8)
    starts, stops = offsets[:-1], offsets[1:]
    pieces = np.empty((len(keys), 4), np.int32)
    pieces[:, 0] = starts
    pieces[:, 1] = _find_row_ends(data, starts, stops)
    pieces[:, 2] = pieces[:, 1] + 1
    pieces[:, 3] = stops - _TAIL_AND_END_BYTES
    bounds = pa.py_buffer(np.append(pieces.ravel(), offsets[-1:]))
    binary_pieces = pa.Array.from_buffers(pa.binary(), pieces.size, [None, bounds, buffer])
    rows = np.arange(0, pieces.size, 4)
    values, listed, ttls = _unwrap_values(stored)
    return CellColumns(
        _unescape_array(binary_pieces.take(pa.array(rows))),
        _unescape_array(binary_pieces.take(pa.array(rows + 2))),
        _parse_timestamps(data, stops),
        data[stops - 1],
        values,
        listed,
        ttls,
    )


def _find_row_ends(
    data: npt.NDArray[Any], starts: npt.NDArray[Any], stops: npt.NDArray[Any]
) -> Any:
    """Return the offset at which the row key ends in each stored key.

    Before its tail a key contains two zeros, at the ends of row and qualifier, and the position of
    the second one is known. So a zero before that position is the row's end, and rows as long as
    the first one need no search.
    """
    length = int(np.argmax(data[: stops[0]] == _END_BYTE))
    guess = starts + length
    if (guess < stops - _TAIL_AND_END_BYTES).all() and (data[guess] == _END_BYTE).all():
        return guess
    zeros = np.flatnonzero(data == _END_BYTE)
    return zeros[np.searchsorted(zeros, starts)]


def _parse_timestamps(data: npt.NDArray[Any], stops: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the timestamps of stored keys, given the offsets where the keys end."""
    windows = np.lib.stride_tricks.sliding_window_view(data, 8)
    inverted = windows[stops - TAIL_BYTES].view(">i8").ravel()
    stamps: npt.NDArray[Any] = LATEST - inverted.astype(np.int64)
    return stamps


def _unescape_array(array: Any) -> Any:
    """Return an Arrow array of escaped row keys or qualifiers, unescaped."""
    if not (np.frombuffer(array.buffers()[2] or b"", np.uint8) == 1).any():
        return array
    zeros = pc.replace_substring(array, b"\1\1", b"\0")
    return pc.replace_substring(zeros, b"\1\2", b"\1")


def _unwrap_values(stored: Sequence[bytes]) -> tuple[Any, Sequence[bytes] | None, bool]:
    """Return original values as array and as list, if none was wrapped, and if any has a TTL."""
    array = pa.array(stored, pa.binary())
    if not _find_marked_values(array).any():
        return array, stored, False
    pairs = [unwrap_value(value) for value in stored]
    ttls = any(ttl is not None for _, ttl in pairs)
    return pa.array([value for value, _ in pairs], pa.binary()), None, ttls


def _find_marked_values(array: Any) -> npt.NDArray[Any]:
    """Return a mask of the stored values that start with the byte `VALUE_MARK`."""
    _, places, buffer = array.buffers()
    offsets = np.frombuffer(places, np.int32)[array.offset : array.offset + len(array) + 1]
    data = np.frombuffer(buffer or b"", np.uint8)
    if not len(data):
        return np.zeros(len(array), np.bool_)
    marked: npt.NDArray[Any] = data.take(offsets[:-1], mode="clip") == VALUE_MARK
    return marked & (offsets[1:] > offsets[:-1])


def escape_array(array: Any) -> Any:
    """Return an Arrow array of row keys or qualifiers, escaped for stored keys."""
    data = np.frombuffer(array.buffers()[2] or b"", np.uint8)
    if not (data <= 1).any():
        return array
    ones = pc.replace_substring(array, b"\1", b"\1\2")
    return pc.replace_substring(ones, b"\0", b"\1\1")


def build_keys(rows: Any, qualifiers: Any, timestamps: Any) -> list[bytes]:
    """Return the stored keys of many puts.

    Args:
        rows: Arrow binary array of rows, escaped.
        qualifiers: one for all, or an Arrow binary array.
        timestamps: one for all, or an int64 array.

    Cost: some 50 ns a cell, most of it for the bytes objects RocksDB is given.
    """
    middle = escape(qualifiers) if isinstance(qualifiers, bytes) else escape_array(qualifiers)
    end = (
        build_tail(timestamps, CellType.PUT)
        if isinstance(timestamps, int)
        else _build_key_tails(timestamps)
    )
    if isinstance(middle, bytes) and isinstance(end, bytes):
        pieces = [rows, pa.scalar(b"%b\0%b" % (middle, end), pa.binary())]
    else:
        pieces = [rows, _to_arrow(middle), _to_arrow(end)]
    keys: list[bytes] = _join_key_parts(pieces).to_pylist()
    return keys


def wrap_values(values: Any) -> list[bytes | None]:
    """Return the values of an Arrow array as they are stored; a null gives None."""
    stored: list[bytes | None] = values.to_pylist()
    if _find_marked_values(values).any():
        return [value if value is None else wrap_value(value) for value in stored]
    return stored


def _to_arrow(piece: Any) -> Any:
    """Return bytes as an Arrow scalar; an array stays as it is."""
    return pa.scalar(piece, pa.binary()) if isinstance(piece, bytes) else piece


def _join_key_parts(parts: list[Any]) -> Any:
    """Return stored keys joined from Arrow arrays of their rows, qualifiers and tails."""
    return pc.binary_join_element_wise(*parts, pa.scalar(PIECE_END, pa.binary()))


def _build_key_tails(timestamps: Any) -> Any:
    """Return the last 9 bytes of the stored keys of puts, as an Arrow array."""
    inverted = LATEST - np.asarray(timestamps, np.int64)
    ends = np.empty((len(inverted), TAIL_BYTES), np.uint8)
    ends[:, :8] = inverted.astype(">i8")[:, None].view(np.uint8)
    ends[:, 8] = PUT_BYTE
    offsets = np.arange(0, ends.size + 1, TAIL_BYTES, dtype=np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(ends)]
    return pa.Array.from_buffers(pa.binary(), len(inverted), buffers)
