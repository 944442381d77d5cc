from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engines.store_calls import compact_to_one_file, delete, put, read_times, read_values, scan_keys
from rowkey.cells import CellType, Family

if TYPE_CHECKING:
    from engines.benches import Bench
    from rowkey.engines import Store


def test_a_read_returns_the_version_with_the_highest_timestamp(versioned_store: Store) -> None:
    """A read returns the version with the highest timestamp, in any order of puts."""
    for at in (2, 3, 1):
        put(versioned_store, b"r", at=at)
    assert [3] == read_times(versioned_store, b"r")
    assert [3, 2] == read_times(versioned_store, b"r", versions=2)


@pytest.mark.claims(26)
def test_a_read_returns_no_more_versions_than_the_family_keeps(store: Store) -> None:
    """A read returns no more versions than the family keeps, even if more are stored."""
    for at in (1, 2, 3):
        put(store, b"r", at=at)
    assert [3] == read_times(store, b"r", versions=9)
    assert [3, 2, 1] == read_times(store, b"r", versions=9, raw=True)


def test_a_put_with_an_existing_timestamp_replaces_the_earlier_put(store: Store) -> None:
    put(store, b"r", at=1, value=b"first")
    put(store, b"r", at=1, value=b"second")
    assert [b"second"] == read_values(store, b"r", versions=9, raw=True)


@pytest.mark.claims(25)
def test_a_compaction_drops_surplus_versions(versioned_store: Store) -> None:
    """A compaction drops surplus versions, a flush does not."""
    for at in range(1, 6):
        put(versioned_store, b"r", at=at)
    versioned_store.flush()
    assert [5, 4, 3, 2, 1] == read_times(versioned_store, b"r", versions=9, raw=True)
    versioned_store.compact(major=True)
    assert [5, 4, 3] == read_times(versioned_store, b"r", versions=9, raw=True)


def test_a_time_range_includes_its_start_and_excludes_its_end(versioned_store: Store) -> None:
    for at in (1, 2, 3):
        put(versioned_store, b"r", at=at)
    assert [2] == read_times(versioned_store, b"r", versions=9, time_range=(2, 3))
    assert [] == read_times(versioned_store, b"r", versions=9, time_range=(4, 9))
    assert [] == read_times(versioned_store, b"r", versions=9, time_range=(2, 2))


def test_a_time_range_finds_an_older_stored_version(store: Store) -> None:
    """An older version is found by a time range while it is stored."""
    for at in (1, 2, 3):
        put(store, b"r", at=at)
    assert [2] == read_times(store, b"r", time_range=(0, 3))


def test_without_keep_deleted_a_read_of_an_earlier_time_hides_deleted_cells(
    versioned_store: Store,
) -> None:
    """Without keep_deleted a read of an earlier time does not show deleted cells."""
    put(versioned_store, b"r", at=1)
    delete(versioned_store, b"r", CellType.DELETE_FAMILY, 5)
    assert [] == read_times(versioned_store, b"r", time_range=(0, 3))


@pytest.mark.parametrize("keep", ["TRUE", "TTL"])
def test_with_keep_deleted_a_read_before_a_delete_shows_the_cells(keep: str, bench: Bench) -> None:
    """With keep_deleted a read before a delete shows the cells, after a compaction too."""
    store = bench.create([Family("d", versions=3, keep_deleted=keep)])
    put(store, b"r", at=1)
    delete(store, b"r", CellType.DELETE_COLUMN, 5, b"q")
    for _ in range(2):
        assert [] == read_times(store, b"r")
        assert [1] == read_times(store, b"r", time_range=(0, 5))
        assert [] == read_times(store, b"r", time_range=(0, 6))
        compact_to_one_file(store)


def test_a_compaction_drops_a_kept_delete_with_the_versions_around_it(bench: Bench) -> None:
    """A compaction drops a kept delete together with the versions around it."""
    store = bench.create([Family("d", keep_deleted="TRUE")])
    put(store, b"r", at=1)
    delete(store, b"r", CellType.DELETE, 1, b"q")
    put(store, b"r", at=2)
    compact_to_one_file(store)
    assert [2, 1] == read_times(store, b"r", versions=9, raw=True)
    put(store, b"r", at=1)
    compact_to_one_file(store)
    put(store, b"r", at=3)
    put(store, b"r", at=4)
    compact_to_one_file(store)
    assert [4] == read_times(store, b"r", versions=9, raw=True)


def test_a_scan_leaves_out_rows_without_a_cell_in_its_time_range(versioned_store: Store) -> None:
    put(versioned_store, b"a", at=1)
    put(versioned_store, b"b", at=2)
    assert [b"b"] == scan_keys(versioned_store, time_range=(2, 9))
