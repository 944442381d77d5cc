"""Leader and followers: one waiting thread reads for all, the others sleep.

A connection has no thread of its own. A thread that waits for an answer becomes the leader if there
is none: it reads until its own answer is there, and then makes another waiting thread the leader.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Protocol

from rowkey.hbase.errors import HBaseError
from rowkey.hbase.settings import Deadline


class ReadSource(Protocol):
    """What the threads that read a server connection use of it."""

    failure: HBaseError | None

    def read(self, seconds: float) -> None:
        """Wait for bytes from the server, and deliver the answers; only the leader calls it."""

    def fail_interrupted(self) -> None:
        """Break the connection because its reader was interrupted within a frame."""

    def close_if_unused(self) -> None:
        """Close the socket of a broken connection if no other thread uses it."""


class LeaderFollowers:
    """The threads that wait for answers: one leader, which reads, and followers, which sleep.

    Args:
        lock: guards everything that the waiting threads share.
        source: the connection to read from.
    """

    __slots__ = ("_followers", "_lock", "_source", "has_leader")

    def __init__(self, lock: Lock, source: ReadSource) -> None:
        self._lock = lock
        self._source = source
        self._followers: dict[Lock, list[Lock]] = {}
        self.has_leader = False

    def wait_until(
        self, is_done: Callable[[], bool], waiters: list[Lock], deadline: Deadline
    ) -> bool:
        """Wait until `is_done` is true; become the reading thread (leader) if there is none.

        Args:
            is_done: the condition; it changes with the lock held, and then `waiters` are woken.
            waiters: the threads that wait for the same condition; this thread is added.
            deadline: when to stop waiting; bytes that have come by then are still read.

        Returns:
            Whether it is done; False at the deadline.
        """
        while True:
            self._lead_or_follow(is_done, waiters, deadline)
            if is_done():
                return True
            if deadline.is_expired:
                self._offer_lead()
                return is_done()

    def read_if_idle(self, read: Callable[[], None]) -> None:
        """Call `read` as the leader if no other thread is reading; never waits."""
        is_leader = False
        try:
            with self._lock:
                if self.has_leader:
                    return
                is_leader = self.has_leader = True
            read()
        except BaseException:
            if is_leader:
                self._source.fail_interrupted()
            raise
        finally:
            if is_leader:
                self.stop_leading()

    def try_lead(self) -> bool:
        """Become the reading thread if there is none; if True, call `stop_leading` afterwards."""
        with self._lock:
            taken = not self.has_leader
            self.has_leader = True
        return taken

    def stop_leading(self) -> None:
        """Stop being the reading thread, and wake a sleeping thread to take over."""
        with self._lock:
            self.has_leader = False
            if self._followers:
                self._wake_newest()
            if self._source.failure is not None:
                self._source.close_if_unused()

    def wake_waiters(self, waiters: list[Lock]) -> None:
        """Wake the threads that wait for a call; the caller holds the lock."""
        for waiter in waiters:
            if self._followers.pop(waiter, None) is not None:
                waiter.release()
        waiters.clear()

    def wake_oldest(self, waiters: list[Lock]) -> None:
        """Wake the thread that has waited longest; the caller holds the lock."""
        while waiters:
            waiter = waiters.pop(0)
            if self._followers.pop(waiter, None) is not None:
                waiter.release()
                return

    def wake_all(self) -> None:
        """Wake all sleeping threads; the caller holds the lock."""
        while self._followers:
            self._wake_newest()

    def _lead_or_follow(
        self, is_done: Callable[[], bool], waiters: list[Lock], deadline: Deadline
    ) -> None:
        """Read as the leader until the call is done, or sleep until the leader wakes this thread.

        The `try` begins before this thread may lead: KeyboardInterrupt can come at any place.
        """
        waiter = None
        is_leader = was_woken = False
        try:
            with self._lock:
                if is_done():
                    return
                if self.has_leader:
                    waiter = Lock()
                    waiter.acquire()
                    waiters.append(waiter)
                    self._followers[waiter] = waiters
                else:
                    is_leader = self.has_leader = True
            if waiter is None:
                self._read_until(is_done, deadline)
            else:
                was_woken = waiter.acquire(timeout=deadline.get_remaining_s())
        except BaseException:
            if is_leader:
                self._source.fail_interrupted()
            raise
        finally:
            if is_leader:
                self.stop_leading()
            elif waiter is not None:
                self._stop_following(waiter, was_woken=was_woken)
                if is_done() and not self.has_leader:  # perhaps woken to lead, which it will not
                    self._offer_lead()

    def _read_until(self, is_done: Callable[[], bool], deadline: Deadline) -> None:
        """Read as the leader until this thread's call is done, or the deadline has passed."""
        while True:
            remaining_s = deadline.get_remaining_s()
            self._source.read(remaining_s)
            if remaining_s == 0.0 or is_done():
                return

    def _stop_following(self, waiter: Lock, *, was_woken: bool) -> None:
        """Stop sleeping; if this thread was woken to lead a moment too late, wake another one."""
        if was_woken:
            return
        with self._lock:
            waiters = self._followers.pop(waiter, [])
            if waiter in waiters:
                waiters.remove(waiter)
        self._offer_lead()

    def _offer_lead(self) -> None:
        """Wake a sleeping thread to read, if no thread is reading."""
        with self._lock:
            if not self.has_leader:
                self._wake_newest()

    def _wake_newest(self) -> None:
        """Wake the newest follower: it is likely to wait longest, so the leader changes seldom."""
        if not self._followers:
            return
        waiter, waiters = self._followers.popitem()
        if waiter in waiters:
            waiters.remove(waiter)
        waiter.release()
