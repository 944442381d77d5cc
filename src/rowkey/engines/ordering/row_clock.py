"""The order in which the rows of a table change: one change of a row at a time, each with its time.

HBase shows the newest timestamp, whatever was written last. So between taking a timestamp and
writing it no other change of the row may come: it would be hidden by an earlier one, or hide a
later one. And a delete hides a put of the same millisecond, even one that comes later, so a client
that deletes and then puts must not leave both to one clock. Source: HBASE-2256, HBASE-15968.
"""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from contextlib import AbstractContextManager
    from threading import Lock, RLock

LOG = logging.getLogger("rowkey.engines.clock")

LEAD_MS = 20
"""Milliseconds that a row may run ahead of the clock before its writer waits: what another process
puts, whose clock is right, is hidden no longer than that."""
SET_BACK_MS = 1_000
"""Milliseconds behind the last timestamp from which a clock was set back: nobody waits for it."""
MOST_ROWS = 100_000
"""Rows whose timestamps are remembered one by one. They are forgotten as time passes; while a clock
that was set back catches up, none does."""
PATIENCE = 200
"""Half milliseconds after which a clock that has not moved is taken to stand still."""


class RowClock(ABC):
    """Gives each change of a row a timestamp above all that could hide it, and orders changes.

    A timestamp is taken within `ordered` and written before that ends. Timestamps never go back,
    whatever the clock does. Only rows whose last timestamp is not yet in the past are remembered.
    All who change a table in one process share one.

    Args:
        clock: milliseconds since 1970; it may stand still or be set back.
        floor: the highest timestamp that was given before.
        name: of the table, for messages.
    """

    def __init__(self, clock: Callable[[], int], floor: int = -1, name: str = "") -> None:
        self.clock, self.name = clock, name
        self.highest = floor
        """The highest timestamp that was given to any row."""
        self._now = floor
        self._least = floor + 1
        """The least timestamp of a change, as any row may have been changed before."""
        self._rows: dict[bytes, int] = {}
        self._copies: dict[bytes, tuple[int, int]] = {}
        self._ahead: dict[bytes, int] = {}
        """Rows that others have given a timestamp far ahead of the clock, and that."""
        self._was_set_back = False
        self._lock = self._make_lock()

    @abstractmethod
    def _make_lock(self) -> Lock | RLock:
        """Return the lock under which timestamps are given."""

    @abstractmethod
    def ordered(self, rows: Collection[bytes]) -> AbstractContextManager[object]:
        """Return a block in which changes of some rows are stamped and written, by nobody else.

        Args:
            rows: what stands for each row.

        Raises:
            Unsupported: others changed one of them for too long.
        """

    @abstractmethod
    def ordered_all(self) -> AbstractContextManager[object]:
        """Return a block in which any rows are stamped by `stamp_all` and written."""

    def stamp(self, row: bytes, count: int = 0) -> int:
        """Return the timestamp of a change, the first one if it takes several.

        Args:
            row: what stands for the row in all places where it may stand.
            count: how many timestamps it takes for itself: 1 for a delete, 2 for a delete and the
                put that follows it. A put takes none: it may share that of a put before it, of
                which the later one counts, so that a busy row does not run ahead of the clock.

        Cost: 0.4 µs.
        """
        with self._lock:
            self._read_clock()
            copied, _ = self._copies.get(row, (-1, 0)) if self._copies else (-1, 0)
            stamp = max(self._now, self._least, self._rows.get(row, -1) + 1)
            if self._ahead and row in self._ahead:
                stamp = max(stamp, self._ahead[row] + 1)
                self._ahead[row] = stamp + max(count, 1) - 1
                return stamp
            if count:
                stamp = max(stamp, copied + 1)
                self._rows[row] = stamp + count - 1
                self._forget_if_many(self._rows)
            self.highest = max(self.highest, stamp + max(count, 1) - 1)
            return stamp

    def stamp_copy(self, row: bytes, salt: int) -> int:
        """Return the timestamp of a put behind a random salt.

        Puts of one timestamp go to one copy, where the later one counts: between copies only time
        tells.

        Args:
            row: what stands for all copies of the row.
            salt: the number of the copy that is put.
        """
        with self._lock:
            self._read_clock()
            stamp = max(self._now, self._least, self._rows.get(row, -1) + 1)
            before, last_salt = self._copies.get(row, (-1, salt))
            if last_salt != salt:
                stamp = max(stamp, before + 1)
            stamp = max(stamp, before)
            self._copies[row] = stamp, salt
            self.highest = max(self.highest, stamp)
            self._forget_if_many(self._copies)
            return stamp

    def salt_of_last_put(self, row: bytes) -> int | None:
        """Return the copy that the last put of this millisecond went to, if there was one."""
        found = self._copies.get(row)
        return None if found is None else found[1]

    def stamp_all(self, *, alone: bool) -> int:
        """Return a timestamp above all that were given to any row; later ones are not below it.

        Args:
            alone: whether later ones are above it, as copies need that only time tells apart.

        Cost: 0.1 µs for each row that was changed in this millisecond.
        """
        with self._lock:
            self._read_clock()
            stamp = max(self._now, self.highest + 1)
            self._least, self.highest = stamp + alone, stamp
            self._rows, self._copies = {}, {}
            return stamp

    def note(self, row: bytes, stamp: int) -> None:
        """Note a timestamp that a row was given elsewhere, as by a server that counts.

        One that is far ahead of the clock is noted of this row alone: others do not follow it.
        """
        with self._lock:
            self._read_clock()
            if stamp > max(self._now, self.highest) + SET_BACK_MS:
                self._ahead[row] = max(self._ahead.get(row, -1), stamp)
                return
            self._rows[row] = max(self._rows.get(row, -1), stamp)
            self.highest = max(self.highest, stamp)

    def last_of(self, row: bytes) -> int:
        """Return the last timestamp that may hide a change of a row."""
        with self._lock:
            copied, _ = self._copies.get(row, (-1, 0))
            given = max(self._rows.get(row, -1), self._ahead.get(row, -1))
            return max(given, copied, self._least - 1)

    def now(self) -> int:
        """Return the time in ms by a clock that never goes back."""
        with self._lock:
            self._read_clock()
            self.highest = max(self.highest, self._now)
            return self.highest

    def _read_clock(self) -> None:
        """Read the clock, and forget the rows whose timestamps are in the past."""
        now = self.clock()
        if now > self._now:
            self._now = now
            if self._rows:
                self._rows = {row: stamp for row, stamp in self._rows.items() if stamp >= now}
            if self._ahead:
                self._ahead = {row: stamp for row, stamp in self._ahead.items() if stamp >= now}
            if self._copies:
                self._copies = {row: put for row, put in self._copies.items() if put[0] >= now}
        elif now < self._now - SET_BACK_MS and not self._was_set_back:
            self._was_set_back = True
            LOG.warning(
                "%s: the clock is %.1f s behind the last change; until it has caught up, changes "
                "are stamped after that one",
                self.name or "a table",
                (self._now - now) / 1_000,
            )

    def _forget_if_many(self, remembered: Mapping[bytes, object]) -> None:
        """Forget single rows where there are too many: what follows is above all of them."""
        if len(remembered) > MOST_ROWS:
            self._least = max(self.highest, self._least) + 1
            self._rows, self._copies = {}, {}

    def hold_back(self, stamp: int) -> None:
        """Wait until the clock is near a timestamp that was given, outside of `ordered`.

        A row that is deleted and put again and again runs ahead of the clock; its writer is held
        back to `LEAD_MS`. A clock that stands still, or was set back, is not waited for.

        Cost: 0.1 µs for a row that has not run ahead.
        """
        self.wait_for(stamp - LEAD_MS)

    def settle(self) -> None:
        """Wait until every timestamp that was given is in the past, for who writes next."""
        self.wait_for(self.highest + 1)

    def wait_for(self, until: int) -> bool:
        """Wait for the clock to reach a time, as long as it moves; return whether it did."""
        now, idle = self.clock(), 0
        if until - now > SET_BACK_MS:
            return False
        while now < until and idle < PATIENCE:
            time.sleep(0.0005)
            before, now = now, self.clock()
            idle = 0 if now > before else idle + 1
        return now >= until


class TableClock(RowClock):
    """The order of a table whose rows are all changed under one lock.

    Args:
        clock: milliseconds since 1970.
        lock: the table's.
        floor: the highest timestamp that was given before.
        name: of the table.

    >>> from threading import RLock
    >>> stamps = TableClock(lambda: 1_000, RLock())
    >>> stamps.stamp(b"a"), stamps.stamp(b"a", 2), stamps.stamp(b"b"), stamps.stamp(b"a", 1)
    (1000, 1000, 1000, 1002)
    """

    def __init__(
        self,
        clock: Callable[[], int],
        lock: RLock,
        floor: int = -1,
        name: str = "",
    ) -> None:
        self._table_lock = lock
        super().__init__(clock, floor, name)

    def _make_lock(self) -> RLock:
        return self._table_lock

    def ordered(self, rows: Collection[bytes]) -> AbstractContextManager[object]:
        del rows
        return self._table_lock

    def ordered_all(self) -> AbstractContextManager[object]:
        return self._table_lock

    def settle(self) -> None:
        """Do nothing: who writes next begins after the highest timestamp, which the table keeps."""
