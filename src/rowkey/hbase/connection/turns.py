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
            self._lead_or_sleep(done, bells, deadline)
            if not done() and deadline.expired:
                self._pass_on()
                return done()
        return True

    def spare(self, read: Callable[[], None]) -> None:
        """Have something read if nobody has the turn, without waiting for it."""
        mine = False
        try:
            with self._lock:
                if self.reading:
                    return
                mine = self.reading = True
            read()
        except BaseException:
            if mine:
                self._source.interrupted()
            raise
        finally:
            if mine:
                self.leave()

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
        """Wake everybody, whatever has become of their bells; with the lock held."""
        while self._sleepers:
            self._wake_heir()

    def _lead_or_sleep(
        self, done: Callable[[], bool], bells: list[Lock], deadline: Deadline
    ) -> None:
        """Read for all until it is done or the deadline is over, or sleep until woken.

        All is tried from before the turn is taken: the keyboard may interrupt at any place.
        """
        bell = None
        mine = woken = False
        try:
            with self._lock:
                if done():
                    return
                if self.reading:
                    bell = Lock()
                    bell.acquire()
                    bells.append(bell)
                    self._sleepers[bell] = bells
                else:
                    mine = self.reading = True
            if bell is None:
                self._read(done, deadline)
            else:
                woken = bell.acquire(timeout=deadline.left())
        except BaseException:
            if mine:
                self._source.interrupted()
            raise
        finally:
            if mine:
                self.leave()
            elif bell is not None:
                self._get_up(bell, woken=woken)
                if done() and not self.reading:  # perhaps woken to read, which it will not
                    self._pass_on()

    def _read(self, done: Callable[[], bool], deadline: Deadline) -> None:
        while not done():
            left = deadline.left()
            self._source.read(left)
            if left == 0.0:
                return

    def _get_up(self, bell: Lock, *, woken: bool) -> None:
        """Sleep no more; who was not woken may have been meant to read, a moment too late."""
        if woken:
            return
        with self._lock:
            bells = self._sleepers.pop(bell, [])
            if bell in bells:
                bells.remove(bell)
        self._pass_on()

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
