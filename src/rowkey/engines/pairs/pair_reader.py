"""Reads the stored pairs of one row, or of a range chunk by chunk.

What a range reads ahead grows as it is read, so that its first row costs no more than a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any

from rowkey.cells import FamilyView
from rowkey.engines.contract import build_closed_cursor_error
from rowkey.engines.pairs import library
from rowkey.engines.pairs.layout import NEXT_PIECE_START, PIECE_END, escape
from rowkey.engines.pairs.pair_source import FrozenPairs
from rowkey.engines.requests import ScanRange
from rowkey.errors import RowkeyError

if TYPE_CHECKING:
    from rocksdict import ReadOptions

    from rowkey.engines.pairs.pair_source import AnyPairSource, EndCheck, Pair, PairSource

    KeysAndValues = tuple[list[bytes], list[bytes]]

READ_BATCH_PAIRS = 512
"""Pairs read from RocksDB at once: larger lists of tuples trigger Python's garbage collector."""

SINGLE_READ_ROWS = 8
"""Rows at the start of a range that are read one at a time."""

FIRST_CHUNK_CELLS = 64
"""Cells of a range's first chunk, after the single rows."""

MAX_CHUNK_CELLS = 8_192
"""Maximum cells of a later chunk."""

MAX_CHUNK_BYTES = 16 << 20
"""Bytes of values at which a chunk ends early."""

_NARROW_ROW_CELLS = 32
"""Cells up to which a whole row is read although only some of its columns are needed."""


_CLOSED_ERROR = build_closed_cursor_error()


class PairReader:
    """Reads the stored pairs of a range lazily; it never ends early without an error.

    Args:
        pairs: keys and values in the order of reading.
        verify_end: called with the last key read; raises if the range has more pairs. None if the
            iterator of the pairs raises by itself.
        options: read options that must live as long as the pairs: RocksDB does not copy a bound.
        reverse: whether the pairs are read in descending order.
    """

    __slots__ = ("_buffer", "_close_error", "_last_key", "_lock", "_options", "_pairs",
                 "_verify_end", "reverse")  # fmt: skip

    def __init__(
        self,
        pairs: Iterator[Pair],
        verify_end: Callable[[bytes | None], None] | None = None,
        options: ReadOptions | None = None,
        *,
        reverse: bool = False,
    ) -> None:
        self._pairs: Iterator[Pair] | None = pairs
        self._verify_end, self._options, self.reverse = verify_end, options, reverse
        self._buffer: list[Pair] = []
        self._last_key: bytes | None = None
        self._close_error: RowkeyError = _CLOSED_ERROR
        self._lock = Lock()

    def take_pairs(self, count: int) -> list[Pair]:
        """Return the next `count` pairs, fewer only at the end of the range.

        Raises:
            CorruptionError: a block is damaged, or could not be read.
            Closed: the table or the cursor was closed meanwhile.
        """
        with self._lock:
            buffered = self._buffer
            if buffered:
                if len(buffered) > count:
                    self._buffer = buffered[count:]
                    return buffered[:count]
                self._buffer = []
                if len(buffered) == count:
                    return buffered
            if self._pairs is None:
                raise self._close_error
            pairs = list(islice(self._pairs, count - len(buffered)))
            if len(buffered) + len(pairs) < count:
                if self._verify_end is not None:
                    self._verify_end(pairs[-1][0] if pairs else self._last_key)
                    self._verify_end = None
                self._pairs, self._options = iter(()), None  # RocksDB need not be kept for it
            elif self._verify_end is not None:
                self._last_key = pairs[-1][0]
            return buffered + pairs if buffered else pairs

    def put_back(self, pairs: list[Pair]) -> None:
        """Put pairs back at the front, so that the next call of `take_pairs` returns them."""
        with self._lock:
            self._buffer = pairs + self._buffer

    def peek_key(self) -> bytes | None:
        """Return the key of the next pair without consuming it; None at the end."""
        pairs = self.take_pairs(1)
        if not pairs:
            return None
        self.put_back(pairs)
        return pairs[0][0]

    def drain_pairs(self) -> Iterator[Pair]:
        """Yield all remaining pairs of the range."""
        while pairs := self.take_pairs(READ_BATCH_PAIRS):
            yield from pairs

    def close(self) -> None:
        """Close the reader once a thread that is reading has finished."""
        with self._lock:
            self._pairs = self._verify_end = self._options = None
            self._buffer = []

    def leak(self, error: RowkeyError) -> None:
        """Make every use raise an error in a forked child, without freeing the parent's objects."""
        library.leak((self._pairs, self._verify_end, self._options))
        self._pairs = self._verify_end = self._options = None
        self._buffer, self._close_error, self._lock = [], error, Lock()


def open_pairs(
    source: AnyPairSource,
    scan_range: ScanRange,
    end_check: EndCheck | None,
    *,
    reverse: bool = False,
) -> PairReader:
    """Return a reader of the stored pairs of a range in one family, as they are now.

    Args:
        source: a family, current or frozen.
        end_check: created under the same lock as this reader; None for a frozen family.
        reverse: whether to read the last pair first.

    Raises:
        Closed: the table is closed.

    Cost: about 3 µs; RocksDB looks for the first pair at once.
    """
    start, stop = escape(scan_range.start), escape(scan_range.stop)
    if isinstance(source, FrozenPairs):
        return PairReader(source.read_pairs(start, stop, reverse=reverse), reverse=reverse)
    assert end_check is not None, "a read of current pairs needs an end check"
    options = None
    if stop:
        options = library.ReadOptions()
        options.set_iterate_upper_bound(stop)
    pairs: Any
    try:
        if not reverse:
            pairs = source.family.items(from_key=start, read_opt=options)
        else:
            pairs = source.family.items(backwards=True, read_opt=options)
            # rocksdict treats a lower bound as an upper one, so the end is checked here.
            pairs = _read_down_to(start, pairs) if start else pairs
    except Exception as problem:
        raise source.explain_error(problem) from problem

    def verify_end(last: bytes | None) -> None:
        """Raise if the reading stopped before the end of the range."""
        end_check.verify_end(last, start, stop, reverse=reverse)

    return PairReader(pairs, verify_end, options, reverse=reverse)


def _read_down_to(min_key: bytes, pairs: Iterator[Pair]) -> Iterator[Pair]:
    """Yield pairs in descending order, down to `min_key`."""
    for pair in pairs:
        if pair[0] < min_key:
            return
        yield pair


def read_row_pairs(source: AnyPairSource, prefix: bytes, view: FamilyView) -> list[Pair]:
    """Return the stored pairs of one row and family, in order; only the needed columns if many.

    If the view shows only some columns, a wide row is searched for these and for family deletes.

    Args:
        source: a family, current or frozen.
        prefix: the row key, escaped, with `PIECE_END`.
        view: decides which columns are needed.

    Raises:
        CorruptionError: a block is damaged, or could not be read.
        Closed: the table is closed.

    Cost: about 3 µs for RocksDB to find the row, and 0.3 µs a cell.
    """
    stop = prefix[:-1] + NEXT_PIECE_START
    if isinstance(source, FrozenPairs):
        return list(source.read_pairs(prefix, stop))
    options = library.ReadOptions()
    options.set_iterate_upper_bound(stop)
    max_cells = 0 if view.has_all_columns else _NARROW_ROW_CELLS
    pairs: list[Pair] = []
    iterator = source.open_iterator(options)
    iterator.seek(prefix)
    # Local names: attribute lookups would take a third of the time of a small read.
    add, is_valid, key, value, move = (
        pairs.append,
        iterator.valid,
        iterator.key,
        iterator.value,
        iterator.next,
    )
    while is_valid():
        add((key(), value()))
        if len(pairs) == max_cells:
            return list(_read_columns(source, options, prefix, view))
        move()
    source.raise_status(iterator)
    if view.has_all_columns or view.qualifiers is None:
        return pairs
    return _select_columns(pairs, len(prefix), view.qualifiers)


def _select_columns(pairs: list[Pair], row_end: int, names: Iterable[bytes]) -> list[Pair]:
    """Return the pairs of named columns of a row, and those without a qualifier."""
    column_prefixes = (PIECE_END, *(escape(name) + PIECE_END for name in names))
    return [pair for pair in pairs if pair[0].startswith(column_prefixes, row_end)]


def _read_columns(
    source: PairSource, options: ReadOptions, prefix: bytes, view: FamilyView
) -> Iterator[Pair]:
    """Yield the pairs of some columns of a row, and family deletes, by a search for each."""
    stretches = [(prefix + PIECE_END, prefix + NEXT_PIECE_START)]
    if view.qualifiers is None:
        first, last = (
            max(escape(view.start_qualifier), NEXT_PIECE_START),
            escape(view.stop_qualifier),
        )
        stretches.append(
            (prefix + first, prefix + last if last else prefix[:-1] + NEXT_PIECE_START)
        )
    else:
        columns = sorted(prefix + escape(name) for name in view.qualifiers if name)
        stretches += [(column + PIECE_END, column + NEXT_PIECE_START) for column in columns]
    pairs = source.open_iterator(options)
    for first, last in stretches:
        pairs.seek(first)
        while pairs.valid():
            key = pairs.key()
            if key >= last:
                break
            yield key, pairs.value()
            pairs.next()
        else:
            source.raise_status(pairs)


def read_single_rows(reader: PairReader, count: int) -> Iterator[list[Pair]]:
    """Yield the stored pairs of each of the next rows of a range, one row at a time.

    Args:
        reader: the range; pairs read beyond these rows are put back.
        count: number of rows.

    Returns:
        The pairs of each row, ascending.
    """
    row_pairs: list[Pair] = []
    for _ in range(count):
        row_pairs = row_pairs or reader.take_pairs(2)
        if not row_pairs:
            return
        prefix = row_pairs[0][0].partition(PIECE_END)[0] + PIECE_END
        place = 1
        while True:
            while place < len(row_pairs) and row_pairs[place][0].startswith(prefix):
                place += 1
            if place < len(row_pairs):
                break
            next_pairs = reader.take_pairs(len(row_pairs))
            if not next_pairs:
                break
            row_pairs += next_pairs
        row, row_pairs = row_pairs[:place], row_pairs[place:]
        if reader.reverse:
            row.reverse()
        yield row
    reader.put_back(row_pairs)


def read_chunks(
    reader: PairReader, first_chunk_cells: int = MAX_CHUNK_CELLS
) -> Iterator[KeysAndValues]:
    """Yield all remaining pairs of a range in chunks of whole rows, each ascending.

    Args:
        reader: the range; in reverse the last chunk comes first, but each is ascending.
        first_chunk_cells: approximate number of cells of the first chunk.

    Returns:
        Keys and values of at least one row.
    """
    for chunk_keys, chunk_values in _read_chunks(reader, first_chunk_cells):
        if reader.reverse:
            chunk_keys.reverse()
            chunk_values.reverse()
        yield chunk_keys, chunk_values


def _read_chunks(reader: PairReader, first_chunk_cells: int) -> Iterator[KeysAndValues]:
    """Yield chunks of whole rows, in the order in which they are read."""
    keys: list[bytes] = []
    values: list[bytes] = []
    chunk_cells, size = first_chunk_cells, 0
    while True:
        part = reader.take_pairs(min(chunk_cells - len(keys), READ_BATCH_PAIRS))
        if part:
            more_keys, more_values = zip(*part, strict=True)
            keys += more_keys
            values += more_values
            size += len(more_values[-1]) * len(part)
        if not part:
            if keys:
                yield keys, values
            return
        if len(keys) < chunk_cells and size < MAX_CHUNK_BYTES:
            continue
        row_start = find_last_row(keys)
        if row_start:
            partial_row = keys[row_start:], values[row_start:]
            del keys[row_start:], values[row_start:]
            yield keys, values
            keys, values = partial_row
            size = 0
        chunk_cells = min(chunk_cells * 2, MAX_CHUNK_CELLS) + len(keys)


def find_last_row(keys: list[bytes]) -> int:
    """Return the index at which the last row of some keys starts."""
    last = keys[-1]
    prefix = last[: last.index(PIECE_END) + 1]
    low, high = 0, len(keys) - 1
    while low < high:
        middle = (low + high) // 2
        if keys[middle].startswith(prefix):
            high = middle
        else:
            low = middle + 1
    return low


def iterate_row_bounds(keys: list[bytes]) -> Iterator[tuple[bytes, int, int]]:
    """Yield each row key, escaped, with the index of its first pair and that after its last."""
    begin, prefix = 0, b""
    for place, key in enumerate(keys):
        if not prefix or not key.startswith(prefix):
            if place:
                yield prefix[:-1], begin, place
            begin, prefix = place, key[: key.index(PIECE_END) + 1]
    yield prefix[:-1], begin, len(keys)
