"""The copier: copies the rows of a table to a table with another design while clients write both.

It copies all versions, timestamps and delete markers: copying a chunk twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rowkey.catalog import Catalog
from rowkey.cells import LATEST, RowCells
from rowkey.engines import RAW_CELLS
from rowkey.errors import Conflict
from rowkey.move.copy_progress import CopyProgress, load_progress
from rowkey.move.rate_limit import RateLimit
from rowkey.move.table_pass import CHUNK_BYTES, CHUNK_ROWS, TablePass, pause_collector
from rowkey.progress import ReportProgress
from rowkey.table import GenerationState, RowTranslator

if TYPE_CHECKING:
    from rowkey.move.recent_rows import RecentRows


@dataclass(frozen=True, slots=True)
class CopyResult:
    """What a copier has done.

    Args:
        is_complete: whether all row keys were covered; False if it was stopped.
        row_count: stored rows that were copied, also before the copier was started again; deleted
            ones count, and rows of the design that share a row key count once.
        left_out_rows: rows that were left out; see `CopyProgress`.
        untranslatable_row: the key of the first left out row since the copier was started.
        untranslatable_reason: why it was left out.
    """

    is_complete: bool
    row_count: int
    left_out_rows: int
    untranslatable_row: bytes | None
    untranslatable_reason: str


class RowCopier(TablePass):
    """Copies the rows of a source to a target, from where an earlier copier of the pass stopped.

    Args:
        source: the state of the table that is read.
        target: the state of the table that is written; its attribute
            `hbase.hstore.time.to.purge.deletes` must outlast the copy if clients write meanwhile.
        since_ms: copy only rows with a cell that is not older, for a pass that catches up with
            writers that do not use rowkey; None for all rows.
        recent_rows: what the target has of them; rows of which it has all cells are not written.

    The other arguments are those of `TablePass`.

    Raises:
        DesignRefused: see `RowTranslator`.
        InvalidArgument: a number is out of range.
    """

    def __init__(
        self,
        source: GenerationState,
        target: GenerationState,
        catalog: Catalog | None,
        *,
        since_ms: int | None = None,
        recent_rows: RecentRows | None = None,
        limit: RateLimit | None = None,
        threads: int | None = None,
        chunk_rows: int = CHUNK_ROWS,
        chunk_bytes: int = CHUNK_BYTES,
        progress: ReportProgress | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(
            source.store,
            source.active_design.table,
            replace(RAW_CELLS, time_range=(since_ms or 0, LATEST)),
            target.store,
            catalog,
            limit=limit,
            threads=threads,
            chunk_rows=chunk_rows,
            chunk_bytes=chunk_bytes,
            progress=progress,
            check=check,
        )
        self._writer, self._target_name = target.writer, target.active_design.table
        self._since_ms, self._recent_rows = since_ms, recent_rows
        self.translator = RowTranslator(source, target)

    def run(self) -> CopyResult:
        """Copy all rows that are not copied yet.

        Returns:
            What was done; it is complete only if every interval was copied to its end.

        Raises:
            Conflict: another pass over the table is not complete.
            RowError: the target refuses a row.
            Unavailable: a table or the catalog does not answer. The progress is kept.

        Cost: about 4 µs a row of 100 bytes on an embedded engine.
        """
        progress = self._run_pass()
        return CopyResult(
            progress.is_complete,
            progress.row_count,
            progress.left_out_rows,
            self.translator.untranslatable_row,
            self.translator.untranslatable_reason,
        )

    @property
    def _left_out_count(self) -> int:
        return self.translator.untranslatable_count

    def _load_progress(self) -> CopyProgress | None:
        """Return the stored progress of this pass, None if it begins."""
        stored = None
        if self._catalog is not None:
            stored = load_progress(self._catalog, self._source_name)
        if stored is None or (stored.target, stored.since_ms) == (
            self._target_name,
            self._since_ms,
        ):
            return stored
        if stored.is_complete:
            return None
        what = f"an earlier copy of its rows to {stored.target} is not complete"
        if stored.since_ms is not None:
            what += f"; that copy began at changes since {stored.since_ms} ms"
        remedy = "Finish that copy first, or remove its stored progress to give it up."
        raise Conflict(f"table {self._source_name}", what, remedy=remedy)

    def _begin_progress(self, starts: Sequence[bytes], last_row: bytes) -> CopyProgress:
        return CopyProgress.start(self._target_name, starts, self._since_ms, last_row)

    def _handle_rows(self, rows: Sequence[RowCells]) -> bool:
        """Copy some rows to the target."""
        if self.translator.needs_whole_rows and self._since_ms is not None and rows:
            rows = self._source_store.get([row.row for row in rows], RAW_CELLS)
        with pause_collector():
            mutations = self.translator.translate(rows)
            if self._recent_rows is not None:
                has_all_cells = self._recent_rows.has_all_cells
                mutations = [one for one in mutations if not has_all_cells(one)]
        return self._write_slices(
            mutations, lambda piece: self._writer.send_mutations(piece, sync=self._sync)
        )
