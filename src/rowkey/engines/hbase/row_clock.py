"""The order in which one process changes the rows of a table of a cluster."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from rowkey import forks
from rowkey.engines.ordering.row_clock import RowClock
from rowkey.engines.ordering.row_locks import RowLocks

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from contextlib import AbstractContextManager


class ClusterClock(RowClock):
    """The order of a table whose rows are changed in parallel, by other processes as well.

    Within the process, timestamps never go back, and changes of one row come one after the other:
    of two on their way at once the later one might be seen first. What other processes write has
    the times of their clocks.

    Args:
        clock: milliseconds since 1970.
        name: of the table.
    """

    def __init__(self, clock: Callable[[], int], name: str = "") -> None:
        super().__init__(clock, name=name)
        self.locks = RowLocks()

    def _make_lock(self) -> Lock:
        return Lock()

    def ordered(self, rows: Collection[bytes]) -> AbstractContextManager[object]:
        return self.locks.locked(rows)

    def ordered_all(self) -> AbstractContextManager[object]:
        return self.locks.all_locked()


class _SharedClocks:
    """The clocks of all tables that this process has open, by cluster and name."""

    def __init__(self) -> None:
        self.reset_in_child()
        forks.register(self)

    def reset_in_child(self) -> None:
        """In a forked child: begin with none."""
        self._lock = Lock()
        self._clocks: WeakValueDictionary[object, ClusterClock] = WeakValueDictionary()

    def find(self, cluster: str, name: str, clock: Callable[[], int]) -> ClusterClock:
        """Return the clock of a table; all who have it open share it."""
        with self._lock:
            found = self._clocks.get((cluster, name, clock))
            if found is None:
                self._clocks[cluster, name, clock] = found = ClusterClock(clock, name)
            return found


SHARED_CLOCKS = _SharedClocks()
