"""Leases: renewed while nobody reads, by a thread that is there only while it is needed."""

from __future__ import annotations

import gc
import time
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from hbase.scanning.world import World
from rowkey.cells import Cell
from rowkey.errors import Refused
from rowkey.hbase.errors import ConnectionLost, OutOfTime
from rowkey.hbase.reading import Scan
from rowkey.hbase.scanning import Keeper, Scanner
from rowkey.hbase.scanning import keeper as keeping
from rowkey.hbase.scanning import source as scanning_source
from rowkey.hbase.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def keeper(monkeypatch: pytest.MonkeyPatch) -> Iterator[Keeper]:
    """A keeper whose thread ends soon."""
    made = Keeper(linger_s=0.2)
    monkeypatch.setattr(keeping, "_LOOK_S", 0.02)
    monkeypatch.setattr(Keeper, "of", classmethod(lambda cls, caller: made))
    yield made
    made.close()


def world(ttl_ms: int = 100) -> World:
    """Three rows, one in each answer."""
    made = World({row: [Cell("d", b"", 1)] for row in (b"a", b"b", b"c")}, size=1)
    made.ttl_ms = ttl_ms
    return made


def soon(holds: Callable[[], bool]) -> bool:
    """Whether it comes true within some seconds."""
    until = time.monotonic() + 10
    while not holds() and time.monotonic() < until:
        time.sleep(0.01)
    return holds()


@pytest.mark.usefixtures("keeper")
def test_an_idle_scanner_is_renewed_and_goes_on() -> None:
    """The answer on its way is taken in first; the numbers of the requests stay in order."""
    there = world()
    with Scanner(there.caller, "t", Scan(), there.settings) as found:
        assert b"a" == found.next_answer().first_row  # type: ignore[union-attr]
        assert soon(lambda: there.asked.count("renew") > 3)
        assert [b"b", b"c"] == [row for row, _ in found.rows()]
    assert 1 == there.asked.count("open")
    assert [] == there.broken


@pytest.mark.usefixtures("keeper")
def test_a_scanner_that_nobody_has_read_yet_is_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its first answer is taken in to learn how long the lease is."""
    monkeypatch.setattr(scanning_source, "FIRST_LOOK_S", 0.1)
    there = world()
    with Scanner(there.caller, "t", Scan(), there.settings) as found:
        assert soon(lambda: there.asked.count("renew") > 3)
        assert [b"a", b"b", b"c"] == [row for row, _ in found.rows()]
    assert 1 == there.asked.count("open")


def test_a_lease_that_is_over_costs_an_opening_and_no_row(keeper: Keeper) -> None:
    """A renewal that fails is told to nobody: the scan goes on behind its last row."""
    there = world()
    with Scanner(there.caller, "t", Scan(), there.settings) as found:
        found.next_answer()
        assert soon(lambda: "renew" in there.asked)
        there.scanners.clear()
        assert soon(lambda: not keeper.dump()["kept"])
        assert [b"b", b"c"] == [row for row, _ in found.rows()]
    assert 2 == there.asked.count("open")


def test_the_thread_ends_without_scanners_and_comes_back(keeper: Keeper) -> None:
    """It is there while a scanner is open, and some time longer."""
    there = world()
    for _ in range(2):
        with Scanner(there.caller, "t", Scan(), there.settings):
            assert keeper.is_running
        assert soon(lambda: not keeper.is_running)


@pytest.mark.usefixtures("keeper")
def test_a_dropped_scanner_is_collected_and_closed_at_its_server() -> None:
    """Who forgets to close it leaves nothing behind."""
    there = world(60_000)
    found = Scanner(there.caller, "t", Scan(), there.settings)
    found.next_answer()
    assert there.scanners
    del found
    gc.collect()
    assert soon(lambda: not there.scanners)
    assert "close" == there.asked[-1]


@pytest.mark.usefixtures("keeper")
def test_a_scanner_closed_amid_a_call_is_closed_when_the_answer_is_here() -> None:
    """A server cannot close what it is busy with."""
    there = world(60_000)
    there.script.extend(["fine", "late"])
    found = Scanner(there.caller, "t", Scan(), there.settings)
    found.next_answer()
    found.close()
    assert soon(lambda: not there.scanners)
    assert ["open", "next", "close"] == there.asked


def test_a_closed_keeper_starts_no_thread(keeper: Keeper) -> None:
    """Its client is closed; scanners still read."""
    keeper.close()
    there = world()
    assert 3 == len(list(Scanner(there.caller, "t", Scan(), there.settings).rows()))
    assert not keeper.is_running


def test_each_client_has_one_keeper() -> None:
    """All its scanners share it, and no other client's do."""
    one, other = world().caller, world().caller
    assert Keeper.of(one) is Keeper.of(one)
    assert Keeper.of(one) is not Keeper.of(other)


def test_a_closed_client_ends_renewals_without_a_word(keeper: Keeper) -> None:
    """No request can be sent any more: the scanner counts as lost, the thread lives on."""
    there = world()
    found = Scanner(there.caller, "t", Scan(), there.settings)
    found.next_answer()
    there.fails = Refused("client", "it is closed", "an open client")
    assert soon(lambda: not keeper.dump()["kept"])
    assert (True, 0) == (keeper.is_running, there.asked.count("renew"))
    there.fails = None
    assert [b"b", b"c"] == [row for row, _ in found.rows()]


@pytest.mark.usefixtures("keeper")
def test_a_silent_server_keeps_no_other_scanner_from_being_renewed() -> None:
    """Renewals are sent without waiting: one that is not answered holds nobody up."""
    silent, there = world(), world()
    one = Scanner(silent.caller, "t", Scan(), silent.settings)
    two = Scanner(there.caller, "t", Scan(), there.settings)
    one.next_answer()
    two.next_answer()
    silent.is_silent = True
    assert soon(lambda: there.asked.count("renew") > 5)
    assert 1 >= silent.asked.count("renew")
    assert [b"b", b"c"] == [row for row, _ in two.rows()]
    silent.is_silent = False
    assert [b"b", b"c"] == [row for row, _ in one.rows()]


@pytest.mark.usefixtures("keeper")
def test_a_renewal_that_is_not_answered_is_waited_for_as_long_as_a_call() -> None:
    """Then the scanner counts as lost, and is opened anew behind its last row."""
    there = World(
        {row: [Cell("d", b"", 1)] for row in (b"a", b"b", b"c")},
        size=1,
        settings=Settings(call_s=0.3, pause_s=0.0, pause_most_s=0.0),
    )
    there.ttl_ms = 100
    found = Scanner(there.caller, "t", Scan(), there.settings)
    found.next_answer()
    there.is_silent = True
    assert soon(lambda: not keeping.Keeper.of(there.caller).dump()["kept"])
    there.is_silent = False
    assert [b"b", b"c"] == [row for row, _ in found.rows()]
    assert 2 == there.asked.count("open")


def test_a_reader_waits_for_another_no_longer_than_an_operation() -> None:
    """Whoever holds the scanner may be waiting for a server."""
    there = world()
    there.caller.settings = Settings(operation_s=0.05)
    found = Scanner(there.caller, "t", Scan(), there.settings)
    found._lock.acquire()
    with pytest.raises(OutOfTime, match="t: another thread reads the same scanner"):
        found.next_answer()
    found._lock.release()
    assert found.next_answer()


def test_closing_never_waits_for_a_server(keeper: Keeper) -> None:
    """Neither for an answer on its way nor for a connection; a closed keeper holds nothing."""
    for words, lost in ((["fine", "late"], None), ([], ConnectionLost("rs0", "no connection"))):
        there = world(60_000)
        there.script.extend(words)
        found = Scanner(there.caller, "t", Scan(), there.settings)
        found.next_answer()
        there.is_silent, there.fails = bool(words), lost
        started = time.monotonic()
        found.close()
        assert time.monotonic() - started < 1
    assert soon(lambda: 1 == keeper.dump()["to_close"])
    keeper.close()
    assert 0 == keeper.dump()["to_close"]
    there = world(60_000)
    there.script.extend(["fine", "late"])
    with Scanner(there.caller, "t", Scan(), there.settings) as last:
        last.next_answer()
    assert 0 == keeper.dump()["to_close"]


def test_a_thread_that_cannot_start_costs_no_rows(
    keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the end of the process none starts: the rows are handed out all the same."""

    def start(_: Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Thread, "start", start)
    there = world()
    with Scanner(there.caller, "t", Scan(), there.settings) as found:
        assert [b"a", b"b", b"c"] == [row for row, _ in found.rows()]
    assert not keeper.is_running
