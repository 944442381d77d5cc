"""Ids of many new values are allocated by one catalog write, and never beyond the width."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import rowkey
from catalog.writers import DESIGN
from rowkey.catalog import CatalogDictionary, CatalogEntry, open_catalog
from rowkey.catalog.stores.file import FileCatalog
from rowkey.errors import BatchError, RowError
from rowkey.keys import FirstSeenDictionary, bind_key

FIELDS: dict[str, Any] = {"host": "text", "app": "text", "n": "u32", "size": "u32"}
NARROW = 255
"""The number of ids that fit one byte."""


@pytest.fixture
def written_tables(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that collects the table of each catalog write."""
    listed: list[str] = []
    truth = FileCatalog.write

    def write(self: FileCatalog, table: str, entry: CatalogEntry, expected: int | None) -> int:
        listed.append(table)
        return truth(self, table, entry, expected)

    monkeypatch.setattr(FileCatalog, "write", write)
    return listed


def open_table(tmp_path: Path, key: str) -> Any:
    """Open a table with a key whose ids are stored in files."""
    named = {name: FIELDS[name] for name in FIELDS if name in key or name == "size"}
    design = rowkey.Design("logs", key, fields=named, catalog=f"file:{tmp_path / 'catalog'}")
    return rowkey.open(design, "memory:")


def list_codes(tmp_path: Path, name: str = "host") -> tuple[str, ...]:
    """Return the values of a field that have ids, in the order of the ids."""
    entry = open_catalog(f"file:{tmp_path / 'catalog'}").read("logs")
    assert entry is not None
    return entry.codes.get(name, ())


def build_rows(count: int, hosts: int, **more: Any) -> list[dict[str, Any]]:
    """Return rows that take some hosts in turn."""
    return [{"host": f"h{n % hosts}", "n": n, "size": n % 9, **more} for n in range(count)]


def test_a_batch_allocates_ids_for_all_new_values_together(
    tmp_path: Path, written_tables: list[str]
) -> None:
    """A batch that is sent in three parts writes the catalog three times, whatever the rows."""
    with open_table(tmp_path, "[code(host)][n]") as logs:
        written_tables.clear()
        rows = build_rows(300, 60)
        with logs.batch(100) as batch:
            for row in rows:
                batch.put(row)
        assert ["logs"] == written_tables
        with logs.batch(100) as batch:
            for number in range(300, 600):
                batch.replace({"host": f"h{number}", "n": number, "size": 1})
        assert ["logs"] * 4 == written_tables
        assert tuple(f"h{n}" for n in [*range(60), *range(300, 600)]) == list_codes(tmp_path)
        assert sorted(rows, key=lambda row: row["n"]) == sorted(
            logs.scan("n < 300"), key=lambda row: row["n"]
        )


def test_a_load_allocates_ids_for_all_new_values_of_a_block_together(
    tmp_path: Path, written_tables: list[str]
) -> None:
    """A block of a load writes the catalog once for all of its fields."""
    import pyarrow as pa

    rows = [row | {"app": f"a{row['n'] % 7}"} for row in build_rows(4_000, 500)]
    with open_table(tmp_path, "[code(host)][code(app)][n]") as logs:
        written_tables.clear()
        logs.load(pa.Table.from_pylist(rows))
        assert ["logs"] == written_tables
        assert tuple(f"h{n}" for n in range(500)) == list_codes(tmp_path)
        assert tuple(f"a{n}" for n in range(7)) == list_codes(tmp_path, "app")
        assert rows == sorted(logs.scan(), key=lambda row: int(row["n"]))


def test_a_batch_with_new_values_applies_the_changes_of_a_row_in_order(tmp_path: Path) -> None:
    """A batch applies the changes of a row with a new value in their order."""
    row = {"host": "a", "n": 1, "size": 1}
    with open_table(tmp_path, "[code(host)][n]") as logs:
        with logs.batch() as batch:
            batch.put(row)
            batch.delete(row)
            row["size"] = 2
            batch.put(row)
            row["size"] = 3  # what was put is not changed any more
        assert [{"host": "a", "n": 1, "size": 2}] == list(logs.scan())


def test_threads_with_their_own_catalogs_agree_on_one_id_per_value(tmp_path: Path) -> None:
    """Eight threads with their own catalogs that learn the same values agree on one id for each."""
    where = f"file:{tmp_path}"
    open_catalog(where).write("logs", CatalogEntry.from_design(DESIGN, (), 0), None)
    found: list[tuple[str, int]] = []

    def learn(number: int) -> None:
        own = CatalogDictionary(open_catalog(where), "logs", DESIGN.fields)
        for start in range(0, 200, 20):
            block = [f"v{(start + number * 30 + n) % 260}" for n in range(40)]
            own.assign_ids({"host": block})
            found.extend((value, own.assign_id("host", value)) for value in block)

    threads = [Thread(target=learn, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ids = dict(found)
    assert 8 * 400 == len(found)
    assert len(set(found)) == len(ids)
    assert list(range(1, len(ids) + 1)) == sorted(ids.values())


def test_a_value_whose_id_exceeds_the_width_is_refused_and_uses_no_id(tmp_path: Path) -> None:
    """Rows whose new values exceed the width are refused by every method, and no id is used."""
    import pyarrow as pa

    with open_table(tmp_path, "[code(host, width=1)][n]") as logs:
        with pytest.raises(BatchError) as refused, logs.batch() as batch:
            deque(map(batch.put, build_rows(300, 300)), maxlen=0)
        assert list(range(NARROW, 300)) == [number for number, _ in refused.value.row_errors]
        assert NARROW == len(list_codes(tmp_path)) == logs.count()
        new = {"host": "other", "n": 1, "size": 1}
        said = r"host: code\(host\) has no id left for a new value, .* 256; expected at most 255 "
        with pytest.raises(RowError, match=said):
            logs.put(new)
        with pytest.raises(RowError, match=said):
            logs.load(pa.Table.from_pylist([new]))
        logs.put({"host": "h7", "n": 1_000, "size": 1})
        assert NARROW == len(list_codes(tmp_path))


def test_a_block_with_a_value_beyond_the_width_allocates_no_ids(tmp_path: Path) -> None:
    """If one value of a block exceeds the width, the block gets no keys and no ids."""
    import pyarrow as pa

    with open_table(tmp_path, "[code(host, width=1)][n]") as logs:
        encode = logs.design.key.encode_batch
        with pytest.raises(
            RowError, match="no id left for a new value, which would get the id 256"
        ):
            encode(pa.Table.from_pylist(build_rows(300, 300)))
        assert () == list_codes(tmp_path)
        encode(pa.Table.from_pylist(build_rows(300, NARROW)))
        assert NARROW == len(list_codes(tmp_path))


def test_an_id_must_fit_the_narrowest_part_of_the_key() -> None:
    """A value gets no id if the id exceeds the width of one of the key's parts."""
    key = bind_key("[code(host, width=2)][code(host, width=1)]", {"host": "text"})
    assert key.dictionary is not None
    for number in range(NARROW):
        key.encode({"host": f"h{number}"})
    with pytest.raises(RowError, match="at most 255"):
        key.encode({"host": "other"})
    assert NARROW == key.dictionary.count_ids("host")


def test_concurrent_allocations_do_not_exceed_the_width_of_an_id(tmp_path: Path) -> None:
    """A client reads the ids of other clients before it allocates, so the width is not exceeded."""
    where = f"file:{tmp_path}"
    open_catalog(where).write("logs", CatalogEntry.from_design(DESIGN, (), 0), None)
    here, there = (CatalogDictionary(open_catalog(where), "logs", DESIGN.fields) for _ in range(2))
    there.assign_ids({"host": [f"h{n}" for n in range(NARROW)]}, {"host": NARROW})
    with pytest.raises(RowError, match="no id left for a new value, which would get the id 256"):
        here.assign_ids({"host": ["other"]}, {"host": NARROW})
    with pytest.raises(RowError, match="no id left for a new value, which would get the id 256"):
        here.assign_id("host", "other", NARROW)
    entry = open_catalog(where).read("logs")
    assert entry is not None
    assert NARROW == len(entry.codes["host"])
    assert 3 == here.assign_id("host", "h2", NARROW)


def test_a_simulated_dictionary_gives_no_id_above_the_width() -> None:
    some = FirstSeenDictionary()
    some.assign_ids({"host": ["a", "b"], "app": ["x"]}, {"host": 2})
    with pytest.raises(RowError, match="no id left for a new value, which would get the id 3"):
        some.assign_id("host", "c", 2)
    assert (2, 1) == (some.count_ids("host"), some.count_ids("app"))


def test_deleting_a_row_of_an_unknown_value_allocates_no_id(tmp_path: Path) -> None:
    """Deleting a row whose value has no id does nothing and allocates no id."""
    with open_table(tmp_path, "[code(host)][n]") as logs:
        logs.delete({"host": "a", "n": 1})
        with logs.batch() as batch:
            batch.delete({"host": "b", "n": 1})
        assert () == list_codes(tmp_path)
        with pytest.raises(RowError, match="the row has no value for this field"):
            logs.delete({"host": "a"})
        with pytest.raises(RowError, match="the design has no such field"):
            logs.delete({"host": "a", "n": 1, "other": 1})
        logs.put({"host": "a", "n": 1, "size": 1})
        logs.delete({"host": "a", "n": 1})
        assert [] == list(logs.scan())


def test_reading_a_row_of_an_unknown_value_allocates_no_id(tmp_path: Path) -> None:
    """Reading a row whose value has no id finds nothing and allocates no id."""
    with open_table(tmp_path, "[code(host)][n]") as logs:
        assert logs.get(host="a", n=1) is None
        assert [None, None] == logs.get_many([{"host": "a", "n": 1}, {"host": "b", "n": 2}])
        assert not logs.move({"host": "c", "n": 1}, n=2)
        assert () == list_codes(tmp_path)
        with pytest.raises(RowError, match="the row has no value for this field"):
            logs.get(host="a")
        with pytest.raises(RowError, match="the design has no such field"):
            logs.get(host="a", n=1, other=1)
        row = {"host": "b", "n": 2, "size": 3}
        logs.put(row)
        assert [None, row] == logs.get_many([{"host": "a", "n": 1}, row])
