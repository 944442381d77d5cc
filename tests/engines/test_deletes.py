from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engines.store_calls import (
    compact_to_one_file,
    delete,
    put,
    read_columns,
    read_times,
    read_values,
    scan_keys,
    scan_pieces,
)
from rowkey.cells import Cell, CellType, Family, RowCells
from rowkey.engines import CellSelection

if TYPE_CHECKING:
    from engines.benches import Bench
    from rowkey.engines import Store

EVERY_KIND = [kind for kind in CellType if kind != CellType.PUT]


def test_delete_hides_only_the_put_of_its_timestamp(versioned_store: Store) -> None:
    """DELETE hides the put of its timestamp, and nothing else."""
    for at in (1, 2, 3):
        put(versioned_store, b"r", at=at)
    delete(versioned_store, b"r", CellType.DELETE, 2, b"q")
    assert [3, 1] == read_times(versioned_store, b"r", versions=3)


def test_delete_column_hides_all_versions_up_to_its_timestamp(versioned_store: Store) -> None:
    for at in (1, 2, 3):
        put(versioned_store, b"r", at=at)
        put(versioned_store, b"r", b"other", at)
    delete(versioned_store, b"r", CellType.DELETE_COLUMN, 2, b"q")
    assert [3, 2, 1, 3] == read_times(versioned_store, b"r", versions=3)


def test_delete_family_hides_all_columns_of_its_family_up_to_its_timestamp(bench: Bench) -> None:
    """DELETE_FAMILY hides all columns of its family up to its timestamp, and no other family."""
    store = bench.create([Family("d", versions=3), Family("e")])
    for at in (1, 2, 3):
        put(store, b"r", at=at)
    put(store, b"r", b"a", 2)
    put(store, b"r", at=1, family="e")
    delete(store, b"r", CellType.DELETE_FAMILY, 2)
    assert [("d", b"q"), ("e", b"q")] == read_columns(store, b"r", versions=3)


@pytest.mark.parametrize("kind", [CellType.DELETE_FAMILY, CellType.DELETE_FAMILY_VERSION])
def test_a_read_of_a_qualifier_range_shows_no_cells_of_a_deleted_family(
    kind: CellType, bench: Bench
) -> None:
    """A delete of a family hides the cells of a qualifier range below a newer empty qualifier."""
    store = bench.create([Family("d")])
    put(store, b"a", b"r", 10)
    delete(store, b"a", kind, 10)
    for row in (b"a", b"b"):
        put(store, row, b"", 30)
        put(store, row, b"q", 30, b"before")
        put(store, row, b"r\0", 30, b"in")
        put(store, row, b"s", 30, b"after")
    for bounds in ((b"r", b"s"), (b"qq", b"r\1")):
        assert [b"in"] == read_values(store, b"a", qualifier_range=bounds)
        found = scan_pieces(store, qualifier_range=bounds)
        assert [(b"a", [b"in"]), (b"b", [b"in"])] == [
            (row.row, [cell.value for cell in row.cells]) for row in found
        ]
    assert [b"in", b"after"] == read_values(store, b"a", qualifier_range=(b"r", b""))


def test_delete_family_version_hides_the_puts_of_exactly_its_timestamp(
    versioned_store: Store,
) -> None:
    """DELETE_FAMILY_VERSION hides the puts of all columns with its very timestamp."""
    for at in (1, 2, 3):
        put(versioned_store, b"r", b"a", at)
        put(versioned_store, b"r", b"b", at)
    delete(versioned_store, b"r", CellType.DELETE_FAMILY_VERSION, 2)
    assert [3, 1, 3, 1] == read_times(versioned_store, b"r", versions=3)


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_a_put_after_a_delete_of_the_same_timestamp_stays_hidden(
    kind: CellType, store: Store
) -> None:
    """A put of the same timestamp stays hidden although it comes after the delete."""
    qualifier = b"q" if kind in (CellType.DELETE, CellType.DELETE_COLUMN) else b""
    delete(store, b"r", kind, 5, qualifier)
    put(store, b"r", at=5)
    assert [] == read_times(store, b"r")
    assert [] == scan_keys(store)


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_a_put_after_a_major_compaction_is_not_hidden_by_an_earlier_delete(
    kind: CellType, store: Store
) -> None:
    """A compaction drops the delete, so that a put of its timestamp is seen from then on."""
    qualifier = b"q" if kind in (CellType.DELETE, CellType.DELETE_COLUMN) else b""
    put(store, b"r", at=5)
    delete(store, b"r", kind, 5, qualifier)
    compact_to_one_file(store)
    assert [] == read_times(store, b"r", raw=True)
    put(store, b"r", at=5)
    assert [5] == read_times(store, b"r")


def test_deleting_the_newest_version_reveals_the_previous_one(versioned_store: Store) -> None:
    """After a delete of the newest version the one below is visible, also after a flush."""
    put(versioned_store, b"r", at=1, value=b"old")
    put(versioned_store, b"r", at=2, value=b"new")
    delete(versioned_store, b"r", CellType.DELETE, 2, b"q")
    assert [b"old"] == read_values(versioned_store, b"r")
    versioned_store.flush()
    assert [b"old"] == read_values(versioned_store, b"r")


def test_a_surplus_version_is_revealed_by_a_delete_until_a_compaction(store: Store) -> None:
    """A surplus old version is visible after a delete until a compaction drops it."""
    for at in (1, 2):
        put(store, b"lost", at=at)
        put(store, b"found", at=at)
    delete(store, b"found", CellType.DELETE, 2, b"q")
    assert [1] == read_times(store, b"found")
    compact_to_one_file(store)
    delete(store, b"lost", CellType.DELETE, 2, b"q")
    assert [1] == read_times(store, b"found")
    assert [] == read_times(store, b"lost")


def test_a_delete_without_timestamp_hides_the_newest_version(versioned_store: Store) -> None:
    """DELETE without a timestamp hides the newest version there is, two of them the two newest."""
    for at in (1, 2, 3, 4):
        put(versioned_store, b"r", at=at)
    delete(versioned_store, b"r", CellType.DELETE, qualifier=b"q")
    assert [3, 2, 1] == read_times(versioned_store, b"r", versions=9)
    hide = Cell("d", b"q", 2**63 - 1, cell_type=CellType.DELETE)
    versioned_store.mutate([RowCells(b"r", [hide, hide])])
    assert [1] == read_times(versioned_store, b"r", versions=9)


def test_a_delete_sees_what_earlier_mutations_of_its_call_put(versioned_store: Store) -> None:
    """A later delete of the newest version sees what an earlier mutation of the call has put."""
    hide = Cell("d", b"q", 2**63 - 1, cell_type=CellType.DELETE)
    put(versioned_store, b"r", at=1)
    versioned_store.mutate([RowCells(b"r", [Cell("d", b"q", 2)]), RowCells(b"r", [hide])])
    assert [1] == read_times(versioned_store, b"r", versions=9)


def test_a_family_delete_is_found_below_newer_versions_of_the_empty_column(store: Store) -> None:
    """A delete of a family is found below other versions of the empty column (HBASE-18471)."""
    for at in (3, 4, 5):
        put(store, b"r", b"", at)
    put(store, b"r", b"q", 1)
    delete(store, b"r", CellType.DELETE_FAMILY, 2)
    assert [("d", b"")] == read_columns(store, b"r")


def test_a_raw_read_returns_deletes_and_the_cells_they_hide(versioned_store: Store) -> None:
    """A raw read returns deletes in their order and the cells that they hide."""
    put(versioned_store, b"r", at=1)
    put(versioned_store, b"r", at=2)
    for kind in EVERY_KIND:
        qualifier = b"q" if kind in (CellType.DELETE, CellType.DELETE_COLUMN) else b""
        delete(versioned_store, b"r", kind, 2, qualifier)
    (row,) = versioned_store.get([b"r"], CellSelection(raw=True, versions=9))
    kinds = [(cell.qualifier, cell.timestamp, cell.cell_type) for cell in row.cells]
    assert [
        (b"", 2, CellType.DELETE_FAMILY),
        (b"", 2, CellType.DELETE_FAMILY_VERSION),
        (b"q", 2, CellType.DELETE_COLUMN),
        (b"q", 2, CellType.DELETE),
        (b"q", 2, CellType.PUT),
        (b"q", 1, CellType.PUT),
    ] == kinds
