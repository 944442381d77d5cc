"""The bytes of one part for many rows, in two layouts that NumPy copies quickly.

`FixedByteColumn` has strings of one width as one array; `SlicedByteColumn` has strings of any
length as slices of one buffer. Nothing is copied until whole keys are assembled.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeAlias

from rowkey.array_libraries import np

IntArray: TypeAlias = "np.ndarray[tuple[int], np.dtype[Any]]"
ByteBuffer: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.uint8]]"

MAX_WINDOW_BYTES = 256
"""The longest window; strings of more than two windows are copied one by one."""


class ByteColumn(ABC):
    """The bytes of one part for `len(self)` rows."""

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def lengths(self) -> IntArray:
        """The number of bytes of each row."""

    @abstractmethod
    def take(self, rows: IntArray) -> ByteColumn:
        """Return the strings of the given rows, in their order."""

    @abstractmethod
    def complement(self) -> ByteColumn:
        """Return the strings with every bit inverted."""

    @abstractmethod
    def write(self, out: ByteBuffer, at: IntArray) -> None:
        """Copy the bytes of each row into `out`, from the row's position on."""

    @abstractmethod
    def to_sliced(self) -> SlicedByteColumn:
        """Return the same strings as slices of a buffer, terminators included."""

    def tolist(self) -> list[bytes]:
        """Return the bytes of each row."""
        spans = self.to_sliced()
        data = spans.data.tobytes()
        starts, ends = spans.starts.tolist(), (spans.starts + spans.lengths).tolist()
        return [data[start:end] for start, end in zip(starts, ends, strict=True)]


class FixedByteColumn(ByteColumn):
    """Strings of one width: a one-dimensional array whose items are the bytes."""

    def __init__(self, items: np.ndarray[tuple[int], np.dtype[Any]]) -> None:
        self.items = items
        self.width = items.dtype.itemsize

    @classmethod
    def from_repeated(cls, piece: bytes, count: int) -> FixedByteColumn:
        """Return a column with the same bytes in every row."""
        items = np.empty(count, f"V{len(piece)}")
        items[:] = np.void(piece)
        return cls(items)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def lengths(self) -> IntArray:
        return np.full(len(self.items), self.width, np.int64)

    def take(self, rows: IntArray) -> FixedByteColumn:
        return FixedByteColumn(self.items.take(rows))

    def complement(self) -> FixedByteColumn:
        matrix = self.to_matrix()
        return FixedByteColumn((~matrix).view(f"V{self.width}").reshape(len(self)))

    def to_matrix(self) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
        """Return the bytes as a matrix with a row per string and a column per byte."""
        items = np.ascontiguousarray(self.items)
        return items.view(np.uint8).reshape(len(items), self.width)

    def write(self, out: ByteBuffer, at: IntArray) -> None:
        view_windows(out, self.width)[at] = self.items.view(f"V{self.width}")

    def to_sliced(self) -> SlicedByteColumn:
        data = np.ascontiguousarray(self.items).view(np.uint8)
        starts = np.arange(len(self), dtype=np.int64) * self.width
        return SlicedByteColumn(data, starts, self.lengths)


class SlicedByteColumn(ByteColumn):
    """Strings of any length: `lengths[i]` bytes of `data` from `starts[i]`, then `terminator`."""

    def __init__(
        self, data: ByteBuffer, starts: IntArray, lengths: IntArray, terminator: bytes = b""
    ) -> None:
        self.data = data
        self.starts = starts
        self.inner_lengths = lengths
        self.terminator = terminator

    @classmethod
    def from_list(cls, pieces: Sequence[bytes]) -> SlicedByteColumn:
        """Return a column of the given strings."""
        lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
        return cls(np.frombuffer(b"".join(pieces), np.uint8), compute_starts(lengths), lengths)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, rows: slice) -> SlicedByteColumn:
        """Return consecutive strings, with the part of the buffer that they use."""
        starts, lengths = self.starts[rows], self.inner_lengths[rows]
        if not len(starts):
            return SlicedByteColumn(self.data[:0], starts, lengths, self.terminator)
        first, last = int(starts.min()), int((starts + lengths).max())
        return SlicedByteColumn(self.data[first:last], starts - first, lengths, self.terminator)

    @property
    def lengths(self) -> IntArray:
        return self.inner_lengths + len(self.terminator) if self.terminator else self.inner_lengths

    def take(self, rows: IntArray) -> SlicedByteColumn:
        return GatheredByteColumn(self, rows)

    def complement(self) -> SlicedByteColumn:
        end = bytes(255 - byte for byte in self.terminator)
        return SlicedByteColumn(~self.data, self.starts, self.inner_lengths, end)

    def write(self, out: ByteBuffer, at: IntArray) -> None:
        write_between(
            None, SlicedByteColumn(self.data, self.starts, self.inner_lengths), None, out, at
        )
        if self.terminator:
            FixedByteColumn.from_repeated(self.terminator, len(self)).write(
                out, at + self.inner_lengths
            )

    def to_sliced(self) -> SlicedByteColumn:
        return self if not self.terminator else self.to_packed()

    @cached_property
    def window_bytes(self) -> int:
        """A window width of which two windows cover each string; 0 if no width covers all."""
        if not len(self):
            return 0
        return _choose_window(int(self.inner_lengths.min()), int(self.inner_lengths.max()))

    @cached_property
    def edges(self) -> tuple[IntArray, IntArray]:
        """The first and the last `window_bytes` bytes of each string; they may overlap."""
        every = view_windows(self.data, self.window_bytes)
        return every[self.starts], every[self.starts + (self.inner_lengths - self.window_bytes)]

    def to_fixed(self, width: int) -> FixedByteColumn:
        """Return the first `width` bytes of each string; none may be shorter."""
        spans = self.to_sliced()
        return FixedByteColumn(view_windows(spans.data, width)[spans.starts])

    def to_packed(self) -> SlicedByteColumn:
        """Return the same strings, terminators included, one after the other in a new buffer."""
        lengths = self.lengths
        starts = compute_starts(lengths)
        out = np.empty(int(lengths.sum()), np.uint8)
        self.write(out, starts)
        return SlicedByteColumn(out, starts, lengths)


class GatheredByteColumn(SlicedByteColumn):
    """Strings that many rows share: row i has the string `base_indexes[i]` of `base`.

    The bytes of a string are fetched once for all rows that share it.
    """

    def __init__(self, base: SlicedByteColumn, base_indexes: IntArray) -> None:
        self.data = base.data
        self.inner_lengths = base.inner_lengths.take(base_indexes)
        self.terminator = base.terminator
        self.base = base
        self.base_indexes = base_indexes

    def __len__(self) -> int:
        return len(self.base_indexes)

    @cached_property
    def starts(self) -> IntArray:  # type: ignore[override]
        """The start of each string, computed on demand because copies use `edges`."""
        return self.base.starts.take(self.base_indexes)

    @cached_property
    def window_bytes(self) -> int:
        """The width of the windows in which strings are copied; 0 if no width covers all."""
        return self.base.window_bytes

    @cached_property
    def edges(self) -> tuple[IntArray, IntArray]:
        """The first and the last window of each string."""
        heads, tails = self.base.edges
        return heads.take(self.base_indexes), tails.take(self.base_indexes)


def compute_starts(lengths: IntArray) -> IntArray:
    """Return the start of each string if they follow each other without gaps."""
    starts = np.empty(len(lengths), np.int64)
    if len(lengths):
        starts[0] = 0
        np.cumsum(lengths[:-1], out=starts[1:])
    return starts


def view_windows(data: ByteBuffer, width: int) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """Return a view of every `width` bytes of a buffer, one item for each position.

    Index the view with brackets: its items overlap, and `take` would copy them all first.
    """
    return np.ndarray(max(len(data) - width + 1, 0), f"V{width}", data, strides=(1,))


def write_between(
    prefixes: FixedByteColumn | None,
    strings: SlicedByteColumn,
    suffixes: FixedByteColumn | None,
    out: ByteBuffer,
    at: IntArray,
) -> None:
    """Write strings without terminators between neighbours of fixed width.

    A string of between w and 2w bytes is covered by two windows of w bytes, one from its start and
    one up to its end, which may overlap. Each window is written together with its neighbour, so
    that a row costs two writes; nothing outside a row is read or written.

    Args:
        prefixes: the bytes before each string.
        suffixes: the bytes after each string.
        at: the start of each row in `out`.

    Cost: about 15 ns a row up to 32 bytes where one width serves all strings.
    """
    width = strings.window_bytes
    middle = at if prefixes is None else at + prefixes.width
    if not width:
        copy_slices(out, middle, strings.data, strings.starts, strings.inner_lengths)
        if prefixes is not None:
            prefixes.write(out, at)
        if suffixes is not None:
            suffixes.write(out, middle + strings.inner_lengths)
        return
    heads, tails = map(FixedByteColumn, strings.edges)
    head = heads if prefixes is None else concatenate_fixed([prefixes, heads])
    tail = tails if suffixes is None else concatenate_fixed([tails, suffixes])
    head.write(out, at)
    tail.write(out, middle + (strings.inner_lengths - width))


def copy_slices(
    out: ByteBuffer, at: IntArray, data: ByteBuffer, starts: IntArray, lengths: IntArray
) -> None:
    """Copy strings of any lengths: `lengths[i]` bytes from `starts[i]` in `data` to `at[i]`.

    Cost: as `write_between`, for each power of two among the lengths.
    """
    most = int(lengths.max(initial=0))
    width = 1
    while width <= MAX_WINDOW_BYTES and width < 2 * most:
        rows = np.flatnonzero((lengths > (width if width > 1 else 0)) & (lengths <= 2 * width))
        if len(rows):
            slices = SlicedByteColumn(data, starts.take(rows), lengths.take(rows))
            slices.window_bytes = width
            write_between(None, slices, None, out, at.take(rows))
        width *= 2
    for row in np.flatnonzero(lengths > 2 * MAX_WINDOW_BYTES).tolist():
        start, to, length = int(starts[row]), int(at[row]), int(lengths[row])
        out[to : to + length] = data[start : start + length]


def _choose_window(min_length: int, max_length: int) -> int:
    """Return a window width for all lengths, a power of two if possible; 0 if there is none."""
    if min_length == 0 or max_length > 2 * MAX_WINDOW_BYTES or max_length > 2 * min_length:
        return 0
    power = 1 << max((max_length - 1).bit_length() - 1, 0)
    return power if power <= min_length else -(-max_length // 2)


def concatenate_columns(pieces: Sequence[ByteColumn]) -> ByteColumn:
    """Return the pieces of several parts, concatenated row by row.

    Neighbouring parts of fixed width are copied as one, and so are a terminator and the part of
    fixed width after it.
    """
    runs = merge_runs(pieces)
    if len(runs) == 1:
        return runs[0]
    lengths = sum_lengths(runs)
    starts = compute_starts(lengths)
    out = np.empty(int(lengths.sum()), np.uint8)
    write_runs(runs, out, starts)
    return SlicedByteColumn(out, starts, lengths)


def sum_lengths(runs: Sequence[ByteColumn]) -> IntArray:
    """Return the number of bytes of each row over all runs."""
    fixed = sum(run.width for run in runs if isinstance(run, FixedByteColumn))
    lengths = np.full(len(runs[0]), fixed, np.int64)
    for run in runs:
        if not isinstance(run, FixedByteColumn):
            lengths += run.lengths
    return lengths


def write_runs(runs: Sequence[ByteColumn], out: ByteBuffer, starts: IntArray) -> None:
    """Write the runs of each row one after the other, from the row's own position on."""
    at = starts
    index = 0
    while index < len(runs):
        prefixes = None
        run = runs[index]
        if isinstance(run, FixedByteColumn) and index + 1 < len(runs):
            prefixes, run = run, runs[index + 1]
        if isinstance(run, FixedByteColumn):
            run.write(out, at)
            return
        assert isinstance(run, SlicedByteColumn)
        index += 1 if prefixes is None else 2
        following = runs[index] if index < len(runs) else None
        suffixes = (
            following if isinstance(following, FixedByteColumn) and not run.terminator else None
        )
        if run.terminator:
            _write_terminated(prefixes, run, out, at)
        else:
            write_between(prefixes, run, suffixes, out, at)
        index += suffixes is not None
        if index < len(runs):
            at = at + run.lengths + sum(fixed.width for fixed in (prefixes, suffixes) if fixed)


def _write_terminated(
    prefixes: FixedByteColumn | None, run: SlicedByteColumn, out: ByteBuffer, at: IntArray
) -> None:
    """Write strings with a terminator; only the last run has one."""
    end = FixedByteColumn.from_repeated(run.terminator, len(run))
    write_between(prefixes, SlicedByteColumn(run.data, run.starts, run.inner_lengths), end, out, at)


def merge_runs(pieces: Sequence[ByteColumn]) -> list[ByteColumn]:
    """Return the same bytes with neighbours of fixed width, and terminators, merged."""
    runs: list[ByteColumn] = []
    pending: list[FixedByteColumn] = []
    for index, piece in enumerate(pieces):
        if isinstance(piece, FixedByteColumn):
            pending.append(piece)
            continue
        assert isinstance(piece, SlicedByteColumn)
        if pending:
            runs.append(concatenate_fixed(pending))
            pending = []
        if piece.terminator and index + 1 < len(pieces):
            runs.append(SlicedByteColumn(piece.data, piece.starts, piece.inner_lengths))
            pending = [FixedByteColumn.from_repeated(piece.terminator, len(piece))]
        else:
            runs.append(piece)
    if pending:
        runs.append(concatenate_fixed(pending))
    return runs


def concatenate_fixed(parts: Sequence[FixedByteColumn]) -> FixedByteColumn:
    """Return pieces of fixed width, concatenated row by row."""
    if len(parts) == 1:
        return parts[0]
    out = np.empty(len(parts[0]), build_packed_dtype([part.items.dtype for part in parts]))
    for name, part in zip(out.dtype.names or (), parts, strict=True):
        out[name] = part.items
    return FixedByteColumn(out.view(f"V{out.dtype.itemsize}"))


def build_packed_dtype(items: Sequence[np.dtype[Any]]) -> np.dtype[Any]:
    """Return the record type of the given item types, without gaps."""
    return np.dtype([(f"f{index}", item) for index, item in enumerate(items)])
