"""Ids of values through a catalog: from 1, each once, the same for everyone and after a restart."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.writers import DESIGN
from rowkey.catalog import CatalogDictionary, CatalogEntry, Generation, open_catalog
from rowkey.errors import InvalidArgument, RowError, Unavailable
from strategies import fields as any_fields
from strategies import values

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rowkey.catalog import Catalog
    from rowkey.keys import Field


class Counting:
    """A catalog that counts how often it is written."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.writes = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.catalog, name)

    def write(self, table: str, entry: CatalogEntry, expected: int | None) -> int:
        """Write, and count."""
        self.writes += 1
        return self.catalog.write(table, entry, expected)


def known(catalog: Any, fields: Mapping[str, Field] = DESIGN.fields) -> CatalogDictionary:
    """A dictionary over a catalog, as another client would open it."""
    return CatalogDictionary(catalog, "logs", fields)


@pytest.fixture
def catalog() -> Counting:
    """A catalog that remembers the table."""
    made = open_catalog("memory:")
    made.write("logs", CatalogEntry.from_design(DESIGN, (), 0), None)
    return Counting(made)


def test_ids_begin_at_one_and_stay(catalog: Counting) -> None:
    """Values get their ids in the order of their coming, and everyone sees the same."""
    here, there = known(catalog), known(catalog)
    assert [1, 2, 1] == [here.assign_id("host", value) for value in ("a", "b", "a")]
    assert [2, 3, 1] == [there.assign_id("host", value) for value in ("b", "c", "a")]
    assert ("c", 3) == (here.find_value("host", 3), here.find_id("host", "c"))
    assert catalog.writes == 3


def test_many_values_take_one_write(catalog: Counting) -> None:
    """Values learnt together are numbered in their order; those that have an id keep it."""
    here = known(catalog)
    here.assign_id("host", "b")
    here.assign_ids({"host": ["a", "b", "c", "a"]})
    assert [2, 1, 3] == [here.assign_id("host", value) for value in ("a", "b", "c")]
    assert catalog.writes == 2


def test_asking_gives_no_id(catalog: Counting) -> None:
    """What has no id is not known, its number is refused, and nothing is written."""
    here = known(catalog)
    assert here.find_id("host", "a") is None
    for number in (0, 1, -1):
        with pytest.raises(
            InvalidArgument, match=rf"no value with the id {number} for code\(host\)"
        ):
            here.find_value("host", number)
    assert catalog.writes == 0


def test_a_snapshot_stands_still(catalog: Counting) -> None:
    """It knows what was given before it was taken, gives no id, and hears of none."""
    here = known(catalog)
    here.assign_id("host", "a")
    then = here.take_snapshot()
    here.assign_id("host", "b")
    assert (1, "a", None) == (
        then.assign_id("host", "a"), then.find_value("host", 1), then.find_id("host", "b")
    )  # fmt: skip
    with pytest.raises(RowError, match=r"code\(host\) has no id for the value 'b'"):
        then.assign_id("host", "b")
    with pytest.raises(InvalidArgument, match="no value with the id 2"):
        then.find_value("host", 2)


def test_a_recreated_table_is_noticed(catalog: Counting) -> None:
    """Ids of a dropped table are not mixed with those of the next table of its name."""
    here = known(catalog)
    here.assign_id("host", "a")
    catalog.remove("logs")
    with pytest.raises(Unavailable, match="the catalog has no entry for it"):
        here.assign_id("host", "b")
    catalog.write("logs", CatalogEntry.from_design(DESIGN, (), 1), None)
    known(catalog).assign_id("host", "z")
    with pytest.raises(
        Unavailable,
        match=r"lists other ids for the values of host than when .*Open the table again",
    ):
        here.assign_id("host", "b")


def test_threads_share_a_dictionary(catalog: Counting) -> None:
    """Four threads on one dictionary, and four on their own: no id twice, no value with two."""
    here = known(catalog)
    found: list[tuple[str, int]] = []

    def ask(dictionary: CatalogDictionary, start: int) -> None:
        names = [f"v{number}" for number in range(start, start + 60)]
        found.extend((name, dictionary.assign_id("host", name)) for name in names)

    clients = [here] * 4 + [known(catalog) for _ in range(4)]
    threads = [Thread(target=ask, args=(one, 20 * n)) for n, one in enumerate(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ids = dict(found)
    assert len(set(found)) == len(ids) == len(set(ids.values())) == 200
    assert list(range(1, 201)) == sorted(ids.values())


@given(st.data())
def test_values_of_every_type_come_back(data: st.DataObject) -> None:
    """What was given an id is read as the same value by a client that opens the table later."""
    fields = data.draw(any_fields())
    name = data.draw(st.sampled_from(sorted(fields)))
    field = fields[name]
    given_ = data.draw(st.lists(values(field).map(field.normalize), min_size=1, max_size=5))
    catalog = open_catalog("memory:")
    catalog.write("logs", CatalogEntry("", (Generation(1, {}, (), 0),)), None)
    first = known(catalog, fields)
    ids = [first.assign_id(name, value) for value in given_]
    second = known(catalog, fields)
    assert ids == [second.find_id(name, value) for value in given_]
    assert given_ == [second.find_value(name, number) for number in ids]


def test_keys_are_written_and_read_by_the_ids_of_the_catalog(tmp_path: Path) -> None:
    """A design in use writes ids of the catalog, and another process reads its keys."""
    where = f"file:{tmp_path}"
    open_catalog(where).write("logs", CatalogEntry.from_design(DESIGN, (), 0), None)
    writer = DESIGN.copy_with_dictionary(known(open_catalog(where)))
    key = writer.key.encode({"host": "web-1", "n": 7})
    reader = DESIGN.copy_with_dictionary(known(open_catalog(where)))
    assert "000000010000000000000007" == key.hex()
    assert {"host": "web-1", "n": 7} == reader.key.decode(key)
