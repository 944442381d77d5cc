"""A cursor over whole rows, for engines that can do no better than give one after another."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from rowkey.cells import RowCells
from rowkey.engines.columns import build_blocks
from rowkey.engines.contract import Cursor
from rowkey.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    import pyarrow as pa

    from rowkey.engines.requests import Ask


class RowCursor(Cursor):
    """The rows of one range, from an iterator of whole rows; what was read is not read again.

    Args:
        rows: rows with their visible cells, in the order asked; those without cells are left out.
        ask: what was asked; `limit` and `batch` are done here.
        families: the families asked for, in their order.
        read: called with each row as it is given, to count it.
    """

    def __init__(
        self,
        rows: Iterator[RowCells],
        ask: Ask,
        families: Sequence[str],
        read: Callable[[bytes], None],
    ) -> None:
        self._rows = self._given(rows, ask.limit, read)
        self._pieces: Iterator[RowCells] = self._rows if ask.batch is None else self._cut(ask.batch)
        self._raw, self._families = ask.raw, families
        self._closed = False

    def __iter__(self) -> Iterator[RowCells]:
        while not self._closed:
            piece = next(self._pieces, None)
            if piece is None:
                return
            yield piece
        raise self._cut_short()

    def _given(
        self, rows: Iterator[RowCells], limit: int | None, read: Callable[[bytes], None]
    ) -> Generator[RowCells, None, None]:
        for row in islice((row for row in rows if row.cells), limit):
            read(row.row)
            yield row

    def _cut(self, batch: int) -> Iterator[RowCells]:
        for row, cells in self._rows:
            for start in range(0, len(cells), batch):
                yield RowCells(row, cells[start : start + batch])

    def blocks(self, rows: int = 8192) -> Iterator[pa.RecordBatch]:
        if self._raw:
            raise Refused("raw", "a block has no place for deletes", "a read that is not raw")
        return build_blocks(self._open_rows(), self._families, rows)

    def _open_rows(self) -> Iterator[RowCells]:
        while not self._closed:
            row = next(self._rows, None)
            if row is None:
                return
            yield row
        raise self._cut_short()

    def _cut_short(self) -> Refused:
        return Refused("table", "it was closed while it was read", "an open table")

    def close(self) -> None:
        self._closed = True
        self._rows.close()
