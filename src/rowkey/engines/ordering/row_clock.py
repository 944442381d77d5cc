"""Clocks that let one change of a row happen at a time, each with a later timestamp.

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

MAX_LEAD_MS = 20
"""Milliseconds that a row may run ahead of the clock before its writer waits: what another process
puts, whose clock is right, is hidden no longer than that."""
CLOCK_SETBACK_MS = 1_000
"""Milliseconds behind the last timestamp from which a clock was set back: nobody waits for it."""
MAX_TRACKED_ROWS = 100_000
"""Rows whose timestamps are remembered one by one. They are forgotten as time passes; while a clock
that was set back catches up, none does."""
MAX_IDLE_POLLS = 200
"""Half milliseconds after which a clock that has not moved is taken to stand still."""


def get_time_ms() -> int:
    """Return the milliseconds since 1970 by this machine's clock."""
    return time.time_ns() // 1_000_000


class RowClock(ABC):
    """Gives each change of a row a timestamp above all that could hide it, and orders changes.

    A timestamp is taken within `lock_rows` and written before that ends. Timestamps never go back,
    whatever the clock does. Only rows whose last timestamp is not yet in the past are remembered.
    All who change a table in one process share one.

    Args:
        clock: milliseconds since 1970; it may stand still or be set back.
        last_timestamp: the highest timestamp that was given before.
        name: of the table, for messages.
    """

    def __init__(self, clock: Callable[[], int], last_timestamp: int = -1, name: str = "") -> None:
        self.clock, self.name = clock, name
        self.highest_timestamp = last_timestamp
        """The highest timestamp that was given to any row."""
        self._latest_ms = last_timestamp
        self._min_timestamp = last_timestamp + 1
        """The least timestamp of a change, as any row may have been changed before."""
        self._row_timestamps: dict[bytes, int] = {}
        self._copy_timestamps: dict[bytes, tuple[int, int]] = {}
        self._future_timestamps: dict[bytes, int] = {}
        """Rows that others have given a timestamp far ahead of the clock, and that."""
        self._was_set_back = False
        self._lock = self._make_lock()

    @abstractmethod
    def _make_lock(self) -> Lock | RLock:
        """Return the lock under which timestamps are given."""

    @abstractmethod
    def lock_rows(self, rows: Collection[bytes]) -> AbstractContextManager[object]:
        """Return a context manager that locks rows while their changes are stamped and written.

        Args:
            rows: what stands for each row.

        Raises:
            Unavailable: others changed one of them for too long.
        """

    @abstractmethod
    def lock_all_rows(self) -> AbstractContextManager[object]:
        """Return a context manager that locks all rows while they are stamped and written."""

    def stamp_row(self, row: bytes, count: int = 0) -> int:
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
            copied, _ = (
                self._copy_timestamps.get(row, (-1, 0)) if self._copy_timestamps else (-1, 0)
            )
            stamp = max(self._latest_ms, self._min_timestamp, self._row_timestamps.get(row, -1) + 1)
            if self._future_timestamps and row in self._future_timestamps:
                stamp = max(stamp, self._future_timestamps[row] + 1)
                self._future_timestamps[row] = stamp + max(count, 1) - 1
                return stamp
            if count:
                stamp = max(stamp, copied + 1)
                self._row_timestamps[row] = stamp + count - 1
                self._forget_excess_rows(self._row_timestamps)
            self.highest_timestamp = max(self.highest_timestamp, stamp + max(count, 1) - 1)
            return stamp

    def stamp_copy(self, row: bytes, salt: int) -> int:
        """Return the timestamp of a put whose key starts with a random salt.

        Puts of one timestamp go to one copy, where the later one counts: between copies only time
        tells.

        Args:
            row: what stands for all copies of the row.
            salt: the number of the copy that is put.
        """
        with self._lock:
            self._read_clock()
            stamp = max(self._latest_ms, self._min_timestamp, self._row_timestamps.get(row, -1) + 1)
            before, last_salt = self._copy_timestamps.get(row, (-1, salt))
            if last_salt != salt:
                stamp = max(stamp, before + 1)
            stamp = max(stamp, before)
            self._copy_timestamps[row] = stamp, salt
            self.highest_timestamp = max(self.highest_timestamp, stamp)
            self._forget_excess_rows(self._copy_timestamps)
            return stamp

    def find_last_salt(self, row: bytes) -> int | None:
        """Return the copy that the last put of this millisecond went to, if there was one."""
        timestamp = self._copy_timestamps.get(row)
        return None if timestamp is None else timestamp[1]

    def stamp_all_rows(self, *, is_exclusive: bool) -> int:
        """Return a timestamp above all that were given to any row; later ones are not below it.

        Args:
            is_exclusive: whether later ones are above it, as copies need that only time tells
                apart.

        Cost: 0.1 µs for each row that was changed in this millisecond.
        """
        with self._lock:
            self._read_clock()
            stamp = max(self._latest_ms, self.highest_timestamp + 1)
            self._min_timestamp, self.highest_timestamp = stamp + is_exclusive, stamp
            self._row_timestamps, self._copy_timestamps = {}, {}
            return stamp

    def record_timestamp(self, row: bytes, timestamp: int) -> None:
        """Record a timestamp that a row got elsewhere, such as from a server that increments it.

        One that is far ahead of the clock is noted of this row alone: others do not follow it.
        """
        with self._lock:
            self._read_clock()
            if timestamp > max(self._latest_ms, self.highest_timestamp) + CLOCK_SETBACK_MS:
                self._future_timestamps[row] = max(self._future_timestamps.get(row, -1), timestamp)
                return
            self._row_timestamps[row] = max(self._row_timestamps.get(row, -1), timestamp)
            self.highest_timestamp = max(self.highest_timestamp, timestamp)

    def find_last_timestamp(self, row: bytes) -> int:
        """Return the last timestamp that may hide a change of a row."""
        with self._lock:
            copied, _ = self._copy_timestamps.get(row, (-1, 0))
            last_stamp = max(
                self._row_timestamps.get(row, -1), self._future_timestamps.get(row, -1)
            )
            return max(last_stamp, copied, self._min_timestamp - 1)

    def read_time_ms(self) -> int:
        """Return the time in ms by a clock that never goes back."""
        with self._lock:
            self._read_clock()
            self.highest_timestamp = max(self.highest_timestamp, self._latest_ms)
            return self.highest_timestamp

    def _read_clock(self) -> None:
        """Read the clock, and drop the rows whose timestamps are in the past."""
        now = self.clock()
        if now > self._latest_ms:
            self._latest_ms = now
            if self._row_timestamps:
                self._row_timestamps = {
                    row: stamp for row, stamp in self._row_timestamps.items() if stamp >= now
                }
            if self._future_timestamps:
                self._future_timestamps = {
                    row: stamp for row, stamp in self._future_timestamps.items() if stamp >= now
                }
            if self._copy_timestamps:
                self._copy_timestamps = {
                    row: put for row, put in self._copy_timestamps.items() if put[0] >= now
                }
        elif now < self._latest_ms - CLOCK_SETBACK_MS and not self._was_set_back:
            self._was_set_back = True
            LOG.warning(
                "%s: the clock of this machine is %.1f s behind the last change; until it has "
                "caught up, new changes get timestamps just after that change; check the clock",
                f"table {self.name}" if self.name else "a table",
                (self._latest_ms - now) / 1_000,
            )

    def _forget_excess_rows(self, timestamps: Mapping[bytes, object]) -> None:
        """Drop all single rows if there are too many: later timestamps are above all of them."""
        if len(timestamps) > MAX_TRACKED_ROWS:
            self._min_timestamp = max(self.highest_timestamp, self._min_timestamp) + 1
            self._row_timestamps, self._copy_timestamps = {}, {}

    def throttle_writer(self, timestamp: int) -> None:
        """Wait until the clock is near a timestamp that was given, outside of `lock_rows`.

        A row that is deleted and put again and again runs ahead of the clock; its writer is held
        back to `MAX_LEAD_MS`. A clock that stands still, or was set back, is not waited for.

        Cost: 0.1 µs for a row that has not run ahead.
        """
        if timestamp - MAX_LEAD_MS > self.clock():
            self.wait_until(timestamp - MAX_LEAD_MS)

    def wait_until_past(self) -> None:
        """Wait until every given timestamp is in the past, for the next process that writes."""
        self.wait_until(self.highest_timestamp + 1)

    def wait_until(self, time_ms: int) -> bool:
        """Wait for the clock to reach a time, as long as it moves; return whether it did."""
        now, idle = self.clock(), 0
        if time_ms - now > CLOCK_SETBACK_MS:
            return False
        while now < time_ms and idle < MAX_IDLE_POLLS:
            time.sleep(0.0005)
            before, now = now, self.clock()
            idle = 0 if now > before else idle + 1
        return now >= time_ms


class TableClock(RowClock):
    """The clock of a table whose rows are all changed under one lock.

    Args:
        clock: milliseconds since 1970.
        lock: the table's.
        last_timestamp: the highest timestamp that was given before.
        name: of the table.

    >>> from threading import RLock
    >>> stamps = TableClock(lambda: 1_000, RLock())
    >>> stamps.stamp_row(b"a"), stamps.stamp_row(b"a", 2)
    (1000, 1000)
    >>> stamps.stamp_row(b"b"), stamps.stamp_row(b"a", 1)
    (1000, 1002)
    """

    def __init__(
        self,
        clock: Callable[[], int],
        lock: RLock,
        last_timestamp: int = -1,
        name: str = "",
    ) -> None:
        self._table_lock = lock
        super().__init__(clock, last_timestamp, name)

    def _make_lock(self) -> RLock:
        return self._table_lock

    def lock_rows(self, rows: Collection[bytes]) -> AbstractContextManager[object]:
        del rows
        return self._table_lock

    def lock_all_rows(self) -> AbstractContextManager[object]:
        return self._table_lock

    def wait_until_past(self) -> None:
        """Do nothing: the next writer starts after the timestamp that the table stores."""
