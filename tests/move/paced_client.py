"""A process that puts rows at a rate until its input ends: `paced_client.py URL TABLE NUMBER`.

It sends `BATCH_ROWS` rows at a time, and prints as JSON how many it sent, the CPU seconds that it
used, and when each of its batches began and how long it took, in seconds.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

import rowkey  # noqa: E402

CLIENTS, ROWS_PER_S = 8, 500
"""Processes, and the rows a second of each."""
BATCH_ROWS = 25
MAX_LAG_S = 0.1
"""Seconds for which a client that was kept waiting sends faster than its rate afterwards."""


def put_until_input_ends(url: str, table: str, client: int) -> None:
    """Put rows until the standard input ends; print the figures."""
    is_over = threading.Event()
    calls: list[tuple[float, float]] = []

    def wait_for_end() -> None:
        sys.stdin.read()
        is_over.set()

    with rowkey.open(table, url) as opened:
        print("ready", flush=True)
        threading.Thread(target=wait_for_end, daemon=True).start()
        due = time.perf_counter()
        while not is_over.is_set():
            due = max(due + BATCH_ROWS / ROWS_PER_S, time.perf_counter() - MAX_LAG_S)
            time.sleep(max(0.0, due - time.perf_counter()))
            start, first = time.perf_counter(), len(calls) * BATCH_ROWS
            with opened.batch() as batch:
                for number in range(first, first + BATCH_ROWS):
                    batch.put({"id": client + CLIENTS * number, "a": client})
            calls.append((start, time.perf_counter() - start))
    figures = {"rows": len(calls) * BATCH_ROWS, "cpu_s": time.process_time(), "calls": calls}
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    put_until_input_ends(sys.argv[1], sys.argv[2], int(sys.argv[3]))
