"""A cursor over one range: rows one by one, or blocks of Arrow columns."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice
from operator import itemgetter
from threading import Lock
from typing import TYPE_CHECKING, TypeVar
from weakref import ref

from rowkey.array_libraries import pa
from rowkey.cells import Cell, FamilyView, RowCells
from rowkey.engines.cell_blocks import build_blocks, check_block_read
from rowkey.engines.contract import Cursor, build_closed_cursor_error
from rowkey.engines.pairs.blocks import build_chunk_blocks, regroup_blocks
from rowkey.engines.pairs.layout import PIECE_END, unescape
from rowkey.engines.pairs.pair_reader import FIRST_CHUNK_CELLS, MAX_CHUNK_CELLS, read_chunks
from rowkey.engines.pairs.row_decoder import LazyRows, read_first_rows, read_rows
from rowkey.engines.pairs.row_pages import is_paged_read, read_pages
from rowkey.engines.requests import CellSelection, split_rows
from rowkey.engines.rocksdb.table_metadata import StoredRegionTracker
from rowkey.errors import InvalidArgument, RowkeyError

if TYPE_CHECKING:
    from rowkey.engines.pairs.pair_reader import KeysAndValues, PairReader

T = TypeVar("T")
_UNLIMITED = 2**63


class ScanCursors:
    """The cursors of one scan, registered with the table and counted together.

    A scan may have hundreds of cursors, most with one row or none: registering and counting each of
    them would take longer than reading.

    Args:
        region_tracker: counts the rows that are returned.
        views: selects the visible cells of each family.
    """

    def __init__(
        self,
        region_tracker: StoredRegionTracker,
        views: Mapping[str, FamilyView],
        selection: CellSelection,
    ) -> None:
        self.region_tracker, self.views, self.selection = region_tracker, views, selection
        # A row of several families is whole only when all of them were read.
        self.is_paged = len(views) == 1 and is_paged_read(selection)
        self.single_rows: list[bytes] = []
        """The rows that were returned one by one; it only grows, so that threads lose none."""
        self._counted_rows = 0
        self._lock = Lock()
        self._cursors: list[ref[RocksCursor]] = []

    def open_cursors(self, ranges: Iterable[Mapping[str, PairReader]]) -> list[RocksCursor]:
        """Open a cursor for each range of the scan, and refer to the cursors weakly."""
        cursors = [RocksCursor(readers, self) for readers in ranges]
        self._cursors = list(map(ref, cursors))
        return cursors

    def count_returned_rows(self) -> None:
        """Count as read the rows that the cursors have returned since the last call."""
        for cursor in self._iterate_live_cursors():
            cursor.count_returned_rows()

    def count_single_rows(self) -> None:
        """Count as read the rows that were returned one by one since the last call."""
        if self._counted_rows < len(self.single_rows):
            with self._lock:
                names = self.single_rows[self._counted_rows :]
                self._counted_rows += len(names)
            self.region_tracker.count_reads(names)

    def close(self) -> None:
        """Close all cursors of the scan, each once its reading thread has finished."""
        for cursor in self._iterate_live_cursors():
            cursor.close()

    def leak(self, error: RowkeyError) -> None:
        """Make every cursor raise an error in a forked child, and free no object of the parent."""
        for cursor in self._iterate_live_cursors():
            cursor.leak(error)

    def _iterate_live_cursors(self) -> Iterator[RocksCursor]:
        return filter(None, (cursor() for cursor in self._cursors))


class RocksCursor(Cursor):
    """A cursor over the rows of one range; each row is returned once.

    Args:
        readers: the stored pairs of the range, by family.
        scan: the scan of the cursor, with its other cursors.
    """

    # Defaults on the class: most of the hundreds of cursors of a scan never change them.
    _row_keys: Sequence[bytes] = ()
    _pending_keys: Iterator[bytes] = iter([])
    _counted_rows = 0
    _closed = False
    _row_generator: Generator[RowCells, None, None] | None = None
    _block_generator: Generator[pa.RecordBatch, None, None] | None = None

    def __init__(self, readers: Mapping[str, PairReader], scan: ScanCursors) -> None:
        self._readers, self._scan = readers, scan

    def __iter__(self) -> Iterator[RowCells]:
        if self._block_generator is not None:
            what = "the cursor is being read as record batches already"
            raise InvalidArgument("cursor", what, remedy="Open another cursor to read rows.")
        rows, batch = self._raise_if_closed(self._start_rows()), self._scan.selection.batch
        if batch is None:
            return rows
        return _resplit_rows(rows, batch) if self._scan.is_paged else split_rows(rows, batch)

    def peek_first_row(self) -> bytes | None:
        """Return the next stored row key of the range, visible or not; None if unknown."""
        if self._row_generator is not None or self._block_generator is not None:
            return None
        keys = [key for reader in self._readers.values() if (key := reader.peek_key())]
        if not keys:
            return None
        key = max(keys) if self._scan.selection.reverse else min(keys)
        return unescape(key.partition(PIECE_END)[0])

    def _raise_if_closed(self, items: Iterator[T]) -> Iterator[T]:
        """Yield the items of an iterator, and raise Closed if the cursor was closed meanwhile.

        Raises:
            Closed: the table or the cursor was closed before all was read.
        """
        yield from items
        if self._closed:
            raise build_closed_cursor_error()

    def _start_rows(self) -> Generator[RowCells, None, None]:
        """Return the generator of the rows, created by the first call."""
        if self._row_generator is None:
            self._row_generator = self._iterate_rows()
        return self._row_generator

    def _iterate_rows(self) -> Generator[RowCells, None, None]:
        """Yield the rows up to the limit, and count them as read."""
        scan = self._scan
        remaining_rows = scan.selection.limit or _UNLIMITED
        last: list[bytes] = []
        try:
            if len(self._readers) == 1 and not scan.is_paged:
                ((family, reader),) = self._readers.items()
                for row in read_first_rows(reader, family, scan.views[family]):
                    scan.single_rows.append(row[0])
                    yield row
                    remaining_rows -= 1
                    if not remaining_rows:
                        return
                if reader.peek_key() is None:
                    return
            for rows in self._read_row_lists():
                # A row that goes on from the page before was counted with it.
                continues_row = rows.keys[:1] == last
                last = rows.keys[-1:] or last
                self._row_keys, self._counted_rows = rows.keys[:remaining_rows], int(continues_row)
                remaining_rows -= len(self._row_keys)
                self._pending_keys = iter(self._row_keys)
                yield from rows.build_rows(self._pending_keys)
                self.count_returned_rows()
                if not remaining_rows:
                    return
        finally:
            self.count_returned_rows()

    def _read_row_lists(self) -> Iterator[LazyRows]:
        """Return an iterator over lists of rows, with the cells of all families."""
        reverse = self._scan.selection.reverse
        lists = [
            read_rows(chunks, family, self._scan.views[family], reverse=reverse)
            for family, chunks in self._open_chunks()
        ]
        return lists[0] if len(lists) == 1 else _merge_families(lists, reverse=reverse)

    def _open_chunks(self) -> Iterator[tuple[str, Iterator[KeysAndValues]]]:
        """Yield each family with its chunks of stored pairs."""
        for family, reader in self._readers.items():
            if self._scan.is_paged:
                yield family, read_pages(reader.drain_pairs())
            else:
                yield family, read_chunks(reader, self._choose_first_cells(FIRST_CHUNK_CELLS))

    def _choose_first_cells(self, unlimited_count: int) -> int:
        """Return how many cells to read first: as many as the rows that are wanted, if known."""
        limit = self._scan.selection.limit
        if limit is None:
            return unlimited_count
        return max(FIRST_CHUNK_CELLS, min(limit, MAX_CHUNK_CELLS))

    def count_returned_rows(self) -> None:
        """Count as read the rows that this cursor has returned since the last call."""
        self._scan.count_single_rows()
        # A list's iterator knows how much of it is left: that spares a count for every row.
        returned_count = len(self._row_keys) - self._pending_keys.__length_hint__()  # type: ignore[attr-defined]
        names = self._row_keys[self._counted_rows : returned_count]
        if names:
            self._counted_rows = returned_count
            self._scan.region_tracker.count_reads(names)

    def read_blocks(self, rows: int = 8192) -> Iterator[pa.RecordBatch]:
        check_block_read(rows, raw=self._scan.selection.raw)
        if self._block_generator is None:
            if self._row_generator is None and len(self._readers) == 1:
                self._block_generator = self._build_blocks(rows)
            else:
                self._block_generator = _to_generator(
                    build_blocks(self._start_rows(), tuple(self._readers), rows)
                )
        return self._raise_if_closed(self._block_generator)

    def _build_blocks(self, rows: int) -> Generator[pa.RecordBatch, None, None]:
        """Yield record batches of one family, built from columns without building rows."""
        ((family, reader),) = self._readers.items()
        if self._scan.is_paged:
            yield from self._build_page_blocks(family, reader)
            return
        limit = self._scan.selection.limit
        chunks = read_chunks(reader, self._choose_first_cells(FIRST_CHUNK_CELLS * 8))
        pieces = build_chunk_blocks(
            chunks, family, self._scan.views[family], reverse=reader.reverse
        )
        for block, starts in regroup_blocks(pieces, rows, limit):
            self._scan.region_tracker.count_array_reads(block.column(0).take(starts))
            yield block

    def _build_page_blocks(self, family: str, reader: PairReader) -> Iterator[pa.RecordBatch]:
        """Yield record batches of one family that may end within a row; count each row once."""
        chunks, view = read_pages(reader.drain_pairs()), self._scan.views[family]
        last = None
        for block, starts in build_chunk_blocks(chunks, family, view, reverse=False):
            rows = block.column(0)
            goes_on = rows[0].as_py() == last
            if begun := starts[goes_on:]:
                self._scan.region_tracker.count_array_reads(rows.take(begun))
            last = rows[-1].as_py()
            yield block

    def leak(self, error: RowkeyError) -> None:
        """Make every use raise an error in a forked child, and free no object of the parent."""
        for reader in self._readers.values():
            reader.leak(error)

    def close(self) -> None:
        """Close the cursor; a thread that reads from it gets Closed when it reads on."""
        # What reads just now, in another thread, finds out when it reads on.
        self._closed = True
        for reader in self._readers.values():
            reader.close()


def _to_generator(blocks: Iterator[pa.RecordBatch]) -> Generator[pa.RecordBatch, None, None]:
    """Yield the record batches of an iterator, as a generator that can be closed."""
    yield from blocks


def _resplit_rows(rows: Iterable[RowCells], batch: int) -> Iterator[RowCells]:
    """Yield rows in parts of `batch` cells, joined from parts of any size."""
    for row, pieces in groupby(rows, key=itemgetter(0)):
        cells = chain.from_iterable(piece.cells for piece in pieces)
        while batch_cells := list(islice(cells, batch)):
            yield RowCells(row, batch_cells)


def _merge_families(families: list[Iterator[LazyRows]], *, reverse: bool) -> Iterator[LazyRows]:
    """Yield the rows of several families, each with its cells of all families.

    A row is complete once every family was read up to it, in the order of the scan.
    """
    pending: list[list[tuple[bytes, list[Cell]]]] = [[] for _ in families]
    live = dict(enumerate(families))
    while live or any(pending):
        for index, rows in list(live.items()):
            while not pending[index]:
                next_rows = next(rows, None)
                if next_rows is None:
                    del live[index]
                    break
                pending[index] = list(zip(next_rows.keys, next_rows.cells, strict=True))
        ends = [pending[index][-1][0] for index in live]
        bound = (max(ends) if reverse else min(ends)) if ends else None
        cells_by_row: dict[bytes, list[Cell]] = {}
        for pieces in pending:
            stop = len(pieces) if bound is None else _find_stop(pieces, bound, reverse=reverse)
            for row, cells in pieces[:stop]:
                cells_by_row[row] = [*cells_by_row.get(row, ()), *cells]
            del pieces[:stop]
        names = sorted(cells_by_row, reverse=reverse)
        yield LazyRows(names, map(cells_by_row.__getitem__, names))


def _find_stop(rows: list[tuple[bytes, list[Cell]]], bound: bytes, *, reverse: bool) -> int:
    """Return the index after the last row that is not beyond a bound."""
    low, high = 0, len(rows)
    while low < high:
        middle = (low + high) // 2
        row = rows[middle][0]
        if row >= bound if reverse else row <= bound:
            low = middle + 1
        else:
            high = middle
    return low
