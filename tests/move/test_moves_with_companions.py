"""A table with companions moves to another key; the companions stay, and are always in step."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import rowkey
from rowkey.engines import open_engine
from rowkey.errors import InvalidDesign, RowkeyError
from rowkey.move import BucketRetirement, Move, mover_lock, transfer_table
from rowkey.table import TableWithCompanions, drop_table, repair_companions
from table.companion_tables import (
    INDEXED,
    KEYS,
    NAMES,
    get_identity,
    read_all_cells,
    read_all_tables,
    write_designs,
)

if TYPE_CHECKING:
    from rowkey.table import Table

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
STEPS_ON_A_CLUSTER = ("cut_over", "roll_back", "cut_over") if IS_LONG else ("cut_over",)
WRITERS = 3
NEW_KEY = "[bucket(user, number, 8)][user][number][at]"


def write_new_design(folder: Path) -> rowkey.Design:
    """Write the design that orders move to, with the same companions; return it."""
    text = (folder / "orders.toml").read_text().replace(KEYS["orders"], NEW_KEY)
    (folder / "new.toml").write_text(text)
    return rowkey.Design.read(folder / "new.toml")


class Writer(threading.Thread):
    """Writes rows of its own users until it is stopped, and notes what was acknowledged."""

    def __init__(self, table: Table, number: int) -> None:
        super().__init__()
        self.table, self.random = table, Random(number)
        self.user = f"u{number}"
        self.rows: dict[tuple[Any, ...], dict[str, Any] | None] = {}
        self.failed: BaseException | None = None
        self.is_over = threading.Event()

    def run(self) -> None:
        try:
            while not self.is_over.is_set():
                self.write_one()
                time.sleep(0.005)  # a thread that seldom waits leaves little time to the others
        except BaseException as problem:  # noqa: BLE001 - whatever it is, the test tells it
            self.failed = problem

    def write_one(self) -> None:
        """Make one change."""
        at, number = self.random.randrange(8), self.random.randrange(8)
        key = {"user": self.user, "at": at, "number": number}
        row = {**key, "note": f"n{self.random.random()}", "amount": number}
        kind = self.random.choice(
            ["put", "put", "replace", "delete", "delete where", "batch", "load"]
        )
        if kind == "delete":
            self.table.delete(key)
        elif kind == "delete where":
            self.table.delete_where({**key, "amount": number})
        elif kind == "batch":
            with self.table.batch() as batch:
                batch.put(row)
        elif kind == "load":
            self.table.load(pa.RecordBatch.from_pylist([row], self.table.scan().schema))
        else:
            getattr(self.table, kind)(row)
        self.rows[get_identity(key)] = None if kind.startswith("delete") else row


class Pauses:
    """Stops writers for a while."""

    def __init__(self, writers: list[Writer]) -> None:
        self.writers = writers
        self._gate, self._is_paused = threading.Lock(), False
        for one in writers:
            one.write_one = self._guard(one.write_one)  # type: ignore[method-assign]

    def _guard(self, call: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            with self._gate:
                call()

        return run

    def pause(self) -> None:
        """Wait until no change is on its way, and let none begin."""
        self._gate.acquire()
        self._is_paused = True

    def resume(self) -> None:
        """Let changes begin again, if they were stopped."""
        if self._is_paused:
            self._is_paused = False
            self._gate.release()


@contextmanager
def running(writers: list[Writer]) -> Iterator[Pauses]:
    """Let writers write during a `with` block; raise what one of them raised."""
    pauses = Pauses(writers)
    for one in writers:
        one.start()
    try:
        yield pauses
    finally:
        for one in writers:
            one.is_over.set()
        pauses.resume()
        for one in writers:
            one.join()
    assert [None] * len(writers) == [one.failed for one in writers]
    assert all(one.rows for one in writers)


def check_in_step(table: Table, writers: list[Writer]) -> None:
    """Check that every acknowledged row is in all tables, with the same cells, and no other."""
    expected = {
        identity: row for one in writers for identity, row in one.rows.items() if row is not None
    }
    for name, rows in read_all_tables(table).items():
        assert expected == rows, name
    some = list(expected)[:20]
    assert [expected[one] for one in some] == table.get_many(
        [dict(zip(NAMES, one, strict=True)) for one in some]
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the design files of orders, a companion and an index."""
    write_designs(tmp_path, keys=INDEXED)
    return tmp_path


def move_under_writers(
    folder: Path, url: str, stale_s: float, steps: Sequence[str], prefix: str = ""
) -> None:
    """Move orders under writers, with a change of the buckets before and after; check each step."""
    design = write_designs(folder, prefix, INDEXED)
    target = write_new_design(folder)
    name = design.table
    with ExitStack() as held:
        table = held.enter_context(rowkey.open(design, url, max_stale=stale_s))
        held.callback(drop_table, f"{name}_2", url)
        table.set_buckets(8)
        clients = [held.enter_context(rowkey.open(name, url)) for _ in range(WRITERS)]
        writers = [Writer(one, number) for number, one in enumerate(clients)]
        with running(writers) as pauses:
            with Move(name, url) as move:
                assert move.run(target).has_passed
                for step in steps:
                    getattr(move, step)()
                    pauses.pause()
                    check_in_step(table, writers)
                    pauses.resume()
                assert name == move.finish(drop=name)
            table.set_buckets(4)
            BucketRetirement(table).run()
        check_in_step(table, writers)
        assert NEW_KEY.replace("8", "4") == str(table.design.key)
        assert 1 == table.buckets.keys_per_get
        for one in table.companions.values():
            entry = one.catalog.read(one.design.table)
            assert entry is not None
            assert f"{name}_2" == entry.companion_of
        for opened_by in (name, f"{name}_2", target):
            with rowkey.open(opened_by, url) as again:
                assert isinstance(again, TableWithCompanions)
                check_in_step(again, writers)
                first, *others = read_all_cells(again)
                assert all(one == first for one in others)


def test_companions_stay_in_step_while_their_table_moves_back_and_forth(tmp_path: Path) -> None:
    """Under writers the table is copied, switched, switched back, switched again and finished."""
    url = f"memory:{tmp_path}"
    move_under_writers(tmp_path, url, 0.2, ("cut_over", "roll_back", "cut_over"))
    assert [] == open_engine(url).list_tables()


def test_companions_stay_in_step_on_a_cluster_while_their_table_moves(
    tmp_path: Path, hbase_url: str
) -> None:
    """The same holds on servers, where the tables are in different regions."""
    prefix = f"m{token_hex(4)}."
    move_under_writers(tmp_path, hbase_url, 1.0, STEPS_ON_A_CLUSTER, prefix)


class Killed(Exception):
    """The mover has ended."""


def test_a_killed_finish_is_repeated_and_the_companions_follow(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped before any write to the catalog, the finish leaves tables that open and are equal."""
    design = rowkey.Design.read(folder / "orders.toml")
    target = write_new_design(folder)
    monkeypatch.setattr(mover_lock, "LIFETIME_S", 0.2)  # after which another takes its lock over
    monkeypatch.setattr(mover_lock, "BEAT_INTERVAL_S", 0.05)
    for stop in range(1, 100):
        url = f"memory:{folder}-{stop}"
        with rowkey.open(design, url, max_stale=0.01) as table:
            table.put({"user": "u", "at": 1, "number": 2, "note": "a", "amount": 3})
        with Move("orders", url) as move:
            move.run(target)
            move.cut_over()
            left = iter(range(stop))

            def stop_before(call: Callable[..., Any], left: Iterator[int] = left) -> Any:
                def run(*arguments: Any, **options: Any) -> Any:
                    is_mover = threading.current_thread() is threading.main_thread()
                    if is_mover and next(left, None) is None:
                        raise Killed
                    return call(*arguments, **options)

                return run

            catalog = type(move.record.catalog)
            with monkeypatch.context() as patch:
                for name in ("write", "write_note"):
                    patch.setattr(catalog, name, stop_before(getattr(catalog, name)))
                try:
                    move.finish()
                    is_done = True
                except Killed:
                    is_done = False
        with rowkey.open("orders", url) as table:
            assert isinstance(table, TableWithCompanions)
            assert [1, 1, 1] == [len(rows) for rows in read_all_tables(table).values()]
        if is_done:
            break
        with Move("orders", url) as move:
            move.finish()
        assert 3 == len(drop_table("orders", url))
    assert stop > 3


def test_no_companion_is_added_during_a_move(folder: Path) -> None:
    """New companions are refused by name until the move is finished."""
    design = write_designs(folder, keys=INDEXED, declared=["orders_by_number"])
    url = f"memory:{folder}"
    target = write_new_design(folder)
    with rowkey.open(design, url, max_stale=0.01) as table:
        table.put({"user": "u", "at": 1, "number": 2})
    with Move("orders", url) as move:
        move.run(target)
    more = write_designs(folder, keys=INDEXED)
    with pytest.raises(RowkeyError, match="being moved"):
        repair_companions(more, url, apply=True)


def test_rows_that_only_a_companion_has_are_repaired_during_a_move(folder: Path) -> None:
    """A repair compares the companions with the table that is read, in each phase."""
    url = f"memory:{folder}"
    design = rowkey.Design.read(folder / "orders.toml")
    target = write_new_design(folder)
    with rowkey.open(design, url, max_stale=0.01) as table:
        table.put({"user": "u", "at": 1, "number": 2})
    with Move("orders", url) as move:
        move.run(target)
        for switch in (lambda: None, move.cut_over):
            switch()
            with rowkey.open("orders", url) as table:
                lone = {"user": "lone", "at": 9, "number": 9}
                companion = table.companions["index_by_time"]
                change = companion.writer.build_put(lone)
                companion.writer.apply_changes([change])
            results = repair_companions(
                target if switch is move.cut_over else design, url, apply=True
            )
            assert [0, 1] == sorted(one.deleted for one in results)
            with rowkey.open("orders", url) as table:
                assert [1, 1, 1] == [len(rows) for rows in read_all_tables(table).values()]


def test_a_copy_to_another_engine_refuses_companions(folder: Path) -> None:
    """Only a move within an engine keeps companions in step."""
    design = rowkey.Design.read(folder / "orders.toml")
    with (
        rowkey.open(design, "memory:") as source,
        rowkey.open(design, "memory:") as target,
        pytest.raises(InvalidDesign, match="tables with companions are not copied"),
    ):
        transfer_table(source, target)
