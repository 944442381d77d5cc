"""Make the other table of a move the one that clients read: cut over, and roll back.

Clients that read one table never work beside clients that read the other. So the record says
`SWITCHING` for a time in which no client reads or writes; in it the last changes that reached only
the primary table are copied. That time is as long as some client may not have read the record, so
this limit, `max_stale_s`, is lowered before, while clients still work.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rowkey.boottime import read_boottime_s
from rowkey.catalog import CatalogEntry, MovePhase, TableMove
from rowkey.engines import Engine
from rowkey.errors import Conflict
from rowkey.progress import Progress, ReportProgress
from rowkey.table import compute_wait_s, wait_for_clients

if TYPE_CHECKING:
    from rowkey.move.copying import CatchUp
    from rowkey.move.move_record import MoveRecord
    from rowkey.move.mover_lock import MoverLock

SWITCH_STALE_S = 1.0
"""Seconds that a client may go on without its catalog around a switch: most of the time without
service, since the mover cannot know sooner that all clients wait. A client that does not reach the
catalog for so long waits for it, so it is only this short for the switch itself."""
MAX_CATCH_UPS, SHORTER = 8, 0.7
"""Most passes over changed rows before a switch; another one follows while each takes at most such
a part of the time of the one before."""


@dataclass(frozen=True, slots=True)
class SwitchResult:
    """How a switch to the other table went.

    Args:
        primary: the name of the table that is read now.
        window_s: seconds in which no client could read or write.
        caught_up: rows of the last seconds that were compared in that time, and copied where one
            of their changes was missing.
    """

    primary: str
    window_s: float
    caught_up: int


class Switch:
    """One switch to the other table of a move.

    Args:
        lock: held while it switches.
        engine: the engine of both tables.
        begin_catch_up: begins a pass that copies changed rows from the primary table to the other.
        progress: called with how far each step is.
        pause: waits for a number of seconds.
    """

    def __init__(
        self,
        record: MoveRecord,
        lock: MoverLock,
        engine: Engine,
        begin_catch_up: Callable[[], CatchUp],
        progress: ReportProgress,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.record, self.lock, self.engine = record, lock, engine
        self.begin_catch_up, self.progress, self.pause = begin_catch_up, progress, pause

    def run(self) -> SwitchResult:
        """Make the other table the one that is read.

        Raises:
            Conflict: clients have ended the switch because it took too long, or another process
                works on the move.
        """
        self._end_switch()  # that of a mover that has died
        self._catch_up()  # may take long, so it is done before clients depend on the catalog
        self._lower_stale_time()
        self._catch_up_before()
        started_s = read_boottime_s()
        try:
            copied = self._switch()
        except BaseException:
            self._end_switch()
            raise
        window_s = read_boottime_s() - started_s
        move = self.record.read()
        assert move is not None, "the record stays until the move is finished"
        primary = move.target if move.is_target_primary else self.record.source
        self.record.add_to_history("switched", read=primary, waited_s=round(window_s, 3))
        return SwitchResult(primary, window_s, copied)

    def _lower_stale_time(self) -> None:
        """Have all clients read the record often, so that none needs long to notice the switch."""

        def lower(entry: CatalogEntry) -> CatalogEntry:
            return replace(entry, max_stale_s=min(entry.max_stale_s, SWITCH_STALE_S))

        entry = self.lock.change(lower)
        if entry.longest_stale_s > entry.max_stale_s:
            self._wait("prepare", compute_wait_s(entry, self.engine))

    def _catch_up_before(self) -> None:
        """Copy changed rows while clients work, until a pass takes about as long as the last."""
        last_s = float("inf")
        for _ in range(MAX_CATCH_UPS):
            started_s = read_boottime_s()
            self._catch_up()
            if (took_s := read_boottime_s() - started_s) > last_s * SHORTER:
                return
            last_s = took_s

    def _catch_up(self) -> int:
        """Copy the rows that have changed since the last pass; return how many."""
        self.progress(Progress("catch up", unit="rows"))
        return self.begin_catch_up().run()

    def _switch(self) -> int:
        """Keep clients waiting while the last changes are copied, then let the other table rule."""

        def begin(entry: CatalogEntry) -> CatalogEntry:
            move = _require_both(entry)
            return replace(
                entry,
                move=move.advance(phase=MovePhase.SWITCHING),
                longest_stale_s=entry.max_stale_s,
            )

        def complete(entry: CatalogEntry) -> CatalogEntry:
            move = entry.move
            if move is None or move.phase is not MovePhase.SWITCHING:
                what = "the switch took so long that clients have ended it"
                raise Conflict(f"table {self.record.source}", what, remedy="Run the step again.")
            other = move.advance(phase=MovePhase.BOTH, is_target_primary=not move.is_target_primary)
            return restore_stale_time(replace(entry, move=other))

        self.progress(Progress("switch", unit="seconds"))
        entry, started_s = self.lock.change(begin), read_boottime_s()
        catch_up = self.begin_catch_up()
        left_s = compute_wait_s(entry, self.engine) + started_s - read_boottime_s()
        self._wait("switch", left_s)
        self.progress(Progress("catch up", unit="rows"))
        copied = catch_up.run()
        self.lock.check()
        self.lock.change(complete)
        return copied

    def _end_switch(self) -> None:
        """Let clients go on with the table that ruled before."""

        def end(entry: CatalogEntry) -> CatalogEntry:
            move = entry.move
            if move is None or move.phase is not MovePhase.SWITCHING:
                return restore_stale_time(entry)
            return restore_stale_time(replace(entry, move=move.advance(phase=MovePhase.BOTH)))

        self.lock.change(end)

    def _wait(self, step: str, seconds: float) -> None:
        """Wait until every client has read the record, or has stopped."""
        wait_for_clients(seconds, self.progress, step, self.pause)


def _require_both(entry: CatalogEntry) -> TableMove:
    """Return the record of a move if both tables are written."""
    move = entry.move
    if move is None or move.phase is not MovePhase.BOTH:
        what = "no move is under way in which both tables are written"
        raise Conflict("move", what, remedy="See rowkey move status.")
    return move


def restore_stale_time(entry: CatalogEntry) -> CatalogEntry:
    """Return an entry with the time that clients may go on without it as before the switch."""
    assert entry.move is not None, "called during a move"
    usual_s = entry.move.usual_stale_s
    if entry.max_stale_s == usual_s == entry.longest_stale_s:
        return entry
    return replace(entry, max_stale_s=usual_s, longest_stale_s=usual_s)
