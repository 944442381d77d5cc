"""Cursors over one range of a table on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from rowkey.array_libraries import pa
from rowkey.cells import RowCells
from rowkey.engines.cell_blocks import MAX_BLOCK_BYTES, check_block_read, join_blocks
from rowkey.engines.contract import Cursor, build_closed_cursor_error
from rowkey.errors import InvalidArgument
from rowkey.hbase import ScanBlock, Scanner


class HBaseCursor(Cursor):
    """A cursor over one scan of a cluster, which requests one response ahead.

    It sees the rows of a region as of the time when the scan reaches the region.

    Args:
        scanner: reads the range.
        list_families: returns the names of the table's families, in the order of a block; called
            with True to read them again after a cell of an unknown family.
        raw: whether deletes are among the cells.
    """

    def __init__(
        self, scanner: Scanner, list_families: Callable[[bool], Sequence[str]], *, raw: bool
    ) -> None:
        self._scanner, self._list_families, self._raw = scanner, list_families, raw

    def __iter__(self) -> Iterator[RowCells]:
        return self._scanner.iter_row_cells()

    def read_blocks(self, rows: int = 8192) -> Iterator[pa.RecordBatch]:
        """Return the rows as Arrow record batches of at most `rows` rows each."""
        check_block_read(rows, raw=self._raw)
        return self._regroup_answers(rows)

    def _regroup_answers(self, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the scan's responses as record batches of at most `rows` rows.

        A batch ends earlier at `MAX_BLOCK_BYTES`, where the families of the table change, and where
        the scanner has all rows that are expected.
        """
        batches: list[pa.RecordBatch] = []
        missing_rows, size = rows, 0
        for answer in self._scanner.iter_blocks():
            block = self._parse_columns(answer)
            is_other = batches and not batches[0]["family"].dictionary.equals(
                block["family"].dictionary
            )
            if is_other or (batches and size + len(answer.cells) > MAX_BLOCK_BYTES):
                yield join_blocks(batches)
                batches, missing_rows, size = [], rows, 0
            size += len(answer.cells)
            ends = [0, *accumulate(answer.counts)]
            first = 0
            while first < len(ends) - 1:
                stop = min(first + missing_rows, len(ends) - 1)
                batches.append(block.slice(ends[first], ends[stop] - ends[first]))
                missing_rows -= stop - first
                first = stop
                if not missing_rows:
                    yield join_blocks(batches)
                    batches, missing_rows, size = [], rows, 0
            if batches and self._scanner.is_batch_complete:
                yield join_blocks(batches)  # the rows may be enough: the next cost a request
                batches, missing_rows, size = [], rows, 0
        if batches:
            yield join_blocks(batches)

    def _parse_columns(self, answer: ScanBlock) -> pa.RecordBatch:
        """Convert the cells of a response to a record batch; reload unknown families once."""
        try:
            return answer.to_columns(self._list_families(False))
        except InvalidArgument:
            return answer.to_columns(self._list_families(True))

    def peek_first_row(self) -> bytes | None:
        return self._scanner.peek_row_key()

    def close(self) -> None:
        """Close the scan on the region server."""
        self._scanner.close()


class EmptyCursor(Cursor):
    """A cursor over a range that cannot contain a row, so that no server is asked.

    Args:
        raw: whether deletes would be among the cells.
    """

    def __init__(self, *, raw: bool) -> None:
        self._raw, self._closed = raw, False

    def __iter__(self) -> Iterator[RowCells]:
        if self._closed:
            raise build_closed_cursor_error()
        return iter(())

    def read_blocks(self, rows: int = 8192) -> Iterator[pa.RecordBatch]:
        """Return an iterator without record batches."""
        check_block_read(rows, raw=self._raw)
        return iter(())

    def close(self) -> None:
        """Close the cursor; iterating afterwards raises Closed."""
        self._closed = True
