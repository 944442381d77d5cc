"""Lookups on their way: who wants the same meanwhile waits for the same answer."""

from __future__ import annotations

from threading import Event, Lock
from typing import TYPE_CHECKING, Generic, TypeVar

from rowkey import forks
from rowkey.hbase.errors import HBaseError, OutOfTime

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from rowkey.hbase.settings import Deadline

A = TypeVar("A")


class _Flight(Generic[A]):
    """One lookup."""

    __slots__ = ("answer", "done", "error")

    def __init__(self) -> None:
        self.done = Event()
        self.answer: list[A] = []
        self.error: Exception | None = None


class Flights(Generic[A]):
    """Sees to it that nobody asks what somebody is asking already.

    Args:
        path: what is looked up, for messages.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self.reset_in_child()
        forks.register(self)
        self.asked = 0
        self.shared = 0

    def reset_in_child(self) -> None:
        """In a forked child: wait for no thread of the parent."""
        self._lock = Lock()
        self._running: dict[Hashable, _Flight[A]] = {}

    def share(self, key: Hashable, ask: Callable[[], A], deadline: Deadline) -> A:
        """The answer to a question, asked by this thread or by one that was faster.

        Args:
            key: the same for questions that have one answer.
            ask: asks.
            deadline: until when to wait for another thread's answer, which may be later than
                that of `ask`: who follows others asks itself when they were in a hurry.

        Raises:
            OutOfTime: the other thread took too long.
            Exception: what `ask` raised, here or there.
        """
        own: _Flight[A] = _Flight()
        while True:
            try:  # from before it can be seen: the keyboard may interrupt at any place
                flight = self._join(key, own)
                if flight is own:
                    return self._lead(own, ask)
            finally:
                self._land(key, own)
            if not flight.done.wait(deadline.left()):
                raise OutOfTime(self._path, "a lookup on its way was not answered in time")
            if flight.answer:
                return flight.answer[0]
            self._raise_theirs(flight.error, deadline)

    def _join(self, key: Hashable, own: _Flight[A]) -> _Flight[A]:
        """The lookup on its way; one's own if there is none."""
        with self._lock:
            flight = self._running.setdefault(key, own)
            if flight is own:
                self.asked += 1
            else:
                self.shared += 1
        return flight

    def _land(self, key: Hashable, own: _Flight[A]) -> None:
        """Let those who wait for it go on, if it is on its way."""
        if self._running.get(key) is own:
            with self._lock:
                del self._running[key]
            own.done.set()

    @staticmethod
    def _raise_theirs(error: Exception | None, deadline: Deadline) -> None:
        """Fail as the other thread did; ask in its place if it was interrupted, or in a hurry."""
        if error is None or (isinstance(error, OutOfTime) and not deadline.expired):
            return
        raise error.again() if isinstance(error, HBaseError) else error

    @staticmethod
    def _lead(own: _Flight[A], ask: Callable[[], A]) -> A:
        try:
            answer = ask()
        except Exception as error:
            own.error = error
            raise
        own.answer.append(answer)
        return answer
