"""The bytes of one part for many rows, in the two shapes that NumPy can move quickly.

`Fixed` holds strings of one width as one array; `Spans` holds strings of any length as slices of
one buffer. Nothing is copied until a whole key is assembled.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

Ints = np.ndarray[tuple[int], np.dtype[Any]]
Buffer = np.ndarray[tuple[int], np.dtype[np.uint8]]

WIDEST_WINDOW = 256
"""Longer strings are copied one by one: a window per string would cost more than it saves."""


class Pieces(ABC):
    """The bytes of one part for `len(self)` rows."""

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def lengths(self) -> Ints:
        """The number of bytes of each row."""

    @abstractmethod
    def take(self, rows: Ints) -> Pieces:
        """The pieces of the given rows, in their order."""

    @abstractmethod
    def complement(self) -> Pieces:
        """Every bit inverted."""

    @abstractmethod
    def write(self, out: Buffer, at: Ints) -> None:
        """Copy each row's bytes into `out` from its own position on."""

    @abstractmethod
    def spans(self) -> Spans:
        """The same bytes as slices of a buffer."""

    def tolist(self) -> list[bytes]:
        """The bytes of each row."""
        spans = self.spans()
        data = spans.data.tobytes()
        starts, ends = spans.starts.tolist(), (spans.starts + spans.lengths).tolist()
        return [data[start:end] for start, end in zip(starts, ends, strict=True)]


class Fixed(Pieces):
    """Strings of one width: a one-dimensional array whose items are the bytes."""

    def __init__(self, items: np.ndarray[tuple[int], np.dtype[Any]]) -> None:
        self.items = items
        self.width = items.dtype.itemsize

    @classmethod
    def repeated(cls, piece: bytes, count: int) -> Fixed:
        """The same bytes in every row."""
        items = np.empty(count, f"V{len(piece)}")
        items[:] = np.void(piece)
        return cls(items)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def lengths(self) -> Ints:
        return np.full(len(self.items), self.width, np.int64)

    def take(self, rows: Ints) -> Fixed:
        return Fixed(self.items.take(rows))

    def complement(self) -> Fixed:
        matrix = self.matrix()
        return Fixed((~matrix).view(f"V{self.width}").reshape(len(self)))

    def matrix(self) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
        """The bytes as a matrix: a row each, a byte a column."""
        items = np.ascontiguousarray(self.items)
        return items.view(np.uint8).reshape(len(items), self.width)

    def write(self, out: Buffer, at: Ints) -> None:
        windows(out, self.width)[at] = self.items.view(f"V{self.width}")

    def spans(self) -> Spans:
        data = np.ascontiguousarray(self.items).view(np.uint8)
        starts = np.arange(len(self), dtype=np.int64) * self.width
        return Spans(data, starts, self.lengths)


class Spans(Pieces):
    """Strings of any length: `lengths[i]` bytes of `data` from `starts[i]` on, then `end`."""

    def __init__(self, data: Buffer, starts: Ints, lengths: Ints, end: bytes = b"") -> None:
        self.data = data
        self.starts = starts
        self.inner = lengths
        self.end = end

    @classmethod
    def of(cls, pieces: Sequence[bytes]) -> Spans:
        """The given strings."""
        lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
        return cls(np.frombuffer(b"".join(pieces), np.uint8), ends_to_starts(lengths), lengths)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, rows: slice) -> Spans:
        """A run of strings."""
        return Spans(self.data, self.starts[rows], self.inner[rows], self.end)

    @property
    def lengths(self) -> Ints:
        return self.inner + len(self.end) if self.end else self.inner

    def take(self, rows: Ints) -> Spans:
        return Spans(self.data, self.starts.take(rows), self.inner.take(rows), self.end)

    def complement(self) -> Spans:
        end = bytes(255 - byte for byte in self.end)
        return Spans(~self.data, self.starts, self.inner, end)

    def write(self, out: Buffer, at: Ints) -> None:
        copy_spans(out, at, self.data, self.starts, self.inner)
        if self.end:
            Fixed.repeated(self.end, len(self)).write(out, at + self.inner)

    def spans(self) -> Spans:
        return self if not self.end else self.packed()

    def gathered(self, width: int) -> Fixed:
        """The first `width` bytes of each string, which must have them, as an array."""
        spans = self.spans()
        return Fixed(windows(spans.data, width)[spans.starts])

    def packed(self) -> Spans:
        """The same strings, ends included, one after the other in a buffer of their own."""
        lengths = self.lengths
        starts = ends_to_starts(lengths)
        out = np.empty(int(lengths.sum()), np.uint8)
        self.write(out, starts)
        return Spans(out, starts, lengths)


def ends_to_starts(lengths: Ints) -> Ints:
    """Where each string begins if they stand one after the other."""
    starts = np.empty(len(lengths), np.int64)
    if len(lengths):
        starts[0] = 0
        np.cumsum(lengths[:-1], out=starts[1:])
    return starts


def windows(data: Buffer, width: int) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """A view of every `width` bytes of a buffer, one item for each position.

    Index it with brackets: its items overlap, and `take` would copy them all first.
    """
    return np.ndarray(max(len(data) - width + 1, 0), f"V{width}", data, strides=(1,))


def copy_spans(out: Buffer, at: Ints, data: Buffer, starts: Ints, lengths: Ints) -> None:
    """Copy strings between buffers: `lengths[i]` bytes from `starts[i]` in `data` to `at[i]`.

    A string of between w and 2w bytes is copied by two windows of w bytes, one from its start and
    one up to its end; they may overlap. So nothing outside a string is read or written, and a few
    widths serve all lengths.

    Cost: about 15 ns a string up to 32 bytes.
    """
    if not len(lengths):
        return
    least, most = int(lengths.min()), int(lengths.max())
    if width := _one_window(least, most):
        _copy_by_windows(out, at, data, starts, lengths, width)
        return
    width = 1
    while width <= WIDEST_WINDOW and width < 2 * most:
        rows = np.flatnonzero((lengths > (width if width > 1 else 0)) & (lengths <= 2 * width))
        if len(rows):
            _copy_by_windows(out, at.take(rows), data, starts.take(rows), lengths.take(rows), width)
        width *= 2
    for row in np.flatnonzero(lengths > 2 * WIDEST_WINDOW).tolist():
        start, to, length = int(starts[row]), int(at[row]), int(lengths[row])
        out[to : to + length] = data[start : start + length]


def _one_window(least: int, most: int) -> int:
    """A width that serves all lengths, a power of two if there is one; 0 if none does."""
    if least == 0 or most > 2 * WIDEST_WINDOW or most > 2 * least:
        return 0
    power = 1 << max((most - 1).bit_length() - 1, 0)
    return power if power <= least else -(-most // 2)


def _copy_by_windows(
    out: Buffer, at: Ints, data: Buffer, starts: Ints, lengths: Ints, width: int
) -> None:
    source, target = windows(data, width), windows(out, width)
    target[at] = source[starts]
    tail = lengths - width
    target[at + tail] = source[starts + tail]


def joined(pieces: Sequence[Pieces]) -> Pieces:
    """The pieces of several parts, concatenated row by row.

    Parts of fixed width that stand side by side are moved as one; so is the constant end of a
    string with what follows it.
    """
    runs = _runs(pieces)
    if len(runs) == 1:
        return runs[0]
    lengths = np.zeros(len(runs[0]), np.int64)
    for run in runs:
        lengths += run.width if isinstance(run, Fixed) else run.lengths
    starts = ends_to_starts(lengths)
    out = np.empty(int(lengths.sum()), np.uint8)
    at = starts
    for index, run in enumerate(runs):
        run.write(out, at)
        if index + 1 < len(runs):
            at = at + (run.width if isinstance(run, Fixed) else run.lengths)
    return Spans(out, starts, lengths)


def _runs(pieces: Sequence[Pieces]) -> list[Pieces]:
    """The same bytes with neighbours of fixed width, and constant ends, made one."""
    runs: list[Pieces] = []
    pending: list[Fixed] = []
    for index, piece in enumerate(pieces):
        if isinstance(piece, Fixed):
            pending.append(piece)
            continue
        assert isinstance(piece, Spans)
        if pending:
            runs.append(side_by_side(pending))
            pending = []
        if piece.end and index + 1 < len(pieces):
            runs.append(Spans(piece.data, piece.starts, piece.inner))
            pending = [Fixed.repeated(piece.end, len(piece))]
        else:
            runs.append(piece)
    if pending:
        runs.append(side_by_side(pending))
    return runs


def side_by_side(parts: Sequence[Fixed]) -> Fixed:
    """Pieces of fixed width, concatenated row by row."""
    if len(parts) == 1:
        return parts[0]
    out = np.empty(len(parts[0]), packed_dtype([part.items.dtype for part in parts]))
    for name, part in zip(out.dtype.names or (), parts, strict=True):
        out[name] = part.items
    return Fixed(out.view(f"V{out.dtype.itemsize}"))


def packed_dtype(items: Sequence[np.dtype[Any]]) -> np.dtype[Any]:
    """A record of the given items without gaps."""
    return np.dtype([(f"f{index}", item) for index, item in enumerate(items)])
