"""Retiring earlier numbers of buckets: rows move to their current places, and nothing is lost."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import rowkey
from rowkey.catalog import TableRetirement
from rowkey.cells import Cell, CellType, RowCells
from rowkey.engines import RAW_CELLS, ScanRange
from rowkey.errors import Conflict, DesignRefused
from rowkey.move import BucketRetirement, Move, RateLimit, bucket_retirement, mover_lock
from rowkey.move.table_pass import TablePass
from rowkey.progress import Progress
from rowkey.table import repair_catalog
from table.buckets import FIELDS, ROWS, build_design, sort_by_key
from table.clients import (
    ManualClock,
    list_misplaced_rows,
    open_client,
    retire_buckets,
    set_buckets,
)
from table.live_cursors import share_table

if TYPE_CHECKING:
    from rowkey.table import Scan, Table

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"


@pytest.fixture(params=["memory", "rocks"])
def logs(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Table]:
    """A table with ninety rows in 16 buckets."""
    url = f"{request.param}:{tmp_path / 'data'}"
    with open_client(build_design(), url, ManualClock()) as table:
        put_all(table, ROWS)
        yield table


@pytest.fixture
def in_memory() -> Iterator[Table]:
    """The same in memory."""
    with open_client(build_design(), "memory:", ManualClock()) as table:
        put_all(table, ROWS)
        yield table


def put_all(table: Table, rows: list[dict[str, Any]]) -> None:
    """Put rows together."""
    with table.batch() as batch:
        for row in rows:
            batch.put(row)


def list_raw_rows(table: Table) -> list[RowCells]:
    """Return all that is stored of a table."""
    with table.store.scan([ScanRange()], RAW_CELLS)[0] as cursor:
        return list(cursor)


def test_after_a_return_to_an_old_bucket_count_a_table_is_as_one_that_never_changed(
    logs: Table,
) -> None:
    """From 16 to 32 to 16 buckets, each retired, leaves the same bytes under the same keys."""
    before = list_raw_rows(logs)
    for buckets in (32, 16):
        set_buckets(logs, buckets)
        assert 2 == logs.buckets.keys_per_get
        done = retire_buckets(logs)
        assert ((2, 1), 80) == (done.keys_per_get, done.moved_rows)  # all but those of w3
        assert (buckets,) == logs.buckets.parts[0].live_counts
        assert sort_by_key(ROWS) == list(logs.scan())
        assert ROWS == logs.get_many(ROWS)
        assert [] == list_misplaced_rows(logs)
    assert before == list_raw_rows(logs)
    assert 16 == logs.explain("").fan_out
    assert "rowkey.live" not in logs.store.families_and_attributes[1]
    assert not retire_buckets(logs).retired_generations


def test_rows_of_several_earlier_counts_are_retired_together_with_their_newest_values(
    logs: Table,
) -> None:
    """Rows that were written, overwritten, counted and deleted under three counts are kept."""
    set_buckets(logs, 32)
    changed = [{**row, "note": "new"} for row in ROWS[:30]]
    put_all(logs, changed)
    logs.delete(ROWS[30])
    set_buckets(logs, 8)
    logs.put({**ROWS[31], "note": None})
    logs.increment(ROWS[32], hits=5)
    expected = [
        *changed,
        {**ROWS[31], "note": None},
        {**ROWS[32], "hits": ROWS[32]["hits"] + 5},
        *ROWS[33:],
    ]
    assert (1, 2) == retire_buckets(logs).retired_generations
    assert sort_by_key(expected) == list(logs.scan())
    assert [] == list_misplaced_rows(logs)


def test_a_reopened_table_reads_only_under_the_count_that_is_left(tmp_path: Path) -> None:
    """A client that opens the table later, by its old design, looks in one place."""
    url = f"rocks:{tmp_path / 'data'}"
    with open_client(build_design(), url, ManualClock()) as table:
        put_all(table, ROWS)
        set_buckets(table, 32)
        retire_buckets(table)
    with rowkey.open(build_design(), url) as table:
        assert (1, ROWS) == (table.buckets.keys_per_get, table.get_many(ROWS))
        table.catalog.remove("logs")
    repair_catalog(build_design(), url, apply=True)  # from the attributes of the table
    with rowkey.open("logs", url) as table:
        assert (1, ROWS) == (table.buckets.keys_per_get, table.get_many(ROWS))


DESIGNS: dict[str, tuple[str, dict[str, Any]]] = {
    "salt": ("[salt(16)][host][ts]", {}),
    "bucket within": ("[host][bucket(ts, 16)][ts]", {}),
    "digest": ("[bucket(digest(host, 4), 16)][digest(host, 4)][ts]", {}),
    "shared rows": (
        "[bucket(host, 16)][host]", {"ts": {"type": "timestamp_ms", "at": "qualifier"}},
    ),
    "events of several rows share one": (
        "[bucket(ts, 16)][host]", {"ts": {"type": "timestamp_ms", "at": "qualifier"}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DESIGNS)
def test_rows_of_any_key_with_buckets_move(name: str) -> None:
    """Salts, buckets anywhere, digests, and rows of several events move to fewer and to more."""
    key, changed = DESIGNS[name]
    design = build_design(key, fields=FIELDS | changed, splits=None)
    with open_client(design, "memory:", ManualClock()) as table:
        put_all(table, ROWS)
        for buckets in (5, 40):
            set_buckets(table, buckets)
            retire_buckets(table)
            assert ROWS == sorted(table.scan(), key=lambda row: row["ts"])
            assert ROWS == table.get_many(ROWS)
            assert [] == list_misplaced_rows(table)


def test_all_versions_that_a_family_keeps_move() -> None:
    """Older versions of a column stand in the current place as well, each with its time."""
    design = build_design(families={"d": {"versions": 3}})
    with open_client(design, "memory:", ManualClock(), count(1_700_000_000_000).__next__) as table:
        for number in range(5):
            table.put({**ROWS[0], "hits": number})
        set_buckets(table, 32)
        table.put({**ROWS[0], "hits": 5})
        retire_buckets(table)
        (row,) = list_raw_rows(table)
        values = [cell.value[-1] for cell in row.cells if cell.qualifier == b"hits"]
        assert [5, 4, 3] == [value & 0x7F for value in values]


# What is refused


def test_retiring_is_refused_while_another_change_is_under_way(tmp_path: Path) -> None:
    """A move, an announced count and a retirement that was begun exclude each other."""
    url = f"memory:{tmp_path}"
    with open_client(build_design(), url, ManualClock()) as table:
        put_all(table, ROWS)
        set_buckets(table, 32)
        stop_in_phase(table, "remove")
        with pytest.raises(Conflict, match="Finish that first: rowkey buckets retire"):
            set_buckets(table, 64)
        with Move("logs", url) as move:
            plan = move.plan(build_design("[host][ts]", splits=None))
            assert ["buckets"] == [one.path for one in plan.select_findings("error")]
        retire_buckets(table)
        entry = table.lease.renew_entry()
        announced = entry.announce_generation({0: 64}, (), 0)
        table.catalog.write("logs", announced, entry.version)
        with pytest.raises(Conflict, match="a change of its number of buckets is under way"):
            retire_buckets(table)


def test_retiring_is_refused_where_cells_could_be_hidden_or_not_ordered() -> None:
    """A field as cell timestamp and a family that keeps deleted cells are refused by name."""
    stamped = {"ts": {"type": "timestamp_ms", "at": "timestamp"}}
    for design, message in (
        (build_design("[bucket(host, 16)][host]", fields=FIELDS | stamped), "field ts: ts is the"),
        (build_design(families={"d": {"keep_deleted": "TRUE"}}), r"families\.d\.keep_deleted: it"),
    ):
        with open_client(design, "memory:", ManualClock()) as table:
            set_buckets(table, 32)
            with pytest.raises(DesignRefused, match=message):
                retire_buckets(table)


def test_undeclared_cells_move_with_their_rows_or_stop_the_retirement() -> None:
    """They move where the key tells their place; under a salt, where it does not, none is lost."""
    cell = Cell("d", b"other", 5, b"x")
    for key in ("[bucket(host, 16)][host][ts]", "[salt(16)][host][ts]"):
        with open_client(build_design(key, splits=None), "memory:", ManualClock()) as table:
            put_all(table, ROWS)
            for one in list_raw_rows(table):
                table.store.mutate([RowCells(one.row, [cell])])
            set_buckets(table, 4)
            before = list(table.scan(undeclared=True))
            if key.startswith("[salt"):
                for _ in range(3):
                    with pytest.raises(Conflict, match="columns that the design does not declare"):
                        retire_buckets(table)
                assert 16 == table.buckets.keys_per_get
            else:
                retire_buckets(table)
                assert [] == list_misplaced_rows(table)
            assert before == list(table.scan(undeclared=True))


def test_rows_of_other_programs_stay_where_they_are(in_memory: Table) -> None:
    """Row keys that the design does not describe are not touched."""
    foreign = RowCells(b"\xff\xff", [Cell("d", b"q", 5, b"x")])
    in_memory.store.mutate([foreign])
    set_buckets(in_memory, 32)
    retire_buckets(in_memory)
    assert foreign in list_raw_rows(in_memory)


def test_a_delete_that_hides_copied_cells_stops_the_retirement(in_memory: Table) -> None:
    """A delete in a current place, such as of another program, is told, and the row is kept."""
    set_buckets(in_memory, 32)
    key = in_memory.get_state().active_design.key.encode(ROWS[0])
    hiding = Cell("d", b"note", 2**62, cell_type=CellType.DELETE_COLUMN)
    in_memory.store.mutate([RowCells(key, [hiding])])
    with pytest.raises(Conflict, match="a delete hides each of 20 copies"):
        retire_buckets(in_memory)
    assert ROWS == in_memory.get_many(ROWS)


# While others work, and after interruptions


class Stopped(Exception):
    """The process that retires has ended."""


def stop_in_phase(table: Table, phase: str) -> None:
    """Begin to retire, and stop once a phase reports."""

    def stop(now: Progress) -> None:
        if now.phase == phase:
            raise Stopped

    with pytest.raises(Stopped):
        retire_buckets(table, progress=stop)


@pytest.mark.parametrize("buckets", [pytest.param(32, marks=pytest.mark.long), 5])
def test_an_interrupted_retirement_is_continued_and_loses_nothing_at_any_write(
    buckets: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped before each of its writes to the table and the catalog, it is repeated to the end."""
    monkeypatch.setitem(TablePass.__init__.__kwdefaults__ or {}, "chunk_rows", 9)
    for stop in range(1, 1_000, 1 if IS_LONG else 5):
        with open_client(build_design(), f"memory:{tmp_path}-{stop}", ManualClock()) as table:
            put_all(table, ROWS[:20])
            set_buckets(table, buckets)
            with monkeypatch.context() as patch:
                left = iter(range(stop))

                def stop_before(call: Callable[..., Any], left: Iterator[int] = left) -> Any:
                    def run(*arguments: Any, **options: Any) -> Any:
                        if next(left, None) is None:
                            raise Stopped
                        return call(*arguments, **options)

                    return run

                for owner, name in (
                    (table.store, "mutate"), (table.store, "compact"), (table.catalog, "write"),
                    (table.catalog, "write_note"),
                ):  # fmt: skip
                    patch.setattr(owner, name, stop_before(getattr(owner, name)))
                try:
                    retire_buckets(table)
                    is_done = True
                except Stopped:
                    is_done = False
            entry = table.lease.renew_entry()
            unlocked = replace(entry, retirement=TableRetirement())  # as some seconds later
            table.catalog.write("logs", unlocked, entry.version)
            assert sort_by_key(ROWS[:20]) == list(table.scan())
            table.delete(ROWS[0])
            table.put(ROWS[41])
            retire_buckets(table)
            assert sort_by_key([*ROWS[1:20], ROWS[41]]) == list(table.scan())
            assert [] == list_misplaced_rows(table)
            if is_done:
                break
    assert stop > 10


def count_rows(scan: Scan) -> int:
    """Count the rows of a scan."""
    return scan.count()


def read_columns(scan: Scan) -> int:
    """Count the rows of a scan that is read by columns."""
    return int(scan.to_arrow().num_rows)


def read_rows(scan: Scan) -> int:
    """Count the rows of a scan that returns each once, in order."""
    found = list(scan)
    assert sort_by_key(ROWS) == found
    return len(found)


@pytest.mark.parametrize("read", [read_rows, read_columns, count_rows])
@pytest.mark.parametrize("begins_after_change", [True, False])
def test_a_scan_that_began_before_rows_moved_returns_each_row_once(
    read: Callable[[Scan], int],
    begins_after_change: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whichever read is late over a whole retirement, the scan finds what it was to find."""
    monkeypatch.setattr("rowkey.table.scans.blocks.BLOCK_ROWS", 5)
    for late_read in range(1, 90, 1 if IS_LONG else 17):
        url, time = f"memory:{tmp_path}-{late_read}", ManualClock()
        with (
            open_client(build_design(), url, time) as table,
            open_client("logs", url, time) as other,
        ):
            put_all(table, ROWS)
            if begins_after_change:
                set_buckets(other, 32)
                table.lease.renew_entry()

            def renew(now: Progress, table: Table = table) -> None:
                if now.phase == "copy":
                    table.lease.renew_entry()  # the last time that it asks by itself

            reads, late = count(1), late_read

            def be_late(
                reads: Iterator[int] = reads, late: int = late, other: Table = other
            ) -> None:
                if next(reads) == late:
                    other.lease.renew_entry()
                    if not begins_after_change:
                        set_buckets(other, 32)
                    retire_buckets(other, progress=renew)

            with monkeypatch.context() as patch:
                share_table(table, patch, be_late)
                assert 90 == read(table.scan())


def test_a_delete_that_a_compaction_has_dropped_hides_the_copies_all_the_same(
    in_memory: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that are deleted between the read and the copy of their cells stay deleted."""
    set_buckets(in_memory, 32)
    find_missing, deleted = bucket_retirement._PlacePass._find_missing, ROWS[:9]

    def delete_before(self: Any, displaced: Any) -> Any:
        while deleted:
            in_memory.delete(deleted.pop())
            in_memory.compact()
        return find_missing(self, displaced)

    monkeypatch.setattr(bucket_retirement._PlacePass, "_find_missing", delete_before)
    retire_buckets(in_memory)
    assert sort_by_key(ROWS[9:]) == list(in_memory.scan())


def test_a_retirement_ends_if_another_client_changes_the_buckets(tmp_path: Path) -> None:
    """It stops before its next write, and a further one takes all counts together."""
    url = f"memory:{tmp_path}"
    with (
        open_client(build_design(), url, ManualClock()) as table,
        open_client("logs", url, ManualClock()) as other,
    ):
        put_all(table, ROWS)
        set_buckets(table, 32)
        other.lease.renew_entry()

        def change(now: Progress) -> None:
            if now.phase == "wait" and other.buckets.parts[0].count == 32:
                set_buckets(other, 64)
                table.lease.renew_entry()

        with pytest.raises(Conflict, match="another client has changed its numbers of buckets"):
            retire_buckets(table, progress=change)
        assert (1, 2) == retire_buckets(table).retired_generations
        assert sort_by_key(ROWS) == list(table.scan())


def test_a_second_retirement_is_refused_while_one_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It sees by the steps in the catalog that the first one lives."""
    monkeypatch.setattr(mover_lock, "BEAT_INTERVAL_S", 0.01)
    url = f"memory:{tmp_path}"
    with (
        open_client(build_design(), url, ManualClock()) as table,
        open_client("logs", url, ManualClock()) as other,
    ):
        put_all(table, ROWS)
        set_buckets(table, 32)
        refused = []

        def retire_too(now: Progress) -> None:
            if now.phase in ("copy", "remove"):
                with pytest.raises(Conflict, match="another process works on this retirement"):
                    retire_buckets(other)
                refused.append(now.phase)

        assert 80 == retire_buckets(table, progress=retire_too).moved_rows
        assert {"copy", "remove"} == {*refused}
        assert [] == list_misplaced_rows(table)


def test_a_retirement_that_stalls_between_read_and_write_does_not_write_after_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its deletes would hide rows that a later retirement has copied back to where they stood."""
    url, sleep_s = f"memory:{tmp_path}", [0.0]
    stalled: list[bool] = []
    find_missing = bucket_retirement._PlacePass._find_missing
    send_heartbeats = mover_lock.MoverLock._send_heartbeats
    monkeypatch.setattr(mover_lock, "read_boottime_s", lambda: time.monotonic() + sleep_s[0])
    monkeypatch.setattr(mover_lock.MoverLock, "_send_heartbeats", lambda _: None)
    with (
        open_client(build_design(), url, ManualClock()) as table,
        open_client("logs", url, ManualClock()) as other,
    ):
        put_all(table, ROWS)
        set_buckets(table, 32)

        def pause(seconds: float) -> None:
            sleep_s[0] = 20.0  # the first lock has not shown a sign of life for as long
            other.lease.clock.pause(seconds)  # type: ignore[attr-defined]

        def stall_after_read(self: Any, displaced: Any) -> Any:
            missing = find_missing(self, displaced)
            if isinstance(self, bucket_retirement._RemovePass) and not stalled:
                stalled.append(True)
                monkeypatch.setattr(mover_lock.MoverLock, "_send_heartbeats", send_heartbeats)
                other.lease.renew_entry()
                BucketRetirement(other, pause=pause).run()
                set_buckets(other, 16)
                retire_buckets(other)
            return missing

        monkeypatch.setattr(bucket_retirement._PlacePass, "_find_missing", stall_after_read)
        with pytest.raises(Conflict, match="this process was stopped for so long"):
            retire_buckets(table)
        assert stalled
        other.lease.renew_entry()
        assert sort_by_key(ROWS) == list(other.scan())


def test_a_row_that_another_program_writes_to_an_earlier_place_is_copied_before_it_is_removed(
    in_memory: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came after the copy is copied by the pass that removes, which is then repeated."""
    late = {"host": "w1", "ts": 1_000, "note": "late", "hits": None}
    key = build_design().key.encode(late)
    set_buckets(in_memory, 32)
    run = bucket_retirement._RemovePass.run
    passes: list[Any] = []

    def write_before(self: Any) -> None:
        if not passes:
            in_memory.store.mutate([RowCells(key, [Cell("d", b"note", 7, b"late")])])
        passes.append(self)
        run(self)

    monkeypatch.setattr(bucket_retirement._RemovePass, "run", write_before)
    assert 81 == retire_buckets(in_memory).moved_rows
    assert (late, 2) == (in_memory.get(late), len(passes))
    assert [] == list_misplaced_rows(in_memory)


def test_a_late_row_is_copied_also_if_the_removal_is_killed_then(
    in_memory: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next call looks at all rows again, so that none stays where nobody reads it."""
    late = {"host": "w1", "ts": 1_000, "note": "late", "hits": None}
    key = build_design().key.encode(late)
    set_buckets(in_memory, 32)
    run = bucket_retirement._RemovePass.run

    def write_then_die(self: Any) -> None:
        in_memory.store.mutate([RowCells(key, [Cell("d", b"note", 7, b"late")])])
        run(self)
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(bucket_retirement._RemovePass, "run", write_then_die)
        with pytest.raises(Stopped):
            retire_buckets(in_memory)
    retire_buckets(in_memory)
    assert late == in_memory.get(late)
    assert [] == list_misplaced_rows(in_memory)


def put_one(table: Table) -> None:
    """Put a row that another bucket has of 32 than of 16."""
    table.put(ROWS[0])


def put_batch(table: Table) -> None:
    """Put rows together, some of which delete a column."""
    with table.batch() as batch:
        for row in ROWS:
            batch.put({**row, "note": None})


def load_all(table: Table) -> None:
    """Load rows as Arrow columns."""
    names = {name: field.type.build_arrow_type() for name, field in table.design.fields.items()}
    table.load(pa.RecordBatch.from_pylist(ROWS, pa.schema(list(names.items()))))


@pytest.mark.parametrize("write", [put_one, put_batch, load_all])
@pytest.mark.parametrize("buckets", [8, 32])
def test_a_write_that_is_delayed_over_a_change_and_its_retirement_is_found(
    write: Callable[[Table], None], buckets: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written where nobody looks any more is written again before it is acknowledged."""
    url = f"memory:{tmp_path}"
    with (
        open_client(build_design(), url, ManualClock()) as table,
        open_client("logs", url, ManualClock()) as slow,
    ):
        clock = type(slow.store.row_clock)
        lock_rows, lock_all_rows = clock.lock_rows, clock.lock_all_rows
        left = [1]

        def change_meanwhile() -> None:
            if left:
                left.pop()
                set_buckets(table, buckets)
                retire_buckets(table)
                slow.lease.clock.now += 90.0  # type: ignore[attr-defined]

        def lock_late(self: Any, names: Any) -> Any:
            change_meanwhile()
            return lock_rows(self, names)

        def lock_all_late(self: Any) -> Any:
            change_meanwhile()
            return lock_all_rows(self)

        monkeypatch.setattr(clock, "lock_rows", lock_late)
        monkeypatch.setattr(clock, "lock_all_rows", lock_all_late)
        write(slow)
        monkeypatch.undo()
        expected_by_write: dict[Any, list[dict[str, Any]]] = {
            put_one: ROWS[:1], put_batch: [{**row, "note": None} for row in ROWS], load_all: ROWS,
        }  # fmt: skip
        expected = expected_by_write[write]
        for one in (table, slow):
            one.lease.renew_entry()
            assert expected == one.get_many(expected)
            assert sort_by_key(expected) == list(one.scan())
        assert [] == list_misplaced_rows(table)


@pytest.mark.parametrize("limit", [None, 50])
@pytest.mark.parametrize("buckets", [8, 32])
@pytest.mark.parametrize("name", ["bucket", *DESIGNS])
def test_a_row_that_is_left_where_a_retired_number_puts_it_is_counted_until_the_next_retirement(
    name: str, buckets: int, limit: int | None
) -> None:
    """A client that died after a late write leaves it: no scan fails, and no value is lost."""
    key, changed = DESIGNS.get(name, ("[bucket(host, 16)][host][ts]", {}))
    design = build_design(key, fields=FIELDS | changed, splits=None)
    with open_client(design, "memory:", ManualClock()) as table:
        put_all(table, ROWS[:20])
        former = table.get_state().active_design
        set_buckets(table, buckets)
        retire_buckets(table)
        salt = 9 if former.key.is_salted else None
        for row in ROWS[20:40]:
            mutation = former.layout.encode_event(row, timestamp=5, salt=salt)
            table.store.mutate([mutation])
        found = list(table.scan(limit=limit))
        assert all(row in ROWS[:40] for row in found)
        counted = table.scan(limit=limit, count_undeclared=True)
        assert len(found) == len(list(counted))
        left_out_count = counted.undecodable_rows.row_count
        if not design.layout.has_shared_rows:
            assert 40 == len(found) + left_out_count
        if name == "bucket":
            assert 16 <= left_out_count  # some have one bucket of both numbers
        assert (table.scan().count(), table.scan().to_arrow().num_rows) == (len(found),) * 2
        done = retire_buckets(table)
        assert not done.retired_generations
        assert done.moved_rows >= left_out_count
        assert ROWS[:40] == table.get_many(ROWS[:40])
        assert ROWS[:40] == sorted(table.scan(), key=lambda row: row["ts"])
        assert [] == list_misplaced_rows(table)
        assert 0 == retire_buckets(table).moved_rows


def test_a_batch_that_is_open_over_a_change_and_its_retirement_is_written(
    tmp_path: Path,
) -> None:
    """Rows that wait to be sent get their current keys, though the old ones are not read now."""
    url = f"memory:{tmp_path}"
    with (
        open_client(build_design(), url, ManualClock()) as table,
        open_client("logs", url, ManualClock()) as other,
    ):
        with other.batch() as batch:
            for row in ROWS:
                batch.put(row)
            set_buckets(table, 32)
            retire_buckets(table)
            other.lease.renew_entry()
        assert ROWS == table.get_many(ROWS)
        assert [] == list_misplaced_rows(table)


@pytest.mark.parametrize("buckets", [8, 32])
def test_a_snapshot_from_before_a_retirement_has_all_rows(logs: Table, buckets: int) -> None:
    """It is read by the numbers of its time."""
    snapshot = logs.snapshot()
    set_buckets(logs, buckets)
    middle = logs.snapshot()
    retire_buckets(logs)
    for one in (snapshot, middle, logs.snapshot()):
        assert sort_by_key(ROWS) == list(logs.scan(reader=one))
        assert 10 == logs.scan("host = ?", ROWS[0]["host"], reader=one).count()
        one.close()


def test_rows_whose_key_is_a_digest_and_that_have_no_declared_cell_stop_the_retirement() -> None:
    """Where no row key in the new place is known, the row is named, and nothing is removed."""
    key = "[bucket(digest(host, 4), 16)][digest(host, 4)][ts]"
    with open_client(build_design(key, splits=None), "memory:", ManualClock()) as table:
        other = Cell("d", b"other", 5, b"x")
        keys = {table.design.key.encode(row) for row in ROWS}
        table.store.mutate([RowCells(one, [other]) for one in keys])
        set_buckets(table, 4)
        with pytest.raises(Conflict, match="cannot move with their rows"):
            retire_buckets(table)
        assert len(keys) == len(list_raw_rows(table))


def test_nothing_is_written_once_the_buckets_are_changed_by_another_client(
    in_memory: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A retirement that learns of another number between a read and a write does not write."""
    set_buckets(in_memory, 32)
    find, before = bucket_retirement._PlacePass._find_displaced, list_raw_rows(in_memory)

    def announce_then_find(self: Any, rows: Any) -> Any:
        entry = in_memory.lease.renew_entry()
        announced = entry.announce_generation({0: 64}, (), 0)
        in_memory.catalog.write("logs", announced, entry.version)
        in_memory.lease.renew_entry()
        return find(self, rows)

    monkeypatch.setattr(bucket_retirement._PlacePass, "_find_displaced", announce_then_find)
    with pytest.raises(Conflict, match="another client has changed its numbers of buckets"):
        retire_buckets(in_memory)
    assert before == list_raw_rows(in_memory)


def test_changes_whose_key_is_a_digest_are_not_refused_when_a_count_is_retired() -> None:
    """No key must be built again where no place is new, so that none must be decoded."""
    key = "[bucket(digest(host, 4), 16)][digest(host, 4)][ts]"
    with open_client(build_design(key, splits=None), "memory:", ManualClock()) as table:
        put_all(table, ROWS)
        set_buckets(table, 32)
        with table.batch() as batch:
            batch.replace({**ROWS[0], "note": None})
            batch.delete(ROWS[1])
            retire_buckets(table)
        assert [{**ROWS[0], "note": None}, None] == table.get_many(ROWS[:2])


def test_a_limit_of_rows_is_kept(in_memory: Table) -> None:
    """The rows that move are written at the given rate."""
    clock = ManualClock()
    set_buckets(in_memory, 32)
    limit = RateLimit(40, clock=clock, sleep=clock.pause)
    retire_buckets(in_memory, limit=limit)
    assert 2 < clock.now < 6  # 80 rows, copied and removed, at 40 a second
