"""Several who make one new table at once: all of them go by the entry of the one that was made."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from rowkey.catalog import TABLE_ID_ATTRIBUTE, CatalogEntry, open_catalog
from rowkey.engines import open_engine
from rowkey.engines.backends.memory import MemoryEngine
from table.buckets import design

if TYPE_CHECKING:
    from pathlib import Path

    from rowkey.engines import Store
    from rowkey.table import Table


class Broken(Exception):
    """What makes a table dies."""


ROW = {"host": "w1", "ts": 1}


@pytest.fixture
def place(tmp_path: Path) -> str:
    """Where the table is to be."""
    return f"memory:{tmp_path}"


def works_on(table: Table) -> bool:
    """Whether a client writes and reads once it has to read the entry again."""
    clock = table.lease.clock
    table.lease.clock = lambda: clock() + 61
    table.put(ROW)
    return table.get(ROW) is not None


def is_as_made(table: Table) -> bool:
    """Whether the entry is of the very table that stands there, with the time it was made."""
    entry = table.catalog.read("logs")
    assert entry is not None
    is_known = entry.generations[0].opened_ms is not None
    return is_known and entry.table_id == table.store.families_and_attributes[1][TABLE_ID_ATTRIBUTE]


@pytest.mark.parametrize("is_first", [True, False])
def test_concurrent_creators_share_one_table(
    place: str, monkeypatch: pytest.MonkeyPatch, *, is_first: bool
) -> None:
    """Three clients that create one table at once all go on with the table that was made."""
    create, specs, opened = MemoryEngine.create_table, [], []

    def comes_second(engine: Any, spec: Any, progress: Any = None) -> Store:
        specs.append(spec)
        made = create(engine, specs[0 if is_first else 1], progress)
        monkeypatch.setattr(MemoryEngine, "create_table", create)
        opened.append(rowkey.open(design(), place))
        return create(engine, spec, progress) if is_first else made

    def comes_first(engine: Any, spec: Any, progress: Any = None) -> Store:
        specs.append(spec)
        monkeypatch.setattr(MemoryEngine, "create_table", comes_second)
        opened.append(rowkey.open(design(), place))
        return engine.open_table("logs") if is_first else create(engine, spec, progress)

    monkeypatch.setattr(MemoryEngine, "create_table", comes_first)
    opened.append(rowkey.open(design(), place))
    assert [True] * 3 == [works_on(table) for table in opened]
    assert is_as_made(opened[0])


@pytest.mark.parametrize("by_name", [True, False])
def test_a_table_is_opened_after_its_creator_died(
    place: str, monkeypatch: pytest.MonkeyPatch, *, by_name: bool
) -> None:
    """The entry of a table is corrected if its creator died, and no id is given twice."""
    left = replace(
        CatalogEntry.from_design(design(), (), 5),
        table_id="another",
        codes={"host": ("w1",)},
        is_created=False,
    )
    open_catalog(open_engine(place).catalog_url).write("logs", left, None)
    create = MemoryEngine.create_table

    def dies(engine: Any, spec: Any, progress: Any = None) -> Store:
        create(engine, spec, progress)
        raise Broken

    monkeypatch.setattr(MemoryEngine, "create_table", dies)
    with pytest.raises(Broken):
        rowkey.open(design(), place)
    with rowkey.open("logs" if by_name else design(), place) as table:
        entry = table.catalog.read("logs")
        assert entry is not None
        assert (table.store.families_and_attributes[1][TABLE_ID_ATTRIBUTE], left.codes) == (
            entry.table_id,
            entry.codes,
        )
        assert works_on(table)


def test_a_failed_creation_leaves_nothing(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a creation that failed, the next client creates the table normally."""

    def broken(*_: Any) -> Store:
        raise Broken

    with monkeypatch.context() as patch:
        patch.setattr(MemoryEngine, "create_table", broken)
        with pytest.raises(Broken):
            rowkey.open(design(), place)
    assert open_catalog(open_engine(place).catalog_url).read("logs") is None
    with rowkey.open(design(), place) as table:
        assert is_as_made(table)
