"""Whose turn it is at a row: one thread has it, the others come in the order they asked."""

from __future__ import annotations

from collections import deque
from itertools import count
from threading import Condition, get_ident
from typing import TYPE_CHECKING

from rowkey.errors import Unsupported, counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Lock

WAIT_MOST_S = 120.0
"""Seconds that a thread waits for a row, or for all of them. Whoever has one waits for some calls
of the engine meanwhile, which give up by themselves; so this is only reached where many stand in
line before it, or where an engine does not answer at all."""


class Turns:
    """Rows that one thread has to itself, and who waits for them.

    Everything is done under one lock, which whoever calls holds. A thread that has a row waits in
    no line, nor for those who want all rows: they wait for it.

    Args:
        lock: the lock.
    """

    def __init__(self, lock: Lock) -> None:
        self.held: dict[bytes, int] = {}
        """Rows that one thread has, and that thread."""
        self.lines: dict[bytes, deque[int]] = {}
        """The tickets of those who wait for a row, the first to come first."""
        self.for_all: list[int] = []
        """The tickets of those who wait until nobody has a row, ascending."""
        self.patience_s = WAIT_MOST_S
        self._tickets = count()
        self._moved = Condition(lock)

    def take(self, row: bytes, *, keep: bool) -> None:
        """Wait until it is this thread's turn at a row.

        Args:
            row: the row.
            keep: whether the thread is to have it; then it comes after those who came before it
                and want all rows.

        Raises:
            Unsupported: others had it for too long.
        """
        me = get_ident()
        if self.held.get(row) == me:
            return
        if me in self.held.values():
            self._await(row, lambda: row not in self.held)
        elif row in self.held or row in self.lines or (keep and self.for_all):
            self._stand_in_line(row, keep=keep)

    def _stand_in_line(self, row: bytes, *, keep: bool) -> None:
        ticket, line = next(self._tickets), self.lines.setdefault(row, deque())
        line.append(ticket)

        def is_next() -> bool:
            is_behind_all = keep and self.for_all and self.for_all[0] < ticket
            return line[0] == ticket and row not in self.held and not is_behind_all

        try:
            self._await(row, is_next)
        finally:
            line.remove(ticket)
            if not line:
                del self.lines[row]
            self._moved.notify_all()

    def take_all(self) -> None:
        """Wait until nobody has a row; whoever comes later to have one waits for that.

        Raises:
            Unsupported: somebody had one for too long.
        """
        if not self.held:
            return
        ticket = next(self._tickets)
        self.for_all.append(ticket)
        try:
            self._await(None, lambda: not self.held)
        finally:
            self.for_all.remove(ticket)
            self._moved.notify_all()

    def leave(self, row: bytes) -> None:
        """Let the next one have a row; whoever waits for it while having another is in no line."""
        del self.held[row]
        self._moved.notify_all()

    def _await(self, row: bytes | None, is_over: Callable[[], object]) -> None:
        """Wait for something, but not for ever.

        Raises:
            Unsupported: it did not come.
        """
        if self._moved.wait_for(is_over, self.patience_s):
            return
        allowed = f"a turn within {self.patience_s:g} s"
        # A count may have put the fields of its key by now, and a load the rows before these.
        done = "This change was not made; what was written before it stays."
        remedy = f"{done} Try again, with fewer threads if the engine answers slowly."
        if row is None:
            what = f"other threads count in {counted(len(self.held), 'row')} all the time"
            raise Unsupported("all rows", what, allowed, remedy)
        raise Unsupported(f"row {row.hex()}", "other threads count in it", allowed, remedy)
