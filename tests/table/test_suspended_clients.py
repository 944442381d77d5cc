"""Clients that were suspended while their catalog was restored or their table recreated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from rowkey.catalog import CatalogEntry, open_catalog
from rowkey.engines.backends.memory import MemoryEngine
from rowkey.errors import Unavailable
from rowkey.table import drop_table, repair_catalog
from table.buckets import advance_clock, build_design
from table.clients import ManualClock, open_client, set_buckets

if TYPE_CHECKING:
    from rowkey.table import Table

KEY = {"host": "w1", "ts": 1}
ROW = {**KEY, "note": "new", "hits": None}
OPERATIONS: list[Callable[[Table], Any]] = [
    lambda table: table.get(ROW),
    lambda table: table.delete(ROW),
    lambda table: table.put({**ROW, "note": "old"}),
    lambda table: table.increment(ROW, hits=1),
    lambda table: list(table.scan()),
]
RESTORED_MESSAGE = (
    "its catalog was restored from a backup, or the table was created again; expected version 2"
)


@pytest.mark.parametrize("use", OPERATIONS)
def test_a_suspended_client_notices_a_restored_catalog_entry(
    use: Callable[[Table], Any], tmp_path: Path
) -> None:
    """A suspended client notices a restored entry, although versions begin with 1 again."""
    place = f"memory:{tmp_path}"
    with (
        open_client(build_design(), place, ManualClock()) as table,
        open_client(build_design(), place, ManualClock()) as asleep,
    ):
        set_buckets(table, 32)
        table.put(ROW)
        table.catalog.remove("logs")
        repair_catalog(build_design(), place, apply=True)
        now = table.catalog.read("logs")
        assert now is not None
        assert asleep.lease.last_entry.version == table.catalog.write("logs", now, now.version)
        advance_clock(asleep, 90.0)
        for _ in range(2):
            with pytest.raises(Unavailable, match=RESTORED_MESSAGE):
                use(asleep)
        with rowkey.open("logs", place) as awake:
            assert ROW == awake.get(ROW)


@pytest.mark.parametrize("use", OPERATIONS)
@pytest.mark.parametrize("key", ["[bucket(ts, 16)][ts][host]", "[bucket(host, 16)][host][ts]"])
def test_a_suspended_client_does_not_write_to_a_recreated_table(
    key: str, use: Callable[[Table], Any], tmp_path: Path
) -> None:
    """A client does not write to a table that was dropped and created again."""
    place = f"memory:{tmp_path}"
    with open_client(build_design("[bucket(host, 4)][host][ts]"), place, ManualClock()) as asleep:
        drop_table("logs", place)
        with rowkey.open(build_design(key, splits=None), place) as table:
            table.put(ROW)
            asleep.get_state().writer.store = (
                table.store
            )  # as a cluster has it, by the table's name
            asleep.get_state().getter.store = asleep.tracker.store = table.store
            advance_clock(asleep, 90.0)
            with pytest.raises(Unavailable, match=RESTORED_MESSAGE):
                use(asleep)
            assert [ROW] == list(table.scan())


CHANGES: dict[str, tuple[Callable[[Table], Any], dict[str, Any]]] = {
    "increment": (lambda table: table.increment(KEY, hits=1), {"note": "newer", "hits": 10}),
    "append": (lambda table: table.append(KEY, note="!"), {"note": "newer!", "hits": 9}),
    "check_and_mutate": (
        lambda table: table.check_and_put({**KEY, "note": "late"}, note="new"),
        {"note": "newer", "hits": 9},
    ),
}
"""Changes that depend on the current values, and the row after each of them."""


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_sent_late_hides_no_newer_change(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that was suspended before it sent a change hides no newer change of others."""
    place = f"memory:{tmp_path}"
    change, expected = CHANGES[name]
    with (
        open_client(build_design(), place, ManualClock()) as table,
        open_client(build_design(), place, ManualClock()) as asleep,
    ):
        table.put(ROW)
        table.increment(ROW, hits=7)
        old_key = table.writer.key.encode(ROW)
        store = asleep.get_state().writer.store
        send = getattr(store, name)

        def sleep_and_send(*arguments: Any, **options: Any) -> Any:
            monkeypatch.setattr(store, name, send)
            set_buckets(table, 32)
            assert old_key != table.writer.key.encode(ROW)
            table.put({**KEY, "note": "newer"})
            table.increment(ROW, hits=1)
            table.increment(ROW, hits=1)
            advance_clock(asleep, 90.0)
            return send(*arguments, **options)

        monkeypatch.setattr(store, name, sleep_and_send)
        change(asleep)
        assert {**KEY, **expected} == table.get(ROW)


def test_of_two_clients_creating_a_table_the_entry_of_the_first_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two clients that create a table at once, the entry of the first one stays."""
    create = MemoryEngine.create_table

    def create_first(engine: MemoryEngine, *words: Any) -> Any:
        made = create(engine, *words)
        catalog = open_catalog(engine.catalog_url)
        found = catalog.read("logs")
        assert found is not None
        other = replace(
            CatalogEntry.from_design(build_design(), (), 3),
            codes={"host": ("x",)},
            table_id="of another",
        )
        catalog.write("logs", other, found.version)
        return made

    monkeypatch.setattr(MemoryEngine, "create_table", create_first)
    with rowkey.open(build_design(), f"memory:{tmp_path}") as table:
        entry = table.catalog.read("logs")
        assert entry is not None
        assert (entry.table_id, 16) == (
            table.store.families_and_attributes[1]["rowkey.table_id"],
            len(entry.generations[0].splits) + 1,
        )
        assert {"host": ("x",)} == entry.codes
