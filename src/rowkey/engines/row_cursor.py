"""A cursor over an iterator of whole rows."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import islice

from rowkey.array_libraries import pa
from rowkey.cells import RowCells
from rowkey.engines.cell_blocks import build_blocks, check_block_read
from rowkey.engines.contract import Cursor, build_closed_cursor_error
from rowkey.engines.requests import CellSelection


class RowCursor(Cursor):
    """A cursor over the rows of one range, from an iterator of whole rows.

    Args:
        rows: rows with their visible cells, in the order of the scan; rows without cells are
            skipped.
        selection: the selection of the read; `limit` and `batch` are applied here.
        families: the selected families, in their order.
        count_read: called with the key of each row that is returned.
    """

    def __init__(
        self,
        rows: Iterator[RowCells],
        selection: CellSelection,
        families: Sequence[str],
        count_read: Callable[[bytes], None],
    ) -> None:
        self._rows = self._iterate_rows(rows, selection.limit, count_read)
        self._pieces: Iterator[RowCells] = (
            self._rows if selection.batch is None else self._split_rows(selection.batch)
        )
        self._raw, self._families = selection.raw, families
        self._closed = False

    def __iter__(self) -> Iterator[RowCells]:
        while not self._closed:
            piece = next(self._pieces, None)
            if piece is None:
                return
            yield piece
        raise build_closed_cursor_error()

    def _iterate_rows(
        self, rows: Iterator[RowCells], limit: int | None, count_read: Callable[[bytes], None]
    ) -> Generator[RowCells, None, None]:
        """Yield up to `limit` rows that have cells, and count each as read."""
        for row in islice((row for row in rows if row.cells), limit):
            count_read(row.row)
            yield row

    def _split_rows(self, batch: int) -> Iterator[RowCells]:
        """Yield the rows in parts of at most `batch` cells."""
        for row, cells in self._rows:
            for start in range(0, len(cells), batch):
                yield RowCells(row, cells[start : start + batch])

    def read_blocks(self, rows: int = 8192) -> Iterator[pa.RecordBatch]:
        """Return the remaining rows as Arrow record batches of `rows` rows each."""
        check_block_read(rows, raw=self._raw)
        return build_blocks(self._iterate_until_closed(), self._families, rows)

    def _iterate_until_closed(self) -> Iterator[RowCells]:
        """Yield the remaining rows; raise Closed if the cursor is closed before the last one."""
        while not self._closed:
            row = next(self._rows, None)
            if row is None:
                return
            yield row
        raise build_closed_cursor_error()

    def close(self) -> None:
        """Close the cursor; iterating afterwards raises Closed."""
        self._closed = True
        self._rows.close()
