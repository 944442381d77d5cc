"""Delete the rows that meet some conditions: the versions that a scan has read, in all tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from rowkey.explanations import Explanation
from rowkey.plan import ResidualFilter
from rowkey.progress import Progress, ReportProgress, ignore_progress
from rowkey.table.batch import DEFAULT_BATCH_ROWS, Batch
from rowkey.table.row_writer import RowWriter
from rowkey.table.scans import Scan
from rowkey.table.scans.merge import ScanItem

if TYPE_CHECKING:
    from rowkey.table.joint_writes import ReadableTable

MAX_EXAMPLE_ROWS = 5
"""Rows that are named of those that are deleted: the first ones."""


@dataclass(slots=True)
class BulkDelete:
    """What a delete by conditions has deleted, or would delete.

    Args:
        scan: the scan that found the rows. Its `undecodable_rows`, and of a dry run its
            `undeclared_cells`, are what is not deleted.
        explanation: how the rows are found: the table and the ranges that are read.
        tables: the names of the tables that the rows are deleted in.
        is_dry_run: whether nothing was deleted.
        row_count: the rows that were deleted, or would be.
        changed_count: rows that were left because they did not meet the conditions any more when
            they were to be deleted.
        first_rows: the first rows that were found.
    """

    scan: Scan
    explanation: Explanation
    tables: tuple[str, ...]
    is_dry_run: bool = False
    row_count: int = 0
    changed_count: int = 0
    first_rows: list[dict[str, Any]] = field(default_factory=list)


def delete_scanned_rows(
    table: ReadableTable,
    scan: Scan,
    explanation: Explanation,
    *,
    is_dry_run: bool,
    progress: ReportProgress | None,
) -> BulkDelete:
    """Delete the rows of a scan; see `Table.delete_where`."""
    report = progress or ignore_progress
    batch = _VersionDeletes(table, scan)
    names = tuple(one.active_design.table for one in batch.state.all_states)
    result = BulkDelete(scan, explanation, names, is_dry_run)
    if not is_dry_run:
        clock = batch.state.writer.clock
        with clock.lock_all_rows():
            # Puts of this process have later timestamps from now on than the cells that are read.
            clock.stamp_all_rows(is_exclusive=True)
    read_count, phase = 0, "counting" if is_dry_run else "deleting"
    report(Progress(phase, unit="rows"))
    with closing(scan.read_stored_rows()) as rows, nullcontext() if is_dry_run else batch:
        while some := list(islice(rows, DEFAULT_BATCH_ROWS)):
            missing_count = MAX_EXAMPLE_ROWS - len(result.first_rows)
            result.first_rows += [row for _, row in some[:missing_count]]
            if not is_dry_run:
                batch.delete_rows(some)
            read_count += len(some)
            report(Progress(phase, read_count, unit="rows"))
    result.changed_count = batch.changed_count
    result.row_count = read_count - batch.changed_count
    return result


class _VersionDeletes(Batch):
    """Deletes rows as a scan has read them, if they still meet its conditions.

    Only the versions that were read are deleted: whatever is put later stays. Where a condition is
    on a field that can change, the rows are read again before. On an engine of one process no row
    can change between this read and the delete.

    Args:
        table: the table that is written.
        scan: the scan that reads the rows.
    """

    def __init__(self, table: ReadableTable, scan: Scan) -> None:
        super().__init__(table)
        self.read_table, self.scan = table, scan
        self.changed_count = 0
        layout, bounds = scan.design.layout, scan.bound_read.bounds
        is_constant = bounds.keys() <= {*layout.identity_fields}.difference(layout.lossy_key_fields)
        self.conditions = ResidualFilter(() if is_constant else bounds, bounds, scan.fields)
        self.unsent_rows: dict[int, Mapping[str, Any]] = {}
        """The identity of each row that is not sent yet, by its number."""

    def delete_rows(self, rows: Sequence[tuple[ScanItem, Mapping[str, Any]]]) -> None:
        """Delete rows that were read, and send the deletes."""
        names = self.scan.design.layout.identity_fields
        identities = [{name: row[name] for name in names} for _, row in rows]
        for identity, newest in zip(identities, self._find_versions(rows, identities), strict=True):
            if newest is None:
                self.changed_count += 1
                continue
            self.unsent_rows[self.row_count] = identity
            self._add_row(partial(RowWriter.build_delete, timestamp=newest), identity)
        self.send()
        self.unsent_rows.clear()

    def _find_versions(
        self,
        rows: Sequence[tuple[ScanItem, Mapping[str, Any]]],
        identities: Sequence[Mapping[str, Any]],
    ) -> Iterator[int | None]:
        """Yield the timestamp of the newest cell of each row; None of one that is gone since.

        An index is written before its table: its cell may be of a put that no one has read yet.
        """
        if self.scan.lookup is None:
            columns = {(slot.family, slot.qualifier) for slot in self.scan.design.layout.slots}
            for item, _ in rows:
                start = len(item.qualifier_prefix)
                yield max(
                    cell.timestamp
                    for cell in item.cells
                    if (cell.family, cell.qualifier[start:]) in columns
                )
            return
        state = self.read_table.get_state()
        columns = {(slot.family, slot.qualifier) for slot in state.active_design.layout.slots}
        for cells in state.getter.get_cells(identities):
            yield max(
                (cell.timestamp for cell in cells if (cell.family, cell.qualifier) in columns),
                default=None,
            )

    def _apply_changes(self, numbered_changes: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
        if not self.conditions:
            return super()._apply_changes(numbered_changes)
        getter = (
            self.read_table.get_state().getter
        )  # before the lock, as it may wait for another thread
        clock = self.state.writer.clock
        with nullcontext() if getter.store.is_shared else clock.lock_all_rows():
            found = getter.get_rows([self.unsent_rows[number] for number, _ in numbered_changes])
            matching_changes = [
                change
                for change, row in zip(numbered_changes, found, strict=True)
                if row is not None and self.conditions(row)
            ]
            written = super()._apply_changes(matching_changes)
        self.changed_count += len(numbered_changes) - len(matching_changes)
        return written
