"""Several clients that create one table at once all use the table of one of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from rowkey.catalog import TABLE_ID_ATTRIBUTE, CatalogEntry, open_catalog
from rowkey.engines import open_engine
from rowkey.engines.backends.memory import MemoryEngine
from table.buckets import build_design

if TYPE_CHECKING:
    from rowkey.engines import Store
    from rowkey.table import Table


class CreatorDied(Exception):
    """The error that ends the client that creates a table."""


ROW = {"host": "w1", "ts": 1}


@pytest.fixture
def place(tmp_path: Path) -> str:
    """The URL of the table."""
    return f"memory:{tmp_path}"


def can_use_table(table: Table) -> bool:
    """Return whether a client writes and reads after it had to read the entry again."""
    clock = table.lease.clock
    table.lease.clock = lambda: clock() + 61
    table.put(ROW)
    return table.get(ROW) is not None


def has_matching_entry(table: Table) -> bool:
    """Return whether the entry is of the existing table, with its creation time."""
    entry = table.catalog.read("logs")
    assert entry is not None
    is_known = entry.generations[0].opened_ms is not None
    return is_known and entry.table_id == table.store.families_and_attributes[1][TABLE_ID_ATTRIBUTE]


@pytest.mark.parametrize("is_first", [True, False])
def test_three_clients_that_create_a_table_at_once_share_it(
    place: str, monkeypatch: pytest.MonkeyPatch, *, is_first: bool
) -> None:
    """Three clients that create one table at once all go on with the table that was made."""
    create, specs, opened = MemoryEngine.create_table, [], []

    def comes_second(engine: Any, spec: Any, progress: Any = None) -> Store:
        specs.append(spec)
        made = create(engine, specs[0 if is_first else 1], progress)
        monkeypatch.setattr(MemoryEngine, "create_table", create)
        opened.append(rowkey.open(build_design(), place))
        return create(engine, spec, progress) if is_first else made

    def comes_first(engine: Any, spec: Any, progress: Any = None) -> Store:
        specs.append(spec)
        monkeypatch.setattr(MemoryEngine, "create_table", comes_second)
        opened.append(rowkey.open(build_design(), place))
        return engine.open_table("logs") if is_first else create(engine, spec, progress)

    monkeypatch.setattr(MemoryEngine, "create_table", comes_first)
    opened.append(rowkey.open(build_design(), place))
    assert [True] * 3 == [can_use_table(table) for table in opened]
    assert has_matching_entry(opened[0])


@pytest.mark.parametrize("by_name", [True, False])
def test_a_table_whose_creator_died_can_be_opened(
    place: str, monkeypatch: pytest.MonkeyPatch, *, by_name: bool
) -> None:
    """The entry of a table is corrected if its creator died, and no id is given twice."""
    left = replace(
        CatalogEntry.from_design(build_design(), (), 5),
        table_id="another",
        codes={"host": ("w1",)},
        is_created=False,
    )
    open_catalog(open_engine(place).catalog_url).write("logs", left, None)
    create = MemoryEngine.create_table

    def raise_died(engine: Any, spec: Any, progress: Any = None) -> Store:
        create(engine, spec, progress)
        raise CreatorDied

    monkeypatch.setattr(MemoryEngine, "create_table", raise_died)
    with pytest.raises(CreatorDied):
        rowkey.open(build_design(), place)
    with rowkey.open("logs" if by_name else build_design(), place) as table:
        entry = table.catalog.read("logs")
        assert entry is not None
        assert (table.store.families_and_attributes[1][TABLE_ID_ATTRIBUTE], left.codes) == (
            entry.table_id,
            entry.codes,
        )
        assert can_use_table(table)


def test_after_a_failed_creation_the_next_client_creates_the_table(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a creation that failed, the next client creates the table normally."""

    def broken(*_: Any) -> Store:
        raise CreatorDied

    with monkeypatch.context() as patch:
        patch.setattr(MemoryEngine, "create_table", broken)
        with pytest.raises(CreatorDied):
            rowkey.open(build_design(), place)
    assert open_catalog(open_engine(place).catalog_url).read("logs") is None
    with rowkey.open(build_design(), place) as table:
        assert has_matching_entry(table)
