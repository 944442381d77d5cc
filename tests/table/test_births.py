"""Several who make one new table at once: all of them go by the entry of the one that was made."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from rowkey.catalog import BORN, Entry, open_catalog
from rowkey.engines import open_engine
from rowkey.engines.backends.memory import Memory
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
    return is_known and entry.born == table.store.described[1][BORN]


@pytest.mark.parametrize("is_first", [True, False])
def test_all_who_make_a_table_at_once_work_on(
    place: str, monkeypatch: pytest.MonkeyPatch, *, is_first: bool
) -> None:
    """Two have looked for the table before one of them makes it; a third opens it meanwhile."""
    create, specs, opened = Memory.create, [], []

    def comes_second(engine: Any, spec: Any, progress: Any = None) -> Store:
        specs.append(spec)
        made = create(engine, specs[0 if is_first else 1], progress)
        monkeypatch.setattr(Memory, "create", create)
        opened.append(rowkey.open(design(), place))
        return create(engine, spec, progress) if is_first else made

    def comes_first(engine: Any, spec: Any, progress: Any = None) -> Store:
        specs.append(spec)
        monkeypatch.setattr(Memory, "create", comes_second)
        opened.append(rowkey.open(design(), place))
        return engine.table("logs") if is_first else create(engine, spec, progress)

    monkeypatch.setattr(Memory, "create", comes_first)
    opened.append(rowkey.open(design(), place))
    assert [True] * 3 == [works_on(table) for table in opened]
    assert is_as_made(opened[0])


@pytest.mark.parametrize("by_name", [True, False])
def test_who_dies_once_the_table_is_made_leaves_it_to_be_opened(
    place: str, monkeypatch: pytest.MonkeyPatch, *, by_name: bool
) -> None:
    """What the catalog had of another one of its name is put right, and no id is given twice."""
    left = replace(
        Entry.of(design(), (), 5), born="another", codes={"host": ("w1",)}, is_made=False
    )
    open_catalog(open_engine(place).catalog_url).write("logs", left, None)
    create = Memory.create

    def dies(engine: Any, spec: Any, progress: Any = None) -> Store:
        create(engine, spec, progress)
        raise Broken

    monkeypatch.setattr(Memory, "create", dies)
    with pytest.raises(Broken):
        rowkey.open(design(), place)
    with rowkey.open("logs" if by_name else design(), place) as table:
        entry = table.catalog.read("logs")
        assert entry is not None
        assert (table.store.described[1][BORN], left.codes) == (entry.born, entry.codes)
        assert works_on(table)


def test_who_cannot_make_a_table_leaves_nothing_of_it(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the next one makes it as if nobody had tried."""

    def broken(*_: Any) -> Store:
        raise Broken

    with monkeypatch.context() as patch:
        patch.setattr(Memory, "create", broken)
        with pytest.raises(Broken):
            rowkey.open(design(), place)
    assert open_catalog(open_engine(place).catalog_url).read("logs") is None
    with rowkey.open(design(), place) as table:
        assert is_as_made(table)
