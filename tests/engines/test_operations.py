"""Optional operations of an engine's store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rowkey.cells import Cell, Family, RowCells
from rowkey.engines import ScanRange, Store, TableSpec, open_engine
from rowkey.errors import NotSupported


class SmallStore(Store):
    """A store with only the required operations."""

    def __init__(self, store: Store) -> None:
        self.store = store

    @property
    def spec(self) -> TableSpec:
        return self.store.spec

    @property
    def row_clock(self) -> Any:
        return self.store.row_clock

    def get(self, *arguments: Any) -> Any:
        return self.store.get(*arguments)

    def scan(self, *arguments: Any) -> Any:
        return self.store.scan(*arguments)

    def mutate(self, *arguments: Any, **options: Any) -> None:
        self.store.mutate(*arguments, **options)

    def load_blocks(self, *arguments: Any) -> None:
        self.store.load_blocks(*arguments)

    def increment(self, *arguments: Any, **options: Any) -> Any:
        return self.store.increment(*arguments, **options)

    def append(self, *arguments: Any, **options: Any) -> Any:
        return self.store.append(*arguments, **options)

    def check_and_mutate(self, *arguments: Any, **options: Any) -> Any:
        return self.store.check_and_mutate(*arguments, **options)

    def close(self) -> None:
        self.store.close()


OPERATIONS: dict[str, Callable[[Store], object]] = {
    "list the regions": lambda store: store.list_regions(),
    "list the regions of": lambda store: store.list_open_regions(),
    "split": lambda store: store.split(b"m"),
    "alter": lambda store: store.alter_families([Family("e")]),
    "change the attributes": lambda store: store.replace_attributes({}),
    "flush": lambda store: store.flush(),
    "compact": lambda store: store.compact(),
    "measure": lambda store: store.measure_size_bytes(),
    "snapshot": lambda store: store.snapshot(),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_that_a_store_does_not_override_raises_not_supported(operation: str) -> None:
    """An operation that a store does not override raises NotSupported with its name."""
    with open_engine("memory:") as engine:
        store = SmallStore(engine.create_table(TableSpec("t", (Family("d"),))))
        with pytest.raises(NotSupported, match=f"the engine of SmallStore cannot .*{operation}"):
            OPERATIONS[operation](store)


def test_a_store_without_optional_operations_still_reads_and_writes() -> None:
    """A store that lacks all operations still writes, reads and scans rows."""
    row = RowCells(b"r", [Cell("d", b"q", 1, b"v")])
    with open_engine("memory:") as engine:
        store = SmallStore(engine.create_table(TableSpec("t", (Family("d"),))))
        store.mutate([row])
        [cursor] = store.scan([ScanRange()])
        assert [row] == store.get([b"r"]) == list(cursor)
        assert ({}, ("d",)) == (
            store.unmodeled_attributes,
            tuple(family.name for family in store.families_and_attributes[0]),
        )
