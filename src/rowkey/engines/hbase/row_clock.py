"""The clock that orders the changes of one process to a table on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from threading import Lock
from weakref import WeakValueDictionary

from rowkey import fork_safety
from rowkey.engines.ordering.row_clock import RowClock
from rowkey.engines.ordering.row_locks import RowLocks


class ClusterClock(RowClock):
    """The clock of a table that several processes change, for the changes of this process.

    Within the process, timestamps never go back, and changes of one row are sent one after the
    other: of two in flight, the later one might be applied first. Changes of other processes have
    timestamps of their own clocks.

    Args:
        clock: milliseconds since 1970.
        name: the table's name, for messages.
    """

    def __init__(self, clock: Callable[[], int], name: str = "") -> None:
        super().__init__(clock, name=name)
        self.locks = RowLocks()

    def _make_lock(self) -> Lock:
        return Lock()

    def lock_rows(self, rows: Collection[bytes]) -> AbstractContextManager[object]:
        """Return a context manager that locks some rows against other threads."""
        return self.locks.lock_rows(rows)

    def lock_all_rows(self) -> AbstractContextManager[object]:
        """Return a context manager that locks all rows against other threads."""
        return self.locks.lock_all_rows()


class _SharedClocks:
    """The clocks of all tables that this process has open, by cluster and table name."""

    def __init__(self) -> None:
        self.reset_in_child()
        fork_safety.register_resource(self)

    def reset_in_child(self) -> None:
        """Forget the parent's clocks in a forked child process."""
        self._lock = Lock()
        self._clocks: WeakValueDictionary[object, ClusterClock] = WeakValueDictionary()

    def find_clock(self, cluster: str, name: str, clock: Callable[[], int]) -> ClusterClock:
        """Return the clock of a table, creating it for the table's first store."""
        with self._lock:
            shared_clock = self._clocks.get((cluster, name, clock))
            if shared_clock is None:
                self._clocks[cluster, name, clock] = shared_clock = ClusterClock(clock, name)
            return shared_clock


SHARED_CLOCKS = _SharedClocks()
