"""Locks of single rows: changes that depend on a row come alone, others may come together."""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from itertools import count
from threading import Condition, Lock
from typing import TYPE_CHECKING

from rowkey.errors import Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

LONGEST_WAIT_S = 120.0
"""Seconds that a thread waits for a row, or for all of them. Who has one waits for some calls of
the engine meanwhile, which give up by themselves; so this is only reached where many wait before
it, or where an engine does not answer at all."""


class RowLocks:
    """Which rows are being changed, and who waits for them, in the order they came.

    A row is locked exclusively for a change that depends on what it holds, and shared for one that
    does not; all rows are locked shared by a load. A thread that comes while others wait for the
    row waits after them.
    """

    def __init__(self) -> None:
        self.longest_wait_s = LONGEST_WAIT_S
        self._exclusive: set[bytes] = set()
        self._shared: dict[bytes, int] = {}
        self._loads = 0
        self._lines: dict[bytes, deque[int]] = {}
        self._exclusive_waiters: set[int] = set()
        self._load_waiters: set[int] = set()
        self._tickets = count()
        self._changed = Condition(Lock())

    @contextmanager
    def locked(self, rows: Collection[bytes], *, exclusive: bool) -> Iterator[None]:
        """Lock some rows for the time of a block.

        A thread must not lock rows while it has others locked.

        Args:
            rows: the rows.
            exclusive: whether nobody else may change them.

        Raises:
            Unsupported: others had one of them for too long.
        """
        taken: list[bytes] = []
        try:
            for row in sorted(set(rows)):  # in one order, so that no two wait for each other
                self._acquire(row, exclusive=exclusive)
                taken.append(row)
            yield
        finally:
            with self._changed:
                for row in taken:
                    self._release(row, exclusive=exclusive)
                if self._lines or self._load_waiters:
                    self._changed.notify_all()

    @contextmanager
    def all_locked(self) -> Iterator[None]:
        """Lock all rows shared for the time of a block.

        Raises:
            Unsupported: others had one of them exclusively for too long.
        """
        ticket = next(self._tickets)

        def is_free() -> bool:
            return not self._exclusive and min(self._exclusive_waiters, default=ticket) >= ticket

        with self._changed:
            self._load_waiters.add(ticket)
            try:
                self._wait(is_free, "all rows")
            finally:
                self._load_waiters.discard(ticket)
                self._changed.notify_all()
            self._loads += 1
        try:
            yield
        finally:
            with self._changed:
                self._loads -= 1
                self._changed.notify_all()

    def _acquire(self, row: bytes, *, exclusive: bool) -> None:
        with self._changed:
            if row in self._lines or not self._is_free(row, exclusive=exclusive):
                self._stand_in_line(row, exclusive=exclusive)
            elif exclusive and self._load_waiters:
                self._stand_in_line(row, exclusive=True)
            if exclusive:
                self._exclusive.add(row)
            else:
                self._shared[row] = self._shared.get(row, 0) + 1

    def _stand_in_line(self, row: bytes, *, exclusive: bool) -> None:
        ticket, line = next(self._tickets), self._lines.setdefault(row, deque())
        line.append(ticket)
        if exclusive:
            self._exclusive_waiters.add(ticket)

        def is_next() -> bool:
            after_load = exclusive and min(self._load_waiters, default=ticket) < ticket
            return line[0] == ticket and not after_load and self._is_free(row, exclusive=exclusive)

        try:
            self._wait(is_next, f"row {row.hex()}")
        finally:
            self._exclusive_waiters.discard(ticket)
            line.remove(ticket)
            if not line:
                del self._lines[row]
            self._changed.notify_all()

    def _is_free(self, row: bytes, *, exclusive: bool) -> bool:
        if row in self._exclusive:
            return False
        return not exclusive or not (self._loads or row in self._shared)

    def _release(self, row: bytes, *, exclusive: bool) -> None:
        if exclusive:
            self._exclusive.discard(row)
        elif self._shared[row] == 1:
            del self._shared[row]
        else:
            self._shared[row] -= 1

    def _wait(self, is_over: Callable[[], bool], what: str) -> None:
        """Wait for something, but not forever.

        Raises:
            Unsupported: it did not come.
        """
        if self._changed.wait_for(is_over, self.longest_wait_s):
            return
        allowed = f"a turn within {self.longest_wait_s:g} s"
        remedy = "This change was not made. Try again, with fewer threads if the engine is slow."
        raise Unsupported(what, "other threads change it all the time", allowed, remedy)
