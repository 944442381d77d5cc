"""Clocks that let one change of a row happen at a time, each with a later timestamp.

HBase shows the newest timestamp, whatever was written last. So no other change of a row may happen
between reading a timestamp for a change and writing it: it would be hidden by an earlier change, or
hide a later one. And a delete hides a put of the same millisecond, even a later put, so a delete
and the put that follows it need different timestamps. Source: HBASE-2256, HBASE-15968.
"""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from threading import Lock, RLock

LOG = logging.getLogger("rowkey.engines.clock")

MAX_LEAD_MS = 20
"""Milliseconds that a row may run ahead of the clock before its writer waits: puts of another
process, whose clock is right, are hidden no longer than that."""
CLOCK_SETBACK_MS = 1_000
"""Milliseconds behind the last timestamp from which a clock counts as set back: nothing waits."""
MAX_TRACKED_ROWS = 100_000
"""Rows whose timestamps are remembered one by one. They are forgotten as time passes, but not while
a clock that was set back catches up."""
MAX_RECORDED_TIMESTAMP = 2**62
"""The highest timestamp of a server that later changes follow: no clock gives a higher one, whether
it counts milliseconds or, like some programs, nanoseconds, and after it few would be left."""
MAX_IDLE_POLLS = 200
"""Half milliseconds after which a clock that has not moved counts as stopped."""


def get_time_ms() -> int:
    """Return the current time of this machine's clock, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class RowClock(ABC):
    """Gives timestamps to the changes of a table's rows, each later than those before it.

    Call it within `lock_rows`, and write the change before the lock is released. Timestamps never
    go back, whatever the clock does. Only rows whose last timestamp is not yet in the past are
    remembered. All writers of a table in one process share one clock.

    Args:
        clock: milliseconds since 1970; it may stand still or be set back.
        last_timestamp: the highest timestamp that was given before.
        name: the table's name, for messages.
    """

    def __init__(self, clock: Callable[[], int], last_timestamp: int = -1, name: str = "") -> None:
        self.clock, self.name = clock, name
        self.highest_timestamp = last_timestamp
        """The highest timestamp that was given to any row."""
        self._latest_ms = last_timestamp
        self._min_timestamp = last_timestamp + 1
        """The minimum timestamp of a change of any row."""
        self._row_timestamps: dict[bytes, int] = {}
        self._copy_timestamps: dict[bytes, tuple[int, int]] = {}
        self._future_timestamps: dict[bytes, int] = {}
        """Timestamps far ahead of the clock that servers gave to rows, by row."""
        self._was_set_back = False
        self._lock = self._make_lock()

    @abstractmethod
    def _make_lock(self) -> Lock | RLock:
        """Return the lock that protects the remembered timestamps."""

    @abstractmethod
    def lock_rows(self, rows: Collection[bytes]) -> AbstractContextManager[object]:
        """Return a context manager that locks rows while their changes are stamped and written.

        Args:
            rows: an id of each row, the same for all copies of a row.

        Raises:
            Unavailable: other threads kept a row locked for too long.
        """

    @abstractmethod
    def lock_all_rows(self) -> AbstractContextManager[object]:
        """Return a context manager that locks all rows while changes are stamped and written."""

    def stamp_row(self, row: bytes, count: int = 0) -> int:
        """Return a timestamp for a change of a row, high enough that no earlier change hides it.

        Args:
            row: an id of the row, the same for all of its copies.
            count: timestamps reserved for the change, of which the first is returned: 1 for a
                delete, 2 for a delete and the put that follows it. A put reserves none: it may
                share the timestamp of an earlier put, which it replaces, so that a busy row does
                not run ahead of the clock.

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
        """Return a timestamp for a put to one of the salted copies of a row.

        Puts with the same timestamp go to the same copy, where the later put replaces the earlier
        one: among copies, only the timestamp decides.

        Args:
            row: an id of the row, the same for all of its copies.
            salt: the number of the copy that is written.
        """
        with self._lock:
            self._read_clock()
            stamp = max(self._latest_ms, self._min_timestamp, self._row_timestamps.get(row, -1) + 1)
            last_stamp, last_salt = self._copy_timestamps.get(row, (-1, salt))
            if last_salt != salt:
                stamp = max(stamp, last_stamp + 1)
            stamp = max(stamp, last_stamp)
            self._copy_timestamps[row] = stamp, salt
            self.highest_timestamp = max(self.highest_timestamp, stamp)
            self._forget_excess_rows(self._copy_timestamps)
            return stamp

    def find_last_salt(self, row: bytes) -> int | None:
        """Return the salt of a row's last put in this millisecond; None if there was no put."""
        timestamp = self._copy_timestamps.get(row)
        return None if timestamp is None else timestamp[1]

    def stamp_all_rows(self, *, is_exclusive: bool) -> int:
        """Return a timestamp above those of all rows, for a change that may affect any row.

        Args:
            is_exclusive: whether all later timestamps must be above it, as salted copies need.

        Cost: 0.1 µs for each row that was changed in this millisecond.
        """
        with self._lock:
            self._read_clock()
            stamp = max(self._latest_ms, self.highest_timestamp + 1)
            self._min_timestamp, self.highest_timestamp = stamp + is_exclusive, stamp
            self._row_timestamps, self._copy_timestamps = {}, {}
            return stamp

    def advance_to(self, timestamp: int) -> None:
        """Give later changes of all rows only timestamps above one that another table gave."""
        with self._lock:
            self.highest_timestamp = max(self.highest_timestamp, timestamp)
            self._min_timestamp = max(self._min_timestamp, timestamp + 1)

    def record_timestamp(self, row: bytes, timestamp: int) -> None:
        """Remember the timestamp that a server gave to a change of a row, such as an increment.

        A timestamp far ahead of the clock affects only this row, not the table. One above
        `MAX_RECORDED_TIMESTAMP` is reported in the log and not remembered: it comes from a cell
        that another program wrote, and after it no change of the row's other cells could be made.
        """
        if timestamp > MAX_RECORDED_TIMESTAMP:
            LOG.warning(
                "%s: a cell of the row %s has the timestamp %d, which no clock gives: it hides "
                "whatever is put later; delete the cell with this timestamp",
                self._label,
                row.hex(),
                timestamp,
            )
            return
        with self._lock:
            self._read_clock()
            if timestamp > max(self._latest_ms, self.highest_timestamp) + CLOCK_SETBACK_MS:
                self._future_timestamps[row] = max(self._future_timestamps.get(row, -1), timestamp)
                return
            self._row_timestamps[row] = max(self._row_timestamps.get(row, -1), timestamp)
            self.highest_timestamp = max(self.highest_timestamp, timestamp)

    def find_last_timestamp(self, row: bytes) -> int:
        """Return the highest timestamp that an earlier change of a row may have."""
        with self._lock:
            copied, _ = self._copy_timestamps.get(row, (-1, 0))
            last_stamp = max(
                self._row_timestamps.get(row, -1), self._future_timestamps.get(row, -1)
            )
            return max(last_stamp, copied, self._min_timestamp - 1)

    def read_time_ms(self) -> int:
        """Return the time in milliseconds, never lower than any timestamp given before."""
        with self._lock:
            self._read_clock()
            self.highest_timestamp = max(self.highest_timestamp, self._latest_ms)
            return self.highest_timestamp

    @property
    def _label(self) -> str:
        """The table as messages name it."""
        return f"table {self.name}" if self.name else "a table"

    def _read_clock(self) -> None:
        """Read the clock, and forget the rows whose timestamps are in the past."""
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
                self._label,
                (self._latest_ms - now) / 1_000,
            )

    def _forget_excess_rows(self, timestamps: Mapping[bytes, object]) -> None:
        """Forget the timestamps of single rows if there are too many, and raise the minimum."""
        if len(timestamps) > MAX_TRACKED_ROWS:
            self._min_timestamp = max(self.highest_timestamp, self._min_timestamp) + 1
            self._row_timestamps, self._copy_timestamps = {}, {}

    def throttle_writer(self, timestamp: int) -> None:
        """Wait until the clock is close to a row's timestamp, so that the row stays near it.

        A row that is deleted and put repeatedly runs ahead of the clock; its writer waits until the
        lead is `MAX_LEAD_MS`. If the clock stopped, or was set back, it does not wait. Call it
        after the lock of the row was released.

        Cost: 0.1 µs for a row that has not run ahead.
        """
        if timestamp - MAX_LEAD_MS > self.clock():
            self.wait_until(timestamp - MAX_LEAD_MS)

    def wait_until_past(self) -> None:
        """Wait until every given timestamp is in the past, before another process writes."""
        self.wait_until(self.highest_timestamp + 1)

    def wait_until(self, time_ms: int) -> bool:
        """Wait for the clock to reach a time; return whether it did."""
        now, idle = self.clock(), 0
        if time_ms - now > CLOCK_SETBACK_MS:
            return False
        while now < time_ms and idle < MAX_IDLE_POLLS:
            time.sleep(0.0005)
            before, now = now, self.clock()
            idle = 0 if now > before else idle + 1
        return now >= time_ms


class TableClock(RowClock):
    """The clock of a table whose rows are all changed under one lock, that of the table.

    Args:
        clock: milliseconds since 1970.
        last_timestamp: the highest timestamp that was given before.
        name: the table's name, for messages.

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
        """Return the table's lock."""
        return self._table_lock

    def lock_rows(self, rows: Collection[bytes]) -> AbstractContextManager[object]:
        """Return the table's lock, which locks all rows."""
        del rows
        return self._table_lock

    def lock_all_rows(self) -> AbstractContextManager[object]:
        """Return the table's lock, which locks all rows."""
        return self._table_lock

    def wait_until_past(self) -> None:
        """Do nothing: the table stores its highest timestamp for the next writer."""
