"""Who of those that wait reads for all: one at a time, while the others sleep.

A connection has no thread of its own. Whoever waits and finds nobody reading, reads until what it
waits for is there; then it hands the turn to another that waits.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from rowkey.hbase.settings import Deadline


class Source(Protocol):
    """What is read."""

    def read(self, seconds: float) -> None:
        """Wait at most so long for bytes, and deal with what came; called by one at a time."""

    def interrupted(self) -> None:
        """A read was ended amid its work, as by the keyboard: nobody may go on reading."""

    def left(self) -> None:
        """Nobody reads any more."""


class Turns:
    """The turn to read, and the sleepers that wait for it or to be woken.

    Args:
        lock: guards all that is shared by those who wait.
        source: what is read.
    """

    __slots__ = ("_lock", "_sleepers", "_source", "reading")

    def __init__(self, lock: Lock, source: Source) -> None:
        self._lock = lock
        self._source = source
        self._sleepers: dict[Lock, list[Lock]] = {}
        self.reading = False

    def until(self, done: Callable[[], bool], bells: list[Lock], deadline: Deadline) -> bool:
        """Wait until `done`, reading for all when nobody else does; False at the deadline.

        Args:
            done: what is waited for; it changes with the lock held, and then `bells` are rung.
            bells: of those who wait for the same; this one's is added.
            deadline: after which it is not waited any more; what is there already is read.
        """
        while not done():
            bell = None
            with self._lock:
                if done():
                    break
                if self.reading:
                    bell = Lock()
                    bell.acquire()
                    bells.append(bell)
                    self._sleepers[bell] = bells
                else:
                    self.reading = True
            if bell is None:
                self._lead(done, deadline)
            else:
                self._sleep(bell, deadline)
            if not done() and deadline.expired:
                self._pass_on()
                return done()
        return True

    def take(self) -> bool:
        """Take the turn if nobody has it; whoever gets True must `leave`."""
        with self._lock:
            taken = not self.reading
            self.reading = True
        return taken

    def leave(self) -> None:
        """Give the turn back, to one that sleeps if there is one."""
        with self._lock:
            self.reading = False
            self._wake_heir()
            self._source.left()

    def ring(self, bells: list[Lock]) -> None:
        """Wake those who wait for what is done now; with the lock held."""
        for bell in bells:
            if self._sleepers.pop(bell, None) is not None:
                bell.release()
        bells.clear()

    def ring_one(self, bells: list[Lock]) -> None:
        """Wake the one who has waited longest; with the lock held."""
        while bells:
            bell = bells.pop(0)
            if self._sleepers.pop(bell, None) is not None:
                bell.release()
                return

    def ring_all(self) -> None:
        """Wake everybody; with the lock held."""
        while self._sleepers:
            self.ring(next(iter(self._sleepers.values())))

    def _lead(self, done: Callable[[], bool], deadline: Deadline) -> None:
        try:
            while not done():
                left = deadline.left()
                self._source.read(left)
                if left == 0.0:
                    break
        except BaseException:
            self._source.interrupted()
            raise
        finally:
            self.leave()

    def _sleep(self, bell: Lock, deadline: Deadline) -> None:
        woken = False
        try:
            woken = bell.acquire(timeout=deadline.left())
        except BaseException:
            self._pass_on()
            raise
        finally:
            if not woken:
                with self._lock:
                    bells = self._sleepers.pop(bell, [])
                    if bell in bells:
                        bells.remove(bell)

    def _pass_on(self) -> None:
        """Let another take the turn that this one was woken for and does not take."""
        with self._lock:
            if not self.reading:
                self._wake_heir()

    def _wake_heir(self) -> None:
        """Wake the one that came last: it waits longest from now, so the turn moves seldom."""
        if not self._sleepers:
            return
        bell, bells = self._sleepers.popitem()
        if bell in bells:
            bells.remove(bell)
        bell.release()
