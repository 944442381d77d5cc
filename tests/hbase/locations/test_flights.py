"""Threads that look up the same region share one lookup."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread

import pytest

from rowkey.hbase.errors import ConnectionLost, OperationTimedOut
from rowkey.hbase.locations.single_flight import SingleFlight
from rowkey.hbase.settings import Deadline

LOST_CONNECTION = ConnectionLost("rs0:16020", "it hung up")


def share_lookup(first: Callable[[], int], deadline: Deadline) -> int:
    """Return the answer to a second thread that asks during the first one's lookup."""
    flights: SingleFlight[int] = SingleFlight("t")
    asking, go_on = Event(), Event()

    def ask() -> int:
        asking.set()
        go_on.wait()
        return first()

    def lead() -> None:
        with suppress(ConnectionLost, OperationTimedOut, KeyboardInterrupt):
            flights.run_once("key", ask, Deadline.from_now(60))

    leader = Thread(target=lead)
    leader.start()
    asking.wait()
    release = Thread(target=_release_when_shared, args=(flights, go_on))
    release.start()
    try:
        return flights.run_once("key", lambda: 2, deadline)
    finally:
        go_on.set()
        leader.join()
        release.join()


def _release_when_shared(flights: SingleFlight[int], go_on: Event) -> None:
    while not flights.shared_count:
        Event().wait(0.001)
    go_on.set()


def build_failure(error: BaseException) -> Callable[[], int]:
    """Return a lookup that raises an error."""

    def ask() -> int:
        raise error

    return ask


def test_concurrent_lookups_of_a_region_share_one_answer() -> None:
    """A second thread gets the answer of the first lookup."""
    assert 1 == share_lookup(lambda: 1, Deadline.from_now(60))


def test_a_failed_shared_lookup_raises_in_each_thread() -> None:
    """Each thread raises its own copy of the error."""
    with pytest.raises(ConnectionLost, match="it hung up") as caught:
        share_lookup(build_failure(LOST_CONNECTION), Deadline.from_now(60))
    assert caught.value is not LOST_CONNECTION


@pytest.mark.parametrize("end", [KeyboardInterrupt(), OperationTimedOut("t", "in a hurry")])
def test_another_thread_takes_over_an_interrupted_lookup(end: BaseException) -> None:
    """If the first thread is interrupted or out of time, the next one does the lookup."""
    assert 2 == share_lookup(build_failure(end), Deadline.from_now(60))


def test_waiting_for_the_lookup_of_another_thread_ends_at_the_deadline() -> None:
    """A lookup of another thread that hangs blocks no thread beyond its deadline."""
    flights: SingleFlight[int] = SingleFlight("t")
    asking, go_on = Event(), Event()

    def ask() -> int:
        asking.set()
        go_on.wait()
        return 1

    leader = Thread(target=lambda: flights.run_once("key", ask, Deadline.from_now(60)))
    leader.start()
    asking.wait()
    try:
        with pytest.raises(
            OperationTimedOut, match="t: another thread that looks up the same regions did"
        ):
            flights.run_once("key", lambda: 2, Deadline.from_now(0.01))
    finally:
        go_on.set()
        leader.join()
