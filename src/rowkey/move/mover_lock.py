"""The lock of a move: one process at a time works on it, and clients see that it lives."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from threading import Event, Thread
from typing import TYPE_CHECKING, Self

from rowkey.boottime import read_boottime_s
from rowkey.errors import Conflict, RowkeyError

if TYPE_CHECKING:
    from rowkey.catalog import CatalogEntry
    from rowkey.move.move_record import MoveRecord

BEAT_INTERVAL_S = 3.0
"""Seconds between two signs of life."""
LIFETIME_S = 15.0
"""Seconds without a sign after which another process may take the lock over, and its holder must
have stopped."""


class MoverLock:
    """Held by the process that works on a move, in a `with` block.

    A sign of life is a new step in the record. Another process takes the lock over once it has seen
    no step for `LIFETIME_S`, by its own clock; the holder stops to write earlier than that.

    Args:
        pause: waits for a number of seconds.

    Raises:
        Conflict: another process works on the move.
    """

    def __init__(self, record: MoveRecord, pause: Callable[[float], None] = time.sleep) -> None:
        self.record, self._pause = record, pause
        self._name = secrets.token_hex(8)
        self._beaten_at_s = 0.0
        self._is_lost = False
        self._closed = Event()
        self._thread = Thread(target=self._send_heartbeats, name="rowkey-mover", daemon=True)

    def __enter__(self) -> Self:
        seen, since = None, read_boottime_s()
        while True:
            move = self.record.read()
            if move is None:
                what = "another process has ended this move"
                remedy = "See rowkey move status."
                raise Conflict(f"table {self.record.source}", what, remedy=remedy)
            if not move.mover or (
                move.step == seen and read_boottime_s() - since > LIFETIME_S + BEAT_INTERVAL_S
            ):
                break
            if seen is not None and move.step != seen:
                what = "another process works on this move"
                remedy = "Wait until it ends, or stop it; rowkey move status shows the progress."
                raise Conflict(f"table {self.record.source}", what, remedy=remedy)
            seen = move.step
            self._pause(BEAT_INTERVAL_S / 4)
        self._write_step(move.step, self._name)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        self._thread.join()
        if not self._is_lost:
            self.change(_advance(mover=""))

    def check(self) -> None:
        """Raise unless this process still holds the lock for some seconds.

        Raises:
            Conflict: another process has taken over, or may do so.
        """
        if self._is_lost or read_boottime_s() - self._beaten_at_s > LIFETIME_S:
            what = "this process was stopped for so long that another one may work on the move"
            raise Conflict(f"table {self.record.source}", what, remedy="Run the command again.")

    def change(self, change: Callable[[CatalogEntry], CatalogEntry]) -> CatalogEntry:
        """Change the catalog entry of the source if this process still holds the lock.

        Raises:
            Conflict: another process has taken over.
        """

        def change_own(entry: CatalogEntry) -> CatalogEntry:
            if entry.move is not None and entry.move.mover != self._name:
                self._is_lost = True
                self.check()
            return change(entry)

        return self.record.change(change_own)

    def _write_step(self, expected_step: int, name: str) -> None:
        """Take the lock, if the record has not changed since it was read."""
        started_s = read_boottime_s()

        def take(entry: CatalogEntry) -> CatalogEntry:
            move = entry.move
            if move is None or move.step != expected_step:
                what = "another process has begun to work on this move"
                raise Conflict(f"table {self.record.source}", what, remedy="Try again later.")
            return replace(entry, move=move.advance(mover=name))

        self.record.change(take)
        self._beaten_at_s = started_s

    def _send_heartbeats(self) -> None:
        """Write a sign of life at intervals, until the lock is released or lost."""
        while not self._closed.wait(BEAT_INTERVAL_S):
            started_s = read_boottime_s()
            try:
                self.change(_advance())
            except RowkeyError:  # tried again; `check` raises once it is too late
                if self._is_lost:
                    return
                continue
            self._beaten_at_s = started_s


def _advance(mover: str | None = None) -> Callable[[CatalogEntry], CatalogEntry]:
    """Return a change to the next step of the record, if the move is not finished."""

    def change(entry: CatalogEntry) -> CatalogEntry:
        return entry if entry.move is None else replace(entry, move=entry.move.advance(mover=mover))

    return change
