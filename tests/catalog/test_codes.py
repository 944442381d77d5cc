"""Ids of values in a catalog begin at 1, are unique, and are the same for all clients."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
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
    from rowkey.catalog import Catalog
    from rowkey.keys import Field


class CountingCatalog:
    """A catalog that counts its writes."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.writes = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.catalog, name)

    def write(self, table: str, entry: CatalogEntry, expected: int | None) -> int:
        """Write the entry and count the write."""
        self.writes += 1
        return self.catalog.write(table, entry, expected)


def open_dictionary(catalog: Any, fields: Mapping[str, Field] = DESIGN.fields) -> CatalogDictionary:
    """Return a dictionary on the catalog, as another client would open it."""
    return CatalogDictionary(catalog, "logs", fields)


@pytest.fixture
def catalog() -> CountingCatalog:
    """Return a catalog with an entry of the table."""
    made = open_catalog("memory:")
    made.write("logs", CatalogEntry.from_design(DESIGN, (), 0), None)
    return CountingCatalog(made)


def test_ids_are_given_in_order_of_arrival_and_do_not_change(catalog: CountingCatalog) -> None:
    """Values get ids in the order of their arrival, and all clients see the same ids."""
    here, there = open_dictionary(catalog), open_dictionary(catalog)
    assert [1, 2, 1] == [here.assign_id("host", value) for value in ("a", "b", "a")]
    assert [2, 3, 1] == [there.assign_id("host", value) for value in ("b", "c", "a")]
    assert ("c", 3) == (here.find_value("host", 3), here.find_id("host", "c"))
    assert catalog.writes == 3


def test_many_new_values_take_one_write_of_the_catalog(catalog: CountingCatalog) -> None:
    """Values learnt together get ids in their order, and known values keep their ids."""
    here = open_dictionary(catalog)
    here.assign_id("host", "b")
    here.assign_ids({"host": ["a", "b", "c", "a"]})
    assert [2, 1, 3] == [here.assign_id("host", value) for value in ("a", "b", "c")]
    assert catalog.writes == 2


def test_looking_up_an_unknown_value_or_id_writes_nothing(catalog: CountingCatalog) -> None:
    """Looking up an unknown value or id finds nothing and writes nothing."""
    here = open_dictionary(catalog)
    assert here.find_id("host", "a") is None
    for number in (0, 1, -1):
        with pytest.raises(
            InvalidArgument, match=rf"no value with the id {number} for code\(host\)"
        ):
            here.find_value("host", number)
    assert catalog.writes == 0


def test_a_dictionary_snapshot_sees_no_later_ids(catalog: CountingCatalog) -> None:
    """A snapshot knows the ids of its time, allocates none, and sees no later ones."""
    here = open_dictionary(catalog)
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


def test_ids_of_a_dropped_table_are_not_mixed_with_those_of_its_successor(
    catalog: CountingCatalog,
) -> None:
    """Ids of a dropped table are not mixed with those of a new table of the same name."""
    here = open_dictionary(catalog)
    here.assign_id("host", "a")
    catalog.remove("logs")
    with pytest.raises(Unavailable, match="the catalog has no entry for this table"):
        here.assign_id("host", "b")
    catalog.write("logs", CatalogEntry.from_design(DESIGN, (), 1), None)
    open_dictionary(catalog).assign_id("host", "z")
    with pytest.raises(
        Unavailable,
        match=r"lists other ids for the values of host than when .*Open the table again",
    ):
        here.assign_id("host", "b")


def test_threads_that_share_a_dictionary_give_each_value_one_id(catalog: CountingCatalog) -> None:
    """Threads on one dictionary and on several allocate each id once and each value one id."""
    here = open_dictionary(catalog)
    found: list[tuple[str, int]] = []

    def ask(dictionary: CatalogDictionary, start: int) -> None:
        names = [f"v{number}" for number in range(start, start + 60)]
        found.extend((name, dictionary.assign_id("host", name)) for name in names)

    clients = [here] * 4 + [open_dictionary(catalog) for _ in range(4)]
    threads = [Thread(target=ask, args=(one, 20 * n)) for n, one in enumerate(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ids = dict(found)
    assert len(set(found)) == len(ids) == len(set(ids.values())) == 200
    assert list(range(1, 201)) == sorted(ids.values())


@given(st.data())
def test_a_value_of_any_type_is_read_back_from_its_id(data: st.DataObject) -> None:
    """A value of any type is read back by a client that opens the table later."""
    fields = data.draw(any_fields())
    name = data.draw(st.sampled_from(sorted(fields)))
    field = fields[name]
    given_ = data.draw(st.lists(values(field).map(field.normalize), min_size=1, max_size=5))
    catalog = open_catalog("memory:")
    catalog.write("logs", CatalogEntry("", (Generation(1, {}, (), 0),)), None)
    first = open_dictionary(catalog, fields)
    ids = [first.assign_id(name, value) for value in given_]
    second = open_dictionary(catalog, fields)
    assert ids == [second.find_id(name, value) for value in given_]
    assert given_ == [second.find_value(name, number) for number in ids]


def test_another_process_decodes_keys_with_the_ids_of_the_catalog(tmp_path: Path) -> None:
    """A table writes the ids of the catalog, and another process decodes its keys."""
    where = f"file:{tmp_path}"
    open_catalog(where).write("logs", CatalogEntry.from_design(DESIGN, (), 0), None)
    writer = DESIGN.copy_with_dictionary(open_dictionary(open_catalog(where)))
    key = writer.key.encode({"host": "web-1", "n": 7})
    reader = DESIGN.copy_with_dictionary(open_dictionary(open_catalog(where)))
    assert "000000010000000000000007" == key.hex()
    assert {"host": "web-1", "n": 7} == reader.key.decode(key)
