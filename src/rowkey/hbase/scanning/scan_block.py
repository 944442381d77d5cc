"""A block of cells that a scan returns, and the rows in it.

The caller turns a block into rows, row items or columns; the order of the rows is checked then,
when their keys are there anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from struct import Struct, error

from rowkey.array_libraries import pa
from rowkey.cells import Cell, RowCells
from rowkey.hbase.scanning.row_order import RowOrder
from rowkey.hbase.wire.arrow_columns import to_columns
from rowkey.hbase.wire.cellblocks import decode_cells, iter_row_groups
from rowkey.hbase.wire.proto import WireFormatError
from rowkey.hbase.wire.row_items import RowItem, decode_row_items

_unpack_u32 = Struct(">I").unpack_from
_unpack_u16 = Struct(">H").unpack_from

_LENGTH_BYTES = 4
"""Bytes of a cell's own length, which does not count them. Source: KeyValueCodec."""

_ROW_LENGTH_OFFSET = 12
"""Offset of the row key's length, after three lengths of 4 bytes; the row key follows it."""


class ScanBlock:
    """A block of consecutive rows of a scan, or of pieces of rows.

    Args:
        cells: cells of KeyValueCodec.
        counts: how many cells each row or piece has, 1 or more.
        partials: of each piece, whether its row may continue in the next one; empty for whole rows.
        order: what the rows are checked for; None if they are no rows of a scan.
    """

    def __init__(
        self,
        cells: bytes | memoryview,
        counts: Sequence[int],
        partials: Sequence[bool] = (),
        order: RowOrder | None = None,
    ) -> None:
        self.cells = cells
        self.counts = counts
        self.partials = partials
        self.order = order

    @property
    def first_row_key(self) -> bytes:
        """The row key of the first row."""
        return read_row_key(self.cells, 0)

    @property
    def first_cell(self) -> Cell:
        """The first cell of the first row."""
        return read_cell(self.cells, 0)

    @cached_property
    def last_row_key(self) -> bytes:
        """The row key of the last row. Cost: 0.1 µs a cell for a block that was not read."""
        return read_row_key(self.cells, self._last_starts[0])

    @property
    def is_last_row_partial(self) -> bool:
        """Whether the last row may continue in the next block."""
        return bool(self.partials and self.partials[-1])

    @property
    def last_cell(self) -> Cell:
        """The last cell of the last row."""
        return read_cell(self.cells, self._last_starts[1])

    @cached_property
    def _last_starts(self) -> tuple[int, int]:
        """The offsets of the last row, or piece of a row, and of the last cell."""
        piece_start = skip_cells(self.cells, 0, sum(self.counts) - self.counts[-1])
        return piece_start, skip_cells(self.cells, piece_start, self.counts[-1] - 1)

    def iter_row_groups(self) -> Iterator[list[RowCells]]:
        """Yield the rows or pieces of the block in groups.

        Raises:
            MalformedAnswer: they are not rows of the scan in their order; the groups before the
                defect have been yielded.
        """
        last_rows: list[RowCells] = []
        done = 0
        with self._name_region():
            for rows in iter_row_groups(self.cells, self.counts):
                if self.order is not None:
                    joined = last_rows + rows
                    first = done - len(last_rows)
                    self.order.check_row_keys([row[0] for row in joined], self.partials[first:])
                    if self.order.has_cell_order:
                        self.order.check_cells(joined)
                done += len(rows)
                last_rows = rows[-1:]
                if done == len(self.counts):
                    self._cache_last_row_key(last_rows[0].row)
                yield rows

    def iter_row_cells(self) -> Iterator[RowCells]:
        """Yield the rows or pieces of the block one by one; see `iter_row_groups`."""
        return chain.from_iterable(self.iter_row_groups())

    def list_row_items(self, *, timestamps: bool) -> list[RowItem]:
        """Return the rows or pieces of the block as (row key, {column: value}).

        Raises:
            MalformedAnswer: they are not rows of the scan in their order.
        """
        with self._name_region():
            rows = decode_row_items(self.cells, self.counts, timestamps=timestamps)
            if self.order is not None:
                self.order.check_row_keys([row[0] for row in rows], self.partials)
        if rows:
            self._cache_last_row_key(rows[-1][0])
        return rows

    def to_columns(self, families: Sequence[str]) -> pa.RecordBatch:
        """Convert the cells of the block to Arrow columns; see `wire.arrow_columns.to_columns`.

        Raises:
            InvalidArgument: a cell has a family that is not named.
            MalformedAnswer: they are not rows of the scan in their order.
        """
        with self._name_region():
            columns = to_columns(self.cells, families)
            if self.order is not None:
                self.order.check_columns(columns, self.counts, self.partials)
        if columns.num_rows:
            self._cache_last_row_key(columns["row"][-1].as_py())
        return columns

    def _cache_last_row_key(self, row: bytes) -> None:
        """Set the key of the last row, so that it need not be searched for."""
        self.__dict__["last_row_key"] = row

    @contextmanager
    def _name_region(self) -> Iterator[None]:
        """Convert the error of malformed cells to one that names the server and the region."""
        try:
            yield
        except WireFormatError as problem:
            if self.order is None:
                raise
            raise self.order.build_error(problem) from problem


def read_row_key(cells: bytes | memoryview, offset: int) -> bytes:
    r"""Return the row key of the cell at an offset.

    Raises:
        WireFormatError: there is no cell.

    >>> read_row_key(bytes.fromhex("000000190000001000000001000272310164717fffffffffffffff0476"), 0)
    b'r1'
    """
    try:
        start = offset + _ROW_LENGTH_OFFSET + 2
        stop = start + _unpack_u16(cells, offset + _ROW_LENGTH_OFFSET)[0]
    except error as problem:
        raise _build_truncated_error(offset) from problem
    if stop > len(cells):
        raise _build_truncated_error(offset)
    return bytes(cells[start:stop])


def read_cell(cells: bytes | memoryview, offset: int) -> Cell:
    """Return the cell at an offset.

    Raises:
        WireFormatError: there is no cell.
    """
    length = skip_cells(cells, offset, 1) - offset
    [(_, cell)], _ = decode_cells(cells[offset : offset + length], 1)
    return cell


def skip_cells(cells: bytes | memoryview, offset: int, count: int) -> int:
    """Return the offset after `count` cells.

    Raises:
        WireFormatError: there are fewer.
    """
    try:
        for _ in range(count):
            offset += _LENGTH_BYTES + _unpack_u32(cells, offset)[0]
    except error as problem:
        raise _build_truncated_error(offset) from problem
    if offset > len(cells):
        raise _build_truncated_error(offset)
    return offset


def find_piece_starts(cells: bytes | memoryview, counts: Sequence[int]) -> list[int]:
    """Return the offset of each row or piece in a cell block, and the end of the block.

    Raises:
        WireFormatError: the cells are fewer or more than counted.
    """
    starts = [0]
    for count in counts:
        starts.append(skip_cells(cells, starts[-1], count))
    if starts[-1] != len(cells):
        raise WireFormatError(
            f"{len(cells) - starts[-1]:,} bytes follow the cells that the scan answer counts"
        )
    return starts


def _build_truncated_error(offset: int) -> WireFormatError:
    """Return the error for a cell block that ends within the cell at an offset."""
    return WireFormatError(f"the cell block ends within the cell at byte {offset:,}")
