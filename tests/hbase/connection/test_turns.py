"""A leader that reads for all threads is always replaced by a follower."""

from __future__ import annotations

from threading import Event, Lock, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING

import pytest

from rowkey.hbase.connection.leader_followers import LeaderFollowers
from rowkey.hbase.settings import Deadline

if TYPE_CHECKING:
    from rowkey.hbase.errors import HBaseError

GENEROUS_S = 10.0
"""Seconds in which every test ends that does not hang."""


class Stream:
    """A stream that yields nothing until the test says so; its n-th read may be interrupted."""

    def __init__(self, *interrupts: int) -> None:
        self.reads = self.interruptions = 0
        self.interrupts = interrupts
        self.go = Event()
        self.failure: HBaseError | None = None

    def read(self, seconds: float) -> None:
        self.reads += 1
        if self.reads in self.interrupts:
            raise KeyboardInterrupt
        self.go.wait(min(seconds, 0.01))

    def fail_interrupted(self) -> None:
        self.interruptions += 1

    def close_if_unused(self) -> None:
        """Do nothing."""


def test_a_woken_follower_whose_call_was_cancelled_wakes_another() -> None:
    """If a woken follower's call was cancelled, another follower becomes the leader."""
    lock, stream = Lock(), Stream()
    turns = LeaderFollowers(lock, stream)
    first, second = Event(), Event()
    assert turns.try_lead()
    threads = [
        Thread(target=turns.wait_until, args=(one.is_set, [], Deadline.from_now(GENEROUS_S)))
        for one in (first, second)
    ]
    for number, thread in enumerate(threads, 1):
        thread.start()
        while len(turns._followers) < number:
            sleep(0.001)
    with lock:
        turns.has_leader = False
        second.set()
        turns._wake_newest()  # the one that came last, which is done
    started = monotonic()
    while not stream.reads and monotonic() - started < GENEROUS_S / 2:
        sleep(0.001)
    assert stream.reads
    first.set()
    for thread in threads:
        thread.join(GENEROUS_S)
    assert [False, False] == [thread.is_alive() for thread in threads]


def test_wake_all_wakes_every_follower() -> None:
    """`wake_all` also wakes a follower that is not in a list of waiters."""
    turns = LeaderFollowers(Lock(), Stream())
    done, bells = Event(), list[Lock]()
    turns.try_lead()
    thread = Thread(
        target=turns.wait_until, args=(done.is_set, bells, Deadline.from_now(GENEROUS_S))
    )
    thread.start()
    while not bells:
        sleep(0.001)
    bells.clear()
    done.set()
    turns.wake_all()
    thread.join(GENEROUS_S)
    assert (False, {}) == (thread.is_alive(), turns._followers)


def test_an_interrupted_leader_leaves_no_leader() -> None:
    """KeyboardInterrupt during a read leaves no leader."""
    stream = Stream(1, 2)
    turns = LeaderFollowers(Lock(), stream)
    with pytest.raises(KeyboardInterrupt):
        turns.wait_until(lambda: False, [], Deadline.from_now(GENEROUS_S))
    with pytest.raises(KeyboardInterrupt):
        turns.read_if_idle(lambda: stream.read(0.0))
    assert (False, 2) == (turns.has_leader, stream.interruptions)
