"""Shares one lookup among all threads that need the same answer at the same time."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Event, Lock
from typing import Generic, TypeVar

from rowkey import fork_safety
from rowkey.hbase.errors import HBaseError, OperationTimedOut
from rowkey.hbase.settings import Deadline

A = TypeVar("A")


class _Flight(Generic[A]):
    """One lookup in progress."""

    __slots__ = ("answer", "done_event", "error")

    def __init__(self) -> None:
        self.done_event = Event()
        self.answer: list[A] = []
        self.error: Exception | None = None


class SingleFlight(Generic[A]):
    """Runs each lookup once, however many threads request it at the same time.

    Args:
        path: the table that is looked up, for messages.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self.reset_in_child()
        fork_safety.register_resource(self)
        self.started_count = 0
        self.shared_count = 0

    def reset_in_child(self) -> None:
        """Forget the lookups of the parent's threads; called in a forked child process."""
        self._lock = Lock()
        self._flights: dict[Hashable, _Flight[A]] = {}

    def run_once(self, key: Hashable, fetch: Callable[[], A], deadline: Deadline) -> A:
        """Run a lookup, or wait for the thread that runs the same one; return the answer.

        Args:
            key: the same for lookups that have one answer.
            fetch: does the lookup.
            deadline: when to stop waiting for another thread's answer. It may be later than that
                of the other thread, whose timeout then leads to a lookup by this one.

        Raises:
            OperationTimedOut: the other thread took too long.
            Exception: what `fetch` raised, in this thread or the other one.
        """
        own_flight: _Flight[A] = _Flight()
        while True:
            try:  # from before other threads see it: KeyboardInterrupt can come at any place
                flight = self._join_flight(key, own_flight)
                if flight is own_flight:
                    return self._run_flight(own_flight, fetch)
            finally:
                self._finish_flight(key, own_flight)
            if not flight.done_event.wait(deadline.get_remaining_s()):
                what = "another thread that looks up the same regions did not finish in time"
                raise OperationTimedOut(self._path, what)
            if flight.answer:
                return flight.answer[0]
            self._raise_shared_error(flight.error, deadline)

    def _join_flight(self, key: Hashable, own_flight: _Flight[A]) -> _Flight[A]:
        """Return the lookup in progress for a key, or register this thread's own."""
        with self._lock:
            flight = self._flights.setdefault(key, own_flight)
            if flight is own_flight:
                self.started_count += 1
            else:
                self.shared_count += 1
        return flight

    def _finish_flight(self, key: Hashable, own_flight: _Flight[A]) -> None:
        """Remove this thread's lookup if it is registered, and wake the threads that wait."""
        if self._flights.get(key) is own_flight:
            with self._lock:
                del self._flights[key]
            own_flight.done_event.set()

    @staticmethod
    def _raise_shared_error(error: Exception | None, deadline: Deadline) -> None:
        """Raise the error of the other thread's lookup, or return if a retry is right.

        A retry is right where that thread was interrupted, or had an earlier deadline.
        """
        if error is None or (isinstance(error, OperationTimedOut) and not deadline.is_expired):
            return
        raise error.copy_error() if isinstance(error, HBaseError) else error

    @staticmethod
    def _run_flight(own_flight: _Flight[A], fetch: Callable[[], A]) -> A:
        """Run a lookup; store its answer or error for the threads that wait."""
        try:
            answer = fetch()
        except Exception as error:
            own_flight.error = error
            raise
        own_flight.answer.append(answer)
        return answer
