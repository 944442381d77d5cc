"""The rows of one range of a cluster's table, as they come."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from rowkey.engines.columns import BLOCK_BYTES_MOST
from rowkey.engines.contract import Cursor
from rowkey.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from rowkey.cells import RowCells
    from rowkey.hbase import Scanner


class HBaseCursor(Cursor):
    """One scanner: one answer is asked ahead, whoever else is waited for meanwhile.

    Of each region it sees the rows as they were when the scan came there.

    Args:
        scanner: reads the range.
        families: gives the table's, in the order they have in a block; asked to look again if
            there is a cell of another, for somebody may have added one.
        raw: whether deletes are among the cells.
    """

    def __init__(
        self, scanner: Scanner, families: Callable[[bool], Sequence[str]], *, raw: bool
    ) -> None:
        self._scanner, self._families, self._raw = scanner, families, raw

    def __iter__(self) -> Iterator[RowCells]:
        return self._scanner.rows()

    def blocks(self, rows: int = 8192) -> Iterator[pa.RecordBatch]:
        _check_blocks(rows, raw=self._raw)
        return self._blocks(rows)

    def _blocks(self, rows: int) -> Iterator[pa.RecordBatch]:
        """The answers as columns, cut and joined to blocks of so many rows, or of many bytes."""
        held: list[pa.RecordBatch] = []
        lacking, size = rows, 0
        for answer in self._scanner.answers():
            block = self._columns(answer.cells)
            is_other = held and not held[0]["family"].dictionary.equals(block["family"].dictionary)
            if is_other or (held and size + len(answer.cells) > BLOCK_BYTES_MOST):
                yield _joined(held)
                held, lacking, size = [], rows, 0
            size += len(answer.cells)
            ends = [0, *accumulate(answer.counts)]
            first = 0
            while first < len(ends) - 1:
                behind = min(first + lacking, len(ends) - 1)
                held.append(block.slice(ends[first], ends[behind] - ends[first]))
                lacking -= behind - first
                first = behind
                if not lacking:
                    yield _joined(held)
                    held, lacking, size = [], rows, 0
        if held:
            yield _joined(held)

    def _columns(self, cells: bytes | memoryview) -> pa.RecordBatch:
        from rowkey.hbase import to_columns

        try:
            return to_columns(cells, self._families(False))
        except Refused:
            return to_columns(cells, self._families(True))

    def ahead(self) -> bytes | None:
        return self._scanner.first_row()

    def close(self) -> None:
        self._scanner.close()


class EmptyCursor(Cursor):
    """The rows of a range in which none can lie.

    Args:
        raw: whether deletes would be among the cells.
    """

    def __init__(self, *, raw: bool) -> None:
        self._raw, self._closed = raw, False

    def __iter__(self) -> Iterator[RowCells]:
        if self._closed:
            raise Refused("table", "it was closed while it was read", "an open table")
        return iter(())

    def blocks(self, rows: int = 8192) -> Iterator[pa.RecordBatch]:
        _check_blocks(rows, raw=self._raw)
        return iter(())

    def close(self) -> None:
        self._closed = True


def _check_blocks(rows: int, *, raw: bool) -> None:
    """Raise unless blocks can be had."""
    if raw:
        raise Refused("raw", "blocks hold no deletes", "rows", "Iterate over the rows.")
    if rows < 1:
        raise Refused("rows", f"{rows} is too few", "1 or more")


def _joined(blocks: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Blocks as one."""
    if len(blocks) == 1:
        return blocks[0]
    import pyarrow as pa

    (joined,) = pa.Table.from_batches(blocks).combine_chunks().to_batches()
    return joined
