"""Numbers of buckets change while threads write, count, delete and read: nothing is lost."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from itertools import count, cycle
from typing import TYPE_CHECKING, Any, Self

import pytest

import rowkey
from table.clients import misplaced
from table.test_scan_law import STANDING, hold_to_the_law, in_pieces, place_of, read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rowkey.table import Table

FIELDS: dict[str, Any] = {
    "host": "text",
    "ts": "timestamp_ms",
    "size": {"type": "u32", "nullable": True},
    "hits": {"type": "i64", "nullable": True},
}
KEY = "[bucket(host, ts, 16)][host][ts]"
WRITERS, READERS, COUNTERS = 4, 2, 5
STALE_S = 0.3


class Doing(threading.Thread):
    """A thread that does something again and again until it is told to stop, or fails.

    Args:
        step: what is done; it is told how often it was done before.
    """

    def __init__(self, step: Callable[[int], None]) -> None:
        super().__init__()
        self.step = step
        self.done = 0
        self.failed: BaseException | None = None
        self.is_over = threading.Event()

    def run(self) -> None:
        try:
            while not self.is_over.is_set():
                self.step(self.done)
                self.done += 1
                time.sleep(0.003)  # a thread that seldom waits leaves little time to the others
        except BaseException as problem:  # noqa: BLE001 - whatever it is, the test tells it
            self.failed = problem

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over.set()
        self.join()


class Writer:
    """Rows of its own, put and deleted; the standing ones replaced; and shared counters.

    Args:
        table: the table, through a client of its own where there may be several.
        number: which of the writers it is.
    """

    def __init__(self, table: Table, number: int) -> None:
        self.table, self.number = table, number
        self.rows: dict[tuple[str, int], int | None] = {}
        self.counted = 0

    def __call__(self, n: int) -> None:
        own = {"host": f"x{self.number}", "ts": n % 500, "size": n}
        self.table.put(own)
        self.rows[place_of(own)] = n
        if n % 3 == 0:
            gone = {"host": own["host"], "ts": (n // 3) % 500}
            self.table.delete(gone)
            self.rows[place_of(gone)] = None
        standing = STANDING[(n * WRITERS + self.number) % len(STANDING)]
        self.table.replace({**standing, "size": n})
        self.table.increment({"host": "z", "ts": n % COUNTERS}, hits=1)
        self.counted += 1


def reader(table: Table) -> Callable[[int], None]:
    """Reads the standing rows in every way: all are there, each once and in order."""
    ways = cycle(("", "host desc, ts desc"))

    def step(n: int) -> None:
        order = next(ways)
        falls = bool(order)
        hold_to_the_law(of_standing(read(table, order)), falls=falls)
        hold_to_the_law(of_standing(in_pieces(table, order)), falls=falls)
        some = STANDING[n % 7 :: 50]
        assert [place_of(row) for row in some] == [
            place_of(row) for row in table.get_many(some) if row is not None
        ]

    return step


def of_standing(found: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Those of the standing rows; the others come and go."""
    return [one for one in found if one[0].startswith("h")]


@pytest.mark.parametrize("engine", ["memory", "rocks"])
def test_a_live_table_changes_its_buckets(engine: str, tmp_path: Path) -> None:
    """16 to 32 to 8 with four writers and two readers: no row is lost, doubled or out of order."""
    place = f"memory:{tmp_path}" if engine == "memory" else f"rocks:{tmp_path / 'data'}"
    design = rowkey.Design("t", KEY, fields=FIELDS, splits="per_bucket")
    with ExitStack() as held:
        first = held.enter_context(rowkey.open(design, place, max_stale=STALE_S))

        def one() -> Table:
            return held.enter_context(rowkey.open("t", place)) if engine == "memory" else first

        with first.batch() as batch:
            for row in STANDING:
                batch.put(row)
        writers = [Writer(one(), number) for number in range(WRITERS)]
        steps: list[Callable[[int], None]] = [*writers, *(reader(one()) for _ in range(READERS))]
        doing = [Doing(step) for step in steps]
        with ExitStack() as running:
            for thread in doing:
                running.enter_context(thread)
            wait_for(doing)
            for after in (32, 8):
                assert after == first.set_buckets(after).count_after
                wait_for(doing)
        assert [None] * len(doing) == [thread.failed for thread in doing]
        check_all(first, writers)
        later = {"host": "later", "ts": 1, "size": 1, "hits": None}
        first.put(later)
        assert later == first.get(later)
        assert [] == misplaced(first)


def wait_for(doing: list[Doing]) -> None:
    """Wait until each thread has done a little more, or one has failed."""
    goals = [thread.done + 2 for thread in doing]
    for _ in count():
        done = all(t.done >= goal for t, goal in zip(doing, goals, strict=True))
        if done or any(thread.failed for thread in doing):
            return
        time.sleep(0.01)


def check_all(table: Table, writers: list[Writer]) -> None:
    """What each writer was told to be written is there as it was last, and no count is lost."""
    for writer in writers:
        assert writer.counted > 10
        found = table.get_many([{"host": host, "ts": ts} for host, ts in writer.rows])
        sizes = [None if row is None else row["size"] for row in found]
        assert list(writer.rows.values()) == sizes
    counters = table.get_many([{"host": "z", "ts": n} for n in range(COUNTERS)])
    assert sum(writer.counted for writer in writers) == sum(row["hits"] for row in counters)
    places = [place_of(row) for row in table.scan()]
    assert sorted(set(places)) == places
    left = [len([size for size in w.rows.values() if size is not None]) for w in writers]
    assert sum(left) == len([one for one in places if one[0].startswith("x")])
