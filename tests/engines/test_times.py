from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engines.store_calls import (
    compact_to_one_file,
    delete,
    put,
    read_counts,
    read_times,
    read_values,
)
from rowkey.cells import Cell, CellType, Family, RowCells
from rowkey.engines import CellCondition

if TYPE_CHECKING:
    from engines.benches import Bench


@pytest.mark.claims(28)
def test_a_cell_is_visible_until_its_family_ttl_ends(bench: Bench) -> None:
    """A cell is visible while its timestamp is at least now - TTL."""
    store = bench.create([Family("d", ttl_s=2)])
    start = bench.now()
    put(store, b"r", at=start)
    bench.advance(2_000)
    assert [start] == read_times(store, b"r")
    bench.advance(1)
    assert [] == read_times(store, b"r")
    assert [start] == read_times(store, b"r", raw=True)
    compact_to_one_file(store)
    assert [] == read_times(store, b"r", raw=True)


def test_a_cell_is_visible_until_its_own_ttl_ends(bench: Bench) -> None:
    """A cell with its own time to live is visible while timestamp + TTL >= now."""
    store = bench.create([Family("d", versions=2)])
    start = bench.now()
    put(store, b"r", at=start - 1, value=b"old")
    put(store, b"r", at=start, value=b"new", ttl_ms=500)
    bench.advance(500)
    assert [b"new"] == read_values(store, b"r")
    bench.advance(1)
    assert [b"old"] == read_values(store, b"r")
    assert [b"old"] == read_values(store, b"r", raw=True, versions=9)


@pytest.mark.claims(30)
def test_the_ttl_of_a_cell_cannot_lengthen_that_of_its_family(bench: Bench) -> None:
    """A cell's own time to live cannot lengthen its family's."""
    store = bench.create([Family("d", ttl_s=1)])
    put(store, b"r", at=bench.now(), ttl_ms=60_000)
    bench.advance(1_001)
    assert [] == read_times(store, b"r")


@pytest.mark.claims(28)
def test_a_ttl_counts_from_the_timestamp_of_the_cell(bench: Bench) -> None:
    """A time to live counts from the cell's timestamp and not from the put."""
    store = bench.create([Family("d")])
    put(store, b"r", at=bench.now() - 1_000, ttl_ms=500)
    assert [] == read_times(store, b"r")


@pytest.mark.claims(27)
def test_min_versions_keep_the_newest_version_after_its_ttl(bench: Bench) -> None:
    """With min_versions the newest version stays after its time to live, and a compaction."""
    store = bench.create([Family("d", versions=3, ttl_s=1, min_versions=1)])
    start = bench.now()
    for back in (3, 2, 1):
        put(store, b"r", at=start - back)
    bench.advance(5_000)
    for _ in range(2):
        assert [start - 1] == read_times(store, b"r", versions=9)
        compact_to_one_file(store)
    assert [start - 1] == read_times(store, b"r", versions=9, raw=True)


def test_deletes_kept_by_ttl_disappear_when_the_ttl_ends(bench: Bench) -> None:
    """With keep_deleted TTL a delete and what it hides go when their time is over."""
    family = Family("d", versions=3, ttl_s=2, min_versions=1, keep_deleted="TTL")
    store = bench.create([family])
    start = bench.now()
    put(store, b"r", at=start)
    delete(store, b"r", CellType.DELETE_COLUMN, start, b"q")
    compact_to_one_file(store)
    assert [start, start] == read_times(store, b"r", versions=9, raw=True)
    bench.advance(2_001)
    compact_to_one_file(store)
    assert [] == read_times(store, b"r", versions=9, raw=True)


def test_a_put_without_timestamp_gets_the_time_of_the_engine(bench: Bench) -> None:
    """Puts and deletes without a timestamp get the engine's time."""
    store = bench.create([Family("d", versions=3)])
    put(store, b"r")
    first = bench.now()
    bench.advance(7)
    put(store, b"r")
    assert [first + 7, first] == read_times(store, b"r", versions=9)
    delete(store, b"r", CellType.DELETE_FAMILY)
    assert [] == read_times(store, b"r")
    put(store, b"r")
    assert [] == read_times(store, b"r")
    bench.advance(1)
    put(store, b"r")
    assert [first + 8] == read_times(store, b"r")


def test_an_increment_of_a_cell_from_the_future_is_1_ms_later(bench: Bench) -> None:
    """An increment of a cell from the future is 1 ms later and keeps its time to live."""
    store = bench.create([Family("d")])
    ahead = bench.now() + 1_000
    put(store, b"r", b"n", ahead, bytes(8), ttl_ms=500)
    put(store, b"r", b"s", ahead, b"x")
    assert [1] == read_counts(store.increment(b"r", [("d", b"n", 1)]))
    assert [b"xy"] == [cell.value for cell in store.append(b"r", [("d", b"s", b"y")])]
    assert [ahead + 1, ahead + 1] == read_times(store, b"r")
    bench.advance(1_502)
    assert [b"xy"] == read_values(store, b"r")


def test_a_conditional_put_is_visible_although_the_compared_cell_is_from_the_future(
    bench: Bench,
) -> None:
    """A conditional put is visible even if the compared cell is from the future."""
    store = bench.create([Family("d")])
    ahead = bench.now() + 1_000
    put(store, b"r", at=ahead, value=b"old")
    new = Cell("d", b"q", 2**63 - 1, b"new")
    assert store.check_and_mutate(b"r", CellCondition("d", b"q", "=", b"old"), [new])
    assert [b"new"] == read_values(store, b"r")
    assert [ahead] == read_times(store, b"r")


def test_a_scan_returns_cells_that_lived_when_it_was_opened(bench: Bench) -> None:
    """A scan returns cells that lived when the scan was opened, however late."""
    from rowkey.engines import ScanRange

    store = bench.create([Family("d", ttl_s=1)])
    store.mutate([RowCells(row, [Cell("d", b"q", bench.now())]) for row in (b"a", b"b")])
    (cursor,) = store.scan([ScanRange()])
    rows = iter(cursor)
    assert b"a" == next(rows).row
    bench.advance(5_000)
    assert b"b" == next(rows).row
    cursor.close()
