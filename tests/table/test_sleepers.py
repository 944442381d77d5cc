"""Clients that slept while a catalog was put back, or their table was made anew."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from rowkey.catalog import Entry, open_catalog
from rowkey.engines.backends.memory import Memory
from rowkey.errors import Unsupported
from rowkey.table import drop_table, repair_catalog
from table.buckets import design, moved_on
from table.clients import Time, client, set_buckets

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rowkey.table import Table

ROW = {"host": "w1", "ts": 1, "note": "new", "hits": None}
USES: list[Callable[[Table], Any]] = [
    lambda table: table.get(ROW),
    lambda table: table.delete(ROW),
    lambda table: table.put({**ROW, "note": "old"}),
    lambda table: table.increment(ROW, hits=1),
    lambda table: list(table.scan()),
]
SAID = "its catalog was put back, or it was made anew; expected its version 2 as it was read here"


@pytest.mark.parametrize("use", USES)
def test_a_sleeper_over_a_repair_is_fenced(use: Callable[[Table], Any], tmp_path: Path) -> None:
    """Versions begin with 1 once more: what was put back must be looked at, not its version."""
    place = f"memory:{tmp_path}"
    with client(design(), place, Time()) as table, client(design(), place, Time()) as asleep:
        set_buckets(table, 32)
        table.put(ROW)
        table.catalog.remove("logs")
        repair_catalog(design(), place, mend=True)
        now = table.catalog.read("logs")
        assert now is not None
        assert asleep.lease.known.version == table.catalog.write("logs", now, now.version)
        moved_on(asleep, 90.0)
        for _ in range(2):
            with pytest.raises(Unsupported, match=SAID):
                use(asleep)
        with rowkey.open("logs", place) as awake:
            assert ROW == awake.get(ROW)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("key", ["[bucket(ts, 16)][ts][host]", "[bucket(host, 16)][host][ts]"])
def test_a_sleeper_over_a_table_made_anew_is_fenced(
    key: str, use: Callable[[Table], Any], tmp_path: Path
) -> None:
    """Dropped and created, under another key or the same: what is there now is another table."""
    place = f"memory:{tmp_path}"
    with client(design("[bucket(host, 4)][host][ts]"), place, Time()) as asleep:
        drop_table("logs", place)
        with rowkey.open(design(key, splits=None), place) as table:
            table.put(ROW)
            asleep.now().writing.store = table.store  # as a cluster has it, by the table's name
            asleep.now().getting.store = asleep.store = table.store
            moved_on(asleep, 90.0)
            with pytest.raises(Unsupported, match=SAID):
                use(asleep)
            assert [ROW] == list(table.scan())


def test_two_that_make_it_at_once_remember_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who comes second has written his entry before he finds the table: the first one's rules."""
    create = Memory.create

    def overtaken(engine: Memory, *words: Any) -> Any:
        made = create(engine, *words)
        catalog = open_catalog(engine.catalog_url)
        found = catalog.read("logs")
        assert found is not None
        other = replace(Entry.of(design(), (), 3), codes={"host": ("x",)}, born="of another")
        catalog.write("logs", other, found.version)
        return made

    monkeypatch.setattr(Memory, "create", overtaken)
    with rowkey.open(design(), f"memory:{tmp_path}") as table:
        entry = table.catalog.read("logs")
        assert entry is not None
        assert (entry.born, 16) == (
            table.store.described[1]["rowkey.born"],
            len(entry.generations[0].splits) + 1,
        )
        assert {"host": ("x",)} == entry.codes
