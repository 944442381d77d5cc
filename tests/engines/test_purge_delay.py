"""Delete markers that major compactions keep for a while, so that late puts stay hidden."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engines.benches import Clock
from engines.store_calls import compact_to_one_file, delete, put, read_times
from rowkey.cells import PURGE_DELAY_ATTRIBUTE, CellType, Family
from rowkey.engines import ENGINES, CellSelection, TableSpec
from rowkey.errors import InvalidArgument

if TYPE_CHECKING:
    from rowkey.engines import Engine, Store

HOUR_MS = 3_600_000


def build_spec(delay_ms: object) -> TableSpec:
    """Return a table whose compactions keep deletes for some time."""
    return TableSpec("kept_deletes", (Family("d"),), (), {PURGE_DELAY_ATTRIBUTE: str(delay_ms)})


def check_late_put(store: Store, now_ms: int) -> None:
    """Check that a put stays hidden by a delete that was compacted before it."""
    put(store, b"r", at=now_ms - 20)
    delete(store, b"r", CellType.DELETE_FAMILY, now_ms - 10)
    delete(store, b"old", CellType.DELETE_FAMILY, now_ms - HOUR_MS - 1_000)
    compact_to_one_file(store)
    assert [now_ms - 10] == read_times(store, b"r", raw=True, versions=9)
    assert [] == read_times(store, b"old", raw=True)
    put(store, b"r", at=now_ms - 15)
    assert [] == read_times(store, b"r")
    put(store, b"r", at=now_ms - 5)
    assert [now_ms - 5] == read_times(store, b"r")


@pytest.mark.parametrize("scheme", ["memory", "rocks"])
def test_a_delete_survives_major_compactions_until_the_purge_delay(
    scheme: str, tmp_path: Path
) -> None:
    """A delete stays while it is not older than the delay, and goes with the next compaction."""
    clock = Clock()
    with ENGINES[scheme].open(str(tmp_path / "place"), clock=clock) as engine:
        store = engine.create_table(build_spec(HOUR_MS))
        check_late_put(store, clock.ms)
        clock.ms += HOUR_MS - 10
        compact_to_one_file(store)
        assert CellType.DELETE_FAMILY in list_types(store)
        clock.ms += 1
        compact_to_one_file(store)
        assert [CellType.PUT] == list_types(store)
        with pytest.raises(InvalidArgument, match="'1h' is not a number of milliseconds"):
            store.replace_attributes({PURGE_DELAY_ATTRIBUTE: "1h"})


def list_types(store: Store) -> list[CellType]:
    """Return the types of the stored cells of the row."""
    return [cell.cell_type for cell in store.get([b"r"], CellSelection(raw=True, versions=9))[0][1]]


def test_a_table_attribute_makes_hbase_keep_young_deletes(hbase_engine: Engine) -> None:
    """A table attribute is enough for HBase's compactions to keep delete markers."""
    store = hbase_engine.create_table(build_spec(HOUR_MS))
    try:
        check_late_put(store, int(time.time() * 1_000))
    finally:
        hbase_engine.drop_table("kept_deletes")
