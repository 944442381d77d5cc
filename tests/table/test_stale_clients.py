"""Clients that learn late of a change of buckets: writes, increments, pending rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pytest

import rowkey
from rowkey.catalog import open_catalog
from rowkey.engines import ScanRange
from rowkey.errors import BatchError, Conflict, InvalidArgument, Unavailable
from rowkey.table.generations.activation import activate_announced
from rowkey.table.generations.bucket_change import BucketChange
from rowkey.table.generations.column_copies import copy_newest_columns
from table.buckets import KEY, ROWS, advance_clock, build_design, sort_by_key
from table.clients import (
    ManualClock,
    announce_count,
    list_misplaced_rows,
    open_client,
    set_buckets,
)

if TYPE_CHECKING:
    from rowkey.catalog import Catalog
    from rowkey.table import Table


ON_BOTH_ENGINES = pytest.mark.parametrize("url", ["memory", "rocks"], indirect=True)
"""Marks tests of what depends on the engine; all others run on disk in long runs only."""


@pytest.fixture(params=["memory", pytest.param("rocks", marks=pytest.mark.long)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A URL of a table, on each embedded engine."""
    return f"memory:{tmp_path}" if request.param == "memory" else f"rocks:{tmp_path / 'data'}"


@pytest.fixture
def logs(url: str) -> Iterator[Table]:
    """A table with ninety rows in 16 buckets."""
    with open_client(build_design(), url, ManualClock()) as table:
        with table.batch() as batch:
            for row in ROWS:
                batch.put(row)
        yield table


@pytest.fixture
def client_pair(tmp_path: Path) -> Iterator[tuple[Table, Table]]:
    """Two clients of one table, each with its own clock."""
    place, clock = f"memory:{tmp_path}", count(1_700_000_000_000, 10).__next__
    one, other = (open_client(build_design(), place, ManualClock(), clock) for _ in range(2))
    yield one, other
    one.close()
    other.close()


def test_a_client_writing_under_the_old_bucket_count_loses_nothing(
    client_pair: tuple[Table, Table],
) -> None:
    """A client that still writes under the old count loses nothing, and all find its rows."""
    setter, behind = client_pair
    set_buckets(setter, 32)
    behind.put(ROWS[0])
    behind.replace(ROWS[1] | {"note": "old"})
    setter.put(ROWS[1])
    setter.put(ROWS[2])
    assert [ROWS[0], ROWS[1]] == setter.get_many(ROWS[:2])
    assert ROWS[:3] == list(setter.scan())
    advance_clock(behind, 60.0)
    behind.put(ROWS[3])
    assert 32 == behind.buckets.parts[0].count
    assert sort_by_key(ROWS[:4]) == list(behind.scan()) == list(setter.scan())
    assert [] == list_misplaced_rows(setter)


def test_a_suspended_client_reads_the_catalog_before_it_writes(
    client_pair: tuple[Table, Table],
) -> None:
    """A client that was suspended reads the entry first, and fails if it cannot."""
    setter, asleep = client_pair
    asleep.put(ROWS[0])
    set_buckets(setter, 32)
    advance_clock(asleep, 90.0)
    asleep.lease.catalog = cast("Catalog", UnreachableCatalog())
    for use in (
        lambda: asleep.put(ROWS[1]), lambda: asleep.get(ROWS[0]), lambda: asleep.delete(ROWS[0]),
        lambda: list(asleep.scan()), lambda: asleep.increment(ROWS[0], hits=1), asleep.count,
        lambda: asleep.load(pa.RecordBatch.from_pylist([ROWS[1]])), lambda: asleep.batch().send(),
    ):  # fmt: skip
        with pytest.raises(Unavailable, match=r"not answered for 90 s: lost: nobody is there"):
            use()
    assert [ROWS[0]] == list(setter.scan())
    asleep.lease.catalog = setter.catalog
    asleep.put(ROWS[1])
    under = asleep.get_state().active_design.key.encode(ROWS[1])
    assert under == build_design(KEY.replace("16", "32")).key.encode(ROWS[1])
    assert sort_by_key(ROWS[:2]) == list(setter.scan())


class UnreachableCatalog:
    """A catalog that cannot be reached."""

    def read(self, table: str) -> None:
        """Raise the error of an unreachable catalog."""
        raise Unavailable("lost", "nobody is there")


def test_a_delete_during_an_announced_change_applies_to_the_new_bucket_too(
    client_pair: tuple[Table, Table],
) -> None:
    """A client that knows of an announced change deletes in the new places too."""
    setter, knows = client_pair
    for row in ROWS[:10]:
        setter.put(row)
    change = BucketChange(setter.tracker, 32, pause=lambda seconds: advance_clock(setter, seconds))
    change._announce_counts()
    knows.lease.renew_entry()
    assert (16, 2) == (knows.buckets.parts[0].count, knows.buckets.keys_per_get)
    change.run()
    for row in ROWS[:10]:
        setter.increment(row, hits=1)
    for row in ROWS[:5]:
        knows.delete(row)
    knows.put({**ROWS[5], "hits": None, "note": None})
    left = [{**row, "hits": row["hits"] + 1} for row in ROWS[6:10]]
    assert [{**ROWS[5], "hits": None, "note": None}, *left] == sorted(
        setter.scan(), key=lambda row: row["ts"]
    )


def test_a_put_after_a_delete_of_the_same_millisecond_is_visible(logs: Table) -> None:
    """The timestamps of a row rise across a change of buckets."""
    logs.store.row_clock.clock = lambda: 2_000_000_000_000
    for number in (32, 8, 16):
        announce_count(logs, number)
        logs.delete(ROWS[0])
        set_buckets(logs, number)
        logs.put(ROWS[0])
        assert ROWS[0] == logs.get(ROWS[0])


def test_a_replace_removes_omitted_fields_under_every_bucket_count(logs: Table) -> None:
    """A replace removes omitted fields and fields given as None in every place."""
    set_buckets(logs, 32)
    logs.replace({**ROWS[0], "hits": None})
    logs.replace({"host": ROWS[1]["host"], "ts": ROWS[1]["ts"], "note": None})
    left = [{**ROWS[0], "hits": None}, {**ROWS[1], "hits": None, "note": None}]
    assert left == logs.get_many(ROWS[:2])
    assert left == list(logs.scan("ts < 2", order="ts"))


def test_an_increment_waits_while_a_bucket_count_is_announced(
    client_pair: tuple[Table, Table],
) -> None:
    """An increment waits while a generation is announced, so that all are in one place."""
    setter, other = client_pair
    setter.put(ROWS[0])
    entry = announce_count(setter, 32)
    other.lease.renew_entry()
    waited: list[float] = []

    def pause(seconds: float) -> None:
        waited.append(seconds)
        advance_clock(other, seconds)
        if len(waited) == 5:
            activate_announced(other.catalog, "logs", entry.generations[-1], other.store)

    other.tracker.pause = pause
    assert {"hits": 10} == other.increment(ROWS[0], hits=10)
    other.append(ROWS[0], note="!")
    assert other.check_and_put({**ROWS[0], "note": "new", "hits": 1}, hits=10)
    assert [1.0] * 5 == waited
    assert {**ROWS[0], "note": "new", "hits": 1} == other.get(ROWS[0])


def test_an_increment_activates_the_abandoned_change_of_a_dead_client(
    client_pair: tuple[Table, Table],
) -> None:
    """An increment that waited long enough activates a generation whose client died."""
    dead, other = client_pair
    dead.put(ROWS[1])
    announce_count(dead, 32)
    other.lease.renew_entry()
    assert {"hits": 6} == other.increment(ROWS[1], hits=5)
    assert (66.0, 2) == (round(other.lease.clock()), other.buckets.active_generation)
    assert {"hits": 7} == other.increment(ROWS[1], hits=1)


def test_an_increment_waits_for_each_announcement_in_full(
    client_pair: tuple[Table, Table], tmp_path: Path
) -> None:
    """An increment that waits for one announcement also waits for the next one."""
    setter, counter = client_pair
    bystander = open_client(
        build_design(), f"memory:{tmp_path}", ManualClock(), counter.store.row_clock.clock
    )
    everyone = (setter, counter, bystander)
    elsewhere = {"host": "w2", "ts": 1}
    under = [build_design(KEY.replace("16", str(n))).key.encode(elsewhere) for n in (16, 32, 64)]
    assert 3 == len(set(under))
    setter.put({**elsewhere, "hits": 1})
    second = announce_count(setter, 32)
    counter.lease.renew_entry()
    third: list[float] = []

    def pause(seconds: float) -> None:
        for one in everyone:
            advance_clock(one, seconds)
        if not third and counter.lease.clock() >= 65.0:
            setter.lease.adopt_entry(
                activate_announced(setter.catalog, "logs", second.generations[-1], setter.store)
            )
            bystander.lease.renew_entry()
            announce_count(setter, 64)
            third.append(counter.lease.clock())

    counter.tracker.pause = pause
    assert {"hits": 2} == counter.increment(elsewhere, hits=1)
    assert (131.0, 3) == (round(counter.lease.clock()), counter.buckets.active_generation)
    assert [65.0] == [round(one) for one in third]
    assert 2 == bystander.get(elsewhere)["hits"]
    assert {"hits": 12} == bystander.increment(elsewhere, hits=10)
    assert 12 == counter.get(elsewhere)["hits"]
    bystander.delete(elsewhere)
    assert counter.get(elsewhere) is None
    bystander.close()


@pytest.mark.parametrize("age_s", [25.0, 31.0, 58.0])
def test_an_increment_needs_no_catalog_until_the_entry_expires(
    client_pair: tuple[Table, Table], age_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An increment needs no answer of the catalog before the known entry has expired."""
    _, counter = client_pair
    counter.put(ROWS[1])
    advance_clock(counter, age_s)
    monkeypatch.setattr(counter.lease, "catalog", UnreachableCatalog())
    assert {"hits": 2} == counter.increment(ROWS[1], hits=1)
    advance_clock(counter, 60.0 - age_s)
    with pytest.raises(Unavailable):
        counter.increment(ROWS[1], hits=1)


def test_an_increment_during_which_the_buckets_changed_raises_a_conflict(
    client_pair: tuple[Table, Table],
) -> None:
    setter, slow = client_pair
    slow.put(ROWS[1])
    increment = slow.store.increment

    def run_late(*words: Any, **more: Any) -> Any:
        found = increment(*words, **more)
        set_buckets(setter, 32)
        advance_clock(slow, 70.0)
        return found

    slow.get_state().writer.store = _SlowCounter(slow.store, run_late)  # type: ignore[assignment]
    with pytest.raises(Conflict, match="in which the number of buckets was changed"):
        slow.increment(ROWS[1], hits=1)


def test_a_slow_increment_raises_a_conflict_although_the_lease_was_renewed(
    client_pair: tuple[Table, Table],
) -> None:
    """A renewed lease does not hide that another generation is active."""
    setter, slow = client_pair
    slow.put(ROWS[1])
    increment = slow.store.increment

    def run_late(*words: Any, **more: Any) -> Any:
        found = increment(*words, **more)
        set_buckets(setter, 32)
        slow.lease.renew_entry()
        return found

    slow.get_state().writer.store = _SlowCounter(slow.store, run_late)  # type: ignore[assignment]
    with pytest.raises(Conflict, match="in which the number of buckets was changed"):
        slow.increment(ROWS[1], hits=1)


def test_a_slow_increment_raises_a_conflict_after_an_announcement(
    client_pair: tuple[Table, Table],
) -> None:
    """An increment reads the entry again if a generation was announced meanwhile."""
    setter, slow = client_pair
    slow.put(ROWS[1])
    increment = slow.store.increment

    def run_late(*words: Any, **more: Any) -> Any:
        found = increment(*words, **more)
        change = BucketChange(
            setter.tracker, 32, pause=lambda seconds: advance_clock(setter, seconds)
        )
        change._announce_counts()
        slow.lease.renew_entry()
        change.run()
        return found

    slow.get_state().writer.store = _SlowCounter(slow.store, run_late)  # type: ignore[assignment]
    with pytest.raises(Conflict, match="in which the number of buckets was changed"):
        slow.increment(ROWS[1], hits=1)


def put_null(table: Table) -> None:
    """Remove a field by a put of None."""
    table.put({**ROWS[1], "hits": None})


def replace_without_field(table: Table) -> None:
    """Remove a field by a replace without the field."""
    table.replace({"host": ROWS[1]["host"], "ts": ROWS[1]["ts"], "note": "n1"})


def delete_row(table: Table) -> None:
    """Delete a row."""
    table.delete(ROWS[1])


def delete_in_batch(table: Table) -> None:
    """Delete a row in a batch."""
    with table.batch() as batch:
        batch.put(ROWS[0])
        batch.delete(ROWS[1])
        batch.delete(ROWS[2])


SECONDS_BY_KNOWLEDGE = {"nothing": 70.0, "the announcement": 0.0}


@pytest.mark.parametrize("knows", SECONDS_BY_KNOWLEDGE)
@pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])
@pytest.mark.parametrize("take", [put_null, replace_without_field, delete_row, delete_in_batch])
@pytest.mark.parametrize("key", [KEY, "[salt(2)][bucket(host, 16)][host][ts]"])
def test_a_delete_reaches_a_cell_that_was_copied_meanwhile(
    key: str, take: Callable[[Table], None], twice: bool, knows: str, tmp_path: Path
) -> None:
    """A delete reaches a cell that was copied while the delete was on its way."""
    place, clock = f"memory:{tmp_path}", count(1_700_000_000_000, 10).__next__
    setter, slow = (
        open_client(build_design(key, splits=None), place, ManualClock(), clock) for _ in range(2)
    )
    setter.put(ROWS[1])
    counts = iter([32, 8] if twice else [32])

    def run_meanwhile() -> None:
        if number := next(counts, None):
            change = BucketChange(
                setter.tracker, number, 1 if "salt" in key else None, pause=make_waiter(setter)
            )
            change._announce_counts()
            if knows == "the announcement":
                slow.lease.renew_entry()
            change.run()
            copy_to_all_places(setter, ROWS[1])
            advance_clock(slow, SECONDS_BY_KNOWLEDGE[knows])

    stall_writes(slow, run_meanwhile)
    take(slow)
    assert None is next(counts, None)
    slow.lease.renew_entry()
    for table in (setter, slow):
        found = table.get(ROWS[1])
        assert None is (found and found["hits"])
        assert [] == [row for row in table.scan("host = ?", "w2") if row["hits"] is not None]
    setter.close()
    slow.close()


def make_waiter(table: Table) -> Callable[[float], None]:
    """Return a function that advances the clock of a client."""
    return lambda seconds: advance_clock(table, seconds)


def copy_to_all_places(table: Table, row: dict[str, Any]) -> None:
    """Copy a row to every place where the row may be, as an increment does."""
    writing = table.get_state().writer
    family, qualifier = writing.layout.find_column("hits", row)
    first, *others = writing.encode_row_keys(row)
    copy_newest_columns(table.store, [first, *others], {family: (qualifier,)})


def stall_writes(table: Table, meanwhile: Callable[[], None]) -> None:
    """Run a function before each write of a client."""

    class StallingStore(type(table.store)):  # type: ignore[misc]
        """The engine's table, before whose writes a function runs."""

        def mutate(self, *words: Any, **named: Any) -> None:
            meanwhile()
            super().mutate(*words, **named)

    table.store.__class__ = StallingStore


def test_a_late_delete_in_a_row_under_a_digest_is_reported(tmp_path: Path) -> None:
    """A late delete whose key is a digest is reported with its row."""
    key = "[bucket(digest(host, 4), 4)][digest(host, 4)][ts]"
    setter, slow = (
        open_client(build_design(key, splits=None), f"memory:{tmp_path}", ManualClock())
        for _ in "12"
    )
    setter.put(ROWS[0])
    counts = iter([8])

    def run_meanwhile() -> None:
        if number := next(counts, None):
            set_buckets(setter, number)
            advance_clock(slow, 70.0)

    stall_writes(slow, run_meanwhile)
    batch = slow.batch()
    batch.put(ROWS[2])
    batch.delete(ROWS[0])
    with pytest.raises(BatchError, match=r"row 1, .*was changed while the row was written"), batch:
        pass
    slow.delete(ROWS[0])
    assert [ROWS[2]] == list(setter.scan())


class _SlowCounter:
    """A store whose increments take some time."""

    def __init__(self, store: Any, increment: Any) -> None:
        self.increment = increment
        self.mutate = store.mutate
        self.is_shared = store.is_shared


def test_a_copied_column_undoes_no_increment_of_another_client(
    client_pair: tuple[Table, Table],
) -> None:
    """A copied column does not undo an increment that another client made meanwhile."""
    one, other = client_pair
    one.put(ROWS[1])
    set_buckets(one, 32)
    other.lease.renew_entry()
    meanwhile = iter([1])
    store = one.store

    class RacingStore(type(store)):  # type: ignore[misc]
        """The engine's table, in which another client is faster once."""

        def get(self, *words: Any) -> Any:
            found = super().get(*words)
            if next(meanwhile, None):
                assert {"hits": 11} == other.increment(ROWS[1], hits=10)
            return found

    store.__class__ = RacingStore
    assert {"hits": 111} == one.increment(ROWS[1], hits=100)
    assert 111 == one.get(ROWS[1])["hits"] == other.get(ROWS[1])["hits"]


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("rocks", KEY),
        ("memory", "[host][bucket(ts, 4)][ts]"),
        pytest.param("memory", KEY, marks=pytest.mark.long),
        pytest.param("rocks", "[host][bucket(ts, 4)][ts]", marks=pytest.mark.long),
    ],
    indirect=["url"],
)
def test_concurrent_increments_copy_a_row_once_and_none_is_lost(url: str, key: str) -> None:
    """Concurrent increments copy a row to its new place once, and none is lost."""
    with open_client(build_design(key, splits=None), url, ManualClock()) as table:
        for row in ROWS[:12]:
            table.put(row)
        for after in (32, 8, 5):
            set_buckets(table, after)

            def work(thread: int) -> None:
                for row in ROWS[:12]:
                    table.increment(row, hits=1)
                    table.append(row, note=str(thread))

            threads = [Thread(target=work, args=(n,)) for n in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        found = table.get_many(ROWS[:12])
        assert [row["hits"] + 12 for row in ROWS[:12]] == [row["hits"] for row in found]
        for row, was in zip(found, ROWS, strict=False):
            assert sorted("0123" * 3) == sorted(row["note"].removeprefix(was["note"]))


# Many rows at once


@ON_BOTH_ENGINES
def test_a_pending_batch_is_rebuilt_after_a_bucket_change(logs: Table) -> None:
    """Pending puts are rebuilt for one place, and pending deletes for all places."""
    extra = [{"host": f"new-{n}", "ts": n, "note": None, "hits": n} for n in range(9)]
    with logs.batch() as batch:
        for row in extra:
            batch.put(row)
        batch.delete(ROWS[0])
        batch.replace({**ROWS[1], "note": None})
        set_buckets(logs, 32)
        logs.increment(ROWS[0], hits=1)
        batch.put({"host": "last", "ts": 1, "hits": 1})
    primary = logs.get_state().active_design.key
    for row in extra:
        key = primary.encode(row)
        with logs.store.scan([ScanRange(key, key + b"\0")])[0] as cursor:
            assert [key] == [one.row for one in cursor]
    assert {**ROWS[1], "note": None} == logs.get(ROWS[1])
    assert extra == logs.get_many(extra)
    assert len(ROWS) + len(extra) + 1 == logs.count() + (logs.get(ROWS[0]) is None)
    assert [] == list_misplaced_rows(logs)


def test_a_pending_row_under_a_digest_is_reported_after_a_bucket_change() -> None:
    """A pending row whose key is a digest is reported, to be put again."""
    key = "[bucket(digest(host, 4), 4)][digest(host, 4)][ts]"
    with open_client(build_design(key, splits=None), "memory:", ManualClock()) as table:
        batch = table.batch()
        batch.put(ROWS[0])
        set_buckets(table, 8)
        batch.put(ROWS[1])
        with pytest.raises(BatchError, match=r"row 0, .*was changed while the row waited"), batch:
            pass
        assert [ROWS[1]] == list(table.scan())


@pytest.mark.parametrize(
    "key",
    [
        "[salt(16)][host][ts]",
        "[bucket(host, 4)][host][salt(3)][ts]",
        "[bucket(host, 4)][host][time_slice(ts, 10ms)]",
    ],
)
def test_pending_salted_and_shared_rows_are_rebuilt_after_a_bucket_change(key: str) -> None:
    """Pending rows of salted keys and of shared rows get new places too."""
    with open_client(build_design(key, splits=None), "memory:", ManualClock()) as table:
        for row in ROWS[:40]:
            table.put(row)
        with table.batch() as batch:
            for row in ROWS[20:60]:
                batch.put({**row, "hits": None, "note": "again"})
            for row in ROWS[:10]:
                batch.delete(row)
            for number in (2, 5):
                set_buckets(table, number, 0)
        expected = [*ROWS[10:20], *({**row, "hits": None, "note": "again"} for row in ROWS[20:60])]
        assert expected == sorted(table.scan(), key=lambda row: row["ts"])
        assert expected == table.get_many(expected)
        assert [] == list_misplaced_rows(table)


@ON_BOTH_ENGINES
def test_arrow_columns_are_loaded_under_the_new_bucket_count(logs: Table) -> None:
    """Arrow columns are loaded under the new count, and read together with old rows."""
    set_buckets(logs, 32)
    extra = [{"host": f"x{n}", "ts": n, "note": "", "hits": n} for n in range(50)]
    schema = pa.schema(
        [(name, f.type.build_arrow_type()) for name, f in logs.design.fields.items()]
    )
    assert 50 == logs.load(pa.RecordBatch.from_pylist(extra, schema))
    assert sort_by_key([*ROWS, *extra]) == list(logs.scan())
    assert len(ROWS) + 50 == logs.scan().to_arrow().num_rows
    primary = logs.get_state().active_design.key
    keys = {primary.encode(row) for row in extra}
    with logs.store.scan([ScanRange()])[0] as cursor:
        assert keys <= {row.row for row in cursor}


def test_a_snapshot_shows_all_rows_whatever_the_later_bucket_count(logs: Table) -> None:
    """A snapshot shows all rows from before it was taken, whatever the count is later."""
    snapshot = logs.snapshot()
    set_buckets(logs, 32)
    logs.put({"host": "new", "ts": 1})
    assert sort_by_key(ROWS) == list(logs.scan(reader=snapshot))
    snapshot.close()


def test_a_scan_run_again_uses_the_current_bucket_count(logs: Table) -> None:
    """A scan object that is run again uses the current number of buckets."""
    scan = logs.scan(order="host, ts")
    assert sort_by_key(ROWS) == list(scan)
    set_buckets(logs, 32)
    logs.put({"host": "w1", "ts": 500, "note": None, "hits": None})
    expected = sort_by_key([*ROWS, {"host": "w1", "ts": 500, "note": None, "hits": None}])
    assert expected == list(scan)
    assert len(expected) == scan.count() == scan.to_arrow().num_rows
    assert expected[0] == scan.first()


def test_a_catalog_entry_with_fewer_generations_than_the_table_is_refused(url: str) -> None:
    """An entry with fewer generations than the table's attributes is refused."""
    with open_client(build_design(), url, ManualClock()) as table:
        place = table.engine.catalog_url
        before = table.catalog.read("logs")
        assert before is not None
        set_buckets(table, 32)
    catalog = open_catalog(place)
    now = catalog.read("logs")
    assert now is not None
    catalog.write("logs", before, now.version)
    catalog.close()
    with pytest.raises(
        Unavailable, match=r"ends with generation 1, but rowkey.generation of the table is 2"
    ):
        rowkey.open("logs", url)


@ON_BOTH_ENGINES
def test_max_stale_is_declared_when_a_table_is_created(url: str) -> None:
    """The time of a table is declared at its creation; later clients may ask for less."""
    with rowkey.open(build_design(), url, max_stale=7.0) as table:
        assert (7.0, 7.0) == (table.buckets.max_stale_s, table.lease.max_stale_s)
    for given, expected in ((None, 7.0), (3.0, 3.0), (500.0, 7.0)):
        with rowkey.open("logs", url, max_stale=given) as table:
            assert (7.0, expected) == (table.buckets.max_stale_s, table.lease.max_stale_s)
    with pytest.raises(InvalidArgument, match="max_stale: 0 is not above zero"):
        rowkey.open("logs", url, max_stale=0)
