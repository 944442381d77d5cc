"""The words that a table keeps of its entry, where several write them: never left behind."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from rowkey.catalog import is_told
from rowkey.engines.backends import memory
from rowkey.errors import Conflict, Refused, RowkeyError, Unsupported
from rowkey.table import repair_catalog
from rowkey.table.generations.changing import Change
from rowkey.table.generations.ruling import keep_told, let_rule
from rowkey.table.loading import _Record
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
    annotate = store.annotate

    def late(one: Any, words: Mapping[str, str]) -> None:
        patch.setattr(store, "annotate", annotate)
        then()
        annotate(one, words)

    patch.setattr(store, "annotate", late)


def opens(slow: Table, place: str) -> None:
    """Opens the table with a safe change of its design."""
    del slow
    rowkey.open(design(fields=MORE), place).close()


def announces(slow: Table, place: str) -> None:
    """Announces another number, and lets clients go on for longer."""
    del place
    pause = slow.lease.clock.pause  # type: ignore[attr-defined]
    with pytest.raises(Conflict, match="somebody else has changed its buckets meanwhile"):
        Change(slow, 8, max_stale_s=90.0, pause=pause).run()


@pytest.mark.parametrize("does", [opens, announces])
def test_who_stood_still_puts_back_no_older_words(
    does: Callable[[Table, str], None],
    pair: tuple[Table, Table],
    place: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What he has written he compares with the catalog, and writes what that has."""
    quick, slow = pair

    def others() -> None:
        set_buckets(quick, 64, max_stale_s=30.0)
        quick.put({**SINCE, "note": "under 64"})

    stands_still(others, monkeypatch)
    does(slow, place)
    hold_together(quick)
    assert "30" == quick.store.described[1]["rowkey.stale"]
    lost_and_found(quick, place)


def test_who_stood_still_before_he_let_it_rule(
    pair: tuple[Table, Table], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others have let it rule, and the next one."""
    quick, slow = pair
    announced = Change(quick, 32, pause=no_time)._announced().generations[-1]

    def others() -> None:
        quick.lease.took(let_rule(quick.catalog, "logs", announced, quick.store))
        set_buckets(quick, 64)
        quick.put({**SINCE, "note": "under 64"})

    stands_still(others, monkeypatch)
    assert 3 == let_rule(slow.catalog, "logs", announced, slow.store).ruling.number
    hold_together(quick)
    lost_and_found(quick, place)


def test_older_words_do_not_replace_later_ones(pair: tuple[Table, Table]) -> None:
    """An entry of before, one of another generation 2, and what is about to rule and was told."""
    quick, _ = pair
    first = quick.lease.known
    announced = Change(quick, 32, pause=no_time)._announced()
    assert not keep_told(quick.store, announced)
    assert keep_told(quick.store, announced.ruled())
    told = quick.store.described[1]
    assert "2" == told["rowkey.generation"]
    for older in (first, first.announcing({0: 64}, (), 9), announced, announced.ruled()):
        assert not keep_told(quick.store, older)
    assert told == quick.store.described[1]


@pytest.mark.parametrize("named", ["logs", design(), design(fields=MORE)])
def test_who_opens_it_brings_older_words_up(
    named: rowkey.Design | str, pair: tuple[Table, Table], place: str
) -> None:
    """Whoever wrote them may have died before he looked again."""
    quick, _ = pair
    words = quick.store.described[1]
    set_buckets(quick, 64)
    quick.put({**SINCE, "note": "under 64"})
    quick.store.annotate(words)
    rowkey.open(named, place).close()
    hold_together(quick)
    lost_and_found(quick, place)


@pytest.mark.parametrize("named", ["logs", design(), design(fields=MORE)])
def test_who_may_not_alter_a_table_opens_it(
    named: Any, pair: tuple[Table, Table], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its name and by its design, though its words are behind and he may not write them."""
    quick, _ = pair
    words = quick.store.described[1]
    set_buckets(quick, 64)
    quick.store.annotate(words)

    def denied(*_: object) -> None:
        raise Unsupported("logs", "you may not", remedy="Ask.")

    monkeypatch.setattr(memory._MemoryStore, "annotate", denied)
    with rowkey.open(named, place) as table:
        assert BEFORE.items() <= table.scan().first().items()


def hold_together(table: Table) -> None:
    """The words of a table repeat its entry."""
    entry = table.catalog.read("logs")
    assert entry is not None
    assert is_told(table.store.described[1], entry)


def lost_and_found(table: Table, place: str) -> None:
    """With its catalog lost a table is not opened as it once was; put back, it has every row."""
    table.catalog.remove("logs")
    with pytest.raises(RowkeyError, match=r"with generation . and counts 0=64\. Run rowkey repair"):
        rowkey.open(design(), place)
    repair_catalog(design(), place, mend=True)
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
    record = _Record(slow, tmp_path / "logs.csv", "")
    record.keep(1, now=True)
    stands_still(lambda: set_buckets(quick, 32), monkeypatch)
    (record.forget if is_over else partial(record.keep, 1, now=True))()
    entry = quick.catalog.read("logs")
    assert entry is not None
    words = quick.store.described[1]
    assert (2, True) == (entry.ruling.number, is_told(words, entry))
    assert is_over == (record.word not in words)


def may_not(*_: Any) -> None:
    """No right to alter the table."""
    raise Refused("table", "access denied")


def test_who_may_not_alter_a_table_counts_and_opens_all_the_same(
    pair: tuple[Table, Table], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever announced a generation must tell the words; who waits for it leaves them behind."""
    quick, slow = pair
    announced = Change(quick, 32, pause=no_time)._announced().generations[-1]
    slow.lease.renew()
    with monkeypatch.context() as patch:
        patch.setattr(memory._MemoryStore, "annotate", may_not)
        with pytest.raises(Refused, match="access denied"):
            let_rule(quick.catalog, "logs", announced, quick.store)
        slow.increment(SINCE, hits=1)
        assert 2 == slow.lease.known.ruling.number
        with rowkey.open(design(fields=MORE), place) as table:
            assert [1, 2] == sorted(one.number for one in table.lease.known.live)
    assert "1" == quick.store.described[1]["rowkey.generation"]
    rowkey.open(design(fields=MORE), place).close()
    hold_together(quick)


def test_words_that_are_kept_otherwise_are_not_written_for_ever(
    pair: tuple[Table, Table], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time alters the table: after a few it is told, and the table is opened."""
    quick, _ = pair
    announced = Change(quick, 32, pause=no_time)._announced().generations[-1]
    annotate, times = memory._MemoryStore.annotate, []

    def otherwise(one: Any, words: Mapping[str, str]) -> None:
        times.append(words)
        annotate(one, {**words, "rowkey.stale": "9"})

    monkeypatch.setattr(memory._MemoryStore, "annotate", otherwise)
    with pytest.raises(Unsupported, match="words were written 5 times, and are not read as they"):
        let_rule(quick.catalog, "logs", announced, quick.store)
    del times[:]
    rowkey.open(design(fields=MORE), place).close()
    assert 5 == len(times)


def test_what_the_words_contradict_does_not_rule(pair: tuple[Table, Table]) -> None:
    """The table tells of a later generation than the catalog has: that has lost some."""
    quick, _ = pair
    announced = Change(quick, 32, pause=no_time)._announced().generations[-1]
    quick.store.annotate({**quick.store.described[1], "rowkey.generation": "3"})
    with pytest.raises(Unsupported, match="has generation 2 of logs, the table itself 3; expected"):
        let_rule(quick.catalog, "logs", announced, quick.store, must_tell=False)
    entry = quick.catalog.read("logs")
    assert entry is not None
    assert entry.announced == announced
