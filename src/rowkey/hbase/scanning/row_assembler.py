"""Assembles the rows of a scan from answers: joins pieces, applies the limit, drops duplicates.

A row larger than one answer comes in pieces. A scan of whole rows joins them; a scan of partial
rows returns each piece as it came, without cells that were returned before the scanner was lost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from rowkey.cells import Cell, build_sort_key
from rowkey.hbase.requests import ScanResponse
from rowkey.hbase.scanning.row_order import check_cell_order
from rowkey.hbase.scanning.scan_block import (
    ScanBlock,
    find_piece_starts,
    read_cell,
    read_row_key,
    skip_cells,
)
from rowkey.hbase.wire.cellblocks import decode_cells
from rowkey.hbase.wire.proto import WireFormatError


class RowAssembler(ABC):
    """Assembles rows from the answers of a scan, in order.

    Args:
        limit: the most rows to return, or None.
    """

    def __init__(self, limit: int | None) -> None:
        self.rows_left = limit
        """Rows that may still be completed, or None."""

    @property
    @abstractmethod
    def has_pieces(self) -> bool:
        """Whether it stores pieces of a row that is not complete yet."""

    @abstractmethod
    def assemble_rows(self, response: ScanResponse, *, is_end: bool) -> ScanBlock:
        """Return the rows that can be returned after this answer; there may be none.

        Args:
            response: what the server answered.
            is_end: whether the region or the scan is at its end, so that no row continues.

        Raises:
            WireFormatError: the cells are not those that were counted.
        """

    @abstractmethod
    def prepare_resume(self, last_block: ScanBlock | None) -> bool:
        """Prepare to continue the scan with a new scanner, after the last one was lost.

        Args:
            last_block: what was given last since the region was entered, or None.

        Returns:
            Whether the new scanner must begin with the last row of it, because it was not complete.
        """


MAX_ROW_CELL_BYTES = 1 << 30
"""The most bytes of a row that comes in pieces. Source: hbase.table.max.rowsize, 1 GiB."""


class WholeRowAssembler(RowAssembler):
    """Joins the pieces of each row, and returns only complete rows.

    What came of a row that is not complete is forgotten when the scanner is lost, and read again:
    so a row is given as it was at one moment.
    """

    def __init__(self, limit: int | None, *, is_raw: bool = False) -> None:
        super().__init__(limit)
        self._is_raw = is_raw
        self._held_blocks: list[bytes | memoryview] = []
        self._held_cell_count = 0
        self._last_held_cell: Cell | None = None

    @property
    def has_pieces(self) -> bool:
        return self._held_cell_count > 0

    def assemble_rows(self, response: ScanResponse, *, is_end: bool) -> ScanBlock:
        """Return the rows that are complete after this answer."""
        cells, counts, partials = _drop_empty_pieces(response)
        fits = self.rows_left is None or len(counts) <= self.rows_left
        if any(partials) or not fits or (self._held_cell_count and (counts or is_end)):
            return self._join_pieces(cells, counts, partials, is_end=is_end)
        if self.rows_left is not None:
            self.rows_left -= len(counts)
        return ScanBlock(cells, counts)

    def prepare_resume(self, last_block: ScanBlock | None) -> bool:
        """Drop the pieces of an incomplete row; return False: the row was not returned."""
        self._hold_blocks([], 0)
        return False

    def _hold_blocks(self, blocks: list[bytes | memoryview], count: int) -> None:
        """Store the cells of a row that is not complete yet."""
        self._held_blocks, self._held_cell_count = blocks, count

    def _join_pieces(
        self,
        cells: bytes | memoryview,
        counts: Sequence[int],
        partials: Sequence[bool],
        *,
        is_end: bool,
    ) -> ScanBlock:
        """Join stored and new pieces; return the complete rows and store the rest.

        Raises:
            WireFormatError: the pieces of a row are larger than a row can be.
        """
        held_bytes = sum(map(len, self._held_blocks))
        if held_bytes + len(cells) > MAX_ROW_CELL_BYTES:
            what = f"the pieces of a row have {held_bytes + len(cells):,} bytes"
            raise WireFormatError(what, f"at most {MAX_ROW_CELL_BYTES:,}")
        last_cell = self._last_held_cell
        row_counts = [self._held_cell_count] if self._held_cell_count else []
        row_starts = [0] if self._held_cell_count else []
        is_open = self._held_cell_count > 0
        row = read_row_key(self._held_blocks[0], 0) if is_open else None
        for start, count, partial in zip(
            find_piece_starts(cells, counts), counts, partials, strict=False
        ):
            piece_row = read_row_key(cells, start)
            if is_open and piece_row == row:
                row_counts[-1] += count
                if last_cell is not None:
                    check_cell_order(row, [last_cell, read_cell(cells, start)], is_raw=self._is_raw)
            else:
                row_counts.append(count)
                row_starts.append(held_bytes + start)
            row, is_open = piece_row, partial
            if partial:
                last_cell = read_cell(cells, skip_cells(cells, start, count - 1))
        self._last_held_cell = last_cell
        blocks = [*self._held_blocks, cells]
        if not is_open or is_end:
            self._hold_blocks([], 0)
            return self._apply_limit(b"".join(blocks), row_counts, row_starts)
        held_count = row_counts.pop()
        if not row_counts:
            self._hold_blocks(blocks, held_count)
            return ScanBlock(b"", [])
        block = b"".join(blocks)
        self._hold_blocks([block[row_starts[-1] :]], held_count)
        return self._apply_limit(block[: row_starts.pop()], row_counts, row_starts)

    def _apply_limit(self, block: bytes, counts: list[int], starts: list[int]) -> ScanBlock:
        """Return the rows of a block that the limit still allows."""
        if self.rows_left is not None:
            if len(counts) > self.rows_left:
                block, counts = block[: starts[self.rows_left]], counts[: self.rows_left]
            self.rows_left -= len(counts)
        return ScanBlock(block, counts)


class PartialRowAssembler(RowAssembler):
    """Returns each piece of a row as the server sent it.

    If the scanner is lost within a row, the new one begins with that row, and the cells up to the
    last one returned are left out. The pieces of one row may then show two moments in time. The
    alternative, to read at the old moment (`mvcc_read_point`), loses cells that were overwritten
    and flushed in between.
    """

    def __init__(self, limit: int | None) -> None:
        super().__init__(limit)
        self._open_row: bytes | None = None
        self._last_returned: tuple[bytes, Cell] | None = None

    @property
    def has_pieces(self) -> bool:
        """Return False: each piece is returned at once."""
        return False

    def assemble_rows(self, response: ScanResponse, *, is_end: bool) -> ScanBlock:
        """Return the pieces in this answer that the limit allows and that are new."""
        cells, counts, partials = _drop_empty_pieces(response)
        if counts:
            if self.rows_left is not None:
                cells, counts, partials = self._limit_rows(cells, counts, partials)
            if self._last_returned is not None:
                cells, counts, partials = self._skip_returned_cells(cells, counts, partials)
        if is_end and self._open_row is not None:
            self._complete_row()
        return ScanBlock(cells, counts, partials)

    def prepare_resume(self, last_block: ScanBlock | None) -> bool:
        """Record the last returned cell of an incomplete row; return whether there is one."""
        if last_block is not None:
            is_partial = last_block.is_last_row_partial
            self._last_returned = (
                (last_block.last_row_key, last_block.last_cell) if is_partial else None
            )
        return self._last_returned is not None

    def _complete_row(self) -> None:
        """Count the current row as complete."""
        self._open_row = None
        if self.rows_left is not None:
            self.rows_left -= 1

    def _limit_rows(
        self, cells: bytes | memoryview, counts: Sequence[int], partials: Sequence[bool]
    ) -> tuple[bytes | memoryview, Sequence[int], Sequence[bool]]:
        """Return the pieces of the rows that the limit still allows.

        A row is complete with a piece that is not partial, or when another row begins.
        """
        starts = find_piece_starts(cells, counts)
        for index, partial in enumerate(partials):
            row = read_row_key(cells, starts[index])
            if self._open_row is not None and row != self._open_row:
                self._complete_row()
            if self.rows_left == 0:
                return cells[: starts[index]], counts[:index], partials[:index]
            self._open_row = row
            if not partial:
                self._complete_row()
        return cells, counts, partials

    def _skip_returned_cells(
        self, cells: bytes | memoryview, counts: Sequence[int], partials: Sequence[bool]
    ) -> tuple[bytes | memoryview, Sequence[int], Sequence[bool]]:
        """Return the rest of an answer after the last returned cell: cells, counts, partials."""
        assert self._last_returned is not None
        last_row, last_cell = self._last_returned
        offset, cells = 0, bytes(cells)
        for index, count in enumerate(counts):
            for cells_left in range(count, 0, -1):
                [(row, cell)], next_offset = decode_cells(cells, 1, offset)
                if row != last_row or build_sort_key(cell) > build_sort_key(last_cell):
                    self._last_returned = None
                    return cells[offset:], [cells_left, *counts[index + 1 :]], partials[index:]
                offset = next_offset
        return b"", [], []


def _drop_empty_pieces(
    response: ScanResponse,
) -> tuple[bytes | memoryview, Sequence[int], Sequence[bool]]:
    """Return the cells, counts and flags of an answer, without pieces that have no cells.

    Raises:
        WireFormatError: there are flags, but not as many as pieces.
    """
    counts = response.counts
    partials: Sequence[bool] = response.partials or [False] * len(counts)
    if len(partials) != len(counts):
        what = f"the scan answer has {len(partials):,} partial-row flags for {len(counts):,} rows"
        raise WireFormatError(what, "one flag for each row")
    if 0 in counts:
        partials = [flag for flag, count in zip(partials, counts, strict=True) if count]
        counts = [count for count in counts if count]
    return response.cells, counts, partials
