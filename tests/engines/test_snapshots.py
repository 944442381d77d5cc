"""A snapshot keeps the rows and the families of its time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engines.store_calls import put, read_times
from rowkey.cells import Family, RowCells
from rowkey.engines import CellSelection
from rowkey.errors import InvalidArgument

if TYPE_CHECKING:
    from engines.benches import Bench


def test_a_snapshot_keeps_its_family_attributes(bench: Bench) -> None:
    """An altered family affects reads of the table and not of the snapshot."""
    store = bench.create([Family("d", versions=2)])
    for at in (1, 2, 3):
        put(store, b"r", at=at)
    kept = store.snapshot()
    store.alter_families([Family("d", versions=1)])
    assert [3] == read_times(store, b"r", versions=9)
    assert [3, 2] == read_times(kept, b"r", versions=9)
    store.alter_families([Family("d", versions=3)])
    assert [3, 2] == read_times(kept, b"r", versions=9)
    kept.close()


def test_a_snapshot_does_not_have_a_family_added_later(bench: Bench) -> None:
    store = bench.create([Family("d")])
    put(store, b"r", at=1)
    kept = store.snapshot()
    store.alter_families([Family("new")])
    put(store, b"r", at=2, family="new")
    assert [1, 2] == read_times(store, b"r")
    assert [1] == read_times(kept, b"r")
    assert [RowCells(b"r", kept.get([b"r"])[0].cells)] == kept.get(
        [b"r"], CellSelection(columns={"d": ()})
    )
    with pytest.raises(InvalidArgument, match="new"):
        kept.get([b"r"], CellSelection(columns={"new": ()}))
    kept.close()
