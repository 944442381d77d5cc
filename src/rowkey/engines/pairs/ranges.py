"""What is stored of rows, as pairs of keys and values: of one row, or of a range chunk by chunk.

What a range reads ahead grows as it is read, so that its first row costs no more than a row.
"""

from __future__ import annotations

from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any

from rowkey.engines.pairs import library
from rowkey.engines.pairs.layout import BEHIND, END, escape
from rowkey.engines.pairs.source import FrozenPairs
from rowkey.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rocksdict import ReadOptions

    from rowkey.cells import View
    from rowkey.engines.pairs.source import EndCheck, Pair, PairSource, Source
    from rowkey.engines.requests import Span
    from rowkey.errors import RowkeyError

    Pairs = tuple[list[bytes], list[bytes]]

PART = 512
"""Pairs taken from RocksDB at once: larger lists of tuples wake Python's collector too often."""

SINGLE_ROWS = 8
"""Rows that a range reads one at a time at first."""

FIRST = 64
"""Cells it then reads at once."""

MOST = 8_192
"""Cells it reads at once later on."""

BYTES_MOST = 16 << 20
"""Bytes of values at which it stops reading ahead further."""

_NARROW = 32
"""Cells up to which a row is read whole although few of its columns are wanted."""


_CLOSED = Refused("table", "it was closed while it was read", "an open table")


class PairReader:
    """The pairs of a range, read as they are asked for; it never ends early without an error.

    Args:
        pairs: keys and values in the order of reading.
        verify_end: raises unless there is nothing after the last key that was read, which it is
            given; None if the pairs raise by themselves.
        options: kept as long as the pairs: RocksDB keeps no copy of a bound.
        reverse: whether the last pair comes first.
    """

    __slots__ = ("_buffer", "_closed_by", "_last", "_lock", "_options", "_pairs", "_verify_end",
                 "reverse")  # fmt: skip

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
        self._last: bytes | None = None
        self._closed_by: RowkeyError = _CLOSED
        self._lock = Lock()

    def take(self, count: int) -> list[Pair]:
        """Return the next so many pairs; fewer only at the end.

        Raises:
            CorruptionError: a block is damaged, or could not be read.
            Refused: the table or the cursor was closed meanwhile.
        """
        with self._lock:
            taken = self._buffer
            if taken:
                if len(taken) > count:
                    self._buffer = taken[count:]
                    return taken[:count]
                self._buffer = []
                if len(taken) == count:
                    return taken
            if self._pairs is None:
                raise self._closed_by
            found = list(islice(self._pairs, count - len(taken)))
            if len(taken) + len(found) < count:
                if self._verify_end is not None:
                    self._verify_end(found[-1][0] if found else self._last)
                    self._verify_end = None
                self._pairs, self._options = iter(()), None  # RocksDB need not be kept for it
            elif self._verify_end is not None:
                self._last = found[-1][0]
            return taken + found if taken else found

    def put_back(self, pairs: list[Pair]) -> None:
        """Have pairs that were taken last given once more."""
        with self._lock:
            self._buffer = pairs + self._buffer

    def peek_key(self) -> bytes | None:
        """Return the key of the next pair without taking it; None if there is no more."""
        pairs = self.take(1)
        if not pairs:
            return None
        self.put_back(pairs)
        return pairs[0][0]

    def drain(self) -> Iterator[Pair]:
        """Yield every pair that is left."""
        while pairs := self.take(PART):
            yield from pairs

    def close(self) -> None:
        """Let go of the database; whoever reads just now is waited for."""
        with self._lock:
            self._pairs = self._verify_end = self._options = None
            self._buffer = []

    def leak(self, error: RowkeyError) -> None:
        """In a forked child: raise an error from now on, and free nothing of the parent's."""
        library.leak((self._pairs, self._verify_end, self._options))
        self._pairs = self._verify_end = self._options = None
        self._buffer, self._closed_by, self._lock = [], error, Lock()


def open_pairs(
    source: Source, span: Span, end: EndCheck | None, *, reverse: bool = False
) -> PairReader:
    """Return a reader of the pairs of a range, as they are now.

    Args:
        source: a family, as it is or as it was.
        span: the range.
        end: made while nobody wrote, as this is; None for a family as it was.
        reverse: the last pair first.

    Raises:
        Refused: the table is closed.

    Cost: about 3 µs; RocksDB looks for the first pair at once.
    """
    start, stop = escape(span.start), escape(span.stop)
    if isinstance(source, FrozenPairs):
        return PairReader(source.read(start, stop, reverse=reverse), reverse=reverse)
    assert end is not None, "what is read as it is now needs a check of its end"
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
            # rocksdict takes a lower bound for an upper one, so the end is watched for here.
            pairs = _pairs_down_to(start, pairs) if start else pairs
    except Exception as problem:
        raise source.explain(problem) from problem

    def verify_end(last: bytes | None) -> None:
        end.verify(last, start, stop, reverse=reverse)

    return PairReader(pairs, verify_end, options, reverse=reverse)


def _pairs_down_to(least: bytes, pairs: Iterator[Pair]) -> Iterator[Pair]:
    for pair in pairs:
        if pair[0] < least:
            return
        yield pair


def row_pairs(source: Source, prefix: bytes, view: View) -> list[Pair]:
    """Return what is stored of one row in a family, in order.

    Of named columns, or of a stretch of them, a wide row gives these, and what deletes the family.

    Args:
        source: a family, as it is or as it was.
        prefix: the row, escaped, with its end.
        view: what is wanted of it.

    Raises:
        CorruptionError: a block is damaged, or could not be read.
        Refused: the table is closed.

    Cost: about 3 µs for RocksDB to find the row, and 0.3 µs a cell.
    """
    stop = prefix[:-1] + BEHIND
    if isinstance(source, FrozenPairs):
        return list(source.read(prefix, stop))
    options = library.ReadOptions()
    options.set_iterate_upper_bound(stop)
    most = 0 if view.all_columns else _NARROW
    pairs: list[Pair] = []
    found = source.iterate(options)
    found.seek(prefix)
    # Names at hand: this is a third of the time of a small read.
    add, is_valid, key, value, move = pairs.append, found.valid, found.key, found.value, found.next
    while is_valid():
        add((key(), value()))
        if len(pairs) == most:
            return list(_read_columns(source, options, prefix, view))
        move()
    source.raise_status(found)
    if view.all_columns or view.qualifiers is None:
        return pairs
    return _select_columns(pairs, len(prefix), view.qualifiers)


def _select_columns(pairs: list[Pair], row_end: int, names: Iterable[bytes]) -> list[Pair]:
    """Return those of named columns, and those without a qualifier."""
    wanted = (END, *(escape(name) + END for name in names))
    return [pair for pair in pairs if pair[0].startswith(wanted, row_end)]


def _read_columns(
    source: PairSource, options: ReadOptions, prefix: bytes, view: View
) -> Iterator[Pair]:
    """Yield cells without a qualifier, such as a family's deletes, and those of some columns."""
    stretches = [(prefix + END, prefix + BEHIND)]
    if view.qualifiers is None:
        first, last = max(escape(view.first), BEHIND), escape(view.last)
        stretches.append((prefix + first, prefix + last if last else prefix[:-1] + BEHIND))
    else:
        columns = sorted(prefix + escape(name) for name in view.qualifiers if name)
        stretches += [(column + END, column + BEHIND) for column in columns]
    pairs = source.iterate(options)
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
    """Yield the pairs of each of the next rows of a range, so that each costs what it holds.

    Args:
        reader: the range; the pairs read after the last of these rows are put back.
        count: how many rows.

    Returns:
        The pairs of each row, ascending.
    """
    held: list[Pair] = []
    for _ in range(count):
        held = held or reader.take(2)
        if not held:
            return
        prefix = held[0][0].partition(END)[0] + END
        place = 1
        while True:
            while place < len(held) and held[place][0].startswith(prefix):
                place += 1
            if place < len(held):
                break
            more = reader.take(len(held))
            if not more:
                break
            held += more
        row, held = held[:place], held[place:]
        if reader.reverse:
            row.reverse()
        yield row
    reader.put_back(held)


def read_chunks(reader: PairReader, first: int = MOST) -> Iterator[Pairs]:
    """Yield everything that is left of a range, in ascending chunks of whole rows.

    Args:
        reader: the range; in reverse the last rows come first, a chunk is ascending all the same.
        first: about how many cells the first chunk has.

    Returns:
        Keys and values, at least one row of them each.
    """
    for chunk_keys, chunk_values in _read_chunks(reader, first):
        if reader.reverse:
            chunk_keys.reverse()
            chunk_values.reverse()
        yield chunk_keys, chunk_values


def _read_chunks(reader: PairReader, first: int) -> Iterator[Pairs]:
    """Yield chunks of whole rows, in the order in which they are read."""
    keys: list[bytes] = []
    values: list[bytes] = []
    wanted, size = first, 0
    while True:
        part = reader.take(min(wanted - len(keys), PART))
        if part:
            more_keys, more_values = zip(*part, strict=True)
            keys += more_keys
            values += more_values
            size += len(more_values[-1]) * len(part)
        if not part:
            if keys:
                yield keys, values
            return
        if len(keys) < wanted and size < BYTES_MOST:
            continue
        cut = last_row(keys)
        if cut:
            kept = keys[cut:], values[cut:]
            del keys[cut:], values[cut:]
            yield keys, values
            keys, values = kept
            size = 0
        wanted = min(wanted * 2, MOST) + len(keys)


def last_row(keys: list[bytes]) -> int:
    """Return the place at which the last row of some keys begins, in whatever direction they go."""
    last = keys[-1]
    prefix = last[: last.index(END) + 1]
    low, high = 0, len(keys) - 1
    while low < high:
        middle = (low + high) // 2
        if keys[middle].startswith(prefix):
            high = middle
        else:
            low = middle + 1
    return low


def row_places(keys: list[bytes]) -> Iterator[tuple[bytes, int, int]]:
    """Yield each row, escaped, with its first place and the one after its last."""
    begin, prefix = 0, b""
    for place, key in enumerate(keys):
        if not prefix or not key.startswith(prefix):
            if place:
                yield prefix[:-1], begin, place
            begin, prefix = place, key[: key.index(END) + 1]
    yield prefix[:-1], begin, len(keys)
