"""Copies the readable rows of a damaged table into a new one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rowkey.cells import LATEST
from rowkey.engines.damage import Examination, Gap, RowInterval
from rowkey.engines.ordering.row_clock import CLOCK_SETBACK_MS
from rowkey.engines.pairs.layout import (
    NEXT_PIECE_START,
    PIECE_END,
    TAIL_BYTES,
    escape,
    unescape,
    unpack_tail,
)
from rowkey.engines.requests import TableSpec
from rowkey.engines.rocksdb.database import Database, to_column_family
from rowkey.engines.rocksdb.table_metadata import StoredRegionTracker
from rowkey.engines.rocksdb_salvage.examination import is_lost, join_intervals
from rowkey.engines.rocksdb_salvage.salvage_view import SalvageView

if TYPE_CHECKING:
    from rocksdict import WriteBatch

BATCH_CELLS = 8_192


class Copier:
    """Copies the readable rows of a damaged table into a new database.

    Args:
        view: the readable part of the table.
        database: the new database, empty.
        examination: the damage found in the table.
        keep_incomplete: whether to copy rows that lack cells or may hold older values.
    """

    def __init__(
        self,
        directory: Path,
        view: SalvageView,
        database: Database,
        examination: Examination,
        *,
        keep_incomplete: bool,
    ) -> None:
        self._directory, self._view, self._database = directory, view, database
        self._examination, self._is_keeping_incomplete = examination, keep_incomplete
        self.report_progress: Callable[[int], None] = lambda _: None
        """Called with the number of cells read so far."""
        self._region_tracker = StoredRegionTracker()
        self.copied_count = self.skipped_count = 0
        self.highest_timestamp = -1
        """The highest timestamp of a copied cell that is not in the future."""
        self.new_gaps: list[Gap] = []
        """Key ranges that became unreadable since the table was examined."""

    def copy_families(self, spec: TableSpec) -> list[RowInterval]:
        """Copy all families of the table, and return the rows that lack cells.

        On a failing disk, more cells may be unreadable than when the table was examined. Rows that
        lack cells only since then are removed from the new table.
        """
        omitted_rows: Sequence[RowInterval] = (
            () if self._is_keeping_incomplete else self._examination.lost_rows
        )
        for family in spec.families:
            self._copy_family(family.name, omitted_rows)
        new_lost_rows = [(gap.first_row, gap.last_row) for gap in self.new_gaps]
        if new_lost_rows and not self._is_keeping_incomplete:
            for family in spec.families:
                removed = sum(
                    self._remove_rows(family.name, rows) for rows in join_intervals(new_lost_rows)
                )
                self.copied_count, self.skipped_count = (
                    self.copied_count - removed,
                    self.skipped_count + removed,
                )
        return join_intervals([*self._examination.lost_rows, *new_lost_rows])

    def _copy_family(self, family: str, omitted_rows: Sequence[RowInterval]) -> None:
        """Copy the rows of one family, except some, and note new unreadable ranges."""
        database, name = self._database, to_column_family(family)
        if name not in self._examination.gaps:  # nothing of it is there
            return
        handle, batch = database.family_handles[family], database.start_batch()
        scan = self._view.build_scan(self._view.build_source(name, self._directory), name)
        prefix, is_left_out = b"", False
        future = time.time_ns() // 1_000_000 + CLOCK_SETBACK_MS
        for key, value in scan.read_pairs():
            if not prefix or not key.startswith(prefix):
                prefix = key[: key.index(PIECE_END) + 1]
                is_left_out = is_lost(unescape(prefix[:-1]), omitted_rows)
            if is_left_out:
                self.skipped_count += 1
                continue
            batch.put(key, value, handle)
            timestamp = LATEST - unpack_tail(key, len(key) - TAIL_BYTES)[0]
            if self.highest_timestamp < timestamp <= future:
                self.highest_timestamp = timestamp
            self.copied_count += 1
            if batch.len() >= BATCH_CELLS:
                self._write_batch(batch)
                self.report_progress(self.copied_count + self.skipped_count)
                batch = database.start_batch()
        self._write_batch(batch)
        known_gaps = {(gap.previous_key, gap.next_key) for gap in self._examination.gaps[name]}
        self.new_gaps += [
            gap for gap in scan.gaps if (gap.previous_key, gap.next_key) not in known_gaps
        ]

    def _write_batch(self, batch: WriteBatch) -> None:
        """Write a batch of changes, with its origin."""
        self._region_tracker.add_all_counters_and_progress(batch, -1, self._database.origin)
        self._database.write_batch(batch, sync=False)

    def _remove_rows(self, family: str, rows: RowInterval) -> int:
        """Delete copied rows of a family again, and return how many cells they had."""
        database, (first, last) = self._database, rows
        handle, batch, removed = database.family_handles[family], database.start_batch(), 0
        source = database.sources[family]
        pairs = source.open_iterator()
        pairs.seek(b"" if first is None else escape(first) + PIECE_END)
        stop = None if last is None else escape(last) + NEXT_PIECE_START
        while pairs.valid() and (stop is None or pairs.key() < stop):
            batch.delete(pairs.key(), handle)
            removed += 1
            if batch.len() >= BATCH_CELLS:
                self._write_batch(batch)
                batch = database.start_batch()
            pairs.next()
        source.raise_status(pairs)
        self._write_batch(batch)
        return removed
