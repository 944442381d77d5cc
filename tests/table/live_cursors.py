"""Cursors of a table in memory that show each row as it is when it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rowkey.engines import CellSelection, Cursor, ScanRange

if TYPE_CHECKING:
    import pyarrow as pa

    from rowkey.cells import RowCells
    from rowkey.table import Table

BLOCK_ROWS = 5


class LiveCursor(Cursor):
    """Reads each row, or each block of five, anew, as a scanner that a cluster opens again."""

    def __init__(
        self,
        scan: Callable[..., list[Cursor]],
        span: ScanRange,
        selection: CellSelection,
        before_read: Callable[[], None],
    ) -> None:
        self._scan, self._span, self._selection = scan, span, selection
        self._before_read = before_read

    def __iter__(self) -> Iterator[RowCells]:
        start = self._span.start
        while (row := self._read_next(start, 1, iter)) is not None:
            yield row
            start = row.row + b"\0"

    def read_blocks(self, rows: int = BLOCK_ROWS) -> Iterator[pa.RecordBatch]:
        start = self._span.start
        while (block := self._read_next(start, BLOCK_ROWS, self._iterate_blocks)) is not None:
            yield block
            start = block.column("row")[-1].as_py() + b"\0"

    @staticmethod
    def _iterate_blocks(cursor: Cursor) -> Iterator[pa.RecordBatch]:
        return cursor.read_blocks(BLOCK_ROWS)

    def _read_next(self, start: bytes, limit: int, read: Callable[[Cursor], Iterator[Any]]) -> Any:
        """Return what is stored next from a row key on; None at the end."""
        self._before_read()
        selection = replace(self._selection, limit=limit)
        with self._scan([ScanRange(start, self._span.stop)], selection)[0] as cursor:
            return next(read(cursor), None)

    def close(self) -> None:
        """Do nothing: no cursor stays open."""


def share_table(table: Table, monkeypatch: Any, before_read: Callable[[], None]) -> None:
    """Treat a table in memory as one of a cluster, with live cursors.

    Args:
        before_read: called before each read of a cursor.
    """
    scan = table.store.scan

    def scan_live(spans: Sequence[ScanRange], selection: CellSelection) -> list[LiveCursor]:
        return [LiveCursor(scan, span, selection, before_read) for span in spans]

    monkeypatch.setattr(table.engine, "is_shared", True)
    monkeypatch.setattr(table.store, "scan", scan_live)
