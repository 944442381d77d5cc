"""Reads that stop after a time or a number of bytes, so that no page reads a whole table."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rowkey.array_libraries import pa
from rowkey.cells import RowCells
from rowkey.engines import NEWEST_CELLS, CellSelection, Cursor, Reader, ScanRange
from rowkey.errors import ReadError

SPARE_BYTES = 64 << 20
"""Bytes that a read may take beyond its limit before it ends at once: it can stop, with what it
has found, only between groups of rows."""


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """What one read may use.

    Args:
        time_s: seconds from its beginning.
        size_bytes: bytes of the cells that it reads, whether their rows are returned or not.
    """

    time_s: float
    size_bytes: int


class BoundedReader(Reader):
    """Reads cells of a table, and says when a limit is reached.

    Args:
        limits: what all reads together may use, from now on.
        clock: seconds that never go back.
    """

    def __init__(
        self, reader: Reader, limits: ReadLimits, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._reader, self._limits, self._clock = reader, limits, clock
        self._end_s = clock() + limits.time_s
        self._read_bytes = 0

    @property
    def is_at_limit(self) -> bool:
        """Whether a read should stop."""
        return self._clock() > self._end_s or self._read_bytes > self._limits.size_bytes

    def get(self, rows: Sequence[bytes], selection: CellSelection = NEWEST_CELLS) -> list[RowCells]:
        return self._reader.get(rows, selection)

    def scan(
        self, ranges: Sequence[ScanRange], selection: CellSelection = NEWEST_CELLS
    ) -> list[Cursor]:
        cursors = self._reader.scan(ranges, selection)
        return [BoundedCursor(one, self.count_bytes) for one in cursors]

    def close(self) -> None:
        self._reader.close()

    def count_bytes(self, size_bytes: int) -> None:
        """Count bytes that were read.

        Raises:
            ReadError: they are so many more than the limit that they may not fit into memory.
        """
        self._read_bytes += size_bytes
        if self._read_bytes > self._limits.size_bytes + SPARE_BYTES:
            what = f"a page reads at most {self._limits.size_bytes:,} bytes, and its rows are large"
            raise ReadError("limit", what, remedy="Ask for fewer rows, or use rowkey scan.")


class BoundedCursor(Cursor):
    """The rows of one range, each of which is counted.

    Args:
        count_bytes: called with the bytes of the cells that were read.
    """

    def __init__(self, cursor: Cursor, count_bytes: Callable[[int], None]) -> None:
        self._cursor, self._count_bytes = cursor, count_bytes

    def __iter__(self) -> Iterator[RowCells]:
        for row in self._cursor:
            self._count_bytes(sum(len(cell.value) for cell in row.cells))
            yield row

    def read_blocks(self, rows: int = 8192) -> Iterator[pa.RecordBatch]:
        for block in self._cursor.read_blocks(rows):
            self._count_bytes(block.nbytes)
            yield block

    def peek_first_row(self) -> bytes | None:
        return self._cursor.peek_first_row()

    def close(self) -> None:
        self._cursor.close()
