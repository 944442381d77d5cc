"""A cursor over one range: rows one by one, or blocks of Arrow columns."""

from __future__ import annotations

from itertools import chain, groupby, islice
from operator import itemgetter
from threading import Lock
from typing import TYPE_CHECKING, TypeVar
from weakref import ref

from rowkey.cells import RowCells
from rowkey.engines.columns import build_blocks
from rowkey.engines.contract import Cursor
from rowkey.engines.pairs.blocks import chunk_blocks, regrouped
from rowkey.engines.pairs.layout import END, unescape
from rowkey.engines.pairs.paging import paged_chunks, pages
from rowkey.engines.pairs.ranges import FIRST, MOST, read_chunks
from rowkey.engines.pairs.reading import Rows, first_rows, read_rows
from rowkey.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from rowkey.cells import Cell, View
    from rowkey.engines.pairs.ranges import PairReader, Pairs
    from rowkey.engines.requests import Ask
    from rowkey.engines.rocksdb.ledger import Ledger
    from rowkey.errors import RowkeyError

T = TypeVar("T")
_UNLIMITED = 2**63


class Cursors:
    """The cursors of one scan, known to the table and counted as one.

    A scan may have hundreds, most of which give a row or none: told one by one, they would take
    longer to be known and counted than to be read.

    Args:
        ledger: told of each row that is given.
        views: what is seen of each family.
        ask: what was asked.
    """

    def __init__(self, ledger: Ledger, views: Mapping[str, View], ask: Ask) -> None:
        self.ledger, self.views, self.ask = ledger, views, ask
        # A row of several families is whole only when all of them were read.
        self.is_paged = len(views) == 1 and pages(ask)
        self.alone: list[bytes] = []
        """The rows that were given one by one; it only grows, so that threads lose none."""
        self._counted = 0
        self._lock = Lock()
        self._given: list[ref[RocksCursor]] = []

    def over(self, ranges: Iterable[Mapping[str, PairReader]]) -> list[RocksCursor]:
        """A cursor for each range, opened in every family; they live while others hold them."""
        cursors = [RocksCursor(opened, self) for opened in ranges]
        self._given = list(map(ref, cursors))
        return cursors

    def settle(self) -> None:
        """Count the rows that all of them have given since this was last asked."""
        for cursor in self._living():
            cursor.settle()

    def settle_alone(self) -> None:
        """Count those that were given one by one."""
        if self._counted < len(self.alone):
            with self._lock:
                names = self.alone[self._counted :]
                self._counted += len(names)
            self.ledger.count_reads(names)

    def close(self) -> None:
        """Let go of what they hold; who reads just now is waited for."""
        for cursor in self._living():
            cursor.close()

    def leak(self, error: RowkeyError) -> None:
        """In a forked child: raise an error from now on, and free nothing of the parent's."""
        for cursor in self._living():
            cursor.leak(error)

    def _living(self) -> Iterator[RocksCursor]:
        return filter(None, (cursor() for cursor in self._given))


class RocksCursor(Cursor):
    """The rows of one range; what was read is not read again.

    Args:
        opened: the range in each family asked for.
        scan: what it has in common with the other cursors of its scan.
    """

    # What most of hundreds of cursors never change is not set in each.
    _names: Sequence[bytes] = ()
    _ahead: Iterator[bytes] = iter([])
    _counted = 0
    _closed = False
    _rows: Generator[RowCells, None, None] | None = None
    _blocks: Generator[pa.RecordBatch, None, None] | None = None

    def __init__(self, opened: Mapping[str, PairReader], scan: Cursors) -> None:
        self._opened, self._scan = opened, scan

    def __iter__(self) -> Iterator[RowCells]:
        if self._blocks is not None:
            raise Refused("cursor", "it gives blocks already", "rows or blocks")
        rows, batch = self._raise_if_closed(self._started()), self._scan.ask.batch
        if batch is None:
            return rows
        return _cut_again(rows, batch) if self._scan.is_paged else _cut(rows, batch)

    def ahead(self) -> bytes | None:
        """The row of the next pair stored in the range, whether or not anything is seen of it."""
        if self._rows is not None or self._blocks is not None:
            return None
        keys = [key for one in self._opened.values() if (key := one.peek_key())]
        if not keys:
            return None
        key = max(keys) if self._scan.ask.reverse else min(keys)
        return unescape(key.partition(END)[0])

    def _raise_if_closed(self, items: Iterator[T]) -> Iterator[T]:
        """Yield the same items; what was read before a close is not all there is.

        Raises:
            Refused: the table or the cursor was closed before all was read.
        """
        yield from items
        if self._closed:
            raise Refused("table", "it was closed while it was read", "an open table")

    def _started(self) -> Generator[RowCells, None, None]:
        if self._rows is None:
            self._rows = self._all_rows()
        return self._rows

    def _all_rows(self) -> Generator[RowCells, None, None]:
        scan = self._scan
        left = scan.ask.limit or _UNLIMITED
        last: list[bytes] = []
        try:
            if len(self._opened) == 1 and not scan.is_paged:
                ((family, opened),) = self._opened.items()
                for row in first_rows(opened, family, scan.views[family]):
                    scan.alone.append(row[0])
                    yield row
                    left -= 1
                    if not left:
                        return
                if opened.peek_key() is None:
                    return
            for rows in self._lists():
                # A row that goes on from the page before was counted with it.
                goes_on = rows.names[:1] == last
                last = rows.names[-1:] or last
                self._names, self._counted = rows.names[:left], int(goes_on)
                left -= len(self._names)
                self._ahead = iter(self._names)
                yield from rows.pieces(self._ahead)
                self.settle()
                if not left:
                    return
        finally:
            self.settle()

    def _lists(self) -> Iterator[Rows]:
        """Rows as they are read, some at a time."""
        reverse = self._scan.ask.reverse
        lists = [
            read_rows(chunks, family, self._scan.views[family], reverse=reverse)
            for family, chunks in self._chunks()
        ]
        return lists[0] if len(lists) == 1 else _merged(lists, reverse=reverse)

    def _chunks(self) -> Iterator[tuple[str, Iterator[Pairs]]]:
        """What is stored of the range, in each family."""
        for family, opened in self._opened.items():
            if self._scan.is_paged:
                yield family, paged_chunks(opened.drain())
            else:
                yield family, read_chunks(opened, FIRST)

    def settle(self) -> None:
        """Count the rows given since this was last asked."""
        self._scan.settle_alone()
        # A list's iterator knows how much of it is left: that spares a count for every row.
        given = len(self._names) - self._ahead.__length_hint__()  # type: ignore[attr-defined]
        names = self._names[self._counted : given]
        if names:
            self._counted = given
            self._scan.ledger.count_reads(names)

    def blocks(self, rows: int = 8192) -> Iterator[pa.RecordBatch]:
        if self._scan.ask.raw:
            raise Refused("raw", "a block has no place for deletes", "a read that is not raw")
        if rows < 1:
            raise Refused("rows", f"{rows} is too few", "1 or more")
        if self._blocks is None:
            if self._rows is None and len(self._opened) == 1:
                self._blocks = self._fast_blocks(rows)
            else:
                self._blocks = _from(build_blocks(self._started(), tuple(self._opened), rows))
        return self._raise_if_closed(self._blocks)

    def _fast_blocks(self, rows: int) -> Generator[pa.RecordBatch, None, None]:
        """Blocks of one family, from its chunks without a row between."""
        ((family, opened),) = self._opened.items()
        if self._scan.is_paged:
            yield from self._pages(family, opened)
            return
        limit = self._scan.ask.limit
        chunks = read_chunks(opened, FIRST * 8 if limit is None else max(FIRST, min(limit, MOST)))
        pieces = chunk_blocks(chunks, family, self._scan.views[family], reverse=opened.reverse)
        for block, starts in regrouped(pieces, rows, limit):
            self._scan.ledger.count_reads_array(block.column(0).take(starts))
            yield block

    def _pages(self, family: str, opened: PairReader) -> Iterator[pa.RecordBatch]:
        """Blocks of one family that may end within a row, which counts once."""
        chunks, view = paged_chunks(opened.drain()), self._scan.views[family]
        last = None
        for block, starts in chunk_blocks(chunks, family, view, reverse=False):
            rows = block.column(0)
            goes_on = rows[0].as_py() == last
            if begun := starts[goes_on:]:
                self._scan.ledger.count_reads_array(rows.take(begun))
            last = rows[-1].as_py()
            yield block

    def leak(self, error: RowkeyError) -> None:
        """In a forked child: raise an error from now on, and free nothing of the parent's."""
        for reader in self._opened.values():
            reader.leak(error)

    def close(self) -> None:
        # What reads just now, in another thread, finds out when it reads on.
        self._closed = True
        for reader in self._opened.values():
            reader.close()


def _from(blocks: Iterator[pa.RecordBatch]) -> Generator[pa.RecordBatch, None, None]:
    yield from blocks


def _cut(rows: Iterable[RowCells], batch: int) -> Iterator[RowCells]:
    """Whole rows as pieces of so many cells, the last one of a row of fewer."""
    for row, cells in rows:
        for start in range(0, len(cells), batch):
            yield RowCells(row, cells[start : start + batch])


def _cut_again(rows: Iterable[RowCells], batch: int) -> Iterator[RowCells]:
    """The same, however the rows were cut before."""
    for row, pieces in groupby(rows, key=itemgetter(0)):
        cells = chain.from_iterable(piece.cells for piece in pieces)
        while some := list(islice(cells, batch)):
            yield RowCells(row, some)


def _merged(families: list[Iterator[Rows]], *, reverse: bool) -> Iterator[Rows]:
    """Rows of several families, each with the cells of all.

    What is known of all families is what lies before the row up to which the slowest was read.
    """
    waiting: list[list[tuple[bytes, list[Cell]]]] = [[] for _ in families]
    live = dict(enumerate(families))
    while live or any(waiting):
        for place, rows in list(live.items()):
            while not waiting[place]:
                more = next(rows, None)
                if more is None:
                    del live[place]
                    break
                waiting[place] = list(zip(more.names, more.cells, strict=True))
        ends = [waiting[place][-1][0] for place in live]
        bound = (max(ends) if reverse else min(ends)) if ends else None
        together: dict[bytes, list[Cell]] = {}
        for pieces in waiting:
            behind = len(pieces) if bound is None else _behind(pieces, bound, reverse=reverse)
            for row, cells in pieces[:behind]:
                together[row] = [*together.get(row, ()), *cells]
            del pieces[:behind]
        names = sorted(together, reverse=reverse)
        yield Rows(names, map(together.__getitem__, names))


def _behind(pieces: list[tuple[bytes, list[Cell]]], bound: bytes, *, reverse: bool) -> int:
    """The place behind the last row that does not lie beyond a bound."""
    low, high = 0, len(pieces)
    while low < high:
        middle = (low + high) // 2
        row = pieces[middle][0]
        if row >= bound if reverse else row <= bound:
            low = middle + 1
        else:
            high = middle
    return low
