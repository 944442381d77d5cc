"""Lookups that are shared by those who want the same."""

from __future__ import annotations

from contextlib import suppress
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

from rowkey.hbase.errors import ConnectionLost, OutOfTime
from rowkey.hbase.locations.flights import Flights
from rowkey.hbase.settings import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable

LOST = ConnectionLost("rs0:16020", "it hung up")


def shared(first: Callable[[], int], deadline: Deadline) -> int:
    """The answer to a second thread, which asks while the first is still asking."""
    flights: Flights[int] = Flights("t")
    asking, go_on = Event(), Event()

    def ask() -> int:
        asking.set()
        go_on.wait()
        return first()

    def lead() -> None:
        with suppress(ConnectionLost, OutOfTime, KeyboardInterrupt):
            flights.share("key", ask, Deadline.after(60))

    leader = Thread(target=lead)
    leader.start()
    asking.wait()
    release = Thread(target=_release_when_shared, args=(flights, go_on))
    release.start()
    try:
        return flights.share("key", lambda: 2, deadline)
    finally:
        go_on.set()
        leader.join()
        release.join()


def _release_when_shared(flights: Flights[int], go_on: Event) -> None:
    while not flights.shared:
        Event().wait(0.001)
    go_on.set()


def failing(error: BaseException) -> Callable[[], int]:
    """A question that fails."""

    def ask() -> int:
        raise error

    return ask


def test_the_answer_is_shared() -> None:
    """The second question is not asked."""
    assert 1 == shared(lambda: 1, Deadline.after(60))


def test_a_failure_is_shared() -> None:
    """Each thread gets an error of its own that says the same."""
    with pytest.raises(ConnectionLost, match="it hung up") as caught:
        shared(failing(LOST), Deadline.after(60))
    assert caught.value is not LOST


@pytest.mark.parametrize("end", [KeyboardInterrupt(), OutOfTime("t", "in a hurry")])
def test_who_asks_for_others_may_end(end: BaseException) -> None:
    """An interrupt, or a deadline of its own, ends one thread: the next asks in its place."""
    assert 2 == shared(failing(end), Deadline.after(60))


def test_nobody_is_waited_for_beyond_the_deadline() -> None:
    """A lookup of another thread that hangs holds nobody else."""
    flights: Flights[int] = Flights("t")
    asking, go_on = Event(), Event()

    def ask() -> int:
        asking.set()
        go_on.wait()
        return 1

    leader = Thread(target=lambda: flights.share("key", ask, Deadline.after(60)))
    leader.start()
    asking.wait()
    try:
        with pytest.raises(OutOfTime, match="t: a lookup on its way was not answered in time"):
            flights.share("key", lambda: 2, Deadline.after(0.01))
    finally:
        go_on.set()
        leader.join()
