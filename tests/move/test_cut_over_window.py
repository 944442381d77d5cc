"""How long clients of a real HBase wait for a cut-over, which is measured and not judged."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex
from statistics import median
from typing import Any, Self

import pytest

import rowkey
from move.mover_loop import build_designs
from move.paced_client import CLIENTS
from reliability.record import record
from rowkey.move import Move
from rowkey.table import drop_table
from table.linear_history import build_design

SWITCHES = 5
STALE_S = 1.0
BUSY_S = 10.0
"""Seconds for which clients write before the first switch."""
HERE = Path(__file__).parent


class PacedClients:
    """The processes that put rows, in a `with` block.

    Args:
        url: the cluster.
        table: the name of the table.
    """

    def __init__(self, url: str, table: str) -> None:
        script = str(HERE / "paced_client.py")
        self._stack = ExitStack()
        self._clients = [
            self._stack.enter_context(
                subprocess.Popen(
                    [sys.executable, script, url, table, str(number)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    encoding="utf-8",
                )
            )
            for number in range(CLIENTS)
        ]

    def __enter__(self) -> Self:
        assert ["ready\n"] * CLIENTS == [
            one.stdout.readline() for one in self._clients if one.stdout
        ]
        return self

    def __exit__(self, *_: object) -> None:
        for one in self._clients:
            one.kill()
        self._stack.close()

    def stop(self) -> Iterator[dict[str, Any]]:
        """End all clients, and yield the figures of each."""
        for one in self._clients:
            assert one.stdin is not None
            one.stdin.close()
        for one in self._clients:
            assert one.stdout is not None
            yield json.loads(one.stdout.read())


@pytest.mark.long
def test_clients_lose_no_row_in_five_switches_and_wait_a_short_time(hbase_url: str) -> None:
    """Eight clients lose no row in five switches to and fro; the longest waits are recorded."""
    name = f"window.{token_hex(4)}"
    windows_s, spans = [], []
    try:
        with (
            rowkey.open(build_design(name), hbase_url, max_stale=STALE_S) as table,
            Move(name, hbase_url) as move,
        ):
            with PacedClients(hbase_url, name) as clients:
                assert move.run(build_designs(name)[1]).has_passed
                time.sleep(BUSY_S)
                for number in range(SWITCHES):
                    began_s = time.perf_counter()
                    result = move.roll_back() if number % 2 else move.cut_over()
                    windows_s.append(round(result.window_s, 2))
                    time.sleep(1.0)
                    spans.append((began_s, time.perf_counter()))
                found = list(clients.stop())
            rows = sum(one["rows"] for one in found)
            assert rows == table.count()
            assert move.verify().has_passed
            move.finish()
            assert rows == table.count()
    finally:
        drop_table(name, hbase_url)
    calls = sorted((start, took) for one in found for start, took in one["calls"])
    took_s = calls[-1][0] - calls[0][0]
    figures = {
        "windows_s": windows_s,
        "longest_s": [
            round(max(took for start, took in calls if begin <= start <= end), 2)
            for begin, end in spans
        ],
        "median_s": round(median(took for _, took in calls), 3),
        "rows per s": round(rows / took_s),
        "cores of the clients": round(sum(one["cpu_s"] for one in found) / took_s, 2),
    }
    record("moves, cut-overs on HBase", figures)
    print(figures)
