"""Retire earlier numbers of buckets: move their rows to the current places, then read only these.

While rows stand under several numbers, every client reads and deletes in all their places. So rows
are first copied, with their timestamps, to where the active number puts them. Once all are, and
every client has read so in the catalog, they are removed from the earlier places: a scan that began
before the copy was complete goes on under the new entry. At last the numbers are retired, and
clients forget the earlier places.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

from rowkey.catalog import Catalog, CatalogEntry, GenerationPhase, sync_attributes
from rowkey.cells import PURGE_DELAY_ATTRIBUTE, Cell, CellType, RowCells
from rowkey.engines import MAX_VERSIONS, CellSelection
from rowkey.errors import Conflict, DesignRefused, InvalidArgument, RowError
from rowkey.messages import pluralize
from rowkey.move.copy_progress import CopyProgress, load_progress, save_progress
from rowkey.move.move_record import MoveRecord
from rowkey.move.mover_lock import MoverLock
from rowkey.move.rate_limit import RateLimit
from rowkey.move.table_pass import TablePass
from rowkey.progress import ReportProgress, ignore_progress
from rowkey.regions import to_string_binary
from rowkey.table import (
    KEEP_ALL_DELETES,
    GenerationState,
    ReadCostChange,
    RowTranslator,
    Table,
    compare_read_costs,
    compute_wait_s,
    reconcile_attributes,
    wait_for_clients,
)

PROGRESS_NOTE = "buckets.progress"
"""The name of the note that holds how far a copy is."""
ALL_VERSIONS = CellSelection(versions=MAX_VERSIONS)
MAX_ATTEMPTS = 20
"""Times that a row is copied again because other clients change it meanwhile."""
MAX_PASSES = 10
"""Passes that remove rows: more than one only if other programs write to earlier places."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketRetirementResult(ReadCostChange):
    """The result of retiring earlier numbers of buckets, and what reads cost before and after.

    Args:
        generation: the number of the generation that all rows stand under now.
        retired_generations: the numbers of those that were retired.
        moved_rows: the rows that this call removed from earlier places.
    """

    generation: int
    retired_generations: tuple[int, ...]
    moved_rows: int


class BucketRetirement:
    """Retires all numbers of buckets but the one that rows are written under.

    The table stays in use. A call that was interrupted is repeated to go on.

    Args:
        table: the open table.
        limit: how many rows are written a second.
        progress: called with `wait`, `copy` or `remove`, how much is done, and of how much.
        pause: waits for a number of seconds.

    >>> import rowkey
    >>> fields = {"id": "u64", "note": "text"}
    >>> design = rowkey.Design("notes", "[bucket(id, 4)][id]", fields=fields)
    >>> with rowkey.open(design, "memory:", max_stale=0.01) as notes:
    ...     notes.put({"id": 1, "note": "a"})
    ...     _ = notes.set_buckets(8)
    ...     before = notes.buckets.keys_per_get
    ...     _ = BucketRetirement(notes).run()
    ...     before, notes.buckets.keys_per_get, notes.get(id=1)["note"]
    (2, 1, 'a')
    """

    def __init__(
        self,
        table: Table,
        *,
        limit: RateLimit | None = None,
        progress: ReportProgress | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.table, self.limit, self.pause = table, limit, pause
        self.progress = progress or ignore_progress
        self._tracker = table.tracker
        self._record = MoveRecord(
            table.catalog, table.design.table, self._tracker.lease.adopt_entry
        )

    def run(self) -> BucketRetirementResult:
        """Move the rows to their current places, and retire the earlier numbers.

        Raises:
            DesignRefused: a field is the cell timestamp, or a family keeps deleted cells.
            Conflict: another process retires numbers of the table, or another change of it is under
                way; the number of buckets is changed meanwhile; or cells cannot be moved with their
                rows.
            Unavailable: the catalog or the engine does not answer; call it again to go on.

        Cost: two reads of the whole table, four more of the rows that move, two writes of them, and
            a major compaction.
        """
        self._check(self._tracker.lease.renew_entry())
        with MoverLock(self._record, self.pause, "retirement") as self._lock:
            entry = self._tracker.lease.renew_entry()
            self._check(entry)
            before = self._tracker.build_state(entry)
            moved_rows = 0
            if len(entry.live_generations) == 1 and not before.retired_designs:
                return _build_result(before, before, moved_rows)
            if before.has_several_counts or before.retired_designs:
                self._keep_deletes(entry)
                if before.has_several_counts and not entry.copied_generations:
                    self._wait(entry)  # until no client writes under an earlier number
                    self._run_place_pass(_CopyPass, entry)
                    entry = self._advance(entry, GenerationPhase.COPIED)
                moved_rows = self._empty_earlier_places(entry)
                self._drop_deletes()
                self._tracker.store.flush()
                self._tracker.store.compact()  # a later number may put rows where these stood
            after = self._advance(entry, GenerationPhase.RETIRED)
            self._forget_progress()
            reconcile_attributes(self.table.catalog, self._record.source, self._tracker.store)
            return _build_result(before, self._tracker.build_state(after), moved_rows)

    def _check(self, entry: CatalogEntry) -> None:
        """Raise unless earlier numbers of the table can be retired now."""
        name, design = self._record.source, self._tracker.last_state.active_design
        if entry.move is not None or entry.moved_from:
            what = "its rows are being moved to another table, or from one"
            remedy = "Finish the move, or give it up: rowkey move finish."
            raise Conflict(f"table {name}", what, remedy=remedy)
        if entry.announced_generation is not None:
            what = "a change of its number of buckets is under way"
            remedy = "Finish it first: rowkey buckets set with the same number."
            raise Conflict(f"table {name}", what, remedy=remedy)
        remedy = "Move the rows to a table of one number instead: rowkey move plan."
        if (stamp := design.layout.cell_timestamp) is not None:
            what = (
                f"{stamp.field.name} is the cell timestamp, so of two writes of a row with one "
                "time it would be unknown which is later once both stand in one place"
            )
            raise DesignRefused(f"field {stamp.field.name}", what, remedy=remedy)
        for family in self._tracker.store.families_and_attributes[0]:
            if family.keep_deleted != "FALSE":
                what = (
                    "it keeps deleted cells, so the deletes of moved rows would stay and hide "
                    "rows of a later number of buckets"
                )
                raise DesignRefused(f"families.{family.name}.keep_deleted", what, remedy=remedy)

    def _wait(self, entry: CatalogEntry) -> None:
        """Wait until every client uses the entry, or has stopped."""
        seconds = compute_wait_s(entry, self.table.engine)
        wait_for_clients(seconds, self.progress, "wait", self.pause, self._tracker.lease.clock)

    def _advance(self, entry: CatalogEntry, phase: GenerationPhase) -> CatalogEntry:
        """Note in the catalog how far the earlier generations are; return the entry."""

        def advance(now: CatalogEntry) -> CatalogEntry:
            _require_same_generations(self._record.source, now, entry)
            return now.advance_earlier_generations(phase)

        return self._lock.change(advance)

    def _run_place_pass(self, kind: type[_PlacePass], entry: CatalogEntry) -> _PlacePass:
        """Run a pass over all rows of the table; return it."""

        def check() -> None:
            self._lock.check()
            now = self._tracker.lease.get_entry()
            _require_same_generations(self._record.source, now, entry)

        active = replace(entry, generations=(entry.active_generation,))
        one = kind(
            self._tracker.build_state(_revive_generations(entry)),
            self._tracker.build_state(active),
            self.table.catalog if kind is _CopyPass else None,  # a removal begins anew
            limit=self.limit,
            progress=self.progress,
            check=check,
        )
        one.run()
        return one

    def _keep_deletes(self, entry: CatalogEntry) -> None:
        """Let compactions keep deletes, so that they hide cells that are copied later."""
        self._lock.check()
        store = self._tracker.store
        attributes = store.families_and_attributes[1]
        if PURGE_DELAY_ATTRIBUTE not in attributes:
            kept = {PURGE_DELAY_ATTRIBUTE: KEEP_ALL_DELETES, **attributes}
            store.replace_attributes(sync_attributes(kept, entry))

    def _drop_deletes(self) -> None:
        """Let compactions drop deletes again."""
        self._lock.check()
        store = self._tracker.store
        attributes = dict(store.families_and_attributes[1])
        if attributes.get(PURGE_DELAY_ATTRIBUTE) == KEEP_ALL_DELETES:
            del attributes[PURGE_DELAY_ATTRIBUTE]
            store.replace_attributes(attributes)

    def _forget_progress(self) -> None:
        save_progress(self.table.catalog, self._record.source, None, PROGRESS_NOTE)

    def _empty_earlier_places(self, entry: CatalogEntry) -> int:
        """Remove all rows from earlier places; return how many."""
        removed_rows = 0
        for _ in range(MAX_PASSES):
            self._wait(entry)  # until no client reads as before the copy was complete
            done = self._run_place_pass(_RemovePass, entry)
            removed_rows += done.removed_rows
            if not done.late_rows:
                return removed_rows
        what = "another program writes rows where earlier numbers of buckets put them"
        raise Conflict(f"table {self._record.source}", what, remedy="Stop it, then go on.")


class _Displacement(NamedTuple):
    """Cells of a stored row that stand where an earlier number puts them.

    Args:
        row: its row key.
        copies: the cells under the row keys of the active number, otherwise unchanged.
    """

    row: bytes
    copies: list[RowCells]


class _PlacePass(TablePass):
    """A pass over the rows of a table that do not stand where the active number puts them.

    Args:
        state: the state of the table with all numbers.
        active_state: its state with the active number alone.
        options: those of `TablePass`.
    """

    NOTE = PROGRESS_NOTE

    def __init__(
        self,
        state: GenerationState,
        active_state: GenerationState,
        catalog: Catalog | None,
        **options: Any,
    ) -> None:
        name, number = state.active_design.table, state.entry.active_generation.number
        super().__init__(state.store, name, ALL_VERSIONS, state.store, catalog, **options)
        self._state, self._active_state = state, active_state
        self._pass_name = f"{name}, generation {number}, {self.PHASE}"
        self._translator = RowTranslator(state, active_state)
        families = state.store.families_and_attributes[0]
        self._versions = {family.name: family.versions for family in families}
        self.staying_cells = 0
        """Cells that cannot move with their rows."""
        self.staying_row: bytes | None = None
        """The key of the first row that has one."""
        self.late_rows = 0
        """Rows that were not copied before they were to be removed."""
        self.removed_rows = 0
        """Rows that were removed."""

    def run(self) -> None:
        """Handle all rows that were not handled yet."""
        self._run_pass()

    @property
    def _left_out_count(self) -> int:
        return self._translator.untranslatable_count

    def _load_progress(self) -> CopyProgress | None:
        if self._catalog is None:
            return None
        stored = load_progress(self._catalog, self._source_name, PROGRESS_NOTE)
        return None if stored is None or stored.target != self._pass_name else stored

    def _begin_progress(self, starts: Sequence[bytes], last_row: bytes) -> CopyProgress:
        return CopyProgress.start(self._pass_name, starts, None, last_row)

    def _find_movable(self, rows: Sequence[RowCells]) -> list[_Displacement]:
        """Return the displaced rows among some, before anything of them is kept as done.

        Raises:
            Conflict: cells cannot move with their rows.
        """
        displaced = self._find_displaced(rows)
        if self.staying_row is not None:
            what = (
                f"{pluralize(self.staying_cells, 'cell')} cannot move with their rows to another "
                "place, such as those of columns that the design does not declare"
            )
            remedy = "Declare the columns, or delete the cells; then run it again."
            row = to_string_binary(self.staying_row)
            raise Conflict(f"row key {row}", what, remedy=remedy)
        return displaced

    def _find_displaced(self, rows: Sequence[RowCells]) -> list[_Displacement]:
        """Return the rows among some that stand where an earlier number puts them.

        Rows of other programs, which no key of the design describes, are none.
        """
        if not self._active_state.active_design.key.is_salted:
            left_out = self._left_out_count
            copies = self._translator.translate(rows)
            if (
                left_out == self._left_out_count
                and len(copies) == len(rows)
                and all(len(a.cells) == len(b.cells) for a, b in zip(rows, copies, strict=True))
            ):
                pairs = zip(rows, copies, strict=True)
                return [_Displacement(a.row, [b]) for a, b in pairs if a.row != b.row]
        found = (self._find_displacement(row) for row in rows if row.cells)
        return [one for one in found if one.copies]

    def _find_displacement(self, row: RowCells) -> _Displacement:
        """Return the cells of a row that stand where an earlier number puts them."""
        if self._active_state.active_design.key.is_salted and self._is_in_place(row):
            return _Displacement(row.row, [])
        left_out = self._left_out_count
        copies = self._translator.translate([row])
        displaced = [one for one in copies if one.row != row.row]
        staying = len(row.cells) - sum(len(one.cells) for one in copies)
        is_known = left_out == self._left_out_count
        is_stuck = self._is_of_earlier_key(row) if not is_known else not self._is_in_place(row)
        if staying and (displaced or is_stuck):
            with self._lock:
                self.staying_cells += staying
                self.staying_row = self.staying_row or row.row
        return _Displacement(row.row, displaced)

    def _is_of_earlier_key(self, row: RowCells) -> bool:
        """Return whether only an earlier number gives a row key that tells no whole row."""
        try:
            self._state.combined_design.key.decode(row.row)
        except (InvalidArgument, RowError):
            return False  # a row of another program
        try:
            self._active_state.active_design.key.decode(row.row)
        except (InvalidArgument, RowError):
            return True
        return False

    def _is_in_place(self, row: RowCells) -> bool:
        """Return whether a row stands under one of the row keys of the active number."""
        try:
            values = self._state.decode_identity(row.row, row.cells)
            return row.row in self._active_state.writer.encode_row_keys(values)
        except (InvalidArgument, RowError):
            return False

    def _copy_rows(self, displaced: Sequence[_Displacement]) -> None:
        """Copy cells to their current places, until these have all that the earlier ones show.

        A delete by another client that comes after the read is made in both places, and hides the
        copy: the table keeps its deletes meanwhile.

        Raises:
            Conflict: deletes in the current places hide the copies.
        """
        for _ in range(MAX_ATTEMPTS):
            missing = self._find_missing(displaced)
            if not missing:
                return
            self._send_mutations(missing)
            keys = [one.row for one in displaced]
            displaced = self._find_displaced(self._source_store.get(keys, ALL_VERSIONS))
        row = to_string_binary(missing[0].row)
        what = f"a delete hides each of {MAX_ATTEMPTS} copies of its cells from an earlier place"
        remedy = "Run a major compaction, which removes the delete, then try again."
        raise Conflict(f"row key {row}", what, remedy=remedy)

    def _send_mutations(self, mutations: Sequence[RowCells]) -> None:
        """Write mutations if this process may still write: their rows were read some time ago."""
        self._check()
        self._state.writer.send_mutations(mutations, sync=self._sync)

    def _find_missing(self, displaced: Iterable[_Displacement]) -> list[RowCells]:
        """Return the copies of cells that their current places lack, newer versions considered."""
        copies: dict[bytes, dict[Cell, None]] = defaultdict(dict)
        for one in displaced:
            for copy in one.copies:
                copies[copy.row].update(dict.fromkeys(copy.cells))
        stored_rows = self._source_store.get(list(copies), ALL_VERSIONS)
        missing = []
        for stored in stored_rows:
            times: dict[tuple[str, bytes], list[int]] = defaultdict(list)
            for cell in stored.cells:
                times[cell[:2]].append(cell.timestamp)
            cells = [
                cell
                for cell in copies[stored.row]
                if cell.timestamp not in times[cell[:2]]
                and sum(at > cell.timestamp for at in times[cell[:2]]) < self._versions[cell.family]
            ]
            if cells:
                missing.append(RowCells(stored.row, cells))
        return missing


class _CopyPass(_PlacePass):
    """Copies rows to where the active number puts them."""

    def _handle_rows(self, rows: Sequence[RowCells]) -> bool:
        return self._write_slices(self._find_movable(rows), self._copy_rows)


class _RemovePass(_PlacePass):
    """Removes rows from earlier places that stand in their current ones too."""

    PHASE = "remove"

    def _handle_rows(self, rows: Sequence[RowCells]) -> bool:
        return self._write_slices(self._find_movable(rows), self._remove_rows)

    def _remove_rows(self, displaced: Sequence[_Displacement]) -> None:
        """Delete cells in their earlier places; those that were not copied are copied instead."""
        missing = {one.row for one in self._find_missing(displaced)}
        late = [one for one in displaced if any(copy.row in missing for copy in one.copies)]
        self._copy_rows(late)
        late_keys = {one.row for one in late}
        removed = [one for one in displaced if one.row not in late_keys]
        deletes = [RowCells(one.row, _delete_columns(one.copies)) for one in removed]
        self._send_mutations(deletes)
        with self._lock:
            self.late_rows += len(late)
            self.removed_rows += len(removed)


def _delete_columns(copies: Iterable[RowCells]) -> list[Cell]:
    """Return the deletes of all columns of a row, up to the newest version of each."""
    newest: dict[tuple[str, bytes], int] = {}
    for cell in chain.from_iterable(one.cells for one in copies):
        newest[cell[:2]] = max(newest.get(cell[:2], 0), cell.timestamp)
    return [
        Cell(*column, timestamp, cell_type=CellType.DELETE_COLUMN)
        for column, timestamp in newest.items()
    ]


def _revive_generations(entry: CatalogEntry) -> CatalogEntry:
    """Return an entry in which rows may stand under retired numbers too.

    A client that died after a write that came too late has left a row there.
    """
    generations = tuple(
        replace(one, phase=GenerationPhase.LIVE) if one.phase is GenerationPhase.RETIRED else one
        for one in entry.generations
    )
    return replace(entry, generations=generations)


def _require_same_generations(table: str, now: CatalogEntry, entry: CatalogEntry) -> None:
    """Raise unless an entry still has the generations of an earlier one, and no move."""
    if now.generations != entry.generations or now.move is not None:
        what = "another client has changed its numbers of buckets meanwhile, or moves its rows"
        remedy = "See rowkey buckets history, then decide again."
        raise Conflict(f"table {table}", what, remedy=remedy)


def _build_result(
    before: GenerationState, after: GenerationState, moved_rows: int
) -> BucketRetirementResult:
    active = after.entry.active_generation.number
    retired = (one.number for one in before.entry.live_generations if one.number < active)
    return BucketRetirementResult(
        generation=active,
        retired_generations=tuple(sorted(retired)),
        moved_rows=moved_rows,
        **compare_read_costs(before, after),
    )
