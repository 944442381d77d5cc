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

from contextlib import suppress
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from rowkey.catalog import MovePhase
from rowkey.errors import Conflict, Unavailable
from rowkey.table.moves.double_writes import build_double_writes
from rowkey.table.row_classes import to_mapping

if TYPE_CHECKING:
    from collections.abc import Callable

    from rowkey.catalog import CatalogEntry, TableMove
    from rowkey.table.companions.joint_writes import WriteState
    from rowkey.table.generations.generation_tracker import GenerationState, GenerationTracker
    from rowkey.table.moves.double_writes import DoubleWriteState, MirroredWriteState
    from rowkey.table.read_modify_write import ReadModifyWrite
    from rowkey.table.row_writer import ChangeBuilder

POLL_INTERVAL_S = 0.05
"""Seconds between two reads of the entry while a client waits for a switch."""
MIN_PATIENCE_S = 15.0
"""Seconds without a sign of the mover after which a waiting client ends the switch, at least."""

T = TypeVar("T")


class _Route(NamedTuple):
    """The tables of a move as clients use them now.

    Args:
        entry: the catalog entry of the source.
        ruling: the table that is read.
        following: the other table if it is written too, else None.
    """

    entry: CatalogEntry
    ruling: GenerationTracker
    following: GenerationTracker | None


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
        self._source = tracker
        self._open_target = open_target
        self._lock = Lock()
        self._targets: dict[str, GenerationTracker] = {}
        self._route = _Route(tracker.lease.last_entry, tracker, None)
        self._write_state: DoubleWriteState | MirroredWriteState | None = None
        if self._route.entry.move is not None:
            self._update_route(self._route.entry)

    @property
    def ruling_tracker(self) -> GenerationTracker:
        """The table that was read last."""
        return self._route.ruling

    def notify_change(self) -> None:
        """Read the record of the move again in the background, because it has changed."""
        self._source.lease.notify_change()

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

        Cost: 0.4 µs; it waits while a move switches to the other table.
        """
        return self._get_route().ruling.get_state()

    def get_write_state(self) -> WriteState:
        """Return the state under which rows are written: of two tables during a move.

        Raises:
            Closed: it was opened before this process was forked.
            Unavailable: the catalog was not reached for too long.
        """
        route = self._get_route()
        if route.following is None:
            return route.ruling.get_state()
        return self._get_double_writes(route)

    def _get_double_writes(self, route: _Route) -> DoubleWriteState | MirroredWriteState:
        """Return the state of both tables; the same object while neither state has changed."""
        assert route.following is not None
        ruling, following = route.ruling.get_state(), route.following.get_state()
        last = self._write_state
        if last is not None and last.ruling is ruling and last.following is following:
            return last
        is_source = route.ruling is self._source
        states = (ruling, following) if is_source else (following, ruling)
        state = build_double_writes(states, ruling)
        self._write_state = state
        return state

    def write_row(self, build_change: ChangeBuilder, row: Any, *, sync: bool | None) -> None:
        """Write the change of one row; its deletes are made under every row key of the row.

        Between the computation of the row keys and the write, another client may have announced a
        generation and copied a cell to a new row key, or the mover may have begun to copy. So the
        state is read again after the write, and what the change missed is written too. If the state
        has not changed, no client wrote under another key or read another table before.

        Raises:
            RowError: the row cannot be written.
            Closed: the table was opened before this process was forked.
            Unavailable: the catalog was not reached for too long. If that was so only after the
                write, deleted cells may remain under row keys that other clients write by now.
        """
        state = self.get_write_state()
        change = state.build_change(build_change, row)
        if not change.mutations:
            return
        (mutations,) = state.apply_changes([change], sync=sync)
        while (current_state := self.get_write_state()) is not state:
            written = state.split_mutations(mutations)
            state = current_state
            mutations = state.repeat_missed(written, to_mapping(row), sync=sync)

    def run_pinned(self, change: Callable[[ReadModifyWrite], T]) -> T:
        """Make one change that depends on the row's current values, and return its result.

        It is made in the table that is read; what it wrote is copied to the other one.

        Raises:
            Conflict: the change took so long that another table may be read by now.
            Unavailable: the catalog does not answer.
        """
        made: list[ReadModifyWrite] = []

        def make_change(changer: ReadModifyWrite) -> T:
            check_own_lease, lease = changer.check_send, self._source.lease
            # The lease on the record of the move must last too, whichever table is changed.
            changer.check_send = lambda: min(check_own_lease(), lease.max_stale_s - lease.age_s)
            made.append(changer)
            return change(changer)

        route, lease = self._get_route(), self._source.lease
        deadline = lease.clock() + lease.max_stale_s - lease.age_s
        result = route.ruling.run_pinned(make_change)
        is_in_time = lease.clock() < deadline
        while True:
            if lease.is_expired:
                lease.renew_entry()
            route_now = self._get_route()
            if route_now.ruling is not route.ruling:
                if is_in_time:  # the mover has copied it before the other table was read
                    return result
                what = (
                    "this write took so long that another table was made the one to read, so the "
                    "written values may be lost"
                )
                remedy = "Read the row, and write it again if the values are missing."
                raise Conflict(f"table {self._source.declared_design.table}", what, remedy=remedy)
            if route_now.following is not None:
                self._get_double_writes(route_now).mirror_change(made[-1])
            if self._get_route().following is route_now.following:
                return result

    def _get_route(self) -> _Route:
        """Return the tables as they are used now; wait while a move switches between them."""
        source = self._source
        if source.is_inherited:
            source.require_own_process()
        entry = source.lease.get_entry()
        if entry is not self._route.entry:
            self._update_route(entry)
        return self._route

    def _update_route(self, entry: CatalogEntry) -> None:
        """Use the tables as a newer catalog entry of the source says."""
        move = entry.move
        if move is not None and move.phase is MovePhase.SWITCHING:
            entry = self._wait_for_switch(entry)
            move = entry.move
        with self._lock:
            if entry.version < self._route.entry.version:
                return
            if move is None:
                self._route = _Route(entry, self._source, None)
                return
            target = self._get_target(move.target)
            if move.phase is MovePhase.FINISHED:
                if move.is_target_ruling:
                    self._adopt_target(target)
                else:
                    self._route = _Route(entry, self._source, None)
            elif move.is_target_ruling:
                self._route = _Route(entry, target, self._source)
            else:
                self._route = _Route(entry, self._source, target)

    def _get_target(self, name: str) -> GenerationTracker:
        """Return the target of a move, opened once; call under the lock."""
        if name not in self._targets:
            self._targets[name] = self._open_target(name, self._source)
        return self._targets[name]

    def _adopt_target(self, target: GenerationTracker) -> None:
        """Use the target of a finished move as the table that was opened."""
        self._source.lease.close()
        self._source = target
        self._route = _Route(target.lease.last_entry, target, None)

    def _wait_for_switch(self, entry: CatalogEntry) -> CatalogEntry:
        """Wait until the mover has switched to the other table; return the entry of then.

        If the mover gives no sign for too long, it has died: then the table that was read so far is
        read on.

        Raises:
            Unavailable: the catalog was not reached for too long.
        """
        source, lease = self._source, self._source.lease
        patience = max(MIN_PATIENCE_S, 3 * entry.longest_stale_s)
        step, since = -1, lease.clock()
        while (move := entry.move) is not None and move.phase is MovePhase.SWITCHING:
            if move.step != step:
                step, since = move.step, lease.clock()
            elif lease.clock() - since > patience:
                self._end_switch(entry, move)
            source.pause(POLL_INTERVAL_S)
            try:
                entry = lease.renew_entry()
            except Unavailable:
                if lease.is_expired:
                    raise
        return entry

    def _end_switch(self, entry: CatalogEntry, move: TableMove) -> None:
        """End the switch of a mover that has died: the table that was read is read on."""
        usual_s = move.usual_stale_s
        ended = replace(
            entry,
            move=move.advance(phase=MovePhase.BOTH),
            max_stale_s=usual_s,
            longest_stale_s=usual_s,
        )
        with suppress(Conflict):  # another client has ended it, or the mover lives
            self._source.lease.catalog.write(
                self._source.declared_design.table, ended, entry.version
            )

    def close(self) -> None:
        """Close the leases and the tables, but not the engine."""
        for tracker in (self._source, *self._targets.values()):
            tracker.lease.close()
            tracker.store.close()
