"""What a scan gives: a block of cells as it came from a server, and how its rows lie in it.

Most rows are never looked at one by one here: a block goes on to whoever turns it into rows or
columns. The key of its last row is looked for only when somebody asks for it.
"""

from __future__ import annotations

from functools import cached_property
from struct import Struct, error
from typing import TYPE_CHECKING

from rowkey.hbase.wire.cellblocks import decode_cells, iter_rows
from rowkey.hbase.wire.proto import Malformed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rowkey.cells import Cell, RowCells

_u32 = Struct(">I").unpack_from
_u16 = Struct(">H").unpack_from

_LENGTH = 4
"""Bytes of a cell's own length, which does not count them. Source: KeyValueCodec."""

_ROW_LENGTH = 12
"""Where the length of the row key stands, behind three lengths of 4 bytes; the row follows it."""


class Answer:
    """Some rows of a scan, or pieces of rows, in its order.

    Args:
        cells: cells of KeyValueCodec, one behind the other.
        counts: how many of them each row or piece has, 1 or more.
        partials: whether more of its row may follow in the next piece; none for whole rows.
    """

    def __init__(
        self, cells: bytes | memoryview, counts: Sequence[int], partials: Sequence[bool] = ()
    ) -> None:
        self.cells = cells
        self.counts = counts
        self.partials = partials

    @property
    def first_row(self) -> bytes:
        """The key of its first row."""
        return row_at(self.cells, 0)

    @cached_property
    def last_row(self) -> bytes:
        """The key of its last row. Cost: 0.1 µs for each cell, the first time."""
        return row_at(self.cells, self._last_starts[0])

    @property
    def ends_inside(self) -> bool:
        """Whether more of its last row may follow."""
        return bool(self.partials and self.partials[-1])

    @property
    def last_cell(self) -> Cell:
        """Its last cell."""
        (_, cell), *_ = decode_cells(self.cells, 1, self._last_starts[1])[0]
        return cell

    @cached_property
    def _last_starts(self) -> tuple[int, int]:
        """Where the last piece begins, and where the last cell does."""
        at = skip_cells(self.cells, 0, sum(self.counts) - self.counts[-1])
        return at, skip_cells(self.cells, at, self.counts[-1] - 1)

    def rows(self) -> Iterator[RowCells]:
        """Its rows or pieces, decoded as they are asked for."""
        return iter_rows(self.cells, self.counts)


def row_at(cells: bytes | memoryview, at: int) -> bytes:
    r"""The row key of the cell that begins there.

    Raises:
        Malformed: no cell is there.

    >>> row_at(bytes.fromhex("000000190000001000000001000272310164717fffffffffffffff0476"), 0)
    b'r1'
    """
    try:
        start = at + _ROW_LENGTH + 2
        stop = start + _u16(cells, at + _ROW_LENGTH)[0]
    except error as problem:
        raise _cut_off(at) from problem
    if stop > len(cells):
        raise _cut_off(at)
    return bytes(cells[start:stop])


def skip_cells(cells: bytes | memoryview, at: int, count: int) -> int:
    """Where the cell begins that stands so many behind the one that begins there.

    Raises:
        Malformed: there are fewer.
    """
    try:
        for _ in range(count):
            at += _LENGTH + _u32(cells, at)[0]
    except error as problem:
        raise _cut_off(at) from problem
    if at > len(cells):
        raise _cut_off(at)
    return at


def piece_starts(cells: bytes | memoryview, counts: Sequence[int]) -> list[int]:
    """Where each row or piece begins, and where the last one ends.

    Raises:
        Malformed: the cells are fewer or more than counted.
    """
    starts = [0]
    for count in counts:
        starts.append(skip_cells(cells, starts[-1], count))
    if starts[-1] != len(cells):
        raise Malformed(f"{len(cells) - starts[-1]:,} bytes behind the last cell that was counted")
    return starts


def _cut_off(at: int) -> Malformed:
    return Malformed(f"the block ends within the cell that begins at byte {at:,}")
