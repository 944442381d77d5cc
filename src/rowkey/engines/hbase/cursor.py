"""The rows of one range of a cluster's table, as they come."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from rowkey.engines.contract import Cursor
from rowkey.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from rowkey.cells import RowCells
    from rowkey.hbase import Scanner


class HBaseCursor(Cursor):
    """One scanner: one answer is asked ahead, whoever else is waited for meanwhile.

    Of each region it sees the rows as they were when the scan came there.

    Args:
        scanner: reads the range.
        families: the table's, in the order they have in a block.
        raw: whether deletes are among the cells.
    """

    def __init__(self, scanner: Scanner, families: Sequence[str], *, raw: bool) -> None:
        self._scanner, self._families, self._raw = scanner, families, raw

    def __iter__(self) -> Iterator[RowCells]:
        return self._scanner.rows()

    def blocks(self, rows: int = 8192) -> Iterator[pa.RecordBatch]:
        if self._raw:
            raise Refused("raw", "blocks hold no deletes", "rows", "Iterate over the rows.")
        if rows < 1:
            raise Refused("rows", f"{rows} is too few", "1 or more")
        return self._blocks(rows)

    def _blocks(self, rows: int) -> Iterator[pa.RecordBatch]:
        """The answers as columns, cut and joined to blocks of so many rows."""
        from rowkey.hbase import to_columns

        held: list[pa.RecordBatch] = []
        lacking = rows
        for answer in self._scanner.answers():
            block = to_columns(answer.cells, self._families)
            ends = [0, *accumulate(answer.counts)]
            first = 0
            while first < len(ends) - 1:
                behind = min(first + lacking, len(ends) - 1)
                held.append(block.slice(ends[first], ends[behind] - ends[first]))
                lacking -= behind - first
                first = behind
                if not lacking:
                    yield _joined(held)
                    held, lacking = [], rows
        if held:
            yield _joined(held)

    def ahead(self) -> bytes | None:
        return self._scanner.first_row()

    def close(self) -> None:
        self._scanner.close()


class EmptyCursor(Cursor):
    """The rows of a range in which none can lie."""

    def __iter__(self) -> Iterator[RowCells]:
        return iter(())

    def blocks(self, rows: int = 8192) -> Iterator[pa.RecordBatch]:
        return iter(())

    def close(self) -> None:
        """Nothing is held."""


def _joined(blocks: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Blocks as one."""
    if len(blocks) == 1:
        return blocks[0]
    import pyarrow as pa

    return pa.Table.from_batches(blocks).combine_chunks().to_batches()[0]
