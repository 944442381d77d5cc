"""Two threads that change one row at once take effect one after the other."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

import rowkey
from rowkey.cells import LATEST, Cell, CellType, RowCells
from rowkey.engines import CellCondition, TableSpec, open_engine

KEY = {"id": 1}
DESIGN = rowkey.Design(
    "t", "[id]",
    fields={"id": "u32", "state": "text", "size": {"type": "i64", "nullable": True}},
)  # fmt: skip
SHORT_WAIT_S = 0.2
"""Time in which the other thread would be done if nothing held it back."""


def make_clock() -> Callable[[], int]:
    """Return a clock that advances 10 ms at each call."""
    looks = count(1_700_000_000_000, 10)
    return lambda: next(looks)


class SlowStore:
    """A store whose conditional changes wait before they begin."""

    def __init__(self, store: Any, name: str) -> None:
        self.store, self.name = store, name
        self.has_come, self.may_go = Event(), Event()

    def __getattr__(self, name: str) -> Any:
        truth = getattr(self.store, name)
        if name != self.name:
            return truth

        def slow(*given: Any, **named: Any) -> Any:
            self.has_come.set()
            assert self.may_go.wait(10)
            return truth(*given, **named)

        return slow


def run_concurrently(
    table: Any, verb: str, slow: Callable[[], Any], other: Callable[[], Any]
) -> list[Any]:
    """Return the result of a change during which another change happens."""
    table.writer.store = between = SlowStore(table.store, verb)
    told: list[Any] = []
    threads = [Thread(target=lambda: told.append(slow())), Thread(target=other)]
    threads[0].start()
    assert between.has_come.wait(10)
    threads[1].start()
    threads[1].join(SHORT_WAIT_S)
    between.may_go.set()
    for thread in threads:
        thread.join(10)
    table.writer.store = table.store
    return told


@pytest.fixture(params=["memory", "rocks"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A URL for tables on each engine."""
    return "memory:" if request.param == "memory" else f"rocks:{tmp_path}"


def test_a_put_after_a_check_is_newer_than_the_put_the_check_saw(url: str) -> None:
    """A put that a check has seen is not newer than the put after the check."""
    with rowkey.open(DESIGN, url, clock=make_clock()) as table:
        table.put({**KEY, "state": "old", "size": 0})
        told = run_concurrently(
            table, "check_and_mutate",
            lambda: table.check_and_put({**KEY, "size": 1}, state="new"),
            lambda: table.put({**KEY, "state": "new", "size": 2}),
        )  # fmt: skip
        row = table.get(KEY)
        assert (told, row["size"]) in [([True], 1), ([False], 2)]
        assert "new" == row["state"]


def test_a_row_put_because_a_check_found_it_absent_is_there(url: str) -> None:
    """A row that is put because a check found it absent is there afterwards."""
    with rowkey.open(DESIGN, url, clock=make_clock()) as table:
        table.put({**KEY, "state": "old", "size": 0})
        told = run_concurrently(
            table, "check_and_mutate",
            lambda: table.check_and_put({**KEY, "state": "first"}, state=None),
            lambda: table.delete(KEY),
        )  # fmt: skip
        assert (told, table.get(KEY)) in [
            ([True], {**KEY, "state": "first", "size": None}), ([False], None)
        ]  # fmt: skip


def test_a_delete_does_not_hide_an_increment_that_came_after_it(url: str) -> None:
    """An increment that began at nothing after a delete is visible."""
    looks = count(1_700_000_000_000 * 40)
    with rowkey.open(DESIGN, url, clock=lambda: next(looks) // 40) as table:
        table.put({**KEY, "state": "old", "size": 5})
        told = run_concurrently(
            table, "increment", lambda: table.increment(KEY, size=1), lambda: table.delete(KEY)
        )
        row = table.get(KEY)
        assert (told, None if row is None else row["size"]) in [
            ([{"size": 6}], None), ([{"size": 1}], 1)
        ]  # fmt: skip


def test_four_threads_increasing_a_number_by_check_and_put_lose_no_step(url: str) -> None:
    """Four threads increase a number by check-and-put, and no step is lost."""
    with rowkey.open(DESIGN, url) as table:
        table.put({**KEY, "state": "on", "size": 0})

        def raise_it() -> None:
            for _ in range(25):
                size = table.get(KEY)["size"]
                while not table.check_and_put({**KEY, "size": size + 1}, size=size):
                    size = table.get(KEY)["size"]

        threads = [Thread(target=raise_it) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert 100 == table.get(KEY)["size"]


def test_a_mutation_that_waited_for_a_row_lock_gets_a_later_timestamp(url: str) -> None:
    """A mutation that waited for a row lock gets a later timestamp than the lock's holder."""
    looks = count(1_700_000_000_000)
    others: list[Thread] = []

    def clock() -> int:
        now = next(looks)
        if others:
            other = others.pop()
            other.start()
            other.join(SHORT_WAIT_S)
        return now

    with open_engine(url, clock=clock) as engine:
        store = engine.create_table(TableSpec("t", tuple(DESIGN.families.values())))
        store.mutate([RowCells(b"r", [Cell("d", b"state", LATEST, b"old")])])
        gone = Cell("d", b"state", LATEST, cell_type=CellType.DELETE_COLUMN)
        other = Thread(target=store.mutate, args=([RowCells(b"r", [gone])],))
        others.append(other)
        first = Cell("d", b"state", LATEST, b"first")
        done = store.check_and_mutate(b"r", CellCondition("d", b"state"), [first])
        other.join(10)
        (row,) = store.get([b"r"])
        assert (done, [cell.value for cell in row.cells]) in [(True, [b"first"]), (False, [])]
