"""A move of a table in use to a table with another design: steps that can be repeated."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

from rowkey.catalog import CatalogEntry, MovePhase, TableMove, sync_attributes
from rowkey.cells import PURGE_DELAY_ATTRIBUTE
from rowkey.design import Design
from rowkey.engines import Engine, get_time_ms, open_engine
from rowkey.errors import Conflict, InvalidArgument, InvalidDesign, Unavailable
from rowkey.messages import format_value
from rowkey.move.copy_progress import PROGRESS_NOTE
from rowkey.move.copying import LATE_MARGIN_MS, CatchUp, copy_all_rows
from rowkey.move.difference_repair import repair_differences
from rowkey.move.lost_cells import copy_rows_again, count_lone_cells, find_lost_cells
from rowkey.move.move_record import CAUGHT_UP_NOTE, VERIFICATION_NOTE, MoveRecord
from rowkey.move.mover_lock import MoverLock
from rowkey.move.preflight import MovePlan, is_begun_target, plan_move
from rowkey.move.rate_limit import validate_limit
from rowkey.move.status import MoveSettings, MoveStatus, read_status
from rowkey.move.staying_cells import (
    StayingCells,
    format_uncompared_consent,
    list_consents,
    list_staying_cells,
)
from rowkey.move.switch import Switch, SwitchResult, restore_stale_time
from rowkey.move.verification import (
    DEFAULT_LISTED,
    MAX_EXAMINED_ROWS,
    VerificationResult,
    verify_move,
)
from rowkey.progress import Progress, ReportProgress, ignore_progress
from rowkey.table import (
    KEEP_ALL_DELETES,
    GenerationState,
    GenerationTracker,
    MoveFollower,
    StayReason,
    Table,
    TableLocation,
    build_missing_error,
    check_table_name,
    compute_wait_s,
    find_moving_table,
    find_used_table,
    reconcile_attributes,
    rename_design,
    wait_for_clients,
)

if TYPE_CHECKING:
    AskConsent = Callable[[str, Sequence[StayingCells]], str]
    """Called with a consent that is missing and its cells; returns what the user has typed."""

NUMBERED = re.compile(r"_[0-9]+$")
"""The end of the name of a table that rows were moved to before."""


class Move:
    """The move of a table's rows to a table with another design, while clients use the table.

    Every method may be interrupted at any moment, and called again to go on. Clients that have the
    table open follow each step by themselves.

    Args:
        table: the name of the table that is moved, or of the one that it is moved to.
        url: the URL of the engine.
        engine: the engine, if this process has it open already.
        catalog: as for `rowkey.open`.
        pause: waits for a number of seconds.

    Raises:
        InvalidArgument: there is no such table.
        Unavailable: the engine or the catalog does not answer.

    >>> import rowkey
    >>> fields = {"host": "text", "ts": "timestamp_ms", "message": "text"}
    >>> old = rowkey.Design("logs", "[ts][host]", fields=fields)
    >>> new = rowkey.Design("logs", "[bucket(host, 4)][host][ts]", fields=fields)
    >>> with rowkey.open(old, "memory:move-example", max_stale=0.01) as logs:
    ...     logs.put({"host": "web-1", "ts": 1, "message": "disk full"})
    ...     with Move("logs", "memory:move-example") as move:
    ...         _ = move.run(new)
    ...         _ = move.cut_over()
    ...     logs.get(host="web-1", ts=1)["message"], str(logs.design.key)
    ('disk full', '[bucket(host, 4)][host][ts]')
    """

    def __init__(
        self,
        table: str,
        url: str,
        *,
        engine: Engine | None = None,
        catalog: str | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        check_table_name(table)
        self.url, self.pause, self._catalog_url = url, pause, catalog
        with ExitStack() as stack:
            self.engine = engine or stack.enter_context(open_engine(url, create=False))
            place = stack.enter_context(TableLocation(self.engine, table, url, catalog=catalog))
            moved = find_moving_table(place.catalog, table)
            if moved is None and not place.is_made:
                raise build_missing_error(url, table, self.engine)
            if moved is not None and moved != table:
                table = moved
                place = stack.enter_context(TableLocation(self.engine, table, url, catalog=catalog))
            self._place = place
            self.record = MoveRecord(place.catalog, table)
            self.source_name = table
            self._source: GenerationTracker | None = None
            self._target: GenerationTracker | None = None
            self._stack = stack.pop_all()

    @classmethod
    def from_table(cls, table: Table, url: str) -> Self:
        """Return the move of a table that this process has open, on an engine of one process."""
        move = cls(table.design.table, url, engine=table.engine)
        # The mover waits shorter than the table's lease, as nobody else can have the table open.
        move.record = replace(move.record, tell_client=table.follower.adopt_entry)
        return move

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what was opened; closing twice is harmless."""
        for tracker in (self._source, self._target):
            if tracker is not None:
                tracker.lease.close()
        self._stack.close()

    @property
    def source(self) -> GenerationTracker:
        """The table that is moved."""
        if self._source is None:
            self._source = self._place.open_source()
        return self._source

    @property
    def target(self) -> GenerationTracker:
        """The table that it is moved to."""
        if self._target is None:
            self._target = self._place.open_target(self._require_move().target, self.source)
        return self._target

    @property
    def _states(self) -> tuple[GenerationState, GenerationState]:
        """The states of the source and the target now."""
        return (self.source.get_state(), self.target.get_state())

    def _require_move(self) -> TableMove:
        """Return the record of the move.

        Raises:
            InvalidArgument: there is none.
        """
        move = self.record.read()
        if move is None:
            if (status := self.status).step == "finished":
                what = f"the move of {status.source} to {status.target} is finished"
                remedy = f"To go back, move again: rowkey move run {status.target} OLD_DESIGN."
                raise InvalidArgument("table", what, remedy=remedy)
            what = f"no move of the table {self.source_name} is under way"
            remedy = f"Begin one: rowkey move run OLD NEW --on {self.url}."
            raise InvalidArgument("table", what, remedy=remedy)
        return move

    def _require_open_move(self) -> TableMove:
        """Return the record of the move.

        Raises:
            InvalidArgument: there is none.
            Conflict: it is being finished, so that all that is left to do is to finish it.
        """
        move = self._require_move()
        if move.phase is MovePhase.FINISHED:
            what = f"its move to {move.target} was being finished, or is finished"
            option = "--drop-old" if move.is_target_primary else "--drop-new"
            remedy = f"Finish it first: rowkey move finish {self.source_name} {option}."
            raise Conflict(f"table {self.source_name}", what, remedy=remedy)
        return move

    # Steps

    def plan(
        self,
        design: Design,
        *,
        splits: Sequence[bytes] | None = None,
        progress: ReportProgress | None = None,
    ) -> MovePlan:
        """Return what moving the table to a design will do, and what blocks it; changes nothing.

        Args:
            design: the new design.
            splits: as for `start`.
            progress: called with `collisions` and how many rows are read, where that is needed.

        Cost: some thousand rows are read; all where the designs do not prove that each row gets a
            key of its own.
        """
        follower = MoveFollower(self.source, self._place.open_target)
        return plan_move(
            Table(follower, self.engine, self.record.catalog),
            rename_design(design, self._choose_target_name(design)),
            splits=splits,
            progress=progress,
        )

    def start(
        self,
        design: Design,
        *,
        splits: Sequence[bytes] | None = None,
        progress: ReportProgress | None = None,
    ) -> TableMove:
        """Create the target and announce the move: clients then write both tables.

        Args:
            design: the new design; if its table has the source's name, the target gets another.
            splits: the row keys that the target's regions begin with, where the design leaves them
                to a sample.
            progress: as for `plan`.

        Returns:
            The record of the move; of a move to the same design that was begun before, that.

        Raises:
            InvalidDesign: with everything that blocks the move; nothing is changed.
            Conflict: another move of the table is under way.
        """
        move = self.record.read()
        if move is not None:
            self._require_same_design(self._require_open_move(), design)
            self._keep_deletes()
            return move
        plan = self.plan(design, splits=splits, progress=progress)
        blocking = plan.select_findings("error")
        if blocking:
            raise InvalidDesign([one.to_mistake() for one in blocking])
        target = rename_design(design, self._choose_target_name(design))
        usual_s = self.record.read_entry().max_stale_s
        self._create_target(target, splits, usual_s)
        new = TableMove(target.table, MovePhase.BOTH, False, get_time_ms(), usual_s)

        def announce(entry: CatalogEntry) -> CatalogEntry:
            if entry.move is not None:
                return entry
            if entry.announced_generation is not None or entry.copied_generations:
                what = "a change of its number of buckets is under way"
                remedy = "Wait until it is done, or finish it: rowkey buckets show says how."
                raise Conflict(f"table {self.source_name}", what, remedy=remedy)
            return replace(entry, move=new)

        self.record.remove_notes()
        entry = self.record.change(announce)
        assert entry.move is not None, "it was just written"
        self._require_same_design(entry.move, design)  # another process may have been first
        self._keep_deletes()
        self.record.add_to_history("announced", target=target.table)
        return entry.move

    def _keep_deletes(self) -> None:
        """Let the source keep deletes, as the target does, so that older cells stay hidden."""
        attributes, entry = self.source.store.families_and_attributes[1], self.record.read_entry()
        if PURGE_DELAY_ATTRIBUTE not in attributes and entry.move is not None:
            kept = {PURGE_DELAY_ATTRIBUTE: KEEP_ALL_DELETES, **attributes}
            self.source.store.replace_attributes(sync_attributes(kept, entry))
        reconcile_attributes(self.record.catalog, self.source_name, self.source.store)

    def _choose_target_name(self, design: Design) -> str:
        """Return the name of the target: the design's, or one after the source's that is free."""
        catalog = self.record.catalog
        entry = catalog.read(design.table)
        if entry is None or find_used_table(catalog, design.table, entry) != self.source_name:
            return design.table
        number = 2
        while True:
            name = f"{NUMBERED.sub('', self.source_name)}_{number}"
            entry = catalog.read(name)
            if entry is not None and entry.moved_from == self.source_name:
                return name  # an interrupted start has created it
            if entry is None and not self.engine.has_table(name):
                return name
            number += 1

    def _create_target(
        self, design: Design, splits: Sequence[bytes] | None, max_stale_s: float
    ) -> None:
        """Create the target, unless an interrupted start has created it."""
        with TableLocation(
            self.engine,
            design,
            self.url,
            max_stale_s,
            self._catalog_url,
            moved_from=self.source_name,
        ) as location:
            if location.is_made:
                entry = location.catalog.read(design.table)
                if is_begun_target(entry, self.source_name, design):
                    return
                what = f"the table {design.table} exists already"
                remedy = "Give the new design another table name, or drop that table."
                raise InvalidArgument("table", what, remedy=remedy)
            location.create_table_once(design, splits, get_time_ms, may_create=True)

    def _require_same_design(self, move: TableMove, design: Design) -> None:
        """Raise unless a move that was begun before is a move to the same design.

        Raises:
            Conflict: it is not.
        """
        target = self.record.catalog.read(move.target)
        renamed = rename_design(design, move.target)
        if target is not None and target.declaration != renamed.dumps(defaults=False):
            what = f"its rows are being moved to {move.target}, which has another design"
            name = self.source_name
            back = f"rowkey move rollback {name}, then " if move.is_target_primary else ""
            remedy = (
                f"Go on with that design; or give the move up: {back}rowkey move finish {name} "
                "--drop-new."
            )
            raise Conflict(f"table {self.source_name}", what, remedy=remedy)

    def run(
        self,
        design: Design | None = None,
        *,
        splits: Sequence[bytes] | None = None,
        progress: ReportProgress | None = None,
    ) -> VerificationResult:
        """Announce the move, copy all rows, and verify the copy, while clients go on.

        Args:
            design: the new design; None to go on with the move that was begun.
            splits: as for `start`.
            progress: called with the step and how far it is.

        Returns:
            What the verification found; `cut_over` wants a passed one.

        Raises:
            InvalidDesign: as for `start`.
            InvalidArgument: no design is given, and no move was begun.
            Conflict: another move is under way, or another process works on this one; clients
                read the target already; or the move is being finished.
            Unavailable: an engine or the catalog does not answer; run it again to go on.
        """
        progress = progress or ignore_progress
        if design is not None:
            self.start(design, splits=splits, progress=progress)
        move = self._require_open_move()
        if move.is_target_primary:
            what = f"clients read {move.target} already, so nothing is left to be copied"
            remedy = (
                f"End the move by rowkey move finish {self.source_name} --drop-old, or go back by "
                f"rowkey move rollback {self.source_name}."
            )
            raise Conflict(f"table {self.source_name}", what, remedy=remedy)
        self._keep_deletes()  # a start that was interrupted may not have come so far
        with MoverLock(self.record, self.pause) as lock:
            self._copy(lock, progress)
            return self._verify(lock, progress)

    def _copy(self, lock: MoverLock, progress: ReportProgress) -> None:
        """Wait until all clients write both tables, then copy what is not copied yet."""
        if self.record.read_note(CAUGHT_UP_NOTE).get("is_copied"):
            return
        if self.record.read_note(PROGRESS_NOTE).get("since_ms", 0) is not None:
            # There is none, or that of a catch-up before a switch, which was interrupted.
            self.record.write_note(PROGRESS_NOTE, None)
            entry = self.record.read_entry()
            self._wait_for_clients(compute_wait_s(entry, self.engine), progress)
        result = copy_all_rows(*self._states, self.record, lock, progress)
        move = self._require_move()
        note = {
            **self.record.read_note(CAUGHT_UP_NOTE),
            "since_ms": move.started_ms - LATE_MARGIN_MS,
            "is_copied": True,
            "row_count": result.row_count,
            "left_out_rows": result.left_out_rows,
        }
        self.record.write_note(CAUGHT_UP_NOTE, note)
        self.record.add_to_history(
            "copied", rows=result.row_count, left_out_rows=result.left_out_rows
        )

    def _wait_for_clients(self, seconds: float, progress: ReportProgress) -> None:
        """Wait until every client has read of the move, or has stopped."""
        wait_for_clients(seconds, progress, "wait", self.pause)

    def verify(
        self,
        *,
        sample_share: float = 1.0,
        repair: bool = False,
        consents: Collection[str] = (),
        ask: AskConsent | None = None,
        progress: ReportProgress | None = None,
    ) -> VerificationResult:
        """Compare the rows of both tables, while clients go on; see `verify_move`.

        Rows that changed since the copy are copied before: a client that died between its two
        writes leaves a change in one table only, as do writers that do not use rowkey.

        Args:
            sample_share: the share of the rows that is compared.
            repair: whether rows that differ are made equal to those of the table that is read; then
                all are compared again. See `repair_differences`. Cells that only the other table
                has are deleted by consent.
            consents: as for `finish`.
            ask: as for `finish`.
            progress: called with the step and how far it is.

        Returns:
            What the last comparison found, with how many rows were repaired before it.

        Raises:
            InvalidArgument: a consent is missing; nothing is repaired.
            Conflict: another process works on the move; or it is being finished.
        """
        progress = progress or ignore_progress
        move = self._require_open_move()
        with MoverLock(self.record, self.pause) as lock:
            listed = MAX_EXAMINED_ROWS if repair else DEFAULT_LISTED
            result = self._verify(lock, progress, sample_share, listed)
            if not (repair and result.differences):
                return result
            find_lost = partial(self._find_lone_cells, result, in_source=move.is_target_primary)
            self._require_consents(find_lost, "repaired", consents, ask)
            outcomes = self._repair(lock, result, progress)
            result = self._verify(lock, progress, sample_share)
            return replace(result, repair_counts=outcomes)

    def _repair(
        self, lock: MoverLock, found: VerificationResult, progress: ReportProgress
    ) -> Counter[str]:
        """Make rows that differ equal to those of the table that is read; count the outcomes."""
        side = "target" if self._require_move().is_target_primary else "source"
        outcomes: Counter[str] = Counter()
        for done, one in enumerate(
            repair_differences(*self._states, found.differences, primary=side)
        ):
            lock.check()
            outcomes[one.outcome.value] += 1
            progress(Progress("repair", done + 1, len(found.differences), "rows"))
        self.record.add_to_history("repaired", **outcomes)
        return outcomes

    def _verify(
        self,
        lock: MoverLock,
        progress: ReportProgress,
        sample_share: float = 1.0,
        listed: int = DEFAULT_LISTED,
        *,
        is_limited: bool = True,
    ) -> VerificationResult:
        """Copy rows that have changed, compare both tables, and note the result.

        A sample that passes leaves the last note. `is_limited` says whether the copy keeps to the
        limits of the move.
        """
        move = self._require_move()
        started_ms = get_time_ms()
        copied = self.record.read_note(CAUGHT_UP_NOTE)
        if copied.get("is_copied"):
            progress(Progress("catch up", unit="rows"))
            self._begin_catch_up(lock, is_limited=is_limited).run()
        expected = 2 * copied.get("row_count", 0)  # each row is read in both tables
        result = verify_move(
            *self._states,
            sample_share=sample_share,
            seed=started_ms,  # so that each sample has other rows
            listed=listed,
            progress=lambda one: progress(replace(one, total=one.total or expected)),
            pause=self.pause,
        )
        lock.check()
        note = {
            "started_ms": started_ms,
            "has_passed": result.has_passed,
            "rows": result.source.rows,
            "differences": result.difference_count,
            "is_target_primary": move.is_target_primary,
        }
        if sample_share >= 1 or not result.has_passed:
            staying = [one.to_document() for one in result.staying]
            self.record.write_note(VERIFICATION_NOTE, {**note, "staying": staying})
        self.record.add_to_history("verified", sample_share=sample_share, **note)
        return result

    def cut_over(
        self,
        *,
        force: bool = False,
        stop_writers: Callable[[], None] | None = None,
        progress: ReportProgress | None = None,
    ) -> SwitchResult:
        """Make the target the table that clients read, and whose values count.

        Args:
            force: whether to cut over without a passed verification; that is noted.
            stop_writers: stops the writers that do not use rowkey; called before the last changes
                are copied. What they wrote may have kept the copy from passing its verification, so
                it is verified again then, unless it has passed.
            progress: called with the step and how far it is.

        Raises:
            Conflict: the copy has not passed a verification; another process works on the move; or
                it is being finished.
        """
        move = self._require_open_move()
        if move.is_target_primary:
            return SwitchResult(move.target, 0.0, 0)
        is_verified = self.record.read_note(VERIFICATION_NOTE).get("has_passed", False)
        must_verify = not (is_verified or force)
        if must_verify and stop_writers is None:
            self._require_passed(has_passed=False)
        if not is_verified and force:
            self.record.add_to_history("forced")
        return self._switch(stop_writers, progress, must_verify=must_verify)

    def _require_passed(self, *, has_passed: bool) -> None:
        """Raise `Conflict` unless the copy has passed a verification."""
        if not has_passed:
            what = f"the copy in {self._require_move().target} has not passed a verification"
            remedy = "Run rowkey move verify; or cut over with --force, which is noted."
            raise Conflict(f"table {self.source_name}", what, remedy=remedy)

    def roll_back(
        self,
        *,
        stop_writers: Callable[[], None] | None = None,
        progress: ReportProgress | None = None,
    ) -> SwitchResult:
        """Make the source the table that clients read again; it has all changes made since.

        Args:
            stop_writers: as for `cut_over`.
            progress: called with the step and how far it is.

        Raises:
            Conflict: another process works on the move; or it is being finished.
        """
        if not self._require_open_move().is_target_primary:
            return SwitchResult(self.source_name, 0.0, 0)
        return self._switch(stop_writers, progress)

    def _begin_catch_up(self, lock: MoverLock, *, is_limited: bool = False) -> CatchUp:
        """Begin a pass that copies rows of the primary table that have changed to the other one."""
        sides = self._states
        primary, secondary = reversed(sides) if self._require_move().is_target_primary else sides
        return CatchUp(primary, secondary, lock, is_limited=is_limited)

    def _switch(
        self,
        stop_writers: Callable[[], None] | None,
        progress: ReportProgress | None,
        *,
        must_verify: bool = False,
    ) -> SwitchResult:
        """Make the other table the one that clients read."""
        progress = progress or ignore_progress
        with MoverLock(self.record, self.pause) as lock:
            if stop_writers is not None:
                stop_writers()
            if must_verify:
                self._require_passed(has_passed=self._verify(lock, progress).has_passed)
            started_ms = get_time_ms() - LATE_MARGIN_MS
            note = {**self.record.read_note(CAUGHT_UP_NOTE), "was_switched": True}
            self.record.write_note(CAUGHT_UP_NOTE, note)  # first: a killed switch may be done
            switch = Switch(
                *(self.record, lock, self.engine),
                lambda: self._begin_catch_up(lock),
                *(progress, self.pause),
            )
            result = switch.run()
            note = {**self.record.read_note(CAUGHT_UP_NOTE), "since_ms": started_ms}
            self.record.write_note(CAUGHT_UP_NOTE, note)
            return result

    def finish(
        self,
        *,
        drop: str | None = None,
        consents: Collection[str] = (),
        ask: AskConsent | None = None,
        progress: ReportProgress | None = None,
    ) -> str:
        """End the move: drop the table that is not read, with all its rows.

        Clients that have the table open go on with the one that is read. After a cut-over the
        source's name stands for the target. Repeated after its end, it does nothing.

        It is compared with the one that is kept. Cells that only it has are dropped by consent:
        those that the move could not carry along, and what programs without rowkey have written to
        it. A table that does not answer is dropped by the consent `drop NAME without a comparison`.

        Args:
            drop: the name of the table to drop, as a safeguard: nothing is done if it is the other
                one by now. None for whichever is not read.
            consents: which cells may be lost, as `drop 80 cells of column d:x`; the numbers must be
                those that are counted now.
            ask: called for each consent that is missing; then the cells are counted again.
            progress: called with the step and how far it is.

        Returns:
            The name of the dropped table.

        Raises:
            InvalidArgument: `drop` is the table that is read; or a consent is missing.
            Conflict: a switch is under way, or another process works on the move.
            Unavailable: the table that is read is missing; or the tables cannot be compared.

        Cost: that of `verify`, and as much again after each round of questions.
        """
        if dropped := self._find_dropped_table():
            self._require_to_drop(drop, dropped)
            return dropped
        move = self._require_move()
        with MoverLock(self.record, self.pause) as lock:
            if move.phase is MovePhase.BOTH and self._has_both_tables(move):
                unread = self._name_unread_table(move)
                self._require_to_drop(drop, unread)
                consent = format_uncompared_consent(unread)
                if consent in consents:
                    self.record.add_to_history("consented", comparison=False)
                else:
                    try:
                        find_lost = partial(
                            self._find_lost_cells, lock, move, progress or ignore_progress
                        )
                        self._require_consents(find_lost, "dropped", consents, ask)
                    except Unavailable as problem:
                        remedy = (
                            f"Try again later; or consent to lose what only {unread} has: "
                            f"--consent {consent!r}."
                        )
                        what = f"it cannot be compared before it is dropped: {problem}"
                        raise Unavailable(f"table {unread}", what, remedy=remedy) from problem

            def end(entry: CatalogEntry) -> CatalogEntry:
                move = entry.move
                assert move is not None, "the lock keeps the record"
                self._require_to_drop(drop, self._name_unread_table(move))
                if move.phase is MovePhase.SWITCHING:
                    what = "a switch to the other table is under way"
                    remedy = "Wait until it is done."
                    raise Conflict(f"table {self.source_name}", what, remedy=remedy)
                if move.phase is MovePhase.FINISHED:
                    return entry
                finished = replace(entry, move=move.advance(phase=MovePhase.FINISHED))
                return restore_stale_time(finished)  # a killed mover may have lowered it

            entry = lock.change(end)
            self._wait_for_clients(compute_wait_s(entry, self.engine), progress or ignore_progress)
            lock.check()
            assert entry.move is not None, "the lock keeps the record"
            return self._drop_unread_table(entry.move)

    def _find_lost_cells(
        self, lock: MoverLock, move: TableMove, progress: ReportProgress
    ) -> list[StayingCells]:
        """Return the cells that would be lost if the table that is not read were dropped."""
        if not self._was_read(move):  # its copy may have stopped anywhere
            states = self._states
            result = verify_move(
                *states,
                listed=MAX_EXAMINED_ROWS,
                extra_only=True,
                progress=progress,
                pause=self.pause,
            )
            lock.check()
            copy_rows_again(*states, (one.identity for one in result.differences))
            return find_lost_cells(states, result, drops_source=False)
        result = self._verify(lock, progress, listed=MAX_EXAMINED_ROWS, is_limited=False)
        return find_lost_cells(self._states, result, drops_source=move.is_target_primary)

    def _find_lone_cells(
        self, result: VerificationResult, *, in_source: bool
    ) -> list[StayingCells]:
        """Return the cells in rows that differ which only one of the tables has."""
        alone = count_lone_cells(self._states, result, in_source=in_source)
        return list_staying_cells({StayReason.ALONE: alone})

    def _was_read(self, move: TableMove) -> bool:
        """Return whether clients have read the table that is not read now."""
        was_switched = self.record.read_note(CAUGHT_UP_NOTE).get("was_switched", False)
        return bool(was_switched or move.is_target_primary)

    def _has_both_tables(self, move: TableMove) -> bool:
        return all(map(self.engine.has_table, (self.source_name, move.target)))

    def _require_consents(
        self,
        find_lost: Callable[[], Sequence[StayingCells]],
        what_for: str,
        consents: Collection[str],
        ask: AskConsent | None,
    ) -> None:
        """Require consent to lose cells that only the table has which is not read.

        They are counted again after each round of questions: other programs may have written while
        somebody typed.

        Args:
            find_lost: returns the cells.
            what_for: what is to become of the table, as a participle.
            ask: asks for those that are missing.

        Raises:
            InvalidArgument: a consent is missing.
        """
        given, is_counted = {*consents}, False
        while not is_counted:
            lost = find_lost()
            missing = {one: cells for one, cells in list_consents(lost).items() if one not in given}
            typed = {one for one, cells in missing.items() if ask and ask(one, cells) == one}
            if left := [one for one in missing if one not in typed]:
                unread = self._name_unread_table(self._require_move())
                what = f"{unread} is not {what_for}: only it has " + "; ".join(
                    map(str, chain.from_iterable(missing[one] for one in left))
                )
                expected = ", ".join(map(repr, left))
                remedy = (
                    "Copy these cells yourself, or give each sentence as a consent (--consent)."
                )
                raise InvalidArgument("consents", what, expected, remedy)
            given, is_counted = given | typed, not typed
        if lost:
            self.record.add_to_history("consented", cells=sum(one.cell_count for one in lost))

    def _find_dropped_table(self) -> str:
        """Return the name of the table that a finished move has dropped; empty if none is."""
        status = self.status
        last = status.history[-1] if status.history else {}
        is_over = status.step in ("none", "finished") and last.get("step") == "finished"
        return str(last["dropped"]) if is_over else ""

    def _require_to_drop(self, drop: str | None, unread: str) -> None:
        """Raise if another table is to be dropped than the one that is not read."""
        if drop not in (None, unread):
            what = f"{drop} is not the table that is to be dropped"
            remedy = "See rowkey move status for the table that is read."
            raise InvalidArgument("drop", what, unread, remedy)

    def _name_unread_table(self, move: TableMove) -> str:
        return self.source_name if move.is_target_primary else move.target

    def _drop_unread_table(self, move: TableMove) -> str:
        """Drop the table that clients do not read, and end the move; return its name.

        The names in the catalog change last: until then either finds the move again.
        """
        dropped = self._name_unread_table(move)
        kept = move.target if move.is_target_primary else self.source_name
        if not self.engine.has_table(kept):
            what = f"it is missing, so {dropped} has the only rows and is not dropped"
            raise Unavailable(f"table {kept}", what, remedy=f"Restore {kept}, and finish again.")
        if move.is_target_primary:
            self._name_main_table(kept)
        if self.engine.has_table(dropped):
            self.engine.drop_table(dropped)
        self.record.add_to_history("finished", dropped=dropped)
        self._restore_attributes(kept)
        self.record.remove_notes()
        if move.is_target_primary:
            MoveRecord(self.record.catalog, kept).change(
                lambda entry: replace(entry, moved_from="") if entry.moved_from else entry
            )
        else:
            with suppress(Conflict):
                self.record.catalog.remove(move.target)
            self.record.change(lambda entry: replace(entry, move=None))
        reconcile_attributes(self.record.catalog, kept, self.engine.open_table(kept))
        return dropped

    def _name_main_table(self, name: str) -> None:
        """Note in the companions of the table that was moved what their main table is now."""
        for companion in MoveRecord(self.record.catalog, name).read_entry().companion_names:
            if not self.engine.has_table(companion):
                continue
            with TableLocation(
                self.engine, companion, self.url, catalog=self._catalog_url
            ) as place:
                MoveRecord(place.catalog, companion).change(
                    lambda entry: (
                        entry if entry.companion_of == name else replace(entry, companion_of=name)
                    )
                )
                store = self.engine.open_table(companion)
                reconcile_attributes(place.catalog, companion, store)

    def _restore_attributes(self, name: str) -> None:
        """Let the compactions of the table that is kept drop deletes again."""
        store = self.engine.open_table(name)
        attributes = dict(store.families_and_attributes[1])
        if attributes.get(PURGE_DELAY_ATTRIBUTE) == KEEP_ALL_DELETES:
            del attributes[PURGE_DELAY_ATTRIBUTE]
            store.replace_attributes(attributes)

    # While it goes on

    @property
    def status(self) -> MoveStatus:
        """How far the move is; after its end, how it ended.

        Cost: some reads of the catalog; no table is opened.
        """
        catalog, name = self.record.catalog, self.source_name
        if self.record.read() is None:
            for earlier in catalog.list_tables():
                entry = catalog.read(earlier)
                if entry is not None and entry.move is not None and entry.move.target == name:
                    return read_status(MoveRecord(catalog, earlier))
        return read_status(self.record)

    def throttle(self, *, rows_per_s: float | None, max_p99_ms: float | None = None) -> None:
        """Limit the copy, also one that another process makes; it follows within a second.

        The limits also hold for the changed rows that a verification copies, but not for those that
        a switch copies.

        Args:
            rows_per_s: most rows in a second, by all threads together; None for no limit.
            max_p99_ms: milliseconds within which 99 of 100 writes of the copy must end; None for no
                limit.

        Raises:
            InvalidArgument: a limit is not above 0.
        """
        validate_limit("rows_per_s", rows_per_s)
        validate_limit("max_p99_ms", max_p99_ms)
        self._change_settings(rows_per_s=rows_per_s, max_p99_ms=max_p99_ms)

    def repeat_reads(self, share: float) -> None:
        """Let clients repeat a share of their reads on the table that is not read, from now on.

        They compare the answers beside their work; `status` has what they counted. An answer may be
        late, as a write reaches one table after the other, so unequal ones are compared again for
        some seconds.

        Args:
            share: 0 for none, up to 1 for all.

        Raises:
            InvalidArgument: it is no share.
            Conflict: the rows are not copied yet, so that answers would lack rows.
        """
        if not 0 <= share <= 1:
            what = f"{format_value(share)} is no share of the reads"
            raise InvalidArgument("share", what, "a number from 0 to 1")
        self._require_open_move()
        if share and not self.record.read_note(CAUGHT_UP_NOTE).get("is_copied"):
            what = "its rows are not copied yet, so that repeated reads would lack rows"
            raise Conflict(f"table {self.source_name}", what, remedy="Wait for rowkey move run.")
        self.record.change(
            lambda entry: (
                entry
                if entry.move is None
                else replace(entry, move=replace(entry.move, shadow_share=share))
            )
        )
        self.record.add_to_history("shadow", share=share)

    def pause_copy(self) -> None:
        """Make the copy wait until `resume_copy` is called."""
        self._change_settings(is_paused=True)

    def resume_copy(self) -> None:
        """Let a copy that waits go on."""
        self._change_settings(is_paused=False)

    def _change_settings(self, **changes: Any) -> None:
        self._require_open_move()
        replace(MoveSettings.read(self.record), **changes).write(self.record)
