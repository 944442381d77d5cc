"""Clients that stay open find the right table through several moves, given up or finished."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pyarrow as pa
import pytest

import rowkey
from rowkey.errors import CatalogMismatch, InvalidArgument
from rowkey.move import Move
from rowkey.table import create_table, drop_table

FIELDS: dict[str, Any] = {"id": "u64", "note": {"type": "text", "nullable": True}}
OLD = rowkey.Design("notes", "[id]", fields=FIELDS)
NEW = rowkey.Design("notes", "[bucket(id, 4)][id]", fields=FIELDS)
THIRD = rowkey.Design("notes", "[bucket(id, 8)][id]", fields=FIELDS)
READS = [{"name": "one", "where": "id = ?"}]
STALE_S = 0.02


def test_a_client_of_an_abandoned_move_uses_the_target_of_the_second_one(tmp_path: Path) -> None:
    """A client that knew the first target, of the same name, writes and reads the second one."""
    url = f"memory:{tmp_path}"
    with rowkey.open(OLD, url, max_stale=STALE_S) as table:
        for note in ("first", "second"):
            with Move("notes", url) as move:
                move.start(NEW)
                table.put({"id": 1, "note": note})
                move.finish()
        with Move("notes", url) as move:
            assert move.run(NEW).has_passed
            table.put({"id": 2, "note": "third"})
            move.cut_over()
            move.finish()
        assert "notes_2" == table.get_state().active_design.table
        assert [{"id": 1, "note": "second"}, {"id": 2, "note": "third"}] == list(table.scan())


def test_a_client_that_missed_the_end_of_an_abandoned_move_writes_to_the_next_target(
    tmp_path: Path,
) -> None:
    """The target that it has open was dropped, and another one has its name."""
    url = f"memory:{tmp_path}"
    with rowkey.open(OLD, url, max_stale=STALE_S) as table:
        with Move("notes", url) as move:
            move.start(NEW)
            table.put({"id": 1, "note": "first"})
            move.finish()
        with Move("notes", url) as move:
            move.start(THIRD)
            table.put({"id": 1, "note": "second"})
            (found,) = move.target.get_state().getter.get_rows([{"id": 1}])
    assert {"id": 1, "note": "second"} == found


def test_a_source_is_usable_after_a_mover_died_dropping_the_target(tmp_path: Path) -> None:
    """A mover that died after it dropped the target keeps no client from the source."""
    url = f"memory:{tmp_path}"
    with rowkey.open(OLD, url, max_stale=STALE_S) as table:
        table.put({"id": 1, "note": "kept"})
        with Move("notes", url) as move, pytest.MonkeyPatch.context() as patch:
            move.start(NEW)

            def die(_: str) -> None:
                raise KeyboardInterrupt

            patch.setattr(move, "_restore_attributes", die)
            with pytest.raises(KeyboardInterrupt):
                move.finish()
        assert {"id": 1, "note": "kept"} == table.get(id=1)
    with rowkey.open("notes", url) as table:
        assert {"id": 1, "note": "kept"} == table.get(id=1)


@pytest.mark.parametrize("is_finished", [False, True])
def test_a_client_suspended_during_a_move_follows_the_next_move(
    tmp_path: Path, *, is_finished: bool
) -> None:
    """Its first write after two moves is seen by all clients, and it reads what they wrote."""
    url = f"memory:{tmp_path}"
    with rowkey.open(OLD, url, max_stale=STALE_S) as asleep:
        asleep.put({"id": 1, "note": "old"})
        with Move("notes", url) as move:
            move.run(NEW)
            move.cut_over()
            move.finish()
        with Move("notes", url) as move:
            move.run(THIRD)
            move.cut_over()
            if is_finished:
                move.finish()
        with rowkey.open("notes", url) as other:
            other.put({"id": 2, "note": "other"})
            assert {"id": 2, "note": "other"} in list(asleep.scan())
            assert "notes_3" == asleep.tracker.get_state().active_design.table
            asleep.put({"id": 1, "note": "new"})
            assert {"id": 1, "note": "new"} == other.get(id=1)


def test_the_lease_is_still_renewed_after_threads_see_the_end_of_a_move(tmp_path: Path) -> None:
    """The lease of the table that is used from now on goes on to be renewed in the background."""
    url, threads = f"memory:{tmp_path}", 8
    with (
        rowkey.open(OLD, url, max_stale=STALE_S) as table,
        ThreadPoolExecutor(threads) as pool,
    ):
        with Move("notes", url) as move:
            move.run(NEW)
            move.cut_over()
            move.finish()
        barrier = Barrier(threads)

        def read() -> Any:
            barrier.wait()
            return table.get(id=1)

        assert [None] * threads == [one.result() for one in [pool.submit(read) for _ in range(8)]]
        assert "notes_2" == table.lease.table
        assert not table.lease._is_closed


def test_all_clients_of_a_process_share_one_row_clock_after_a_move(tmp_path: Path) -> None:
    """A put of one client is not hidden by a delete of the other in the same millisecond."""
    url, now = f"memory:{tmp_path}", 1_000
    with rowkey.open(OLD, url, max_stale=STALE_S, clock=lambda: now) as table:
        table.put({"id": 1, "note": "old"})
        with Move("notes", url) as move:
            move.run(NEW)
            move.cut_over()
            move.finish()
        with rowkey.open("notes", url, clock=lambda: now) as other:
            for number in range(3):
                table.delete(id=1)
                other.put({"id": 1, "note": f"{number}"})
                assert {"id": 1, "note": f"{number}"} == table.get(id=1)
                other.delete(id=1)
                table.put({"id": 1, "note": f"{number}"})
                assert {"id": 1, "note": f"{number}"} == other.get(id=1)


def test_a_put_is_newer_than_a_load_of_the_same_millisecond_during_a_move(tmp_path: Path) -> None:
    """In the salted source, which gets what is loaded into the target, both have row keys."""
    url, now = f"memory:{tmp_path}", 1_000
    salted = rowkey.Design("notes", "[salt(8)][id]", fields=FIELDS)
    with (
        rowkey.open(salted, url, max_stale=STALE_S, clock=lambda: now) as table,
        Move("notes", url) as move,
    ):
        move.run(NEW)
        move.cut_over()
        for number in range(20):
            now += 1
            table.load(pa.table({"id": [number], "note": ["load"]}))
            table.put({"id": number, "note": "put"})
        move.roll_back()
        assert {"put"} == {row["note"] for row in table.scan()}


def test_a_table_with_the_old_name_of_a_moved_table_is_not_created(tmp_path: Path) -> None:
    """The error says that the name is in use, and dropping the table frees it."""
    url = f"memory:{tmp_path}"
    with rowkey.open(OLD, url, max_stale=STALE_S), Move("notes", url) as move:
        move.run(NEW)
        move.cut_over()
        move.finish()
    with pytest.raises(InvalidArgument, match=r"notes stands for notes_2.*rowkey drop notes"):
        create_table(OLD, url)
    assert ["notes_2"] == drop_table("notes", url)
    create_table(OLD, url).close()


@pytest.mark.parametrize("table", ["notes", "notes_2"])
@pytest.mark.parametrize("key", ["[id]", "[bucket(id, 4)][id]"])
def test_the_designs_of_both_tables_open_a_table_that_is_being_moved(
    tmp_path: Path, table: str, key: str
) -> None:
    """A row that is put through the design of either table is seen by the other clients."""
    url = f"memory:{tmp_path}"
    with rowkey.open(OLD, url, max_stale=STALE_S) as client, Move("notes", url) as move:
        move.run(NEW)
        with rowkey.open(rowkey.Design(table, key, fields=FIELDS, reads=READS), url) as other:
            other.put({"id": 1, "note": "new"})
            assert {"id": 1, "note": "new"} == client.get(id=1)
        assert move.verify().has_passed


@pytest.mark.parametrize("table", ["notes", "notes_2"])
@pytest.mark.parametrize("key", ["[id]", "[bucket(id, 4)][id]"])
def test_a_field_is_not_added_during_a_move(tmp_path: Path, table: str, key: str) -> None:
    """Two tables with different fields could not both be written."""
    url = f"memory:{tmp_path}"
    more = {**FIELDS, "more": {"type": "text", "nullable": True}}
    with rowkey.open(OLD, url, max_stale=STALE_S) as client, Move("notes", url) as move:
        move.run(NEW)
        with pytest.raises(CatalogMismatch, match=r"more: .*\n.*rowkey move finish"):
            rowkey.open(rowkey.Design(table, key, fields=more), url)
        with rowkey.open("notes", url) as other:
            other.put({"id": 1, "note": "new"})
        assert {"id": 1, "note": "new"} == client.get(id=1)
        move.cut_over()
        move.finish()
        with rowkey.open(rowkey.Design("notes", "[bucket(id, 4)][id]", fields=more), url) as other:
            other.put({"id": 1, "more": "field"})
            assert {"id": 1, "note": "new", "more": "field"} == other.get(id=1)


def test_the_catalog_declared_by_one_design_is_used_for_both_tables(tmp_path: Path) -> None:
    """The catalog that a design declares is also used for the other table of the move."""
    url, catalog = f"memory:{tmp_path}", f"file:{tmp_path}"
    old, new = (
        rowkey.Design("notes", str(one.key), fields=FIELDS, catalog=catalog) for one in (OLD, NEW)
    )
    with rowkey.open(old, url, max_stale=STALE_S) as table:
        with Move("notes", url, catalog=catalog) as move:
            move.run(new)
            for number, design in enumerate((old, new)):
                with rowkey.open(design, url) as other:
                    other.put({"id": number, "note": "a"})
            move.cut_over()
            move.finish()
        with rowkey.open(new, url) as other:
            assert list(table.scan()) == list(other.scan())
            assert 2 == other.count()


def test_a_batch_keeps_its_row_keys_when_a_move_is_announced(tmp_path: Path) -> None:
    """A key that is a digest is not computed again for the table that the row was built for."""
    url = f"memory:{tmp_path}"
    fields: dict[str, Any] = {
        "name": {"type": "text", "max_bytes": 40},
        "note": {"type": "text", "nullable": True},
    }
    old = rowkey.Design("notes", "[digest(name, 8)]", fields=fields)
    new = rowkey.Design("notes", "[name]", fields=fields)
    with rowkey.open(old, url, max_stale=STALE_S) as table, Move("notes", url) as move:
        with table.batch() as batch:
            batch.put({"name": "a", "note": "new"})
            move.start(new)
            table.get(name="a")
            batch.put({"name": "b", "note": "new"})
        assert 2 == table.count()
        assert move.run(new).has_passed


@pytest.mark.long
def test_threads_lose_no_row_in_successive_moves(tmp_path: Path) -> None:
    """Each move is given up once, then made; each row that a thread has put is there."""
    url, threads, is_done = f"memory:{tmp_path}", 4, Event()
    with (
        rowkey.open(OLD, url, max_stale=STALE_S) as table,
        ThreadPoolExecutor(threads) as pool,
    ):

        def put_rows(first: int) -> int:
            number = first
            while not is_done.is_set():
                row = {"id": number, "note": str(number)}
                table.put(row)
                assert row == table.get(id=number)
                number += threads
            return (number - first) // threads

        puts = [pool.submit(put_rows, first) for first in range(threads)]
        try:
            for design in (NEW, OLD, THIRD, NEW):
                for is_last in (False, True):
                    with Move(table.get_state().active_design.table, url) as move:
                        move.run(design)
                        move.cut_over()
                        if not is_last:
                            move.roll_back()
                        move.finish()
        finally:
            is_done.set()
        assert sum(one.result() for one in puts) == table.count()
