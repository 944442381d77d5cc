"""A process that uses a table until its input ends, and records what it saw.

`client_process.py URL TABLE NUMBER FOLDER PATIENCE`. Its threads change rows of the process and
counters of all processes, and read rows of the others. Two processes never put the same row: their
timestamps may be equal, which HBase does not put in an order. PATIENCE is the seconds after which a
client ends the switch of a mover that has died.
"""

from __future__ import annotations

import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from math import inf
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

import rowkey  # noqa: E402
from rowkey.errors import Unavailable  # noqa: E402
from rowkey.table.moves import move_follower  # noqa: E402
from table.linear_history import OPERATIONS, UNKNOWN, Client  # noqa: E402

PROCESSES, THREADS = 3, 3
WINDOW_S = 3.0
"""Seconds in which the same rows are used: long histories take long to check."""
ROWS = 2
"""Rows of a process in a window."""
SHARED = 9
"""The number of the process that a counter of all processes has."""
PAUSE_S = 0.02


def build_row(process: int, number: int) -> int:
    """Return a row of a process that is used now."""
    return int(time.perf_counter() / WINDOW_S) * 100 + process * 10 + number


class RecordingClient(Client):
    """A thread that writes what it does to a file, and goes on after a refusal.

    Args:
        table: the table.
        thread: the number of the thread, unique among all processes.
        process: the number of its process.
        folder: where its file is.
    """

    def __init__(self, table: rowkey.Table, thread: int, process: int, folder: Path) -> None:
        numbers: Iterator[int] = count(thread * 10**9)
        super().__init__(table, thread, thread, numbers)
        self.process = process
        self.file: IO[bytes] = (folder / f"client.{thread}").open("wb")

    def step(self) -> None:
        """Make one operation."""
        chance = self.random.random()
        if chance < 0.1:
            self.do_increment(build_row(SHARED, 0), [])
        elif chance < 0.25:
            other = self.random.randrange(PROCESSES)
            self.do_get(build_row(other, self.random.randrange(ROWS)), [])
        else:
            rows = [build_row(self.process, number) for number in range(ROWS)]
            (name,) = self.random.choices(list(OPERATIONS), list(OPERATIONS.values()))
            getattr(self, f"do_{name}")(self.random.choice(rows), rows)
        for noted in self.noted:
            pickle.dump(noted, self.file)
        self.file.flush()
        self.noted.clear()

    def _time_call(self, call: Callable[[], Any]) -> tuple[Any, float, float]:
        start = time.perf_counter()
        try:
            return super()._time_call(call)
        except Unavailable:
            return UNKNOWN, start, inf


def use_until_input_ends(url: str, table: str, process: int, folder: Path) -> None:
    """Use a table by several threads until the standard input ends."""
    is_over = threading.Event()
    problems: list[BaseException] = []

    def run(client: RecordingClient) -> None:
        try:
            while not is_over.is_set():
                client.step()
                time.sleep(PAUSE_S)
        except BaseException as problem:
            problems.append(problem)
            raise

    with rowkey.open(table, url) as opened:
        threads = []
        for number in range(THREADS):
            client = RecordingClient(opened, process * THREADS + number, process, folder)
            threads.append(threading.Thread(target=run, args=(client,)))
        for thread in threads:
            thread.start()
        print("ready", flush=True)
        sys.stdin.read()
        is_over.set()
        for thread in threads:
            thread.join()
    if problems:
        sys.exit(f"{problems[0]}")


if __name__ == "__main__":
    move_follower.MIN_PATIENCE_S = float(sys.argv[5])
    use_until_input_ends(sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
