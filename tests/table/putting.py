"""A process that writes a table until its input ends: `putting.py URL TABLE NUMBER CATALOG`.

It puts rows of its own and counts up shared ones, and prints a line for each round once both are
acknowledged: its number. What it is refused it prints as `refused WHAT`, and goes on.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))

import rowkey
from rowkey.errors import Conflict, Unavailable

COUNTERS = 5


def row_of(number: int, n: int) -> dict[str, int | str]:
    """The row of a round."""
    return {"host": f"x{number}-{n % 50}", "ts": n, "size": n}


def counter_of(n: int) -> dict[str, int | str]:
    """The counter of a round."""
    return {"host": f"z{n % COUNTERS}", "ts": 0}


def write(url: str, name: str, number: int, catalog: str | None) -> None:
    """Write until the input ends."""
    is_over = threading.Event()

    def listen() -> None:
        sys.stdin.read()
        is_over.set()

    threading.Thread(target=listen, daemon=True).start()
    with rowkey.open(name, url, catalog=catalog) as table:
        n = 0
        while not is_over.is_set():
            try:
                table.put(row_of(number, n))
                table.increment(counter_of(n), hits=1)
            except (Conflict, Unavailable) as problem:
                print("refused", problem, flush=True)
                continue
            print(n, flush=True)
            n += 1


if __name__ == "__main__":
    write(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] or None)
