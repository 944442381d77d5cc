"""A subclass of a store must implement every required method."""

from __future__ import annotations

from inspect import isabstract
from pathlib import Path

import pytest

from rowkey.engines import TableSpec, open_engine
from rowkey.engines.contract import Store


def test_a_store_class_without_spec_cannot_be_instantiated() -> None:
    """A store class without `spec` cannot be instantiated, and a complete one can."""
    asked = sorted(Store.__abstractmethods__)
    assert "spec" in asked
    answers = {name: Store.__dict__.get(name) for name in asked if name != "spec"}
    lacking = type("Lacking", (Store,), {name: lambda _: None for name in answers})
    whole = type("Whole", (lacking,), {"spec": None})
    assert (True, False) == (isabstract(lacking), isabstract(whole))
    with pytest.raises(TypeError, match=r"abstract method.* spec"):
        lacking()


@pytest.mark.parametrize("kind", ["memory:", "rocks:{}"])
def test_the_spec_of_a_store_cannot_be_assigned(kind: str, tmp_path: Path) -> None:
    """The `spec` of each engine's store cannot be assigned."""
    from rowkey.cells import Family

    with open_engine(kind.format(tmp_path)) as engine:
        store = engine.create_table(TableSpec("t", (Family("d"),), (b"m",)))
        assert ("t", (b"m",)) == (store.spec.name, store.spec.splits)
        with pytest.raises(AttributeError):
            store.spec = TableSpec("u", ())  # type: ignore[misc]
