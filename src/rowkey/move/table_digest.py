"""The scan of one table for a comparison: its rows hashed block by block, bad rows set aside."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from rowkey.array_libraries import np, pa, pc
from rowkey.cells import Cell, RowCells
from rowkey.errors import InvalidArgument, RowError
from rowkey.rows import Layout, UndeclaredCell, UndeclaredCells, split_undeclared_rows
from rowkey.table import CarriedColumns, GenerationState, StayReason, read_cell_blocks

if TYPE_CHECKING:
    from rowkey.move.comparison_rules import ComparisonRules
    from rowkey.move.row_hashes import BoolArray, HashedRows, RowHasher


@dataclass(frozen=True, slots=True)
class SkippedRow:
    """A stored row that is no row of the design, so that it has nothing to be compared with.

    Args:
        reason: why it cannot be read.
    """

    row_key: bytes
    reason: str


@dataclass(slots=True)
class SideCounts:
    """What was read of one table.

    Args:
        rows: rows that were compared.
        cells: versions of fields that were compared.
        skipped_count: rows that could not be read.
        skipped: the first of these.
        carried: the undeclared cells that were compared, as the newest version of each.
        staying: the other cells, which a move leaves behind, by the reason.
    """

    rows: int = 0
    cells: int = 0
    skipped_count: int = 0
    skipped: list[SkippedRow] = field(default_factory=list)
    carried: UndeclaredCells = field(default_factory=UndeclaredCells)
    staying: dict[StayReason, UndeclaredCells] = field(default_factory=dict)

    def add_undeclared_cells(
        self,
        carried: CarriedColumns,
        row_key: bytes,
        event_prefixes: Collection[bytes],
        cells: Iterable[UndeclaredCell],
    ) -> None:
        """Add the undeclared cells of one row.

        Args:
            carried: which of them are moved along.
            event_prefixes: the prefixes of those events in it that have declared cells.
            cells: its undeclared cells, in their order.
        """
        reasons: dict[StayReason | None, list[UndeclaredCell]] = {}
        for one in _select_newest(cells):
            reason = carried.find_cell_stay_reason(one, event_prefixes)
            reasons.setdefault(reason, []).append(one)
        for reason, some in reasons.items():
            self.get_summary(reason).add_row(row_key, some, event_prefixes)

    def add_refused_row(self, layout: Layout, row: RowCells, listed: int, why: str) -> bool:
        """Add a row that the layout cannot read: all its cells stay behind.

        Returns:
            Whether it counts as unreadable: unless other programs alone have written it.
        """
        front = None if layout.has_shared_rows else b""
        undeclared = _select_newest(UndeclaredCell(front, cell) for cell in row.cells)
        self.get_summary(StayReason.ROW).add_row(row.row, undeclared, ())
        try:
            is_foreign = not layout.event_reader.split_cells(*row)[0]
        except RowError:
            is_foreign = False
        if not is_foreign:
            self.skipped_count += 1
            if len(self.skipped) < listed:
                self.skipped.append(SkippedRow(row.row, why))
        return not is_foreign

    def get_summary(self, reason: StayReason | None) -> UndeclaredCells:
        """Return the summary of the cells that stay for a reason; of the others if it is None."""
        if reason is None:
            return self.carried
        return self.staying.setdefault(reason, UndeclaredCells())


def _select_newest(cells: Iterable[UndeclaredCell]) -> list[UndeclaredCell]:
    """Return the newest version of each of some cells of a row, which come in their order."""
    return [next(same) for _, same in groupby(cells, key=lambda one: one.cell[:2])]


def hash_table(
    state: GenerationState,
    rules: ComparisonRules,
    counts: SideCounts,
    bins: BoolArray | None,
    listed: int,
) -> Iterator[HashedRows]:
    """Yield the rows of a table, hashed, in the order of the table.

    Args:
        state: the designs and the store of the table.
        rules: what is compared.
        counts: what was read is added here.
        bins: whether the rows of each bin are hashed; all if None.
        listed: how many unreadable rows are listed.
    """
    from rowkey.move.row_hashes import RowHasher

    hasher = RowHasher(state, rules, bins)
    for block in read_cell_blocks(state, rules.versions):
        for rows in _hash_readable(hasher, block, counts, listed):
            counts.rows += rows.row_count
            counts.cells += rows.cell_count
            yield rows
    if state.has_row_copies and hasher.layout.has_shared_rows:
        # Where copies were merged, cells that belong to no event were left out.
        for block in read_cell_blocks(state, merges_copies=False):
            _count_eventless_cells(hasher.layout, block, counts)


def _count_eventless_cells(layout: Layout, block: pa.RecordBatch, counts: SideCounts) -> None:
    """Count the cells of a block that belong to no event of their row."""
    try:
        found = list(split_undeclared_rows(layout, block))
    except RowError:  # a row that the merged read has counted
        if (middle := find_row_boundary(block)) is not None:
            for half in (block.slice(0, middle), block.slice(middle)):
                _count_eventless_cells(layout, half, counts)
        return
    for row_key, event_prefixes, cells in found:
        if some := [one for one in cells if one.event_prefix is None]:
            counts.get_summary(StayReason.EVENT).add_row(row_key, some, event_prefixes)


def _hash_readable(
    hasher: RowHasher, block: pa.RecordBatch, counts: SideCounts, listed: int
) -> Iterator[HashedRows]:
    """Yield the hashed rows of a block; halve it around rows that cannot be read.

    Cost: for each unreadable row, its block is decoded twice more.
    """
    try:
        rows = hasher.hash_block(block)
        undeclared = list(split_undeclared_rows(hasher.layout, block))
    except (RowError, InvalidArgument) as refusal:
        middle = find_row_boundary(block)
        if middle is None:
            counts.add_refused_row(hasher.layout, _to_row(block), listed, str(refusal))
            return
        for half in (block.slice(0, middle), block.slice(middle)):
            yield from _hash_readable(hasher, half, counts, listed)
    else:
        for one in undeclared:
            counts.add_undeclared_cells(hasher.rules.carried, *one)
        yield rows


def _to_row(block: pa.RecordBatch) -> RowCells:
    """Return the only row of a block of cells."""
    names = ("family", "qualifier", "timestamp", "value")
    lists = (block.column(name).to_pylist() for name in names)
    cells = [Cell(*one) for one in zip(*lists, strict=True)]
    return RowCells(block.column("row")[0].as_py(), cells)


def find_row_boundary(block: pa.RecordBatch) -> int | None:
    """Return the index of the cell nearest to the middle with which a row begins; None if none."""
    row_keys = block.column("row")
    if len(row_keys) < 2:
        return None
    begins = pc.not_equal(row_keys.slice(1), row_keys.slice(0, len(row_keys) - 1))
    starts = np.flatnonzero(begins.to_numpy(zero_copy_only=False)) + 1
    if not len(starts):
        return None
    return int(starts[np.abs(starts - len(row_keys) // 2).argmin()])
