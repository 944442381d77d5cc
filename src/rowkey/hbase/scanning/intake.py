"""From what a server answers to what a scan gives: rows are joined, cut at the limit, never twice.

A row larger than one answer comes in pieces. Whoever asked for whole rows gets it joined; whoever
asked for pieces gets each as it came, less what was given of its row before the scanner was lost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from rowkey.cells import in_order
from rowkey.hbase.scanning.answer import Answer, piece_starts, row_at
from rowkey.hbase.wire.cellblocks import decode_cells
from rowkey.hbase.wire.proto import Malformed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.cells import Cell
    from rowkey.hbase.requests import ScanAnswer


class Intake(ABC):
    """Takes in the answers of servers in the order of the scan.

    Args:
        limit: most rows to give, or None.
    """

    def __init__(self, limit: int | None) -> None:
        self.left = limit
        """Rows that may still be completed, or None."""

    @property
    @abstractmethod
    def holds(self) -> bool:
        """Whether it holds pieces that are not given yet."""

    @abstractmethod
    def take(self, told: ScanAnswer, *, ended: bool) -> Answer:
        """What can be given now; it may be nothing.

        Args:
            told: what the server answered.
            ended: whether no row goes on behind it, for the region or the scan is at its end.

        Raises:
            Malformed: the cells are not those that were counted.
        """

    @abstractmethod
    def resume(self, behind: Answer | None) -> bool:
        """Get ready for a new scanner.

        Args:
            behind: what was given last since the region was entered, or None.

        Returns:
            Whether the new scanner must begin with the last row of it, because it was not complete.
        """


class WholeRows(Intake):
    """Joins the pieces of a row before it is given.

    What came of a row that is not complete is forgotten when the scanner is lost, and read again:
    so a row is given as it was at one moment.
    """

    def __init__(self, limit: int | None) -> None:
        super().__init__(limit)
        self._blocks: list[bytes | memoryview] = []
        self._count = 0

    @property
    def holds(self) -> bool:
        return self._count > 0

    def take(self, told: ScanAnswer, *, ended: bool) -> Answer:
        cells, counts, partials = _without_empty(told)
        fits = self.left is None or len(counts) <= self.left
        if any(partials) or not fits or (self._count and (counts or ended)):
            return self._join(cells, counts, partials, ended=ended)
        if self.left is not None:
            self.left -= len(counts)
        return Answer(cells, counts)

    def resume(self, behind: Answer | None) -> bool:
        self._hold([], 0)
        return False

    def _hold(self, blocks: list[bytes | memoryview], count: int) -> None:
        self._blocks, self._count = blocks, count

    def _join(
        self,
        cells: bytes | memoryview,
        counts: Sequence[int],
        partials: Sequence[bool],
        *,
        ended: bool,
    ) -> Answer:
        """Whole rows of what was held and what came; a row that may go on is held."""
        before = sum(map(len, self._blocks))
        joined = [self._count] if self._count else []
        begins = [0] if self._count else []
        is_open = self._count > 0
        row = row_at(self._blocks[0], 0) if is_open else None
        for start, count, partial in zip(
            piece_starts(cells, counts), counts, partials, strict=False
        ):
            came = row_at(cells, start)
            if is_open and came == row:
                joined[-1] += count
            else:
                joined.append(count)
                begins.append(before + start)
            row, is_open = came, partial
        blocks = [*self._blocks, cells]
        if not is_open or ended:
            self._hold([], 0)
            return self._cut(b"".join(blocks), joined, begins)
        held = joined.pop()
        if not joined:
            self._hold(blocks, held)
            return Answer(b"", [])
        block = b"".join(blocks)
        self._hold([block[begins[-1] :]], held)
        return self._cut(block[: begins.pop()], joined, begins)

    def _cut(self, block: bytes, counts: list[int], begins: list[int]) -> Answer:
        """No more rows than may be given."""
        if self.left is not None:
            if len(counts) > self.left:
                block, counts = block[: begins[self.left]], counts[: self.left]
            self.left -= len(counts)
        return Answer(block, counts)


class Pieces(Intake):
    """Gives each piece as it came.

    When the scanner is lost inside a row, the new one begins with that row, and the cells that
    stand up to the last one given are left out. The pieces of one row may then be of two moments:
    the alternative, to read the new ones as of the old moment (`mvcc_read_point`), shows nothing at
    all of a cell that was overwritten and flushed in between.
    """

    def __init__(self, limit: int | None) -> None:
        super().__init__(limit)
        self._row: bytes | None = None
        self._given: tuple[bytes, Cell] | None = None

    @property
    def holds(self) -> bool:
        return False

    def take(self, told: ScanAnswer, *, ended: bool) -> Answer:
        cells, counts, partials = _without_empty(told)
        if counts:
            if self.left is not None:
                cells, counts, partials = self._count_rows(cells, counts, partials)
            if self._given is not None:
                cells, counts, partials = self._leave_out(cells, counts, partials)
        if ended and self._row is not None:
            self._complete()
        return Answer(cells, counts, partials)

    def resume(self, behind: Answer | None) -> bool:
        if behind is not None:
            is_partial = behind.ends_inside
            self._given = (behind.last_row, behind.last_cell) if is_partial else None
        return self._given is not None

    def _complete(self) -> None:
        self._row = None
        if self.left is not None:
            self.left -= 1

    def _count_rows(
        self, cells: bytes | memoryview, counts: Sequence[int], partials: Sequence[bool]
    ) -> tuple[bytes | memoryview, Sequence[int], Sequence[bool]]:
        """The pieces of the rows that may still be given.

        A row is complete with a piece that is not partial, or when another row begins.
        """
        starts = piece_starts(cells, counts)
        for number, partial in enumerate(partials):
            row = row_at(cells, starts[number])
            if self._row is not None and row != self._row:
                self._complete()
            if self.left == 0:
                return cells[: starts[number]], counts[:number], partials[:number]
            self._row = row
            if not partial:
                self._complete()
        return cells, counts, partials

    def _leave_out(
        self, cells: bytes | memoryview, counts: Sequence[int], partials: Sequence[bool]
    ) -> tuple[bytes | memoryview, Sequence[int], Sequence[bool]]:
        """What stands behind the last cell given; in the order of cells that is a tail."""
        assert self._given is not None
        begun, last = self._given
        at, cells = 0, bytes(cells)
        for number, count in enumerate(counts):
            for left in range(count, 0, -1):
                [(row, cell)], behind = decode_cells(cells, 1, at)
                if row != begun or in_order(cell) > in_order(last):
                    self._given = None
                    return cells[at:], [left, *counts[number + 1 :]], partials[number:]
                at = behind
        return b"", [], []


def _without_empty(told: ScanAnswer) -> tuple[bytes | memoryview, Sequence[int], Sequence[bool]]:
    """Cells, counts and flags of an answer; pieces without a cell say nothing and are left out.

    Raises:
        Malformed: there are flags, but not as many as pieces.
    """
    counts = told.counts
    partials: Sequence[bool] = told.partials or [False] * len(counts)
    if len(partials) != len(counts):
        raise Malformed(f"{len(partials):,} partial flags of {len(counts):,} rows")
    if 0 in counts:
        partials = [flag for flag, count in zip(partials, counts, strict=True) if count]
        counts = [count for count in counts if count]
    return told.cells, counts, partials
