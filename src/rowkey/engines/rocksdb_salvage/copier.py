"""The copying of what can be read of a table into a new one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rowkey.cells import LATEST
from rowkey.engines.ordering.row_clock import SET_BACK_MS
from rowkey.engines.pairs.layout import BEHIND, END, TAIL, escape, read_tail, unescape
from rowkey.engines.rocksdb.database import column_family
from rowkey.engines.rocksdb_salvage.examination import is_lost, join_ranges

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rowkey.engines.damage import Examination, Gap, Rows
    from rowkey.engines.requests import TableSpec
    from rowkey.engines.rocksdb.database import Database
    from rowkey.engines.rocksdb_salvage.view import SalvageView

BATCH_CELLS = 8_192


class Copier:
    """Copies what can be read of a table into a new database.

    Args:
        directory: the table's.
        view: what can be read of it.
        database: the new one, empty.
        found: what was found in the table.
        keep_incomplete: whether rows are copied that lack cells, or may be older than they were.
    """

    def __init__(
        self,
        directory: Path,
        view: SalvageView,
        database: Database,
        found: Examination,
        *,
        keep_incomplete: bool,
    ) -> None:
        self._directory, self._view, self._database = directory, view, database
        self._found, self._keeps_incomplete = found, keep_incomplete
        self.progress: Callable[[int], None] = lambda _: None
        """Told how many cells were read so far."""
        self.copied = self.skipped = 0
        self.highest_timestamp = -1
        """The highest timestamp of a copied cell, but for those that were given in the future."""
        self.new_gaps: list[Gap] = []
        """What could be read when the table was examined, and not any more."""

    def copy_families(self, spec: TableSpec) -> list[Rows]:
        """Copy all families; return the rows that lack cells.

        Of a disk that is dying more may be lost than when the table was examined. Rows that lack
        cells only since then are removed again from what was copied.
        """
        left_out: Sequence[Rows] = () if self._keeps_incomplete else self._found.lost_rows
        for family in spec.families:
            self._copy_family(family.name, left_out)
        new = [(gap.first_row, gap.last_row) for gap in self.new_gaps]
        if new and not self._keeps_incomplete:
            for family in spec.families:
                removed = sum(self._remove_rows(family.name, rows) for rows in join_ranges(new))
                self.copied, self.skipped = self.copied - removed, self.skipped + removed
        return join_ranges([*self._found.lost_rows, *new])

    def _copy_family(self, family: str, left_out: Sequence[Rows]) -> None:
        """Copy a family but for some rows, and note what became unreadable."""
        database, name = self._database, column_family(family)
        if name not in self._found.gaps:  # nothing of it is there
            return
        handle, batch = database.handles[family], database.start_batch()
        scan = self._view.scan(self._view.source(name, self._directory), name)
        prefix, is_left_out = b"", False
        future = time.time_ns() // 1_000_000 + SET_BACK_MS
        for key, value in scan.read():
            if not prefix or not key.startswith(prefix):
                prefix = key[: key.index(END) + 1]
                is_left_out = is_lost(unescape(prefix[:-1]), left_out)
            if is_left_out:
                self.skipped += 1
                continue
            batch.put(key, value, handle)
            timestamp = LATEST - read_tail(key, len(key) - TAIL)[0]
            if self.highest_timestamp < timestamp <= future:
                self.highest_timestamp = timestamp
            self.copied += 1
            if batch.len() == BATCH_CELLS:
                database.write(batch, sync=False)
                self.progress(self.copied + self.skipped)
                batch = database.start_batch()
        database.write(batch, sync=False)
        known = {(gap.after, gap.before) for gap in self._found.gaps[name]}
        self.new_gaps += [gap for gap in scan.gaps if (gap.after, gap.before) not in known]

    def _remove_rows(self, family: str, rows: Rows) -> int:
        """Remove rows from what was copied of a family; return how many cells they had."""
        database, (first, last) = self._database, rows
        handle, batch, removed = database.handles[family], database.start_batch(), 0
        source = database.sources[family]
        pairs = source.iterate()
        pairs.seek(b"" if first is None else escape(first) + END)
        stop = None if last is None else escape(last) + BEHIND
        while pairs.valid() and (stop is None or pairs.key() < stop):
            batch.delete(pairs.key(), handle)
            removed += 1
            if batch.len() == BATCH_CELLS:
                database.write(batch, sync=False)
                batch = database.start_batch()
            pairs.next()
        source.raise_status(pairs)
        database.write(batch, sync=False)
        return removed
