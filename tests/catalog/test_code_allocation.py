"""Ids of many new values: one write of the catalog for a block, and none for what has no room."""

from __future__ import annotations

from collections import deque
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from catalog.writers import DESIGN
from rowkey.catalog import CatalogDictionary, CatalogEntry, open_catalog
from rowkey.catalog.stores.file import FileCatalog
from rowkey.errors import BatchError, RowError
from rowkey.keys import FirstSeenDictionary, bind_key

if TYPE_CHECKING:
    from pathlib import Path

FIELDS: dict[str, Any] = {"host": "text", "app": "text", "n": "u32", "size": "u32"}
NARROW = 255
"""Ids that one byte has room for."""


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tables whose entries were written, in their order."""
    listed: list[str] = []
    truth = FileCatalog.write

    def write(self: FileCatalog, table: str, entry: CatalogEntry, expected: int | None) -> int:
        listed.append(table)
        return truth(self, table, entry, expected)

    monkeypatch.setattr(FileCatalog, "write", write)
    return listed


def opened(tmp_path: Path, key: str) -> Any:
    """A table of a key, whose ids lie in files."""
    named = {name: FIELDS[name] for name in FIELDS if name in key or name == "size"}
    design = rowkey.Design("logs", key, fields=named, catalog=f"file:{tmp_path / 'catalog'}")
    return rowkey.open(design, "memory:")


def codes(tmp_path: Path, name: str = "host") -> tuple[str, ...]:
    """The values of a field that have ids, in the order of these."""
    entry = open_catalog(f"file:{tmp_path / 'catalog'}").read("logs")
    assert entry is not None
    return entry.codes.get(name, ())


def rows_of(count: int, hosts: int, **more: Any) -> list[dict[str, Any]]:
    """Rows of some hosts, in turn."""
    return [{"host": f"h{n % hosts}", "n": n, "size": n % 9, **more} for n in range(count)]


def test_a_batch_learns_its_new_values_together(tmp_path: Path, writes: list[str]) -> None:
    """Three sendings of a batch write the catalog three times, whatever they bring."""
    with opened(tmp_path, "[code(host)][n]") as logs:
        writes.clear()
        rows = rows_of(300, 60)
        with logs.batch(100) as batch:
            for row in rows:
                batch.put(row)
        assert ["logs"] == writes
        with logs.batch(100) as batch:
            for number in range(300, 600):
                batch.replace({"host": f"h{number}", "n": number, "size": 1})
        assert ["logs"] * 4 == writes
        assert tuple(f"h{n}" for n in [*range(60), *range(300, 600)]) == codes(tmp_path)
        assert sorted(rows, key=lambda row: row["n"]) == sorted(
            logs.scan("n < 300"), key=lambda row: row["n"]
        )


def test_a_load_learns_its_new_values_together(tmp_path: Path, writes: list[str]) -> None:
    """A block of a load writes the catalog once, for all of its fields."""
    import pyarrow as pa

    rows = [row | {"app": f"a{row['n'] % 7}"} for row in rows_of(20_000, 500)]
    with opened(tmp_path, "[code(host)][code(app)][n]") as logs:
        writes.clear()
        logs.load(pa.Table.from_pylist(rows))
        assert ["logs"] == writes
        assert tuple(f"h{n}" for n in range(500)) == codes(tmp_path)
        assert tuple(f"a{n}" for n in range(7)) == codes(tmp_path, "app")
        assert rows == sorted(logs.scan(), key=lambda row: int(row["n"]))


def test_changes_of_a_row_keep_their_order(tmp_path: Path) -> None:
    """What a batch does to one row whose value is new is done in the order it was told."""
    row = {"host": "a", "n": 1, "size": 1}
    with opened(tmp_path, "[code(host)][n]") as logs:
        with logs.batch() as batch:
            batch.put(row)
            batch.delete(row)
            row["size"] = 2
            batch.put(row)
            row["size"] = 3  # what was put is not changed any more
        assert [{"host": "a", "n": 1, "size": 2}] == list(logs.scan())


def test_two_catalogs_on_one_file_agree(tmp_path: Path) -> None:
    """Eight threads with catalogs of their own learn blocks that they share: one id for each."""
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


def test_an_id_without_room_is_not_given(tmp_path: Path) -> None:
    """Rows whose values have no room are refused, in whatever way they come; no id is used."""
    import pyarrow as pa

    with opened(tmp_path, "[code(host, width=1)][n]") as logs:
        with pytest.raises(BatchError) as refused, logs.batch() as batch:
            deque(map(batch.put, rows_of(300, 300)), maxlen=0)
        assert list(range(NARROW, 300)) == [number for number, _ in refused.value.row_errors]
        assert NARROW == len(codes(tmp_path)) == logs.count()
        new = {"host": "other", "n": 1, "size": 1}
        said = r"host: code\(host\) has no id left for a new value: .* 256; expected at most 255 "
        with pytest.raises(RowError, match=said):
            logs.put(new)
        with pytest.raises(RowError, match=said):
            logs.load(pa.Table.from_pylist([new]))
        logs.put({"host": "h7", "n": 1_000, "size": 1})
        assert NARROW == len(codes(tmp_path))


def test_a_block_without_room_gives_no_id(tmp_path: Path) -> None:
    """Of a block of columns all keys are made or none, and so are all ids given or none."""
    import pyarrow as pa

    with opened(tmp_path, "[code(host, width=1)][n]") as logs:
        encode = logs.design.key.encode_batch
        with pytest.raises(RowError, match="no id left for a new value: it would be 256"):
            encode(pa.Table.from_pylist(rows_of(300, 300)))
        assert () == codes(tmp_path)
        encode(pa.Table.from_pylist(rows_of(300, NARROW)))
        assert NARROW == len(codes(tmp_path))


def test_the_narrower_of_two_widths_counts() -> None:
    """A value that has room in one part of a key and not in the other gets no id."""
    key = bind_key("[code(host, width=2)][code(host, width=1)]", {"host": "text"})
    assert key.dictionary is not None
    for number in range(NARROW):
        key.encode({"host": f"h{number}"})
    with pytest.raises(RowError, match="at most 255"):
        key.encode({"host": "other"})
    assert NARROW == key.dictionary.count_ids("host")


def test_a_width_is_kept_though_others_allocate(tmp_path: Path) -> None:
    """A client that does not know yet what others were given finds out before it allocates."""
    where = f"file:{tmp_path}"
    open_catalog(where).write("logs", CatalogEntry.from_design(DESIGN, (), 0), None)
    here, there = (CatalogDictionary(open_catalog(where), "logs", DESIGN.fields) for _ in range(2))
    there.assign_ids({"host": [f"h{n}" for n in range(NARROW)]}, {"host": NARROW})
    with pytest.raises(RowError, match="no id left for a new value: it would be 256"):
        here.assign_ids({"host": ["other"]}, {"host": NARROW})
    with pytest.raises(RowError, match="no id left for a new value: it would be 256"):
        here.assign_id("host", "other", NARROW)
    entry = open_catalog(where).read("logs")
    assert entry is not None
    assert NARROW == len(entry.codes["host"])
    assert 3 == here.assign_id("host", "h2", NARROW)


def test_the_dictionary_of_judging_has_room_or_not() -> None:
    """Ids by first appearance are not given above what there is room for either."""
    some = FirstSeenDictionary()
    some.assign_ids({"host": ["a", "b"], "app": ["x"]}, {"host": 2})
    with pytest.raises(RowError, match="no id left for a new value: it would be 3"):
        some.assign_id("host", "c", 2)
    assert (2, 1) == (some.count_ids("host"), some.count_ids("app"))


def test_deleting_what_was_never_there_gives_no_id(tmp_path: Path) -> None:
    """A row whose value has no id is not there, and need not be named to be deleted."""
    with opened(tmp_path, "[code(host)][n]") as logs:
        logs.delete({"host": "a", "n": 1})
        with logs.batch() as batch:
            batch.delete({"host": "b", "n": 1})
        assert () == codes(tmp_path)
        with pytest.raises(RowError, match="the row has no value of this name"):
            logs.delete({"host": "a"})
        with pytest.raises(RowError, match="the design has no such field"):
            logs.delete({"host": "a", "n": 1, "other": 1})
        logs.put({"host": "a", "n": 1, "size": 1})
        logs.delete({"host": "a", "n": 1})
        assert [] == list(logs.scan())


def test_asking_for_what_was_never_there_gives_no_id(tmp_path: Path) -> None:
    """A row whose value has no id is not found, and reading changes nothing."""
    with opened(tmp_path, "[code(host)][n]") as logs:
        assert logs.get(host="a", n=1) is None
        assert [None, None] == logs.get_many([{"host": "a", "n": 1}, {"host": "b", "n": 2}])
        assert not logs.move({"host": "c", "n": 1}, n=2)
        assert () == codes(tmp_path)
        with pytest.raises(RowError, match="the row has no value of this name"):
            logs.get(host="a")
        with pytest.raises(RowError, match="the design has no such field"):
            logs.get(host="a", n=1, other=1)
        row = {"host": "b", "n": 2, "size": 3}
        logs.put(row)
        assert [None, row] == logs.get_many([{"host": "a", "n": 1}, row])
