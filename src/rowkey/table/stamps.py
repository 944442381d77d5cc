"""Timestamps of mutations, strictly rising for each row.

A delete hides a put of the same millisecond, even one that comes later, so whoever deletes and
then puts must not leave both to one clock. Source: HBASE-2256, HBASE-15968.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from threading import Lock, get_ident
from typing import TYPE_CHECKING

from rowkey.engines import now_ms
from rowkey.errors import Unsupported
from rowkey.table.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LEAD_MS = 20
"""Milliseconds that a row may run ahead of the clock before its writer waits: what another process
puts, whose clock is right, is hidden no longer than that."""
PATIENCE = 200
"""Half milliseconds after which a clock that has not moved is taken to stand still."""


class Stamps:
    """Gives each mutation of a row a timestamp above all that could hide it.

    Only rows whose last timestamp is not yet in the past are remembered. A row that is deleted and
    put again and again runs ahead of the clock; its writer is held back to `LEAD_MS`. Several
    threads may ask.

    Args:
        clock: milliseconds since 1970; it may stand still or step back.

    >>> stamps = Stamps(lambda: 1_000)
    >>> stamps.next(b"a"), stamps.next(b"a", 2), stamps.next(b"b"), stamps.next(b"a")
    (1000, 1001, 1000, 1003)
    """

    def __init__(self, clock: Callable[[], int] = now_ms) -> None:
        self.clock = clock
        self.now = 0
        self.floor = -1
        """The timestamp up to which any row may have been changed."""
        self.last: dict[bytes, int] = {}
        self.copies: dict[bytes, tuple[int, int]] = {}
        """Of rows with a random salt: the timestamp of the last put, and the salt it went to."""
        self.counted: dict[bytes, int] = {}
        """Of rows with counters: a timestamp that the engine gave to none of them is above."""
        self._lock = Lock()
        self.turns = Turns(self._lock)
        """Which thread alone gives timestamps to a row, and who waits for it."""
        self._held, self._lines = self.turns.held, self.turns.lines

    @contextmanager
    def held(self, row: bytes) -> Iterator[None]:
        """Let nobody else have a timestamp in a row until the block ends.

        What looks at a row and then changes it would else put below a change that it has seen.

        Raises:
            Unsupported: others had it for longer than `WAIT_MOST_S` of `rowkey.table.turns`.

        Cost: 1 µs, and the time of the threads that came before.
        """
        with self._lock:
            if self._held or self._lines or self.turns.for_all:
                self.turns.take(row, keep=True)
            self._held[row] = get_ident()
        try:
            yield
        finally:
            with self._lock:
                self.turns.leave(row)

    def next(self, row: bytes, count: int = 1) -> int:
        """The first of some timestamps in a row that are this mutation's alone.

        Args:
            row: the row key.
            count: how many are taken: 2 for a delete and the put that follows it.

        Raises:
            Unsupported: others had the row for too long.

        Cost: 0.4 µs.
        """
        with self._lock:
            if self._held or self._lines:
                self.turns.take(row, keep=False)
            self._tick()
            copied, _ = self.copies.get(row, (-1, 0))
            stamp = max(self._free(row), copied + 1)
            self.last[row] = stamp + count - 1
        self._hold_back(stamp + count - 1 - LEAD_MS)
        return stamp

    def again(self, row: bytes) -> int:
        """The timestamp of a put, which may share that of a put before it: the later one counts.

        So a row that is put again and again does not run ahead of the clock.

        Cost: 0.4 µs.
        """
        with self._lock:
            if self._held or self._lines:
                self.turns.take(row, keep=False)
            self._tick()
            return self._free(row)

    def copy(self, row: bytes, drawn: int) -> tuple[int, int]:
        """The timestamp of a put behind a random salt, and the salt it goes to.

        Puts of one timestamp go to one copy, where the later one counts: between copies only time
        tells.

        Args:
            row: what stands for all copies of the row.
            drawn: the salt for a put that shares its timestamp with no other.
        """
        with self._lock:
            self._tick()
            stamp = self._free(row)
            before, salt = self.copies.get(row, (-1, drawn))
            if before != stamp:
                salt = drawn
            self.copies[row] = stamp, salt
            return stamp, salt

    def above_all(self, *, alone: bool) -> int:
        """A timestamp above all that were given to any row; later ones are not below it.

        It waits for those who have a row by now, and whoever comes later to have one waits for it.

        Args:
            alone: whether later ones are above it, as copies need that only time tells apart.

        Raises:
            Unsupported: some had one for too long.

        Cost: 0.1 µs for each row that was changed in this millisecond.
        """
        with self._lock:
            self.turns.take_all()
            self._tick()
            given = [*self.last.values(), *self.counted.values()]
            given += [stamp for stamp, _ in self.copies.values()]
            stamp = max(self.now, max(given, default=-1) + 1)
            self.now, self.floor = stamp + alone, stamp
            self.last, self.copies, self.counted = {}, {}, {}
        self._hold_back(stamp - LEAD_MS)
        return stamp

    def count(self, row: bytes) -> None:
        """Note that the engine has counted in a row: each time at least a millisecond later.

        Source: HRegion.reckonDelta: the greater of now and one above the cell that is counted up.
        """
        with self._lock:
            self._tick()
            self.counted[row] = max(self.clock(), self.counted.get(row, -1) + 1)

    def _free(self, row: bytes) -> int:
        """The least timestamp that nothing in a row is above."""
        return max(self.now, self.last.get(row, -1) + 1, self.counted.get(row, -1) + 1)

    def _tick(self) -> None:
        """Look at the clock, and forget the rows whose timestamps are in the past."""
        now = self.clock()
        if now > self.now:
            self.now = now
            self.last = {row: stamp for row, stamp in self.last.items() if stamp >= now}
            self.copies = {row: put for row, put in self.copies.items() if put[0] >= now}
            self.counted = {row: stamp for row, stamp in self.counted.items() if stamp >= now}

    def wait(self, row: bytes) -> None:
        """Wait until what the engine stamps by its own clock comes after a row's last timestamp.

        An increment has no timestamp of ours: in the millisecond of a delete it would be hidden.

        Raises:
            Unsupported: the clock stands still, or has stepped back.

        Cost: nothing, or up to `LEAD_MS` for a row that ran ahead.
        """
        if not self._hold_back(max(self.last.get(row, -1), self.floor) + 1):
            what = "it stands still or has stepped back, so that a count would be hidden"
            raise Unsupported("clock", what, remedy="Try again when it is right.")

    def settle(self) -> None:
        """Wait until every timestamp given is in the past, for whoever writes next."""
        given = [*self.last.values(), *self.counted.values()]
        given += [stamp for stamp, _ in self.copies.values()]
        last = max([self.floor, self.now, *given])
        if last > 0:
            self._hold_back(last + 1)

    def _hold_back(self, until: int) -> bool:
        """Wait for the clock to reach a time, as long as it moves; says whether it did."""
        now, idle = self.clock(), 0
        while now < until and idle < PATIENCE:
            time.sleep(0.0005)
            before, now = now, self.clock()
            idle = 0 if now > before else idle + 1
        return now >= until
