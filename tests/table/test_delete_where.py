"""`delete_where` deletes exactly the rows that meet its conditions, in every place of each."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowkey
from example_counts import divide_examples
from ramdisk import RAM_FOLDER
from rowkey import DesignRefused, InvalidDesign, ReadError
from rowkey.cells import LATEST, Cell, RowCells
from rowkey.errors import Unavailable
from rowkey.move import Move
from rowkey.table import Scan
from rowkey.table.row_getter import RowGetter
from table.buckets import FIELDS, ROWS, build_design
from table.clients import ManualClock, open_client
from table.companion_tables import (
    CODED,
    INDEXED,
    INDEXES_OF_SHARED_ROWS,
    KEYS,
    NULLABLE,
    SHARED_ROWS,
    get_identity,
    read_all_cells,
    read_all_tables,
    write_designs,
)
from table.places import PlacedWorld, draw_placed_reads, draw_placed_worlds
from table.test_generations import change_bucket_count, fill_in_stages, fill_placed_world
from table.test_places import count_rows
from table.worlds import World, draw_reads, draw_worlds

if TYPE_CHECKING:
    from rowkey.progress import Progress
    from rowkey.table import Table


def check_delete(world: Any, asked: Any, table: Table, data: st.DataObject) -> None:
    """Delete the rows that meet conditions, and compare the table with a model."""
    rows = list(world.rows)
    matching = [row for row in rows if asked.matches(row)]
    all_rows = not asked.where
    limit = data.draw(st.none() | st.integers(0, len(matching) + 1))
    expected = list(table.scan(asked.where, *asked.values, limit=limit))
    assert limit is not None or count_rows(matching) == count_rows(expected)
    delete = partial(table.delete_where, asked.where, *asked.values, all_rows=all_rows)
    found = delete(dry_run=True, limit=limit)
    assert (len(expected), expected[:5]) == (found.row_count, found.first_rows)
    assert count_rows(rows) == count_rows(list(table.scan()))
    change_bucket_count(table, data)
    done = delete(limit=len(expected))  # the order may be another under a further bucket count
    assert (len(expected), 0) == (done.row_count, done.changed_count)
    left = list(table.scan())
    if len(expected) == len(matching):
        assert count_rows(rows) - count_rows(matching) == count_rows(left)
    assert len(rows) - len(expected) == len(left)
    assert not count_rows(left) - count_rows(rows)
    identities = {world.identity(row) for row in left}
    for row in rows:
        identity = {name: row[name] for name in table.writer.identity_fields}
        assert (row if world.identity(row) in identities else None) == table.get(identity)
    change_bucket_count(table, data)
    delete()
    assert [] == [row for row in table.scan() if asked.matches(row)]
    assert count_rows(rows) - count_rows(matching) == count_rows(list(table.scan()))
    assert 0 == table.scan(count_undeclared=True).undeclared_cells.cell_count
    if "stamp" not in table.design.fields:
        for row in matching:
            table.put(row)
        assert count_rows(rows) == count_rows(list(table.scan()))


@settings(divide_examples(2), deadline=None)
@given(world=draw_worlds(), data=st.data())
def test_rows_of_spread_keys_that_match_are_deleted_and_no_others(
    world: World, data: st.DataObject
) -> None:
    """With any buckets and salts, and rows under several bucket counts."""
    with fill_in_stages(world, "memory:", data) as table:
        check_delete(world, data.draw(draw_reads(world)), table, data)


@settings(divide_examples(2), deadline=None)
@given(world=draw_placed_worlds(), in_columns=st.booleans(), data=st.data())
def test_rows_of_placed_fields_that_match_are_deleted_and_no_others(
    world: PlacedWorld, in_columns: bool, data: st.DataObject
) -> None:
    """With shared rows, packs, families, cell timestamps, codes and lossy keys."""
    with fill_placed_world(world, "memory:", data, in_columns=in_columns) as table:
        check_delete(world, data.draw(draw_placed_reads(world)), table, data)


@settings(divide_examples(6), deadline=None)
@given(world=draw_placed_worlds(), in_columns=st.booleans(), data=st.data())
def test_rows_on_disk_that_match_are_deleted_and_no_others(
    world: PlacedWorld, in_columns: bool, data: st.DataObject
) -> None:
    with (
        TemporaryDirectory(dir=RAM_FOLDER) as place,
        fill_placed_world(world, f"rocks:{place}", data, in_columns=in_columns) as table,
    ):
        check_delete(world, data.draw(draw_placed_reads(world)), table, data)


CONDITIONS: dict[str, Callable[[Any], bool]] = {
    "user = 'b'": lambda row: row["user"] == "b",
    "number between 3 and 7": lambda row: row["number"] is not None and 3 <= row["number"] <= 7,
    "at < 2 and note = 'x'": lambda row: row["at"] < 2 and row["note"] == "x",
    "amount in (1, 4)": lambda row: row["amount"] in (1, 4),
    "note >= 'x'": lambda row: row["note"] == "x",
}


@pytest.mark.parametrize("where", CONDITIONS)
@pytest.mark.parametrize(
    "keys", [KEYS, SHARED_ROWS, CODED, NULLABLE, INDEXED, INDEXES_OF_SHARED_ROWS]
)
def test_matching_rows_are_deleted_in_every_companion(
    tmp_path: Path, keys: dict[str, str], where: str
) -> None:
    """Whichever table finds the rows, and after one has another number of buckets."""
    with rowkey.open(write_designs(tmp_path, keys=keys), "memory:", max_stale=0.01) as table:

        def put_rows(numbers: range) -> None:
            for n in numbers:
                note = "x" if n % 2 else None
                row = {
                    "user": "abc"[n % 3],
                    "at": n % 4,
                    "number": n,
                    "note": note,
                    "amount": n % 6,
                }
                table.put(row)

        put_rows(range(16))
        with suppress(InvalidDesign):  # it has no buckets
            next(iter(table.companions.values())).set_buckets(5)
        put_rows(range(8, 24))
        matches = CONDITIONS[where]
        rows = {get_identity(row): row for row in table.scan()}
        preview = table.delete_where(where, dry_run=True)
        assert set(keys) == set(preview.tables)
        assert preview.explanation.table in keys
        done = table.delete_where(where)
        expected = {place: row for place, row in rows.items() if not matches(row)}
        assert len(rows) - len(expected) == done.row_count == preview.row_count > 0
        assert [expected] * 3 == list(read_all_tables(table).values())
        first, *copies = read_all_cells(table)
        assert [first] * 2 == copies


def test_a_companion_refuses_a_delete_by_conditions(tmp_path: Path) -> None:
    with rowkey.open(write_designs(tmp_path), "memory:") as table:
        companion = table.companions["orders_by_time"]
        with pytest.raises(DesignRefused, match="is a companion of orders"):
            companion.delete_where("number = 1", dry_run=True)


@pytest.fixture(params=["memory", "rocks", "shared memory"])
def table(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Table]:
    """Return a log with rows under two numbers of buckets; the last engine as on a cluster."""
    name = request.param.removeprefix("shared ")
    with rowkey.open(build_design(), f"{name}:{tmp_path}", max_stale=0.1) as opened:
        if name != request.param:
            monkeypatch.setattr(type(opened.store), "is_shared", True)
        for row in ROWS[:45]:
            opened.put(row)
        opened.set_buckets(32)
        for row in ROWS[45:]:
            opened.put(row)
        yield opened


def read_log(table: Table) -> dict[tuple[str, int], dict[str, Any]]:
    """Return the rows of a log by their identity."""
    return {(row["host"], row["ts"]): row for row in table.scan()}


DRAFTS = rowkey.Design(
    "t", "[bucket(id, 4)][id]", fields={"id": "u32", "state": "text", "text": "text"}
)
LOG = {(row["host"], row["ts"]): row for row in ROWS}


def put_before_deletes(monkeypatch: pytest.MonkeyPatch, put: Callable[[], None]) -> None:
    """Let a function put rows once a scan for deletes has read all of its rows."""
    read_rows = Scan.read_stored_rows

    def read(scan: Scan) -> Iterator[Any]:
        rows = list(read_rows(scan))
        put()
        yield from rows

    monkeypatch.setattr(Scan, "read_stored_rows", read)


def test_rows_that_are_put_after_the_read_stay(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New rows and rows written again stay, even in the millisecond of their last put."""
    new = {"host": "w1", "ts": 1_000, "note": "new", "hits": 1}
    again = {"host": "w1", "ts": 9, "note": "again", "hits": 7}
    table.put(LOG["w1", 9] | {"hits": 5})

    def put() -> None:
        for row in (new, again):
            table.put(row)

    put_before_deletes(monkeypatch, put)
    done = table.delete_where("host = 'w1'")
    assert 10 == done.row_count
    expected = {place: row for place, row in LOG.items() if place[0] != "w1"}
    assert expected | {("w1", 1_000): new, ("w1", 9): again} == read_log(table)


def test_a_row_that_does_not_meet_the_conditions_any_more_is_left_whole(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a client changes a field of the condition after the read, the row keeps all fields."""
    put_before_deletes(monkeypatch, lambda: table.put({"host": "w1", "ts": 9, "hits": 100}))
    done = table.delete_where("hits < ?", 50)
    assert (49, 1) == (done.row_count, done.changed_count)
    expected = {place: row for place, row in LOG.items() if row["hits"] >= 50}
    assert expected | {("w1", 9): LOG["w1", 9] | {"hits": 100}} == read_log(table)


def test_a_row_that_is_deleted_meanwhile_does_not_count(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_before_deletes(monkeypatch, lambda: table.delete({"host": "w1", "ts": 9}))
    done = table.delete_where("hits < ?", 50)
    assert (49, 1) == (done.row_count, done.changed_count)


def test_a_row_put_after_the_delete_is_visible(table: Table) -> None:
    """No delete hides a later put of the same row, in the same millisecond."""
    for _ in range(20):
        table.put({"host": "w1", "ts": 9, "note": "x"})
        assert 1 == table.delete_where("host = 'w1' and ts = 9").row_count
        assert table.get(host="w1", ts=9) is None
    table.put({"host": "w1", "ts": 9, "note": "y"})
    assert {"host": "w1", "ts": 9, "note": "y", "hits": None} == table.get(host="w1", ts=9)


@pytest.mark.parametrize("scheme", ["memory", "rocks"])
def test_clients_that_change_rows_during_deletes_never_lose_a_field(
    tmp_path: Path, scheme: str
) -> None:
    """A writer takes rows out of the condition: each is deleted whole, or kept whole."""
    with rowkey.open(DRAFTS, f"{scheme}:{tmp_path}") as table:
        for n in range(3_000):
            table.put({"id": n, "state": "draft", "text": f"text {n}"})
        kept: list[int] = []

        def publish() -> None:
            numbers = range(0, 3_000, 3)
            rows = {n: {"id": n, "state": "published"} for n in numbers}
            kept.extend(n for n in numbers if table.check_and_put(rows[n], state="draft"))

        thread = threading.Thread(target=publish)
        thread.start()
        done = table.delete_where("state = 'draft'")
        thread.join()
        rows = {row["id"]: row for row in table.scan()}
        assert {n: {"id": n, "state": "published", "text": f"text {n}"} for n in kept} == rows
        assert 3_000 - len(kept) == done.row_count


@pytest.mark.parametrize("scheme", ["memory", "rocks"])
def test_no_client_changes_a_row_between_the_second_read_and_the_delete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    """On an engine of one process both are one step: the client finds the row deleted."""
    with rowkey.open(DRAFTS, f"{scheme}:{tmp_path}") as table:
        table.put({"id": 1, "state": "draft", "text": "a"})
        published: list[bool] = []
        row = {"id": 1, "state": "published"}
        client = threading.Thread(
            target=lambda: published.append(table.check_and_put(row, state="draft"))
        )
        get_rows = RowGetter.get_rows

        def read_and_change(getter: RowGetter, rows: Any) -> Any:
            found = get_rows(getter, rows)
            client.start()
            client.join(0.1)
            return found

        monkeypatch.setattr(RowGetter, "get_rows", read_and_change)
        assert 1 == table.delete_where("state = 'draft'").row_count
        client.join()
        assert ([False], []) == (published, list(table.scan()))


def test_a_row_that_another_row_replaces_meanwhile_is_left_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the key has only a part of a field, rows with the same part are stored as one."""
    fields: dict[str, Any] = {"host": "text", "n": {"type": "u8", "nullable": True}, "s": "text"}
    with rowkey.open(rowkey.Design("t", "[truncate(host, 2)]", fields=fields), "memory:") as table:
        table.put({"host": "ab1", "n": 1, "s": "a"})
        put_before_deletes(monkeypatch, lambda: table.put({"host": "ab2", "s": "b"}))
        done = table.delete_where("host = 'ab1'")
        assert (0, 1) == (done.row_count, done.changed_count)
        assert [{"host": "ab2", "n": 1, "s": "b"}] == list(table.scan())


def test_a_put_in_the_millisecond_of_the_read_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the clock stands still, puts after the read have later timestamps than those before."""
    with open_client(DRAFTS, "memory:", ManualClock(), lambda: 1_700_000_000_000) as table:
        table.put({"id": 1, "state": "draft", "text": "a"})
        row = {"id": 1, "state": "draft", "text": "b"}
        put_before_deletes(monkeypatch, lambda: table.put(row))
        assert 1 == table.delete_where("id = 1").row_count
        assert [row] == list(table.scan())


def test_rows_are_deleted_in_the_main_table_before_its_companions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash in between leaves a row too many in a companion, never one too few."""
    with rowkey.open(write_designs(tmp_path), "memory:") as table:
        row = {"user": "a", "at": 1, "number": 1, "note": "x", "amount": 2}
        table.put(row)

        def fail(*_: Any, **__: Any) -> None:
            raise Unavailable("table orders", "no server answers")

        with monkeypatch.context() as patch:
            patch.setattr(table.store, "mutate", fail, raising=False)
            with pytest.raises(Unavailable):
                table.delete_where("number = 1")
        assert [[row]] * 3 == [list(rows.values()) for rows in read_all_tables(table).values()]


def test_undeclared_cells_and_rows_of_them_stay(table: Table) -> None:
    """Undeclared cells are counted and stay, older or newer, and do not delay a later put."""
    alone, future = {"host": "w1", "ts": 77_777}, 4_000_000_000_000
    for row, timestamp in ((ROWS[0], 1), (alone, LATEST), (ROWS[9], future)):
        key = table.writer.encode_row_keys(row)[0]
        table.store.mutate([RowCells(key, [Cell("d", b"other", timestamp, b"1")])])
    undeclared = table.delete_where("host = 'w1'", dry_run=True).scan.undeclared_cells
    assert (3, 1) == (undeclared.cell_count, undeclared.undeclared_row_count)
    assert 10 == table.delete_where("host = 'w1'").row_count
    found = list(table.scan("host = 'w1'", undeclared=True))
    assert [{"d:other": b"1"}] * 3 == [row["undeclared"] for row in found]
    assert [0, 9, 77_777] == [row["ts"] for row in found]
    table.put(ROWS[9])
    assert ROWS[9] == table.get(ROWS[9])


def test_rows_that_cannot_be_decoded_stop_the_delete_or_stay(table: Table) -> None:
    bad = RowCells(table.design.key.encode({"host": "w1", "ts": 5}), [Cell("d", b"hits", 5, b"1")])
    table.store.mutate([bad])
    with pytest.raises(rowkey.RowError, match="skip_undecodable"):
        table.delete_where("host = 'w1'", dry_run=True)
    done = table.delete_where("host = 'w1'", skip_undecodable=True)
    assert (10, 1) == (done.row_count, done.scan.undecodable_rows.row_count)
    assert [bad] == table.store.get([bad.row])


def test_a_limit_deletes_the_first_rows_and_a_repeat_goes_on(table: Table) -> None:
    """After an interruption the same call deletes what is left."""
    reports: list[Progress] = []
    assert 4 == table.delete_where("host = 'w1'", limit=4, progress=reports.append).row_count
    assert [0, 4] == [one.done for one in reports]
    assert [36, 45] == [row["ts"] for row in table.scan("host = 'w1'", limit=2)]

    def interrupt(now: Progress) -> None:
        if now.done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        table.delete_where("host = 'w1'", progress=interrupt)
    assert 0 == table.count("host = 'w1'")
    assert 80 == table.count()


def test_all_rows_are_deleted_only_if_it_is_said(table: Table) -> None:
    with pytest.raises(ReadError, match="without a condition every row of logs would be deleted"):
        table.delete_where("")
    with pytest.raises(ReadError, match="all_rows=True deletes every row, and there are"):
        table.delete_where("host = 'w1'", all_rows=True)
    assert 90 == table.delete_where("", all_rows=True, dry_run=True).row_count
    assert 90 == table.count()
    assert 90 == table.delete_where({}, all_rows=True).row_count
    assert 0 == table.count()


def test_all_mistakes_of_the_conditions_are_named_at_once(table: Table) -> None:
    with pytest.raises(ReadError) as refused:
        table.delete_where("hots = 'w1' and ts > ? and hits = 'many'", "soon")
    assert 3 == len(refused.value.mistakes)
    assert 90 == table.count()


MOVED = {
    "another key": ("[bucket(ts, 3)][ts][host]", FIELDS),
    "shared rows": ("[host]", FIELDS | {"ts": {"type": "timestamp_ms", "at": "qualifier"}}),
    "packed fields": (
        "[host][ts]", FIELDS | {name: FIELDS[name] | {"pack": "p"} for name in ("note", "hits")}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVED)
@pytest.mark.parametrize("is_after_cut_over", [False, True])
def test_matching_rows_are_deleted_in_both_tables_of_a_move(
    tmp_path: Path, name: str, is_after_cut_over: bool
) -> None:
    """Whichever of both tables is read; where cells are packed otherwise, the rows are copied."""
    url, (key, fields) = f"memory:{tmp_path}", MOVED[name]
    target = rowkey.Design("logs", key, fields=fields)
    with rowkey.open(build_design(), url, max_stale=0.02) as table, Move("logs", url) as move:
        for row in ROWS:
            table.put(row)
        assert move.run(target).has_passed
        if is_after_cut_over:
            move.cut_over()
        done = table.delete_where("host in ('w1', 'w2') and hits < 50")
        assert ({"logs", "logs_2"}, 12) == ({*done.tables}, done.row_count)
        expected = {
            place: row
            for place, row in LOG.items()
            if not (row["host"] in ("w1", "w2") and row["hits"] < 50)
        }
        assert expected == read_log(table)
        result = move.verify()
        assert result.has_passed
        move.roll_back() if is_after_cut_over else move.cut_over()
        assert expected == read_log(table)
