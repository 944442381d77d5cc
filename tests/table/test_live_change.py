"""Bucket changes while threads write, count, delete and read lose no row."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from itertools import count, cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest

import rowkey
from rowkey.move import BucketRetirement
from table.clients import list_misplaced_rows
from table.test_scan_order import (
    STANDING_ROWS,
    check_scanned_rows,
    get_identity,
    scan_in_pieces,
    scan_rows,
)

if TYPE_CHECKING:
    from rowkey.table import Table

FIELDS: dict[str, Any] = {
    "host": "text",
    "ts": "timestamp_ms",
    "size": {"type": "u32", "nullable": True},
    "hits": {"type": "i64", "nullable": True},
}
KEY = "[bucket(host, ts, 16)][host][ts]"
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
WRITERS, READERS, COUNTERS = 3, 2 if IS_LONG else 1, 5
STALE_S = 0.2


class RepeatingThread(threading.Thread):
    """A thread that repeats a step until it is stopped or fails.

    Args:
        step: the function to repeat, called with the number of earlier calls.
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
                time.sleep(0.005)  # a thread that seldom waits leaves little time to the others
        except BaseException as problem:  # noqa: BLE001 - whatever it is, the test tells it
            self.failed = problem

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over.set()
        self.join()


class Writer:
    """Puts and deletes own rows, replaces the standing rows, and increments shared counters.

    Args:
        table: the table, with a client of its own where the engine allows several.
        number: the number of the writer.
    """

    def __init__(self, table: Table, number: int) -> None:
        self.table, self.number = table, number
        self.rows: dict[tuple[str, int], int | None] = {}
        self.counted = 0

    def __call__(self, n: int) -> None:
        own = {"host": f"x{self.number}", "ts": n % 500, "size": n}
        self.table.put(own)
        self.rows[get_identity(own)] = n
        if n % 3 == 0:
            gone = {"host": own["host"], "ts": (n // 3) % 500}
            self.table.delete(gone)
            self.rows[get_identity(gone)] = None
        standing = STANDING_ROWS[(n * WRITERS + self.number) % len(STANDING_ROWS)]
        self.table.replace({**standing, "size": n})
        self.table.increment({"host": "z", "ts": n % COUNTERS}, hits=1)
        self.counted += 1


def make_read_step(table: Table) -> Callable[[int], None]:
    """Return a step that reads and checks the standing rows in every way."""
    ways = cycle(("", "host desc, ts desc"))

    def step(n: int) -> None:
        order = next(ways)
        falls = bool(order)
        check_scanned_rows(select_standing(scan_rows(table, order)), falls=falls)
        check_scanned_rows(select_standing(scan_in_pieces(table, order)), falls=falls)
        some = STANDING_ROWS[n % 7 :: 50]
        assert [get_identity(row) for row in some] == [
            get_identity(row) for row in table.get_many(some) if row is not None
        ]

    return step


def select_standing(found: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the standing rows among all rows."""
    return [one for one in found if one[0].startswith("h")]


@pytest.mark.parametrize("engine", ["memory", pytest.param("rocks", marks=pytest.mark.long)])
def test_rows_are_kept_once_and_in_order_through_bucket_changes(
    engine: str, tmp_path: Path
) -> None:
    """From 16 to 32 to 8 buckets, and to 8 alone, no row is lost, doubled or out of order."""
    place = f"memory:{tmp_path}" if engine == "memory" else f"rocks:{tmp_path / 'data'}"
    design = rowkey.Design("t", KEY, fields=FIELDS, splits="per_bucket")
    with ExitStack() as held:
        first = held.enter_context(rowkey.open(design, place, max_stale=STALE_S))

        def open_own_client() -> Table:
            return held.enter_context(rowkey.open("t", place)) if engine == "memory" else first

        with first.batch() as batch:
            for row in STANDING_ROWS:
                batch.put(row)
        writers = [Writer(open_own_client(), number) for number in range(WRITERS)]
        steps: list[Callable[[int], None]] = [
            *writers,
            *(make_read_step(open_own_client()) for _ in range(READERS)),
        ]
        doing = [RepeatingThread(step) for step in steps]
        with ExitStack() as running:
            for thread in doing:
                running.enter_context(thread)
            wait_for_progress(doing)
            for after in (32, 8):
                assert after == first.set_buckets(after).count_after
                wait_for_progress(doing)
            assert BucketRetirement(first).run().moved_rows
            wait_for_progress(doing)
        assert [None] * len(doing) == [thread.failed for thread in doing]
        check_all(first, writers)
        later = {"host": "later", "ts": 1, "size": 1, "hits": None}
        first.put(later)
        assert later == first.get(later)
        assert [] == list_misplaced_rows(first)
        assert 1 == first.buckets.keys_per_get


def wait_for_progress(doing: list[RepeatingThread]) -> None:
    """Wait until each thread has done a little more, or one has failed."""
    goals = [thread.done + 2 for thread in doing]
    for _ in count():
        done = all(t.done >= goal for t, goal in zip(doing, goals, strict=True))
        if done or any(thread.failed for thread in doing):
            return
        time.sleep(0.01)


def check_all(table: Table, writers: list[Writer]) -> None:
    """Check each writer's last acknowledged rows, and all counters."""
    for writer in writers:
        assert writer.counted > 10
        found = table.get_many([{"host": host, "ts": ts} for host, ts in writer.rows])
        sizes = [None if row is None else row["size"] for row in found]
        assert list(writer.rows.values()) == sizes
    counters = table.get_many([{"host": "z", "ts": n} for n in range(COUNTERS)])
    assert sum(writer.counted for writer in writers) == sum(row["hits"] for row in counters)
    places = [get_identity(row) for row in table.scan()]
    assert sorted(set(places)) == places
    left = [len([size for size in w.rows.values() if size is not None]) for w in writers]
    assert sum(left) == len([one for one in places if one[0].startswith("x")])
