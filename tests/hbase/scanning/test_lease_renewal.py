"""Leases of idle scanners are renewed by a thread that runs only while needed."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from threading import Thread

import pytest

from hbase.scanning.world import World
from rowkey.cells import Cell
from rowkey.hbase.errors import ClientClosed, ConnectionLost, OperationTimedOut
from rowkey.hbase.read_spec import ScanSpec
from rowkey.hbase.scanning import LeaseRenewer, Scanner
from rowkey.hbase.scanning import lease_renewer as keeping
from rowkey.hbase.scanning import region_scanner as scanning_source
from rowkey.hbase.settings import Settings


@pytest.fixture
def renewer(monkeypatch: pytest.MonkeyPatch) -> Iterator[LeaseRenewer]:
    """Yield a renewer whose thread ends soon."""
    made = LeaseRenewer(idle_thread_s=0.2)
    monkeypatch.setattr(keeping, "_MAX_WAIT_S", 0.02)
    monkeypatch.setattr(LeaseRenewer, "get_for_caller", classmethod(lambda cls, caller: made))
    yield made
    made.close()


def build_world(ttl_ms: int = 100) -> World:
    """Return a world of three rows, one in each answer."""
    made = World({row: [Cell("d", b"", 1)] for row in (b"a", b"b", b"c")}, size=1)
    made.ttl_ms = ttl_ms
    return made


def wait_until(holds: Callable[[], bool]) -> bool:
    """Wait for a condition for 10 s, and return whether it holds."""
    until = time.monotonic() + 10
    while not holds() and time.monotonic() < until:
        time.sleep(0.01)
    return holds()


@pytest.mark.usefixtures("renewer")
def test_the_pending_answer_is_read_before_an_idle_scanner_is_renewed() -> None:
    """Before a renewal the pending answer is read, so sequence numbers stay in order."""
    there = build_world()
    with Scanner(there.caller, "t", ScanSpec(), there.settings) as found:
        assert b"a" == found.read_block().first_row_key  # type: ignore[union-attr]
        assert wait_until(lambda: there.asked.count("renew") > 3)
        assert [b"b", b"c"] == [row for row, _ in found.iter_row_cells()]
    assert 1 == there.asked.count("open")
    assert [] == there.broken


@pytest.mark.usefixtures("renewer")
def test_an_unread_scanner_is_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first answer of an unread scanner is read to learn the length of its lease."""
    monkeypatch.setattr(scanning_source, "FIRST_LEASE_CHECK_S", 0.1)
    there = build_world()
    with Scanner(there.caller, "t", ScanSpec(), there.settings) as found:
        assert wait_until(lambda: there.asked.count("renew") > 3)
        assert [b"a", b"b", b"c"] == [row for row, _ in found.iter_row_cells()]
    assert 1 == there.asked.count("open")


def test_a_scan_with_an_expired_lease_opens_a_new_scanner_after_its_last_row(
    renewer: LeaseRenewer,
) -> None:
    """After a failed renewal the scan opens a new scanner after its last row."""
    there = build_world()
    with Scanner(there.caller, "t", ScanSpec(), there.settings) as found:
        found.read_block()
        assert wait_until(lambda: "renew" in there.asked)
        there.scanners.clear()
        assert wait_until(lambda: not renewer.dump_state()["scanners"])
        assert [b"b", b"c"] == [row for row, _ in found.iter_row_cells()]
    assert 2 == there.asked.count("open")


def test_the_renewal_thread_ends_without_scanners_and_starts_again(renewer: LeaseRenewer) -> None:
    """The thread ends a while after the last scanner, and starts again with the next one."""
    there = build_world()
    for _ in range(2):
        with Scanner(there.caller, "t", ScanSpec(), there.settings):
            assert renewer.is_running
        assert wait_until(lambda: not renewer.is_running)


@pytest.mark.usefixtures("renewer")
def test_a_dropped_scanner_is_collected_and_closed_at_its_server() -> None:
    """A scanner that is dropped without close leaves nothing open."""
    gc.freeze()  # only what follows is looked through
    there = build_world(60_000)
    found = Scanner(there.caller, "t", ScanSpec(), there.settings)
    found.read_block()
    assert there.scanners
    del found
    gc.collect()
    gc.unfreeze()
    assert wait_until(lambda: not there.scanners)
    assert "close" == there.asked[-1]


@pytest.mark.usefixtures("renewer")
def test_a_scanner_closed_during_a_call_is_closed_later() -> None:
    """A scanner that is closed during a call is closed at its server after the answer."""
    there = build_world(60_000)
    there.script.extend(["fine", "late"])
    found = Scanner(there.caller, "t", ScanSpec(), there.settings)
    found.read_block()
    found.close()
    assert wait_until(lambda: not there.scanners)
    assert ["open", "next", "close"] == there.asked


def test_scanners_of_a_closed_client_return_rows_without_a_new_thread(
    renewer: LeaseRenewer,
) -> None:
    """Open scanners of a closed client still return rows, without a new thread."""
    renewer.close()
    there = build_world()
    assert 3 == len(list(Scanner(there.caller, "t", ScanSpec(), there.settings).iter_row_cells()))
    assert not renewer.is_running


def test_the_scanners_of_a_client_share_one_lease_renewer() -> None:
    """The scanners of a client share a renewer, and each client has its own."""
    one, other = build_world().caller, build_world().caller
    assert LeaseRenewer.get_for_caller(one) is LeaseRenewer.get_for_caller(one)
    assert LeaseRenewer.get_for_caller(one) is not LeaseRenewer.get_for_caller(other)


def test_renewals_of_a_closed_client_end_without_an_error(renewer: LeaseRenewer) -> None:
    """Renewals that fail because the client is closed end without stopping the thread."""
    there = build_world()
    found = Scanner(there.caller, "t", ScanSpec(), there.settings)
    found.read_block()
    there.fails = ClientClosed()
    assert wait_until(lambda: not renewer.dump_state()["scanners"])
    assert (True, 0) == (renewer.is_running, there.asked.count("renew"))
    there.fails = None
    assert [b"b", b"c"] == [row for row, _ in found.iter_row_cells()]


@pytest.mark.usefixtures("renewer")
def test_a_silent_server_delays_no_renewal_at_other_servers() -> None:
    """Renewals are sent without waiting for answers, so a silent server delays none."""
    silent, there = build_world(), build_world()
    one = Scanner(silent.caller, "t", ScanSpec(), silent.settings)
    two = Scanner(there.caller, "t", ScanSpec(), there.settings)
    one.read_block()
    two.read_block()
    silent.is_silent = True
    assert wait_until(lambda: there.asked.count("renew") > 5)
    assert 1 >= silent.asked.count("renew")
    assert [b"b", b"c"] == [row for row, _ in two.iter_row_cells()]
    silent.is_silent = False
    assert [b"b", b"c"] == [row for row, _ in one.iter_row_cells()]


@pytest.mark.usefixtures("renewer")
def test_a_scan_continues_after_an_unanswered_renewal() -> None:
    """An unanswered renewal loses its scanner, and the scan continues with another one."""
    there = World(
        {row: [Cell("d", b"", 1)] for row in (b"a", b"b", b"c")},
        size=1,
        settings=Settings(call_timeout_s=0.3, retry_pause_s=0.0, max_retry_pause_s=0.0),
    )
    there.ttl_ms = 100
    found = Scanner(there.caller, "t", ScanSpec(), there.settings)
    found.read_block()
    there.is_silent = True
    assert wait_until(
        lambda: not keeping.LeaseRenewer.get_for_caller(there.caller).dump_state()["scanners"]
    )
    there.is_silent = False
    assert [b"b", b"c"] == [row for row, _ in found.iter_row_cells()]
    assert 2 == there.asked.count("open")


def test_a_second_reader_of_a_scanner_waits_at_most_one_operation_timeout() -> None:
    """A second thread that reads a scanner waits at most one operation timeout."""
    there = build_world()
    there.caller.settings = Settings(operation_timeout_s=0.05)
    found = Scanner(there.caller, "t", ScanSpec(), there.settings)
    found._lock.acquire()
    with pytest.raises(OperationTimedOut, match="t: another thread reads the same scanner"):
        found.read_block()
    found._lock.release()
    assert found.read_block()


def test_closing_a_scanner_never_waits_for_a_server(renewer: LeaseRenewer) -> None:
    """Closing waits neither for a pending answer nor for a connection."""
    for words, lost in ((["fine", "late"], None), ([], ConnectionLost("rs0", "no connection"))):
        there = build_world(60_000)
        there.script.extend(words)
        found = Scanner(there.caller, "t", ScanSpec(), there.settings)
        found.read_block()
        there.is_silent, there.fails = bool(words), lost
        started = time.monotonic()
        found.close()
        assert time.monotonic() - started < 20
    assert wait_until(lambda: 1 == renewer.dump_state()["region_scanners_to_close"])
    renewer.close()
    assert 0 == renewer.dump_state()["region_scanners_to_close"]
    there = build_world(60_000)
    there.script.extend(["fine", "late"])
    with Scanner(there.caller, "t", ScanSpec(), there.settings) as last:
        last.read_block()
    assert 0 == renewer.dump_state()["region_scanners_to_close"]


def test_a_scan_returns_all_rows_if_no_renewal_thread_can_start(
    renewer: LeaseRenewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If no thread can start, as at exit, a scan still returns all rows."""

    def start(_: Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Thread, "start", start)
    there = build_world()
    with Scanner(there.caller, "t", ScanSpec(), there.settings) as found:
        assert [b"a", b"b", b"c"] == [row for row, _ in found.iter_row_cells()]
    assert not renewer.is_running
