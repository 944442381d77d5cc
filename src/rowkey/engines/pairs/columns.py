"""Many cells at once: their keys composed from Arrow columns, and taken apart into them.

A scan pays for RocksDB's iterator and little else: what a loop in Python would do byte by byte,
NumPy does over the offsets of one Arrow array of keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.cells import LATEST, Kind
from rowkey.engines.pairs.layout import END, MARK, PUT_BYTE, TAIL, escape, tail, unwrap, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

_END = END[0]
_TAIL_AND_END = TAIL + 1


@dataclass(slots=True)
class Columns:
    """Cells of one family as columns, in the order of their keys.

    Args:
        rows: Arrow binary array.
        qualifiers: Arrow binary array.
        timestamps: int64, ms.
        kinds: the last byte of each key, 255 less the kind.
        values: Arrow binary array, unwrapped.
        listed: the same as they were read, or None where some were wrapped or left out.
        ttls: whether a value has a time to live of its own, which `values` does not tell.
    """

    rows: Any
    qualifiers: Any
    timestamps: npt.NDArray[Any]
    kinds: npt.NDArray[Any]
    values: Any
    listed: Sequence[bytes] | None
    ttls: bool

    @property
    def only_puts(self) -> bool:
        """Whether there is no delete among them, and no cell with a time to live of its own."""
        return not self.ttls and bool((self.kinds == PUT_BYTE).all())

    def row_names(self, starts: npt.NDArray[Any]) -> list[bytes]:
        """The rows that begin at some places."""
        import pyarrow as pa

        names: list[bytes] = self.rows.take(pa.array(starts)).to_pylist()
        return names

    def reversed_rows(self) -> Columns:
        """The same rows, the last one first; the cells of a row keep their order."""
        import numpy as np

        number = np.zeros(len(self.kinds), np.int64)
        number[self.row_starts()] = 1
        return self.take(np.argsort(-np.cumsum(number), kind="stable"))

    def row_starts(self) -> npt.NDArray[Any]:
        """The places at which a row begins, ascending."""
        import numpy as np

        starts: npt.NDArray[Any] = np.flatnonzero(_changes(self.rows))
        return starts

    def kept(self, versions: int) -> npt.NDArray[Any]:
        """Whether a cell is among the first so many of its column."""
        import numpy as np

        begins: npt.NDArray[Any] = _changes(self.rows) | _changes(self.qualifiers)
        if versions == 1 or begins.all():
            return begins
        places = np.arange(len(begins))
        first = np.maximum.accumulate(np.where(begins, places, 0))
        kept: npt.NDArray[Any] = places - first < versions
        return kept

    def between(self, first: bytes, last: bytes) -> npt.NDArray[Any]:
        """Whether a qualifier lies in a stretch; an empty last one is no end."""
        import pyarrow.compute as pc

        within = pc.greater_equal(self.qualifiers, first)
        if last:
            within = pc.and_(within, pc.less(self.qualifiers, last))
        lies: npt.NDArray[Any] = within.to_numpy(zero_copy_only=False)
        return lies

    def where(self, mask: npt.NDArray[Any]) -> Columns:
        """The cells for which a mask holds; itself if that is all of them."""
        import numpy as np
        import pyarrow as pa

        if mask.all():
            return self
        places = pa.array(np.flatnonzero(mask))
        return self._take(places, mask)

    def take(self, places: npt.NDArray[Any]) -> Columns:
        """The cells at some places, in the order given."""
        import pyarrow as pa

        return self._take(pa.array(places), places)

    def _take(self, places: Any, selected: npt.NDArray[Any]) -> Columns:
        return Columns(
            self.rows.take(places),
            self.qualifiers.take(places),
            self.timestamps[selected],
            self.kinds[selected],
            self.values.take(places),
            None,
            self.ttls,
        )


def _changes(array: Any) -> npt.NDArray[Any]:
    """Whether an element differs from the one before it; the first does."""
    import numpy as np
    import pyarrow.compute as pc

    changes = np.ones(len(array), np.bool_)
    if len(array) > 1:
        changes[1:] = pc.not_equal(array[1:], array[:-1]).to_numpy(zero_copy_only=False)
    return changes


def take_columns_apart(keys: Sequence[bytes], stored: Sequence[bytes]) -> Columns:
    """The cells of some keys and what is stored under them.

    Cost: some 80 ns a cell, most of it for the Arrow arrays of the two lists.
    """
    import numpy as np
    import pyarrow as pa

    array = pa.array(keys, pa.binary())
    _, places, buffer = array.buffers()
    offsets = np.frombuffer(places, np.int32)[: len(keys) + 1]
    data = np.frombuffer(buffer, np.uint8)
    starts, stops = offsets[:-1], offsets[1:]
    pieces = np.empty((len(keys), 4), np.int32)
    pieces[:, 0] = starts
    pieces[:, 1] = _row_ends(data, starts, stops)
    pieces[:, 2] = pieces[:, 1] + 1
    pieces[:, 3] = stops - _TAIL_AND_END
    bounds = pa.py_buffer(np.append(pieces.ravel(), offsets[-1:]))
    cut = pa.Array.from_buffers(pa.binary(), pieces.size, [None, bounds, buffer])
    rows = np.arange(0, pieces.size, 4)
    values, listed, ttls = _unwrapped(stored)
    return Columns(
        _unescaped(cut.take(pa.array(rows))),
        _unescaped(cut.take(pa.array(rows + 2))),
        _timestamps(data, stops),
        data[stops - 1],
        values,
        listed,
        ttls,
    )


def _row_ends(data: npt.NDArray[Any], starts: npt.NDArray[Any], stops: npt.NDArray[Any]) -> Any:
    """Where the row of each key ends.

    Before its tail a key holds two zeros, the ends of row and qualifier, and the second one's place
    is known. So a zero before that place is the row's end, and rows as long as the first need no
    search.
    """
    import numpy as np

    length = int(np.argmax(data[: stops[0]] == _END))
    guess = starts + length
    if (guess < stops - _TAIL_AND_END).all() and (data[guess] == _END).all():
        return guess
    zeros = np.flatnonzero(data == _END)
    return zeros[np.searchsorted(zeros, starts)]


def _timestamps(data: npt.NDArray[Any], stops: npt.NDArray[Any]) -> npt.NDArray[Any]:
    import numpy as np

    windows = np.lib.stride_tricks.sliding_window_view(data, 8)
    left = windows[stops - TAIL].view(">i8").ravel()
    stamps: npt.NDArray[Any] = LATEST - left.astype(np.int64)
    return stamps


def _unescaped(array: Any) -> Any:
    """An array of pieces without their escapes."""
    import numpy as np
    import pyarrow.compute as pc

    if not (np.frombuffer(array.buffers()[2] or b"", np.uint8) == 1).any():
        return array
    zeros = pc.replace_substring(array, b"\1\1", b"\0")
    return pc.replace_substring(zeros, b"\1\2", b"\1")


def _unwrapped(stored: Sequence[bytes]) -> tuple[Any, Sequence[bytes] | None, bool]:
    """The values as an array, and as given if none was wrapped; whether any has a time to live."""
    import pyarrow as pa

    array = pa.array(stored, pa.binary())
    if not _begin_with_mark(array).any():
        return array, stored, False
    pairs = [unwrap(value) for value in stored]
    ttls = any(ttl is not None for _, ttl in pairs)
    return pa.array([value for value, _ in pairs], pa.binary()), None, ttls


def _begin_with_mark(array: Any) -> npt.NDArray[Any]:
    """Whether a value begins with the mark; the array has no nulls."""
    import numpy as np

    _, places, buffer = array.buffers()
    offsets = np.frombuffer(places, np.int32)[array.offset : array.offset + len(array) + 1]
    data = np.frombuffer(buffer or b"", np.uint8)
    if not len(data):
        return np.zeros(len(array), np.bool_)
    marked: npt.NDArray[Any] = data.take(offsets[:-1], mode="clip") == MARK
    return marked & (offsets[1:] > offsets[:-1])


def escape_rows(rows: Any) -> Any:
    """An Arrow array of row keys, escaped."""
    return _escaped(rows)


def _escaped(array: Any) -> Any:
    import numpy as np
    import pyarrow.compute as pc

    data = np.frombuffer(array.buffers()[2] or b"", np.uint8)
    if not (data <= 1).any():
        return array
    ones = pc.replace_substring(array, b"\1", b"\1\2")
    return pc.replace_substring(ones, b"\0", b"\1\1")


def compose_keys(rows: Any, qualifiers: Any, timestamps: Any) -> list[bytes]:
    """Keys of many puts.

    Args:
        rows: Arrow binary array of rows, escaped.
        qualifiers: one for all, or an Arrow binary array.
        timestamps: one for all, or an int64 array.

    Cost: some 50 ns a cell, most of it for the bytes objects RocksDB is given.
    """
    import pyarrow as pa

    middle = escape(qualifiers) if isinstance(qualifiers, bytes) else _escaped(qualifiers)
    end = tail(timestamps, Kind.PUT) if isinstance(timestamps, int) else _tails(timestamps)
    if isinstance(middle, bytes) and isinstance(end, bytes):
        pieces = [rows, pa.scalar(b"%b\0%b" % (middle, end), pa.binary())]
    else:
        pieces = [rows, _column(middle), _column(end)]
    keys: list[bytes] = _joined(pieces).to_pylist()
    return keys


def wrap_values(values: Any) -> list[bytes | None]:
    """What is stored for the values of an Arrow binary array; None for a null."""
    stored: list[bytes | None] = values.to_pylist()
    if _begin_with_mark(values).any():
        return [value if value is None else wrap(value) for value in stored]
    return stored


def _column(piece: Any) -> Any:
    import pyarrow as pa

    return pa.scalar(piece, pa.binary()) if isinstance(piece, bytes) else piece


def _joined(pieces: list[Any]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.binary_join_element_wise(*pieces, pa.scalar(END, pa.binary()))


def _tails(timestamps: Any) -> Any:
    """The ends of keys of puts, as an Arrow binary array."""
    import numpy as np
    import pyarrow as pa

    left = LATEST - np.asarray(timestamps, np.int64)
    ends = np.empty((len(left), TAIL), np.uint8)
    ends[:, :8] = left.astype(">i8")[:, None].view(np.uint8)
    ends[:, 8] = PUT_BYTE
    places = np.arange(0, ends.size + 1, TAIL, dtype=np.int32)
    buffers = [None, pa.py_buffer(places), pa.py_buffer(ends)]
    return pa.Array.from_buffers(pa.binary(), len(left), buffers)
