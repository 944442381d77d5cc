"""A process that writes a table until its input ends: `writer_process.py URL TABLE NUMBER CATALOG`.

The process puts own rows and increments shared counters, and prints the number of each round once
both are acknowledged. It prints a refusal as `refused WHAT`, and continues.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))

import rowkey
from rowkey.errors import Conflict, Unavailable

COUNTERS = 5


def make_row(number: int, n: int) -> dict[str, int | str]:
    """Return the row of a round."""
    return {"host": f"x{number}-{n % 50}", "ts": n, "size": n}


def make_counter_key(n: int) -> dict[str, int | str]:
    """Return the key of the counter of a round."""
    return {"host": f"z{n % COUNTERS}", "ts": 0}


def write_until_input_ends(url: str, name: str, number: int, catalog: str | None) -> None:
    """Write rows and counters until the standard input ends."""
    is_over = threading.Event()

    def listen() -> None:
        sys.stdin.read()
        is_over.set()

    threading.Thread(target=listen, daemon=True).start()
    with rowkey.open(name, url, catalog=catalog) as table:
        n = 0
        while not is_over.is_set():
            try:
                table.put(make_row(number, n))
                table.increment(make_counter_key(n), hits=1)
            except (Conflict, Unavailable) as problem:
                print("refused", problem, flush=True)
                continue
            print(n, flush=True)
            n += 1


if __name__ == "__main__":
    write_until_input_ends(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] or None)
