"""What is stored of rows, as pairs of keys and values: of one row, or of a range chunk by chunk.

What a range reads ahead grows as it is read, so that its first row costs no more than a row.
"""

from __future__ import annotations

from itertools import chain, islice
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from rocksdict import ReadOptions

from rowkey.engines.pairs.layout import BEHIND, END, escape
from rowkey.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rocksdict import Rdict, RdictIter

    from rowkey.cells import View
    from rowkey.engines.contract import Span

    Pair = tuple[bytes, bytes]
    Pairs = tuple[list[bytes], list[bytes]]

PART = 512
"""Pairs taken from RocksDB at once: larger lists of tuples wake Python's collector too often."""

ROWS_ALONE = 8
"""Rows that a range reads one at a time at first."""

FIRST = 64
"""Cells it then reads at once."""

MOST = 8_192
"""Cells it reads at once later on."""

BYTES_MOST = 16 << 20
"""Bytes of values at which it stops reading ahead further."""

_NARROW = 32
"""Cells up to which a row is read whole although few of its columns are wanted."""


class Frozen:
    """A family as it was: one iterator of RocksDB, which sees what it saw when it was made.

    Snapshots of rocksdict 0.3.29 do not do: iterators made of them see what is written later.

    Args:
        family: the family.
    """

    def __init__(self, family: Rdict) -> None:
        self._iterator: RdictIter | None = family.iter()
        self._lock = Lock()

    def pairs(self, start: bytes, stop: bytes, *, reverse: bool = False) -> Iterator[Pair]:
        """Pairs from one key, inclusive, to another, exclusive; an empty one is no end.

        Cost: about 1.6 times that of an iterator of one's own, and 5 µs for every 512 pairs.
        """
        count, place = _NARROW, stop if reverse else start
        while True:
            with self._lock:
                found = self._next(place, count, reverse=reverse)
            if reverse:
                within = [pair for pair in found if pair[0] >= start]
            else:
                within = [pair for pair in found if not stop or pair[0] < stop]
            yield from within
            if len(within) < count:
                return
            place = within[-1][0] if reverse else within[-1][0] + END
            count = PART

    def _next(self, place: bytes, count: int, *, reverse: bool) -> list[Pair]:
        """So many pairs from a place on; in reverse, those before it, or the last for no place."""
        pairs = self._iterator
        found: list[Pair] = []
        if pairs is None:
            raise Refused("snapshot", "it was closed while it was read", "an open one")
        if not reverse:
            pairs.seek(place)
        elif place:
            pairs.seek_for_prev(place)
            if pairs.valid() and pairs.key() == place:
                pairs.prev()
        else:
            pairs.seek_to_last()
        while pairs.valid() and len(found) < count:
            found.append((pairs.key(), pairs.value()))
            if reverse:
                pairs.prev()
            else:
                pairs.next()
        return found

    def close(self) -> None:
        """Let go of the database."""
        with self._lock:
            self._iterator = None


Source: TypeAlias = "Rdict | Frozen"
"""A family, as it is or as it was."""


class Opened:
    """The pairs of a range, read as they are asked for.

    Args:
        pairs: keys and values; in reverse the last first.
        options: kept as long as the pairs: RocksDB keeps no copy of a bound.
        reverse: whether they come in reverse.
    """

    __slots__ = ("_options", "ahead", "pairs", "reverse")

    def __init__(
        self, pairs: Iterator[Pair], options: ReadOptions | None = None, *, reverse: bool = False
    ) -> None:
        self.pairs, self.reverse = pairs, reverse
        self.ahead: list[Pair] = []
        """What was read of them, but is still to be given."""
        self._options = options

    def next_key(self) -> bytes | None:
        """The key of the next pair, which is still to be given; None if there is no more."""
        if not self.ahead:
            pair = next(self.pairs, None)
            if pair is None:
                return None
            self.ahead = [pair]
        return self.ahead[0][0]

    def rest(self) -> Iterator[Pair]:
        """What is still to be given."""
        ahead, self.ahead = self.ahead, []
        return chain(ahead, self.pairs) if ahead else self.pairs


def open_pairs(source: Source, span: Span, *, reverse: bool = False) -> Opened:
    """The pairs of a range, as they are now.

    Args:
        source: a family, as it is or as it was.
        span: the range.
        reverse: the last first.

    Cost: some 3 µs; RocksDB looks for the first pair at once.
    """
    start, stop = escape(span.start), escape(span.stop)
    if isinstance(source, Frozen):
        return Opened(source.pairs(start, stop, reverse=reverse), reverse=reverse)
    options = None
    if stop:
        options = ReadOptions()
        options.set_iterate_upper_bound(stop)
    pairs: Any
    if not reverse:
        pairs = source.items(from_key=start, read_opt=options)
    else:
        pairs = source.items(backwards=True, read_opt=options)
        # rocksdict takes a lower bound for an upper one, so the end is watched for here.
        pairs = _down_to(start, pairs) if start else pairs
    return Opened(pairs, options, reverse=reverse)


def _down_to(least: bytes, pairs: Iterator[Pair]) -> Iterator[Pair]:
    for pair in pairs:
        if pair[0] < least:
            return
        yield pair


def row_pairs(source: Source, prefix: bytes, view: View) -> list[Pair]:
    """What is stored of one row in a family, in order.

    Of named columns, or of a stretch of them, a wide row gives these, and what deletes the family.

    Args:
        source: a family, as it is or as it was.
        prefix: the row, escaped, with its end.
        view: what is wanted of it.

    Cost: about 3 µs for RocksDB to find the row, and 0.2 µs a cell.
    """
    behind = prefix[:-1] + BEHIND
    if isinstance(source, Frozen):
        return list(source.pairs(prefix, behind))
    options = ReadOptions()
    options.set_iterate_upper_bound(behind)
    items: Any = source.items(from_key=prefix, read_opt=options)
    if view.all_columns:
        return list(items)  # now: RocksDB keeps no copy of the bound in the options
    pairs = list(islice(items, _NARROW))
    if len(pairs) < _NARROW:
        return (
            pairs if view.qualifiers is None else _of_columns(pairs, len(prefix), view.qualifiers)
        )
    return list(_some_columns(source, options, prefix, view))


def _of_columns(pairs: list[Pair], row_end: int, names: Iterable[bytes]) -> list[Pair]:
    """Those of named columns, and those without a qualifier."""
    wanted = (END, *(escape(name) + END for name in names))
    return [pair for pair in pairs if pair[0].startswith(wanted, row_end)]


def _some_columns(source: Rdict, options: ReadOptions, prefix: bytes, view: View) -> Iterator[Pair]:
    """The cells without a qualifier, where a family's deletes stand, and those of some columns."""
    stretches = [(prefix + END, prefix + BEHIND)]
    if view.qualifiers is None:
        first, last = max(escape(view.first), BEHIND), escape(view.last)
        stretches.append((prefix + first, prefix + last if last else prefix[:-1] + BEHIND))
    else:
        columns = sorted(prefix + escape(name) for name in view.qualifiers if name)
        stretches += [(column + END, column + BEHIND) for column in columns]
    pairs = source.iter(options)
    for first, last in stretches:
        pairs.seek(first)
        while pairs.valid():
            key = pairs.key()
            if key >= last:
                break
            yield key, pairs.value()
            pairs.next()


def rows_alone(opened: Opened, count: int) -> Iterator[list[Pair]]:
    """The next rows of a range one by one, so that each costs what it holds.

    Args:
        opened: the range; the pair that was read behind them is still to be given.
        count: how many.

    Returns:
        The pairs of each row, ascending.
    """
    items, reverse = opened.rest(), opened.reverse
    pair = next(items, None)
    for _ in range(count):
        if pair is None:
            return
        prefix = pair[0].partition(END)[0] + END
        row = [pair]
        for pair in items:  # the last one read begins the next row
            if not pair[0].startswith(prefix):
                break
            row.append(pair)
        else:
            pair = None
        if reverse:
            row.reverse()
        yield row
    if pair is not None:
        opened.ahead.append(pair)


def read_chunks(opened: Opened, first: int = MOST) -> Iterator[Pairs]:
    """Everything that is still to be given of a range, in ascending chunks of whole rows.

    Args:
        opened: the range; in reverse the last rows come first, a chunk is ascending all the same.
        first: about how many cells the first chunk has.

    Returns:
        Keys and values, at least one row of them each.
    """
    for chunk_keys, chunk_values in _chunks(opened.rest(), first):
        if opened.reverse:
            chunk_keys.reverse()
            chunk_values.reverse()
        yield chunk_keys, chunk_values


def _chunks(items: Iterator[Pair], first: int) -> Iterator[Pairs]:
    """Chunks of whole rows, in the order in which they are read."""
    keys: list[bytes] = []
    values: list[bytes] = []
    wanted, size = first, 0
    while True:
        part = list(islice(items, min(wanted - len(keys), PART)))
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
    """The place at which the last row of some keys begins, in whatever direction they go."""
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
    """Each row, escaped, with its first place and the one behind it."""
    begin, prefix = 0, b""
    for place, key in enumerate(keys):
        if not prefix or not key.startswith(prefix):
            if place:
                yield prefix[:-1], begin, place
            begin, prefix = place, key[: key.index(END) + 1]
    yield prefix[:-1], begin, len(keys)
