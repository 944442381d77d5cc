"""The bytes of one part for many rows, in the two shapes that NumPy can move quickly.

`Fixed` holds strings of one width as one array; `Spans` holds strings of any length as slices of
one buffer. Nothing is copied until a whole key is assembled.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
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
        """A run of strings, with no more of the buffer than they use."""
        starts, lengths = self.starts[rows], self.inner[rows]
        if not len(starts):
            return Spans(self.data[:0], starts, lengths, self.end)
        first, last = int(starts.min()), int((starts + lengths).max())
        return Spans(self.data[first:last], starts - first, lengths, self.end)

    @property
    def lengths(self) -> Ints:
        return self.inner + len(self.end) if self.end else self.inner

    def take(self, rows: Ints) -> Spans:
        return Gathered(self, rows)

    def complement(self) -> Spans:
        end = bytes(255 - byte for byte in self.end)
        return Spans(~self.data, self.starts, self.inner, end)

    def write(self, out: Buffer, at: Ints) -> None:
        write_between(None, Spans(self.data, self.starts, self.inner), None, out, at)
        if self.end:
            Fixed.repeated(self.end, len(self)).write(out, at + self.inner)

    def spans(self) -> Spans:
        return self if not self.end else self.packed()

    @cached_property
    def window(self) -> int:
        """A width of window of which two cover each string; 0 if no one width serves all."""
        if not len(self):
            return 0
        return _one_window(int(self.inner.min()), int(self.inner.max()))

    @cached_property
    def edges(self) -> tuple[Ints, Ints]:
        """The first and the last `window` bytes of each string; they may overlap."""
        every = windows(self.data, self.window)
        return every[self.starts], every[self.starts + (self.inner - self.window)]

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


class Gathered(Spans):
    """Strings of which many rows share one: `rows[i]` tells which of `base` row i has.

    What a copy fetches of each string is fetched once for all rows that share it.
    """

    def __init__(self, base: Spans, rows: Ints) -> None:
        self.data = base.data
        self.inner = base.inner.take(rows)
        self.end = base.end
        self.base = base
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def starts(self) -> Ints:  # type: ignore[override]
        """Where each string begins; copies fetch from `edges` and seldom ask."""
        return self.base.starts.take(self.rows)

    @cached_property
    def window(self) -> int:
        return self.base.window

    @cached_property
    def edges(self) -> tuple[Ints, Ints]:
        heads, tails = self.base.edges
        return heads.take(self.rows), tails.take(self.rows)


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


def write_between(
    before: Fixed | None, strings: Spans, after: Fixed | None, out: Buffer, at: Ints
) -> None:
    """Write strings, which have no end of their own, between neighbours of fixed width.

    A string of between w and 2w bytes is covered by two windows of w bytes, one from its start and
    one up to its end, that may overlap. Each window takes its neighbour along, so that a row costs
    two writes; nothing outside a row is read or written.

    Args:
        before: what stands before each string.
        strings: the strings.
        after: what stands behind each.
        out: where they go.
        at: where each row begins.

    Cost: about 15 ns a row up to 32 bytes where one width serves all strings.
    """
    width = strings.window
    middle = at if before is None else at + before.width
    if not width:
        copy_spans(out, middle, strings.data, strings.starts, strings.inner)
        if before is not None:
            before.write(out, at)
        if after is not None:
            after.write(out, middle + strings.inner)
        return
    heads, tails = map(Fixed, strings.edges)
    head = heads if before is None else side_by_side([before, heads])
    tail = tails if after is None else side_by_side([tails, after])
    head.write(out, at)
    tail.write(out, middle + (strings.inner - width))


def copy_spans(out: Buffer, at: Ints, data: Buffer, starts: Ints, lengths: Ints) -> None:
    """Copy strings of any lengths: `lengths[i]` bytes from `starts[i]` in `data` to `at[i]`.

    Cost: as `write_between`, for each power of two among the lengths.
    """
    most = int(lengths.max(initial=0))
    width = 1
    while width <= WIDEST_WINDOW and width < 2 * most:
        rows = np.flatnonzero((lengths > (width if width > 1 else 0)) & (lengths <= 2 * width))
        if len(rows):
            some = Spans(data, starts.take(rows), lengths.take(rows))
            some.window = width
            write_between(None, some, None, out, at.take(rows))
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


def joined(pieces: Sequence[Pieces]) -> Pieces:
    """The pieces of several parts, concatenated row by row.

    Parts of fixed width that stand side by side are moved as one; so is the constant end of a
    string with what follows it.
    """
    runs = runs_of(pieces)
    if len(runs) == 1:
        return runs[0]
    lengths = total_lengths(runs)
    starts = ends_to_starts(lengths)
    out = np.empty(int(lengths.sum()), np.uint8)
    write_runs(runs, out, starts)
    return Spans(out, starts, lengths)


def total_lengths(runs: Sequence[Pieces]) -> Ints:
    """The number of bytes of each row over all runs."""
    fixed = sum(run.width for run in runs if isinstance(run, Fixed))
    lengths = np.full(len(runs[0]), fixed, np.int64)
    for run in runs:
        if not isinstance(run, Fixed):
            lengths += run.lengths
    return lengths


def write_runs(runs: Sequence[Pieces], out: Buffer, starts: Ints) -> None:
    """Write the runs of each row one after the other, from the row's own position on."""
    at = starts
    index = 0
    while index < len(runs):
        before = None
        run = runs[index]
        if isinstance(run, Fixed) and index + 1 < len(runs):
            before, run = run, runs[index + 1]
        if isinstance(run, Fixed):
            run.write(out, at)
            return
        assert isinstance(run, Spans)
        index += 1 if before is None else 2
        following = runs[index] if index < len(runs) else None
        after = following if isinstance(following, Fixed) and not run.end else None
        if run.end:
            _write_ended(before, run, out, at)
        else:
            write_between(before, run, after, out, at)
        index += after is not None
        if index < len(runs):
            at = at + run.lengths + sum(fixed.width for fixed in (before, after) if fixed)


def _write_ended(before: Fixed | None, run: Spans, out: Buffer, at: Ints) -> None:
    """Write strings that carry an end, which only the last run does."""
    end = Fixed.repeated(run.end, len(run))
    write_between(before, Spans(run.data, run.starts, run.inner), end, out, at)


def runs_of(pieces: Sequence[Pieces]) -> list[Pieces]:
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
