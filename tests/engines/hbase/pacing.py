"""Steps taken on a real HBase, whose clock cannot be stopped, and in the book.

An edge is the millisecond at which a time to live ends. A step waits while an edge is near, so that
all of it is on one side of the edge. A server gives a timestamp to cells that have none: the row is
read back, and the book takes the step at each possible time; one of them must give HBase's result.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from engines import steps
from engines.book import FOREVER_S, FamilyCells, is_delete
from rowkey.cells import Cell, CellType, RowCells, build_sort_key
from rowkey.engines import ScanRange, get_time_ms

if TYPE_CHECKING:
    from engines.book import Book

READ_MS, SETTLE_MS = 40, 1_000
"""How long steps take at most, on a machine that has nothing else to do: then no edge is met."""
WAIT_S = 1.8
REPEATS = 5
SENTINEL = b"z"
SCAN_ALL = steps.Scan((ScanRange(),), steps.EVERYTHING)


@dataclass
class PacedTables:
    """A table of HBase and a book that take the same steps.

    Args:
        engine: the table of HBase.
        book: the table of the book, whose clock is `self.clock`.
        at: the time of the book in ms.
        met: how many steps met an edge although they had waited.
        waited_s: seconds of waiting for edges to pass.
        filed: the cells in files; all other cells are in memory.
    """

    engine: steps.World
    book: steps.World
    at: int = 0
    met: int = 0
    waited_s: float = 0.0
    longest_s: float = field(default=0.0)
    filed: list[Cell] = field(default_factory=list)

    @property
    def stored_cells(self) -> list[tuple[bytes, Cell]]:
        """Return all cells of the book."""
        stored: list[tuple[bytes, Cell]] = self.book.store.stored
        return stored

    def edges(self) -> list[int]:
        """Return the last milliseconds of all times to live, ascending."""
        book: Book = self.book.store
        found = set()
        for _, cell in self.stored_cells:
            ttl = book.families[cell.family].ttl_s
            if ttl != FOREVER_S:
                found.add(cell.timestamp + 1_000 * ttl)
            if cell.ttl_ms is not None:
                found.add(cell.timestamp + cell.ttl_ms)
        return sorted(found)

    def met_edges(self, begin: int, end: int) -> list[int]:
        """Return the edges between two times, both included."""
        return [edge for edge in self.edges() if begin <= edge <= end]

    def wait(self, clear_ms: int) -> None:
        """Sleep until no edge is near."""
        begin = time.monotonic()
        while time.monotonic() < begin + WAIT_S:
            near = self.met_edges(get_time_ms(), get_time_ms() + clear_ms)
            if not near:
                break
            until = (near[0] + 2 - get_time_ms()) / 1_000
            time.sleep(max(0.001, min(until, begin + WAIT_S - time.monotonic())))
        took = time.monotonic() - begin
        self.waited_s += took
        self.longest_s = max(self.longest_s, took)

    def take_on_engine(self, step: steps.Step, clear_ms: int) -> tuple[int, Any, int]:
        """Return the start of a step on HBase, its outcome, and its end."""
        self.wait(clear_ms)
        begin = get_time_ms()
        outcome = strip_ttls(steps.take_step(step, self.engine))
        return begin, outcome, get_time_ms()

    def take_in_book(self, step: steps.Step, at: int) -> Any:
        """Return the outcome of a step in the book at a time."""
        self.at = at
        return strip_ttls(steps.take_step(step, self.book))

    def read(self, step: steps.Step) -> tuple[Any, Any]:
        """Return the outcome of a read in the book and on HBase."""
        begin, found, _ = self.read_on_engine(step)
        return self.take_in_book(step, begin), found

    def read_on_engine(self, step: steps.Step) -> tuple[int, Any, int]:
        """Take a read on HBase; repeat it if it met an edge."""
        for _ in range(REPEATS):
            begin, found, end = self.take_on_engine(step, READ_MS)
            if not self.met_edges(begin, end):
                break
        return begin, found, end

    def write(self, step: steps.Step, row: bytes) -> tuple[Any, Any]:
        """Return the outcome of a change and the row after it, in the book and on HBase."""
        begin, found, end = self.take_on_engine(step, READ_MS)
        look = steps.Get((row,), steps.EVERYTHING)
        look_begin, after, look_end = self.read_on_engine(look)
        before = list(self.stored_cells)
        stamps = {cell.timestamp for one in after for cell in one.cells}
        edges = self.met_edges(begin, end)
        moments = {begin, end} | {at for at in stamps if begin <= at <= end}
        moments |= {at for edge in edges for at in (edge, edge + 1)}
        for at in sorted(moments, reverse=True):
            self.book.store.stored = list(before)
            came = self.take_in_book(step, at)
            # What was written may have had an edge of its own while it was read back.
            own = {edge + 1 for edge in self.met_edges(look_begin, look_end)}
            for seen_at in sorted({look_begin, look_end} | own):
                expected = came, self.take_in_book(look, seen_at)
                if expected == (found, after):
                    return expected, (found, after)
        return expected, (found, after)

    def settle(self, step: steps.Step) -> tuple[Any, Any]:
        """Return what is stored after a compaction, in the book and on HBase."""
        begin, found, end = self.take_on_engine(step, SETTLE_MS)
        if isinstance(step, steps.Divide) and found != "refused":
            # A half is compacted at some later time if it refers to a file of the whole, and not at
            # all if it is linked to one that lies in the half (HBASE-26421): now they all are.
            _, _, end = self.take_on_engine(steps.Settle(), SETTLE_MS)
        moments: tuple[int, ...] = (begin,)
        if self.met_edges(begin, end):
            self.met += 1
            moments = (begin, end)
        settled = self._find_outcome(step, found, moments)
        self.filed = [cell for _, cell in self.stored_cells]
        return settled

    def _find_outcome(
        self, step: steps.Step, found: Any, compacted: tuple[int, ...]
    ) -> tuple[Any, Any]:
        """Return the book's outcome that HBase confirms, after any of some compaction times.

        Args:
            step: the step.
            found: its outcome on HBase.
            compacted: the possible times of the compaction in ms.
        """
        book: Book = self.book.store
        before, splits = list(book.stored), list(book.splits)
        ways: list[list[tuple[bytes, Cell]]] = []
        spared: list[tuple[bytes, Cell]] = []
        for at in compacted:
            book.stored, book.splits, self.at = list(before), list(splits), at
            spared += self.list_spared() if isinstance(step, steps.Settle) else []
            expected = self.take_in_book(step, self.at)
            if found != "refused":
                book.compact()
            ways.append(list(book.stored))
        _, after, _ = self.read_on_engine(SCAN_ALL)
        there = {
            (row, build_sort_key(cell)) for piece in after for row, cells in piece for cell in cells
        }
        some = list(dict.fromkeys([*chain(*ways), *spared]))
        always = [one for one in some if all(one in way for way in ways)]
        book.stored = [
            one for one in some if one in always or (one[0], build_sort_key(one[1])) in there
        ]
        kept, after = self.read(SCAN_ALL)
        return (expected, kept), (found, after)

    def list_spared(self) -> list[tuple[bytes, Cell]]:
        """Return the deletes that HBase may keep in a compaction and the book drops.

        The flush before the compaction removed the surplus puts above these deletes: the third and
        the fourth entry of `engines.differences`.
        """
        found = []
        for row, family in sorted({(row, cell.family) for row, cell in self.stored_cells}):
            shelf: FamilyCells = self.book.store.get_cells(row, family)
            fresh = [cell for cell in shelf.cells if not self.is_filed(cell)]
            flushed = FamilyCells(fresh, shelf.family, shelf.now).list_compacted()
            left = [
                cell
                for cell in shelf.cells
                if is_delete(cell) or cell in flushed or self.is_filed(cell)
            ]
            kept = FamilyCells(left, shelf.family, shelf.now).list_compacted()
            found += [
                (row, cell)
                for cell in kept
                if is_delete(cell) and (not cell.qualifier or self.is_filed(cell))
                if cell not in shelf.list_compacted()
            ]
        return found

    def is_filed(self, cell: Cell) -> bool:
        """Return whether the cell was flushed and not written again since."""
        return any(cell is one for one in self.filed)

    def drop_ttls(self, step: steps.Step) -> steps.Step:
        """Return the step without times to live of puts that replace a put.

        HBase stores both puts and shows the older one again when the newer one expires: the second
        entry of `engines.differences`.
        """
        if not isinstance(step, steps.Mutate | steps.CheckAndMutate):
            return step
        there = {
            (cell.family, cell.qualifier, cell.timestamp)
            for row, cell in self.stored_cells
            if row == step.row and not is_delete(cell)
        }
        changes = []
        for change in step.changes:
            place = (change.family, change.qualifier, self.book.moment(change.after))
            taken = change.kind == CellType.PUT and place in there
            changes.append(replace(change, ttl_ms=None) if taken else change)
            there |= {place} if change.kind == CellType.PUT else set()
        return replace(step, changes=tuple(changes))

    def keep_marks_apart(self, step: steps.Step) -> steps.Step:
        """Return the step without two types of cells of the empty qualifier at one moment.

        HBase 2.6.4 passes over such a cell, once it has expired or a delete is older than all puts,
        by a seek to the same moment and the next type (getKeyForNextColumn). If a file holds just
        that cell, the seek never gets beyond it (generalizedSeek; the key sought has no sequence
        number): a read loses its handler, a compaction its thread, and the region is never
        compacted or closed again.
        """
        if not isinstance(step, steps.Mutate | steps.CheckAndMutate):
            return step
        kinds = {
            (cell.family, cell.timestamp): cell.cell_type
            for row, cell in self.stored_cells
            if row == step.row and not cell.qualifier
        }
        changes = [
            change
            for change in step.changes
            if change.qualifier
            or kinds.setdefault((change.family, self.book.moment(change.after)), change.kind)
            == change.kind
        ]
        if not changes:
            return steps.Get((step.row,), steps.EVERYTHING)
        return replace(step, changes=tuple(changes))

    def sentinels(self, step: steps.Divide | steps.Settle) -> list[steps.Step]:
        """Return puts as old as each kept delete, one row for each compacted region.

        HBase drops a kept delete that is older than every put of the same files, whatever their
        rows: the first entry of `engines.differences`. These puts prevent that.
        """
        book: Book = self.book.store
        halves = {step.at} if isinstance(step, steps.Divide) else set()
        splits = sorted({*book.splits, *halves} - {b""})
        bounds = list(zip([b"", *splits], [*splits, b""], strict=True))
        found: list[steps.Step] = []
        for start, stop in bounds:
            times = {
                (cell.family, cell.timestamp)
                for row, cell in self.stored_cells
                if is_delete(cell) and start <= row and (row < stop or not stop)
                if book.families[cell.family].keep_deleted != "FALSE"
            }
            changes = [
                steps.Change(family, SENTINEL + str(at).encode(), at - self.book.start)
                for family, at in sorted(times)
            ]
            if changes:
                found.append(steps.Mutate(start or b"\x00", tuple(changes)))
        return found


def strip_ttls(found: Any) -> Any:
    """Return rows without the cells' own times to live, which HBase does not return."""
    if isinstance(found, RowCells):
        return RowCells(found.row, [cell._replace(ttl_ms=None) for cell in found.cells])
    return [strip_ttls(one) for one in found] if isinstance(found, list) else found
