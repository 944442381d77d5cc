"""Locks of single rows, and of all rows at once."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager
from threading import Event, Lock

from rowkey.errors import Unavailable

LOCK_TIMEOUT_S = 120.0
"""Seconds that a thread waits for its rows. The thread that has them locked waits for calls of the
engine, which have timeouts of their own, so this one passes only if very many threads wait, or
if the engine does not answer at all."""


class RowLocks:
    """Locks of single rows for threads, granted in the order of the requests.

    A thread gets all its rows in one step, once every earlier request for one of them is released.
    A thread that waits has no row locked, and waits for earlier requests only, so threads cannot
    deadlock; and no later request for one of its rows overtakes it, so none starves.

    Cost: 2 to 4 µs to lock and release a free row, 0.2 to 0.4 µs for each further row.
    """

    def __init__(self) -> None:
        self.timeout_s = LOCK_TIMEOUT_S
        self._row_requests: dict[bytes, list[_LockRequest]] = {}
        """Of each row, the requests that have it locked or wait for it."""
        self._requests: set[_LockRequest] = set()
        """All requests for any row."""
        self._requests_for_all: set[_LockRequest] = set()
        self.mutex = Lock()

    def lock_rows(self, rows: Collection[bytes]) -> AbstractContextManager[None]:
        """Return a context manager that waits for some rows and locks them.

        A thread must not lock rows while it has others locked.

        Raises:
            Unavailable: when the block begins, if the rows are not free in time.
        """
        return _LockRequest(self, frozenset(rows))

    def lock_all_rows(self) -> AbstractContextManager[None]:
        """Return a context manager that waits for all rows and locks them.

        Raises:
            Unavailable: when the block begins, if a row stays locked for too long.
        """
        return _LockRequest(self, None)

    def add_request(self, request: _LockRequest) -> None:
        """Queue a request, and note the earlier requests that it must wait for."""
        if request.rows is None:
            request.blockers.update(self._requests)
            self._requests_for_all.add(request)
        elif request.rows:
            request.blockers.update(self._requests_for_all)
            for row in request.rows:
                row_requests = self._row_requests.setdefault(row, [])
                request.blockers.update(row_requests)
                row_requests.append(request)
        else:
            return
        self._requests.add(request)

    def remove_request(self, request: _LockRequest) -> None:
        """Remove a request from all queues, even if it was added only in part."""
        self._requests.discard(request)
        self._requests_for_all.discard(request)
        for row in request.rows or ():
            row_requests = self._row_requests.get(row)
            if row_requests and request in row_requests:
                row_requests.remove(request)
                if not row_requests:
                    del self._row_requests[row]

    def check_granted(self, request: _LockRequest) -> None:
        """Raise Unavailable unless a request was granted just before its timeout.

        Raises:
            Unavailable: it was not.
        """
        with self.mutex:
            if not request.blockers:
                return
            reason, blocking_rows = request.describe_blockers()
        if request.rows is None:
            path, subject = "all rows", "the rows"
        else:
            row = min(request.rows & blocking_rows or request.rows)
            path, subject = f"row 0x{row.hex()}", "the row"
        problem = f"{subject} could not be locked within {self.timeout_s:g} s: {reason}"
        remedy = "This change was not made. Try again, with fewer threads if the engine is slow."
        raise Unavailable(path, problem, remedy=remedy)


class _LockRequest:
    """A thread's request to lock rows, used as a context manager.

    Args:
        locks: the locks of the table.
        rows: the rows; None for all of them.
    """

    __slots__ = ("blockers", "followers", "granted", "locks", "rows")

    def __init__(self, locks: RowLocks, rows: frozenset[bytes] | None) -> None:
        self.locks, self.rows = locks, rows
        self.blockers: set[_LockRequest] = set()
        """Earlier requests for one of its rows; it is granted once there are none left."""
        self.followers: list[_LockRequest] = []
        """Later requests that this one blocks."""
        self.granted: Event | None = None
        """Set when the last blocker is gone, if there was any."""

    def __enter__(self) -> None:
        """Wait until the rows are free, and lock all of them in one step.

        Raises:
            Unavailable: the rows are not free in time.
        """
        locks = self.locks
        try:
            with locks.mutex:
                locks.add_request(self)
                if not self.blockers:
                    return
                self.granted = granted = Event()
                for blocker in self.blockers:
                    blocker.followers.append(self)
            if not granted.wait(locks.timeout_s):
                locks.check_granted(self)
        except BaseException:  # an interrupted thread must not leave its rows locked
            self.__exit__()
            raise

    def __exit__(self, *error: object) -> None:
        """Release the rows, and grant the waiting requests that this one blocked."""
        with self.locks.mutex:
            self.locks.remove_request(self)
            for follower in self.followers:
                follower.blockers.discard(self)
                if not follower.blockers and follower.granted is not None:
                    follower.granted.set()

    def describe_blockers(self) -> tuple[str, set[bytes]]:
        """Return what blocks this request, as text for a message, and the blocked rows."""
        holders = [blocker for blocker in self.blockers if not blocker.blockers]
        reason = "another thread holds its lock" if holders else "an earlier change waits for it"
        if self.rows is None:
            reason = "another thread holds the lock of a row"
        rows = [blocker.rows or frozenset() for blocker in holders or self.blockers]
        return reason, set().union(*rows)
