"""The lock of a move or a retirement: one process at a time works on it, and is seen to live."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Literal, Self

from rowkey.boottime import read_boottime_s
from rowkey.errors import Conflict, RowkeyError

if TYPE_CHECKING:
    from rowkey.catalog import CatalogEntry, TableMove, TableRetirement
    from rowkey.move.move_record import MoveRecord

BEAT_INTERVAL_S = 3.0
"""Seconds between two signs of life."""
LIFETIME_S = 15.0
"""Seconds without a sign after which another process may take the lock over, and its holder must
have stopped."""


class MoverLock:
    """Held by the process that works on a move or a retirement, in a `with` block.

    A sign of life is a new step in the record. Another process takes the lock over once it has seen
    no step for `LIFETIME_S`, by its own clock; the holder stops to write earlier than that.

    Args:
        pause: waits for a number of seconds.
        task: what it works on: the field of the catalog entry that has the lock.

    Raises:
        Conflict: another process works on it.
    """

    def __init__(
        self,
        record: MoveRecord,
        pause: Callable[[float], None] = time.sleep,
        task: Literal["move", "retirement"] = "move",
    ) -> None:
        self.record, self._pause, self._task = record, pause, task
        self._name = secrets.token_hex(8)
        self._beaten_at_s = 0.0
        self._is_lost = False
        self._closed = Event()
        self._thread = Thread(target=self._send_heartbeats, name="rowkey-mover", daemon=True)

    def __enter__(self) -> Self:
        seen, since = None, read_boottime_s()
        while True:
            task = self._find_task(self.record.read_entry())
            if task is None:
                what = "another process has ended this move"
                remedy = "See rowkey move status."
                raise Conflict(f"table {self.record.source}", what, remedy=remedy)
            if not task.mover or (
                task.step == seen and read_boottime_s() - since > LIFETIME_S + BEAT_INTERVAL_S
            ):
                break
            if seen is not None and task.step != seen:
                what = f"another process works on this {self._task}"
                remedy = "Wait until it ends, or stop it."
                if self._task == "move":
                    remedy += " rowkey move status shows the progress."
                raise Conflict(f"table {self.record.source}", what, remedy=remedy)
            seen = task.step
            self._pause(BEAT_INTERVAL_S / 4)
        self._write_step(task.step, self._name)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        self._thread.join()
        if not self._is_lost:
            self.change(partial(self._advance, mover=""))

    def check(self) -> None:
        """Raise unless this process still holds the lock for some seconds.

        Raises:
            Conflict: another process has taken over, or may do so.
        """
        if self._is_lost or read_boottime_s() - self._beaten_at_s > LIFETIME_S:
            what = "this process was stopped for so long that another one may work on the table"
            raise Conflict(f"table {self.record.source}", what, remedy="Run the command again.")

    def change(self, change: Callable[[CatalogEntry], CatalogEntry]) -> CatalogEntry:
        """Change the catalog entry of the source if this process still holds the lock.

        Raises:
            Conflict: another process has taken over.
        """

        def change_own(entry: CatalogEntry) -> CatalogEntry:
            task = self._find_task(entry)
            if task is not None and task.mover != self._name:
                self._is_lost = True
                self.check()
            return change(entry)

        return self.record.change(change_own)

    def _write_step(self, expected_step: int, name: str) -> None:
        """Take the lock, if the record has not changed since it was read."""
        started_s = read_boottime_s()

        def take(entry: CatalogEntry) -> CatalogEntry:
            task = self._find_task(entry)
            if task is None or task.step != expected_step:
                what = f"another process has begun to work on this {self._task}"
                raise Conflict(f"table {self.record.source}", what, remedy="Try again later.")
            return self._advance(entry, mover=name)

        self.record.change(take)
        self._beaten_at_s = started_s

    def _send_heartbeats(self) -> None:
        """Write a sign of life at intervals, until the lock is released or lost."""
        while not self._closed.wait(BEAT_INTERVAL_S):
            started_s = read_boottime_s()
            try:
                self.change(self._advance)
            except RowkeyError:  # tried again; `check` raises once it is too late
                if self._is_lost:
                    return
                continue
            self._beaten_at_s = started_s

    def _find_task(self, entry: CatalogEntry) -> TableMove | TableRetirement | None:
        """Return the record that has the lock; None if the move is finished."""
        return entry.move if self._task == "move" else entry.retirement

    def _advance(self, entry: CatalogEntry, mover: str | None = None) -> CatalogEntry:
        """Return the entry with the next step of the record, if the move is not finished."""
        task = self._find_task(entry)
        if task is None:
            return entry
        changed: dict[str, Any] = {self._task: task.advance(mover=mover)}
        return replace(entry, **changed)
