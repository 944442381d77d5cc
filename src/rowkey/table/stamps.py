"""Timestamps of mutations, strictly rising for each row.

A delete hides a put of the same millisecond, even one that comes later, so whoever deletes and
then puts must not leave both to one clock. Source: HBASE-2256, HBASE-15968.
"""

from __future__ import annotations

import time
from threading import Lock
from typing import TYPE_CHECKING

from rowkey.engines import now_ms

if TYPE_CHECKING:
    from collections.abc import Callable


class Stamps:
    """Gives each mutation of a row a timestamp above all that could hide it.

    Only rows whose last timestamp is not yet in the past are remembered. Several threads may ask.

    Args:
        clock: milliseconds since 1970; it may stand still or step back.

    >>> stamps = Stamps(lambda: 1_000)
    >>> stamps.next(b"a"), stamps.next(b"a", 2), stamps.next(b"b"), stamps.next(b"a")
    (1000, 1001, 1000, 1003)
    """

    def __init__(self, clock: Callable[[], int] = now_ms) -> None:
        self.clock = clock
        self.now = 0
        self.last: dict[bytes, int] = {}
        self._lock = Lock()

    def next(self, row: bytes, count: int = 1) -> int:
        """The first of some timestamps in a row that are this mutation's alone.

        Args:
            row: the row key.
            count: how many are taken: 2 for a delete and the put that follows it.

        Cost: 0.4 µs.
        """
        with self._lock:
            self._tick()
            stamp = max(self.now, self.last.get(row, -1) + 1)
            self.last[row] = stamp + count - 1
        return stamp

    def again(self, row: bytes) -> int:
        """The timestamp of a put, which may share that of a put before it: the later one counts.

        So a row that is put again and again does not run ahead of the clock, where it would hide
        what other processes put.

        Cost: 0.4 µs.
        """
        with self._lock:
            self._tick()
            return max(self.now, self.last.get(row, -1) + 1)

    def above_all(self, *, alone: bool) -> int:
        """A timestamp above all that were given to any row; later ones are not below it.

        Args:
            alone: whether later ones are above it, as copies need that only time tells apart.

        Cost: 0.1 µs for each row that was changed in this millisecond.
        """
        with self._lock:
            self._tick()
            stamp = max(self.now, max(self.last.values(), default=-1) + 1)
            self.now, self.last = stamp + alone, {}
            return stamp

    def _tick(self) -> None:
        """Look at the clock, and forget the rows whose timestamps are in the past."""
        now = self.clock()
        if now > self.now:
            self.now = now
            self.last = {row: stamp for row, stamp in self.last.items() if stamp >= now}

    def wait(self, row: bytes) -> None:
        """Wait until what the engine stamps by its own clock comes after a row's last timestamp.

        An increment has no timestamp of ours: in the millisecond of a delete it would be hidden.

        Cost: nothing, or up to a millisecond for each mutation of the row in the same millisecond.
        """
        for _ in range(_PATIENCE):
            if self.clock() > self.last.get(row, -1):
                return
            time.sleep(0.0005)


_PATIENCE = 200
"""Times half a millisecond that are waited for a clock, which may stand still."""
