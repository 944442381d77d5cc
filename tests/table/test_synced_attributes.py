"""The words that a table keeps of its entry, where several write them: never left behind."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from rowkey.catalog import has_synced_attributes
from rowkey.engines.backends import memory
from rowkey.errors import Conflict, InvalidArgument, RowkeyError, Unavailable
from rowkey.table import repair_catalog
from rowkey.table.bulk_load import _LoadCheckpoint
from rowkey.table.generations.activation import activate_announced, write_attributes
from rowkey.table.generations.bucket_change import BucketChange
from table.buckets import FIELDS, design, no_time
from table.clients import Time, client, set_buckets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from rowkey.table import Table

MORE = {**FIELDS, "more": {"type": "text", "nullable": True}}
BEFORE, SINCE = {"host": "w2", "ts": 1}, {"host": "w1", "ts": 1}


@pytest.fixture
def place(tmp_path: Path) -> str:
    """Where the table is."""
    return f"memory:{tmp_path}"


@pytest.fixture
def pair(place: str) -> Iterator[tuple[Table, Table]]:
    """Somebody who changes the table, and somebody who is slow; a row stands under 16."""
    with client(design(), place, Time()) as quick, client(design(), place, Time()) as slow:
        quick.put(BEFORE)
        yield quick, slow


def stands_still(then: Callable[[], object], patch: pytest.MonkeyPatch) -> None:
    """Whoever is next to write words has read the older ones, and others go on before he writes."""
    store = memory._MemoryStore
    annotate = store.replace_attributes

    def late(one: Any, words: Mapping[str, str]) -> None:
        patch.setattr(store, "replace_attributes", annotate)
        then()
        annotate(one, words)

    patch.setattr(store, "replace_attributes", late)


def opens(slow: Table, place: str) -> None:
    """Opens the table with a safe change of its design."""
    del slow
    rowkey.open(design(fields=MORE), place).close()


def announces(slow: Table, place: str) -> None:
    """Announces another number, and lets clients go on for longer."""
    del place
    pause = slow.lease.clock.pause  # type: ignore[attr-defined]
    with pytest.raises(Conflict, match="another client has changed its buckets meanwhile"):
        BucketChange(slow, 8, max_stale_s=90.0, pause=pause).run()


@pytest.mark.parametrize("does", [opens, announces])
def test_a_slow_client_restores_no_old_attributes(
    does: Callable[[Table, str], None],
    pair: tuple[Table, Table],
    place: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A slow client compares its attributes with the catalog after it wrote them."""
    quick, slow = pair

    def others() -> None:
        set_buckets(quick, 64, max_stale_s=30.0)
        quick.put({**SINCE, "note": "under 64"})

    stands_still(others, monkeypatch)
    does(slow, place)
    hold_together(quick)
    assert "30" == quick.store.families_and_attributes[1]["rowkey.stale"]
    lost_and_found(quick, place)


def test_a_slow_client_activates_no_other_generation(
    pair: tuple[Table, Table], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow client leaves a generation that others have activated, and the next one."""
    quick, slow = pair
    announced = BucketChange(quick, 32, pause=no_time)._announce_counts().generations[-1]

    def others() -> None:
        quick.lease.adopt_entry(activate_announced(quick.catalog, "logs", announced, quick.store))
        set_buckets(quick, 64)
        quick.put({**SINCE, "note": "under 64"})

    stands_still(others, monkeypatch)
    assert (
        3
        == activate_announced(slow.catalog, "logs", announced, slow.store).active_generation.number
    )
    hold_together(quick)
    lost_and_found(quick, place)


def test_older_attributes_do_not_replace_later_ones(pair: tuple[Table, Table]) -> None:
    """Attributes of an older or another entry do not replace later ones."""
    quick, _ = pair
    first = quick.lease.last_entry
    announced = BucketChange(quick, 32, pause=no_time)._announce_counts()
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


@pytest.mark.parametrize("named", ["logs", design(), design(fields=MORE)])
def test_opening_updates_old_attributes(
    named: rowkey.Design | str, pair: tuple[Table, Table], place: str
) -> None:
    """Opening a table updates attributes that another client left out of date."""
    quick, _ = pair
    words = quick.store.families_and_attributes[1]
    set_buckets(quick, 64)
    quick.put({**SINCE, "note": "under 64"})
    quick.store.replace_attributes(words)
    rowkey.open(named, place).close()
    hold_together(quick)
    lost_and_found(quick, place)


@pytest.mark.parametrize("named", ["logs", design(), design(fields=MORE)])
def test_a_client_without_the_right_to_alter_opens_it(
    named: Any, pair: tuple[Table, Table], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that may not alter a table opens it, though its attributes are out of date."""
    quick, _ = pair
    words = quick.store.families_and_attributes[1]
    set_buckets(quick, 64)
    quick.store.replace_attributes(words)

    def denied(*_: object) -> None:
        raise Unavailable("logs", "you may not", remedy="Ask.")

    monkeypatch.setattr(memory._MemoryStore, "replace_attributes", denied)
    with rowkey.open(named, place) as table:
        assert BEFORE.items() <= table.scan().first().items()


def hold_together(table: Table) -> None:
    """The words of a table repeat its entry."""
    entry = table.catalog.read("logs")
    assert entry is not None
    assert has_synced_attributes(table.store.families_and_attributes[1], entry)


def lost_and_found(table: Table, place: str) -> None:
    """With its catalog lost a table is not opened as it once was; put back, it has every row."""
    table.catalog.remove("logs")
    with pytest.raises(
        RowkeyError, match=r"rowkey.generation '.' and rowkey.counts '0=64'\. Run rowkey repair"
    ):
        rowkey.open(design(), place)
    repair_catalog(design(), place, apply=True)
    with rowkey.open("logs", place) as found:
        assert "under 64" == found.get(SINCE)["note"]
        assert 2 == found.count()


@pytest.mark.parametrize("is_over", [True, False])
def test_a_load_puts_back_no_older_words(
    pair: tuple[Table, Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_over: bool
) -> None:
    """How far it has come is written over all words, among them those of buckets set meanwhile."""
    quick, slow = pair
    (tmp_path / "logs.csv").write_text("host,ts\nw3,1\n")
    record = _LoadCheckpoint(slow, tmp_path / "logs.csv", "")
    record.save_row_count(1, force=True)
    stands_still(lambda: set_buckets(quick, 32), monkeypatch)
    (record.delete_row_count if is_over else partial(record.save_row_count, 1, force=True))()
    entry = quick.catalog.read("logs")
    assert entry is not None
    words = quick.store.families_and_attributes[1]
    assert (2, True) == (entry.active_generation.number, has_synced_attributes(words, entry))
    assert is_over == (record.note_key not in words)


def may_not(*_: Any) -> None:
    """No right to alter the table."""
    raise InvalidArgument("table", "access denied")


def test_who_may_not_alter_a_table_counts_and_opens_all_the_same(
    pair: tuple[Table, Table], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever announced a generation must tell the words; who waits for it leaves them behind."""
    quick, slow = pair
    announced = BucketChange(quick, 32, pause=no_time)._announce_counts().generations[-1]
    slow.lease.renew_entry()
    with monkeypatch.context() as patch:
        patch.setattr(memory._MemoryStore, "replace_attributes", may_not)
        with pytest.raises(InvalidArgument, match="access denied"):
            activate_announced(quick.catalog, "logs", announced, quick.store)
        slow.increment(SINCE, hits=1)
        assert 2 == slow.lease.last_entry.active_generation.number
        with rowkey.open(design(fields=MORE), place) as table:
            assert [1, 2] == sorted(one.number for one in table.lease.last_entry.live_generations)
    assert "1" == quick.store.families_and_attributes[1]["rowkey.generation"]
    rowkey.open(design(fields=MORE), place).close()
    hold_together(quick)


def test_attributes_that_the_engine_changes_are_not_written_forever(
    pair: tuple[Table, Table], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time alters the table: after a few it is told, and the table is opened."""
    quick, _ = pair
    announced = BucketChange(quick, 32, pause=no_time)._announce_counts().generations[-1]
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
    rowkey.open(design(fields=MORE), place).close()
    assert 5 == len(times)


def test_what_the_words_contradict_does_not_rule(pair: tuple[Table, Table]) -> None:
    """The table tells of a later generation than the catalog has: that has lost some."""
    quick, _ = pair
    announced = BucketChange(quick, 32, pause=no_time)._announce_counts().generations[-1]
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
