"""Who reads for all: the turn is passed on, whatever becomes of the one who had it."""

from __future__ import annotations

from threading import Event, Lock, Thread
from time import monotonic, sleep

import pytest

from rowkey.hbase.connection.turns import Turns
from rowkey.hbase.settings import Deadline

GENEROUS_S = 10.0
"""Seconds in which everything here ends that does not hang."""


class Stream:
    """What is read: nothing, until the test says otherwise; the n-th read may be interrupted."""

    def __init__(self, *interrupts: int) -> None:
        self.reads = self.interruptions = 0
        self.interrupts = interrupts
        self.go = Event()

    def read(self, seconds: float) -> None:
        self.reads += 1
        if self.reads in self.interrupts:
            raise KeyboardInterrupt
        self.go.wait(min(seconds, 0.01))

    def interrupted(self) -> None:
        self.interruptions += 1

    def left(self) -> None:
        """Nobody reads any more."""


def test_an_heir_that_is_done_already_passes_the_turn_on() -> None:
    """It was woken to read, its call was cancelled meanwhile: another that sleeps must read."""
    lock, stream = Lock(), Stream()
    turns = Turns(lock, stream)
    first, second = Event(), Event()
    assert turns.take()
    threads = [
        Thread(target=turns.until, args=(one.is_set, [], Deadline.after(GENEROUS_S)))
        for one in (first, second)
    ]
    for number, thread in enumerate(threads, 1):
        thread.start()
        while len(turns._sleepers) < number:
            sleep(0.001)
    with lock:
        turns.reading = False
        second.set()
        turns._wake_heir()  # the one that came last, which is done
    started = monotonic()
    while not stream.reads and monotonic() - started < GENEROUS_S / 2:
        sleep(0.001)
    assert stream.reads
    first.set()
    for thread in threads:
        thread.join(GENEROUS_S)
    assert [False, False] == [thread.is_alive() for thread in threads]


def test_everybody_is_woken_whatever_became_of_the_bells() -> None:
    """A sleeper whose list of bells was emptied is woken all the same, and it ends."""
    turns = Turns(Lock(), Stream())
    done, bells = Event(), list[Lock]()
    turns.take()
    thread = Thread(target=turns.until, args=(done.is_set, bells, Deadline.after(GENEROUS_S)))
    thread.start()
    while not bells:
        sleep(0.001)
    bells.clear()
    done.set()
    turns.ring_all()
    thread.join(GENEROUS_S)
    assert (False, {}) == (thread.is_alive(), turns._sleepers)


def test_an_interrupted_reader_gives_the_turn_back() -> None:
    """By the keyboard, while it reads for all or just looks."""
    stream = Stream(1, 2)
    turns = Turns(Lock(), stream)
    with pytest.raises(KeyboardInterrupt):
        turns.until(lambda: False, [], Deadline.after(GENEROUS_S))
    with pytest.raises(KeyboardInterrupt):
        turns.spare(lambda: stream.read(0.0))
    assert (False, 2) == (turns.reading, stream.interruptions)
