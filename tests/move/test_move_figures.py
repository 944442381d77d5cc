"""How exactly a move keeps to its limits, and how long clients wait while it switches."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

import rowkey
from move.killed_mover import FIRST_MS, NEW, OLD
from reliability.record import record
from rowkey.move import Move

if TYPE_CHECKING:
    from rowkey.table import Table

RATE, MEASURED_S = 1_000, 30.0
"""Rows a second of a limited copy, and the seconds for which it is measured."""
MAX_RATE_ERROR = 0.05
MAX_PAUSE_S = 1.0
WRITERS, OPERATIONS_PER_S = 8, 500
"""Writers during cut-overs, and the operations a second of all of them together."""
SWITCHES = 20
MAX_WINDOW_S = 2.0


def load_rows(table: Table, count: int) -> None:
    """Put some rows."""
    with table.batch() as batch:
        for number in range(count):
            batch.put({"host": f"h{number % 50}", "ts": FIRST_MS + number, "hits": number})


def count_rows(move: Move) -> int:
    """Return how many rows the target has."""
    return sum(
        1 for _ in move.target.get_state().writer.store.scan([rowkey.engines.ScanRange()])[0]
    )


@pytest.mark.long
def test_a_copy_keeps_its_rate_and_pauses_within_a_second(tmp_path: Path) -> None:
    """Over half a minute the rate is kept within a twentieth; a pause acts within a second."""
    url = f"rocks:{tmp_path / 'data'}"
    with rowkey.open(OLD, url, max_stale=0.1) as table, Move.from_table(table, url) as move:
        load_rows(table, int(RATE * MEASURED_S * 1.5))
        move.start(NEW)
        move.throttle(rows_per_s=RATE)
        copy = Thread(target=lambda: move.run(NEW))
        copy.start()
        while count_rows(move) < RATE:
            time.sleep(0.05)
        first, started_s = count_rows(move), time.monotonic()
        time.sleep(MEASURED_S)
        rate = (count_rows(move) - first) / (time.monotonic() - started_s)
        move.pause_copy()
        time.sleep(MAX_PAUSE_S)
        paused = count_rows(move)
        time.sleep(1.0)
        after = count_rows(move)
        move.throttle(rows_per_s=None)
        move.resume_copy()
        copy.join()
    figures = {
        "allowed rows/s": RATE,
        "rows/s": round(rate, 1),
        "rows after a pause": after - paused,
    }
    record("moves, limited copy", figures)
    print(figures)
    assert abs(rate / RATE - 1) < MAX_RATE_ERROR
    assert paused == after


@pytest.mark.long
def test_clients_wait_at_most_two_seconds_during_a_switch(tmp_path: Path) -> None:
    """Of the longest operations during each of twenty switches the slowest take two seconds."""
    url = f"rocks:{tmp_path / 'data'}"
    is_over, longest_s = Event(), [0.0] * WRITERS
    counts = [0] * WRITERS

    def write(writer: int) -> None:
        began_s = time.monotonic()
        while not is_over.is_set():
            row = {"host": f"w{writer}", "ts": FIRST_MS + counts[writer] % 1_000}
            started_s = time.monotonic()
            table.put({**row, "note": "x", "hits": counts[writer]})
            longest_s[writer] = max(longest_s[writer], time.monotonic() - started_s)
            counts[writer] += 1
            due_s = began_s + counts[writer] * WRITERS / OPERATIONS_PER_S
            is_over.wait(max(0.0, due_s - time.monotonic()))

    with rowkey.open(OLD, url) as table, Move.from_table(table, url) as move:
        load_rows(table, 20_000)
        threads = [Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
        started_s = time.monotonic()
        for thread in threads:
            thread.start()
        assert move.run(NEW).has_passed
        windows_s = []
        for number in range(SWITCHES):
            longest_s[:] = [0.0] * WRITERS
            switch = move.roll_back if number % 2 else move.cut_over
            switch()
            time.sleep(0.2)
            windows_s.append(max(longest_s))
        seconds = time.monotonic() - started_s
        is_over.set()
        for thread in threads:
            thread.join()
    windows_s.sort()
    figures = {
        "switches": SWITCHES,
        "operations/s": round(sum(counts) / seconds),
        "median longest operation, s": round(windows_s[SWITCHES // 2], 2),
        "p99 longest operation, s": round(windows_s[-1], 2),
    }
    record("moves, cut-overs", figures)
    print(figures)
    assert windows_s[-1] <= MAX_WINDOW_S
