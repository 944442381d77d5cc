"""Follow a table through moves: which of two tables is read, and which are written.

The catalog entry of the source has the record of its move. Its phases say what clients do; see
`rowkey.catalog.MovePhase`. A client knows a phase at the latest when its lease on the entry is
over, so the mover waits for as long between two phases. What a client does while it does not know
the next phase yet stays right:

* Clients that write only the source, and clients that write both: the copy begins when there are
  only the latter. A change is acknowledged after the entry was read again, or is younger than the
  lease: if the phase has changed meanwhile, the change is made in the other table too.
* Clients that read the source never work beside clients that read the target: between them all
  wait in `SWITCHING`, in which the mover makes both tables equal.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Lock, Thread
from typing import NamedTuple, TypeVar

from rowkey.catalog import CatalogEntry, Lease, MovePhase, TableMove
from rowkey.errors import Conflict, Unavailable
from rowkey.table.generations.generation_tracker import GenerationState, GenerationTracker
from rowkey.table.joint_writes import JointWriteState, WriteState
from rowkey.table.moves.moved_table import find_used_table
from rowkey.table.moves.row_mirror import mirror_rows
from rowkey.table.moves.shadow_reads import ShadowReads
from rowkey.table.read_modify_write import ReadModifyWrite

POLL_INTERVAL_S = 0.05
"""Seconds between two reads of the entry while a client waits for a switch."""
MIN_PATIENCE_S = 15.0
"""Seconds without a sign of the mover after which a waiting client ends the switch, at least."""

T = TypeVar("T")


class _Route(NamedTuple):
    """The tables of a move as clients use them now.

    Args:
        lease: the lease on the catalog entry of the source.
        entry: the entry that says so.
        primary: the table that is read.
        secondary: the other table if it is written too, else None.
    """

    lease: Lease
    entry: CatalogEntry
    primary: GenerationTracker
    secondary: GenerationTracker | None


class _RouteChanged(Conflict):
    """A change was not sent because other tables may be used by now."""


def _compute_time_left(route: _Route) -> float:
    """Return the seconds for which no client uses other tables, whatever the mover does.

    Raises:
        _RouteChanged: clients may use other tables already, or soon.
    """
    age_s = route.lease.age_s  # before the entry, which may be renewed meanwhile
    move, known = route.lease.last_entry.move, route.entry.move
    if move != known and (move is None or not move.has_same_roles(known)):
        what = "its rows are being moved to another table, so this write was not sent"
        raise _RouteChanged(f"table {route.lease.table}", what)
    return route.lease.max_stale_s - age_s


class MoveFollower:
    """Reads and writes the right tables before, during and after a move, for all threads.

    Args:
        tracker: the table that was opened.
        open_target: opens the target of a move of that table, by its name.
    """

    def __init__(
        self,
        tracker: GenerationTracker,
        open_target: Callable[[str, GenerationTracker], GenerationTracker],
    ) -> None:
        self._open_target = open_target
        self._lock = Lock()
        self._target: tuple[TableMove, GenerationTracker] | None = None
        self._write_state: JointWriteState | None = None
        self.shadow: ShadowReads | None = None
        """Repeats some reads on the other table of a move, if that was asked for."""
        self.companions: tuple[GenerationTracker, ...] = ()
        """The companions of the table, which are written with it."""
        self._use_table(tracker)
        if tracker.lease.last_entry.move is not None:
            self._get_route()

    @property
    def primary_tracker(self) -> GenerationTracker:
        """The table that was read last."""
        return self._route.primary

    def adopt_entry(self, entry: CatalogEntry) -> None:
        """Use a catalog entry of the source that a mover of this process has written.

        Raises:
            Unavailable: it is not a successor of the known entry.
        """
        if entry.table_id == self._source.lease.last_entry.table_id:
            self._source.lease.adopt_entry(entry)

    def require_own_process(self) -> None:
        """Raise `Closed` if the table was opened before this process was forked."""
        self._source.require_own_process()

    @property
    def is_inherited(self) -> bool:
        """Whether the table was opened before this process was forked."""
        return self._source.is_inherited

    def get_state(self) -> GenerationState:
        """Return the current state of the table that is read.

        Raises:
            Closed: it was opened before this process was forked.
            Unavailable: the catalog was not reached for too long.

        Cost: 0.3 µs; it waits while a move switches to the other table.
        """
        source = self._source
        state, route = source.get_state(), self._route
        if source.last_entry is route.entry and route.primary is source:
            return state
        return self._get_route().primary.get_state()

    def get_write_state(self) -> WriteState:
        """Return the state under which rows are written: that of all tables that are written.

        Raises:
            Closed: it was opened before this process was forked.
            Unavailable: the catalog was not reached for too long.
        """
        source = self._source
        state, route = source.get_state(), self._route
        is_known = source.last_entry is route.entry and route.primary is source
        if is_known and route.secondary is None and not self.companions:
            return state
        route = self._get_route()
        if route.secondary is None and not self.companions:
            return route.primary.get_state()
        return self._get_joint_writes(route)

    def _get_joint_writes(self, route: _Route) -> JointWriteState:
        """Return the state of all tables, the same object while no state of them has changed."""
        primary = route.primary.get_state()
        other = None if route.secondary is None else route.secondary.get_state()
        companions = tuple(one.get_state() for one in self.companions)
        last = self._write_state
        if (
            last is not None
            and last.primary is primary
            and last.other is other
            and all(map(operator.is_, last.companions, companions))
        ):
            return last
        names_by_other = route.primary is not self._source
        state = JointWriteState(primary, companions, other, names_by_other=names_by_other)
        self._write_state = state
        return state  # and not what another thread may have written before

    def mirror_rows(self, row_keys: Sequence[bytes]) -> None:
        """Copy rows of the table that is read to the other one of a move, if there is one."""
        route = self._get_route()
        if route.secondary is not None:
            mirror_rows(route.primary.get_state(), route.secondary.get_state(), row_keys)

    def run_pinned(self, change: Callable[[ReadModifyWrite], T]) -> T:
        """Make one change that depends on the row's current values, and return its result.

        It is made in the table that is read; what it wrote is copied to the other one.

        Raises:
            Conflict: the change took so long that another table may be read by now.
            Unavailable: the catalog does not answer.
        """
        while True:
            with suppress(_RouteChanged):
                return self._run_pinned_on(self._get_route(), change)

    def _run_pinned_on(self, route: _Route, change: Callable[[ReadModifyWrite], T]) -> T:
        """Make one change as `run_pinned` does, unless the route changes before it is sent.

        Raises:
            _RouteChanged: it was not sent.
            Conflict: see `run_pinned`.
            Unavailable: the catalog does not answer.
        """
        clock = route.lease.clock
        made: list[ReadModifyWrite] = []
        deadline = clock() + _compute_time_left(route)

        def make_change(changer: ReadModifyWrite) -> T:
            check_own_lease = changer.check_send

            def check_send() -> float:
                nonlocal deadline
                seconds = min(check_own_lease(), _compute_time_left(route))
                deadline = clock() + seconds
                return seconds

            changer.check_send = check_send
            made.append(changer)
            return change(changer)

        result = route.primary.run_pinned(make_change)
        is_in_time = clock() < deadline
        while True:
            if self._source.lease.is_expired:
                self._source.lease.renew_entry()
            route_now = self._get_route()
            if route_now.primary is not route.primary:
                if is_in_time:  # the mover has copied it before the other table was read
                    return result
                what = (
                    "this write took so long that another table was made the one to read, so the "
                    "written values may be lost"
                )
                remedy = "Read the row, and write it again if the values are missing."
                raise Conflict(f"table {self._source.declared_design.table}", what, remedy=remedy)
            if route_now.secondary is not None:
                self._get_joint_writes(route_now).mirror_change(made[-1])
            if self._get_route().secondary is route_now.secondary:
                return result

    def _get_route(self) -> _Route:
        """Return the tables as they are used now; wait while a move switches between them."""
        while True:
            source = self._source
            if source.is_inherited:
                source.require_own_process()
            entry, route = source.lease.get_entry(), self._route
            if entry is route.entry:
                return route
            self._update_route(source, entry)

    def _use_table(self, tracker: GenerationTracker) -> None:
        """Use one table; a move of it is followed when the route is read next."""
        entry = tracker.lease.last_entry
        self._source = tracker
        read = replace(entry, move=None) if entry.move else entry
        self._route = _Route(tracker.lease, read, tracker, None)

    def _update_route(self, source: GenerationTracker, entry: CatalogEntry) -> None:
        """Use the tables as a newer catalog entry of the source says.

        Args:
            source: the source; if it is not the source any more, nothing is done.
        """
        if entry.move is not None and entry.move.phase is MovePhase.SWITCHING:
            entry = self._wait_for_switch(source, entry)
        with self._lock:
            if source is not self._source or entry.version < self._route.entry.version:
                return
            move = entry.move
            self._follow_shadow_share(move)
            if move is None or (move.phase is MovePhase.FINISHED and not move.is_target_primary):
                self._forget_target()
                self._route = _Route(source.lease, entry, source, None)
            elif move.phase is MovePhase.FINISHED:
                self._replace_source(move, entry)
            elif move.is_target_primary:
                self._route = _Route(source.lease, entry, self._find_target(move), source)
            else:
                self._route = _Route(source.lease, entry, source, self._find_target(move))

    def _follow_shadow_share(self, move: TableMove | None) -> None:
        """Begin to repeat reads, or stop, as the record of the move says; call under the lock."""
        share = 0.0 if move is None or move.phase is not MovePhase.BOTH else move.shadow_share
        shadow, source = self.shadow, self._source
        period = "" if move is None else move.period
        if shadow is not None and (shadow.share, shadow.period) != (share, period):
            self.shadow = None
            Thread(target=shadow.close, name="rowkey-shadow-end", daemon=True).start()
        if share and self.shadow is None:
            catalog, table = source.lease.catalog, source.lease.table
            self.shadow = ShadowReads(share, catalog, table, period, self._get_both_states)

    def _get_both_states(self) -> tuple[GenerationState, GenerationState] | None:
        """Return the states of the table that is read and of the other one; None without a move."""
        route = self._get_route()
        if route.secondary is None:
            return None
        return route.primary.get_state(), route.secondary.get_state()

    def _find_target(self, move: TableMove) -> GenerationTracker:
        """Return the target of a move, opened once; call under the lock.

        The target of an earlier move, which was dropped, may have had the same name.
        """
        if self._target is not None and not self._target[0].is_same(move):
            self._forget_target()
        if self._target is None:
            self._target = move, self._open_target(move.target, self._source)
        return self._target[1]

    def _forget_target(self) -> None:
        """Close the lease on a target that is used no more; call under the lock.

        Its store stays open for threads that are just writing both tables.
        """
        if self._target is not None:
            self._target[1].lease.close()
            self._target = None

    def _replace_source(self, move: TableMove, entry: CatalogEntry) -> None:
        """Use the target of a finished move as the table that was opened; call under the lock.

        Its rows may have been moved on, and it may be dropped.
        """
        source = self._source
        name = find_used_table(source.lease.catalog, source.lease.table, entry)
        target = self._find_target(replace(move, target=name))
        self._target = None
        source.lease.close()
        self._use_table(target)

    def _wait_for_switch(self, source: GenerationTracker, entry: CatalogEntry) -> CatalogEntry:
        """Wait until the mover has switched to the other table; return the entry of then.

        If the mover gives no sign for too long, it has died: then the table that was read so far is
        read on.

        Raises:
            Unavailable: the catalog was not reached for too long.
        """
        lease = source.lease
        patience = max(MIN_PATIENCE_S, 3 * entry.longest_stale_s)
        step, since = -1, lease.clock()
        while (move := entry.move) is not None and move.phase is MovePhase.SWITCHING:
            if move.step != step:
                step, since = move.step, lease.clock()
            elif lease.clock() - since > patience:
                _end_switch(lease, entry, move)
            source.pause(POLL_INTERVAL_S)
            try:
                entry = lease.renew_entry()
            except Unavailable:
                if lease.is_expired:
                    raise
        return entry

    def close(self) -> None:
        """Close the leases and the tables, but not the engine."""
        if self.shadow is not None and not self.is_inherited:
            self.shadow.close()
        trackers = [self._source] if self._target is None else [self._source, self._target[1]]
        for tracker in trackers:
            tracker.lease.close()
            tracker.store.close()


def _end_switch(lease: Lease, entry: CatalogEntry, move: TableMove) -> None:
    """End the switch of a mover that has died: the table that was read is read on."""
    usual_s = move.usual_stale_s
    ended = replace(
        entry,
        move=move.advance(phase=MovePhase.BOTH),
        max_stale_s=usual_s,
        longest_stale_s=usual_s,
    )
    with suppress(Conflict):  # another client has ended it, or the mover lives
        lease.catalog.write(lease.table, ended, entry.version)
