"""How long clients of a real HBase wait for a cut-over, which is measured and not judged."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from secrets import token_hex

import pytest

import rowkey
from move.mover_loop import build_designs
from reliability.record import record
from rowkey.move import Move
from rowkey.table import drop_table
from table.linear_history import build_design

WRITERS, OPERATIONS_PER_S, CUT_OVERS = 8, 500, 5
STALE_S = 1.0


class PacedWriter(threading.Thread):
    """Puts rows at a rate, and notes how long each took.

    Args:
        table: the table.
        number: the number of the writer.
    """

    def __init__(self, table: rowkey.Table, number: int) -> None:
        super().__init__()
        self.table, self.number = table, number
        self.times_s: list[float] = []
        self.is_over = False

    def run(self) -> None:
        due = time.perf_counter()
        while not self.is_over:
            due = max(due + 1 / OPERATIONS_PER_S, time.perf_counter() - 0.1)
            time.sleep(max(0.0, due - time.perf_counter()))
            start = time.perf_counter()
            self.table.put({"id": self.number + WRITERS * len(self.times_s), "a": self.number})
            self.times_s.append(time.perf_counter() - start)


@pytest.mark.long
def test_writers_wait_a_short_time_for_a_cut_over(hbase_url: str) -> None:
    """Eight writers lose no row in five switches to and fro; the longest waits are recorded."""
    name = f"window.{token_hex(4)}"
    longest_s, windows_s = [], []
    try:
        with ExitStack() as held:
            table = held.enter_context(
                rowkey.open(build_design(name), hbase_url, max_stale=STALE_S)
            )
            writers = [PacedWriter(table, number) for number in range(WRITERS)]
            for writer in writers:
                writer.start()
            with Move(name, hbase_url) as move:
                assert move.run(build_designs(name)[1]).has_passed
                began = time.perf_counter()
                before = sum(len(one.times_s) for one in writers)
                for number in range(CUT_OVERS):
                    counts = [len(one.times_s) for one in writers]
                    result = move.roll_back() if number % 2 else move.cut_over()
                    windows_s.append(round(result.window_s, 2))
                    time.sleep(1.0)
                    waits = zip(writers, counts, strict=True)
                    longest_s.append(round(max(max(one.times_s[at:]) for one, at in waits), 2))
                written = sum(len(one.times_s) for one in writers) - before
                rate = round(written / (time.perf_counter() - began))
                for writer in writers:
                    writer.is_over = True
                    writer.join()
                assert move.verify().has_passed
                move.finish()
            rows = [
                {"id": one.number + WRITERS * step}
                for one in writers
                for step in range(len(one.times_s))
            ]
            assert len(rows) == table.count()
    finally:
        drop_table(name, hbase_url)
    figures = {"longest_s": longest_s, "windows_s": windows_s, "operations per s": rate}
    record("cut-over window on HBase", figures)
    print(figures)
