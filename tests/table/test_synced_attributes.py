"""Attributes that repeat a table's entry are never left out of date by concurrent writers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from rowkey.catalog import has_synced_attributes
from rowkey.engines.backends import memory
from rowkey.errors import Conflict, InvalidArgument, RowkeyError, Unavailable
from rowkey.table import repair_catalog
from rowkey.table.file_load import _LoadCheckpoint
from rowkey.table.generations.activation import activate_announced, write_attributes
from rowkey.table.generations.bucket_change import BucketChange
from table.buckets import FIELDS, build_design
from table.clients import ManualClock, announce_count, open_client, set_buckets

if TYPE_CHECKING:
    from rowkey.table import Table

EXTENDED_FIELDS = {**FIELDS, "more": {"type": "text", "nullable": True}}
BEFORE, SINCE = {"host": "w2", "ts": 1}, {"host": "w1", "ts": 1}


@pytest.fixture
def place(tmp_path: Path) -> str:
    """The URL of the table."""
    return f"memory:{tmp_path}"


@pytest.fixture
def client_pair(place: str) -> Iterator[tuple[Table, Table]]:
    """A client that changes the table, and a slow one; the table has a row in 16 buckets."""
    with (
        open_client(build_design(), place, ManualClock()) as quick,
        open_client(build_design(), place, ManualClock()) as slow,
    ):
        quick.put(BEFORE)
        yield quick, slow


def interrupt_attribute_write(then: Callable[[], object], patch: pytest.MonkeyPatch) -> None:
    """Run a function between the next client's read of attributes and its write."""
    store = memory._MemoryStore
    annotate = store.replace_attributes

    def write_late(one: Any, words: Mapping[str, str]) -> None:
        patch.setattr(store, "replace_attributes", annotate)
        then()
        annotate(one, words)

    patch.setattr(store, "replace_attributes", write_late)


def open_with_added_field(slow: Table, place: str) -> None:
    """Open the table with an added nullable field."""
    del slow
    rowkey.open(build_design(fields=EXTENDED_FIELDS), place).close()


def announce_other_count(slow: Table, place: str) -> None:
    """Announce another count, and extend the waiting time of clients."""
    del place
    pause = slow.lease.clock.pause  # type: ignore[attr-defined]
    with pytest.raises(
        Conflict, match="another client has changed its number of buckets meanwhile"
    ):
        BucketChange(slow.tracker, 8, max_stale_s=90.0, pause=pause).run()


@pytest.mark.parametrize("does", [open_with_added_field, announce_other_count])
def test_a_slow_client_does_not_restore_old_table_attributes(
    does: Callable[[Table, str], None],
    client_pair: tuple[Table, Table],
    place: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A slow client compares its attributes with the catalog after it wrote them."""
    quick, slow = client_pair

    def change_first() -> None:
        set_buckets(quick, 64, max_stale_s=30.0)
        quick.put({**SINCE, "note": "under 64"})

    interrupt_attribute_write(change_first, monkeypatch)
    does(slow, place)
    check_synced_attributes(quick)
    assert "30" == quick.store.families_and_attributes[1]["rowkey.stale"]
    lose_and_repair_catalog(quick, place)


def test_a_slow_client_does_not_reactivate_another_generation(
    client_pair: tuple[Table, Table], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow client leaves a generation that others have activated, and the next one."""
    quick, slow = client_pair
    announced = announce_count(quick, 32).generations[-1]

    def change_first() -> None:
        quick.lease.adopt_entry(activate_announced(quick.catalog, "logs", announced, quick.store))
        set_buckets(quick, 64)
        quick.put({**SINCE, "note": "under 64"})

    interrupt_attribute_write(change_first, monkeypatch)
    assert (
        3
        == activate_announced(slow.catalog, "logs", announced, slow.store).active_generation.number
    )
    check_synced_attributes(quick)
    lose_and_repair_catalog(quick, place)


def test_older_table_attributes_do_not_replace_later_ones(client_pair: tuple[Table, Table]) -> None:
    """Attributes of an older or another entry do not replace later ones."""
    quick, _ = client_pair
    first = quick.lease.last_entry
    announced = announce_count(quick, 32)
    assert not write_attributes("logs", quick.store, announced)
    assert write_attributes("logs", quick.store, announced.activate_generation())
    told = quick.store.families_and_attributes[1]
    assert "2" == told["rowkey.generation"]
    for older in (
        first,
        first.announce_generation({0: 64}, (), 9),
        announced,
        announced.activate_generation(),
    ):
        assert not write_attributes("logs", quick.store, older)
    assert told == quick.store.families_and_attributes[1]


@pytest.mark.parametrize("named", ["logs", build_design(), build_design(fields=EXTENDED_FIELDS)])
def test_opening_a_table_updates_outdated_attributes(
    named: rowkey.Design | str, client_pair: tuple[Table, Table], place: str
) -> None:
    """Opening a table updates attributes that another client left out of date."""
    quick, _ = client_pair
    words = quick.store.families_and_attributes[1]
    set_buckets(quick, 64)
    quick.put({**SINCE, "note": "under 64"})
    quick.store.replace_attributes(words)
    rowkey.open(named, place).close()
    check_synced_attributes(quick)
    lose_and_repair_catalog(quick, place)


@pytest.mark.parametrize("named", ["logs", build_design(), build_design(fields=EXTENDED_FIELDS)])
def test_a_client_without_the_right_to_alter_can_open_a_table(
    named: Any, client_pair: tuple[Table, Table], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that may not alter a table opens it, though its attributes are out of date."""
    quick, _ = client_pair
    words = quick.store.families_and_attributes[1]
    set_buckets(quick, 64)
    quick.store.replace_attributes(words)

    def raise_denied(*_: object) -> None:
        raise Unavailable("logs", "you may not", remedy="Ask.")

    monkeypatch.setattr(memory._MemoryStore, "replace_attributes", raise_denied)
    with rowkey.open(named, place) as table:
        assert BEFORE.items() <= table.scan().first().items()


def check_synced_attributes(table: Table) -> None:
    """Check that the attributes of a table repeat its entry."""
    entry = table.catalog.read("logs")
    assert entry is not None
    assert has_synced_attributes(table.store.families_and_attributes[1], entry)


def lose_and_repair_catalog(table: Table, place: str) -> None:
    """Check that a table is refused without its entry, and has every row after a repair."""
    table.catalog.remove("logs")
    with pytest.raises(
        RowkeyError, match=r"rowkey.generation '.' and rowkey.counts '0=64'\. Run rowkey repair"
    ):
        rowkey.open(build_design(), place)
    repair_catalog(build_design(), place, apply=True)
    with rowkey.open("logs", place) as found:
        assert "under 64" == found.get(SINCE)["note"]
        assert 2 == found.count()


@pytest.mark.parametrize("is_over", [True, False])
def test_load_progress_does_not_overwrite_later_table_attributes(
    client_pair: tuple[Table, Table],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_over: bool,
) -> None:
    """The progress of a load does not overwrite attributes of a later bucket change."""
    quick, slow = client_pair
    (tmp_path / "logs.csv").write_text("host,ts\nw3,1\n")
    record = _LoadCheckpoint(slow, tmp_path / "logs.csv", "")
    record.save_row_count(1, force=True)
    interrupt_attribute_write(lambda: set_buckets(quick, 32), monkeypatch)
    (record.delete_row_count if is_over else partial(record.save_row_count, 1, force=True))()
    entry = quick.catalog.read("logs")
    assert entry is not None
    words = quick.store.families_and_attributes[1]
    assert (2, True) == (entry.active_generation.number, has_synced_attributes(words, entry))
    assert is_over == (record.note_key not in words)


def deny_access(*_: Any) -> None:
    """Raise the error of a client that may not alter the table."""
    raise InvalidArgument("table", "access denied")


def test_a_client_without_the_right_to_alter_can_increment(
    client_pair: tuple[Table, Table], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the right to alter, increments and opening work, and attributes stay old."""
    quick, slow = client_pair
    announced = announce_count(quick, 32).generations[-1]
    slow.lease.renew_entry()
    with monkeypatch.context() as patch:
        patch.setattr(memory._MemoryStore, "replace_attributes", deny_access)
        with pytest.raises(InvalidArgument, match="access denied"):
            activate_announced(quick.catalog, "logs", announced, quick.store)
        slow.increment(SINCE, hits=1)
        assert 2 == slow.lease.last_entry.active_generation.number
        with rowkey.open(build_design(fields=EXTENDED_FIELDS), place) as table:
            assert [1, 2] == sorted(one.number for one in table.lease.last_entry.live_generations)
    assert "1" == quick.store.families_and_attributes[1]["rowkey.generation"]
    rowkey.open(build_design(fields=EXTENDED_FIELDS), place).close()
    check_synced_attributes(quick)


def test_attributes_that_the_engine_changes_are_written_a_few_times_only(
    client_pair: tuple[Table, Table], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attributes that never match are written a few times, reported, and the table opens."""
    quick, _ = client_pair
    announced = announce_count(quick, 32).generations[-1]
    annotate, times = memory._MemoryStore.replace_attributes, []

    def otherwise(one: Any, words: Mapping[str, str]) -> None:
        times.append(words)
        annotate(one, {**words, "rowkey.stale": "9"})

    monkeypatch.setattr(memory._MemoryStore, "replace_attributes", otherwise)
    with pytest.raises(
        Unavailable, match="attributes were written 5 times, and the engine does not return"
    ):
        activate_announced(quick.catalog, "logs", announced, quick.store)
    del times[:]
    rowkey.open(build_design(fields=EXTENDED_FIELDS), place).close()
    assert 5 == len(times)


def test_no_generation_is_activated_once_the_attributes_have_a_later_one(
    client_pair: tuple[Table, Table],
) -> None:
    """A generation is not activated if the table's attributes have a later one."""
    quick, _ = client_pair
    announced = announce_count(quick, 32).generations[-1]
    quick.store.replace_attributes(
        {**quick.store.families_and_attributes[1], "rowkey.generation": "3"}
    )
    with pytest.raises(
        Unavailable, match=r"ends with generation 2, but rowkey.generation of the table is 3"
    ):
        activate_announced(quick.catalog, "logs", announced, quick.store, must_sync=False)
    entry = quick.catalog.read("logs")
    assert entry is not None
    assert entry.announced_generation == announced
