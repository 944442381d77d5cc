"""A catalog that lost a table, or is an old copy, is reported and repaired."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from rowkey.catalog import CatalogEntry, open_catalog, register_design
from rowkey.cells import Family
from rowkey.engines import TableSpec, open_engine
from rowkey.errors import CatalogMismatch, InvalidArgument, Unavailable
from rowkey.table import create_table, drop_table, repair_catalog

if TYPE_CHECKING:
    from rowkey.catalog import Catalog

FIELDS: dict[str, Any] = {"host": "text", "ts": "timestamp_ms", "size": "u32"}
KEY = "[bucket(host, 16)][host][ts]"
ROWS = [{"host": f"h{n % 9}", "ts": n, "size": n} for n in range(20)]


@pytest.fixture
def table_url(tmp_path: Path) -> str:
    """The URL of the table."""
    return f"memory:{tmp_path}"


@pytest.fixture
def catalog_url(tmp_path: Path) -> str:
    """The URL of the catalog."""
    return f"file:{tmp_path / 'designs'}"


def build_design(kept: str, key: str = KEY, **words: Any) -> rowkey.Design:
    """Build the design of a small log."""
    given = {"fields": FIELDS, "splits": "per_bucket", "catalog": kept} | words
    return rowkey.Design("logs", key, **given)


@pytest.fixture
def logs(table_url: str, catalog_url: str) -> rowkey.Design:
    """The design of a table with some rows."""
    found = build_design(catalog_url)
    with rowkey.open(found, table_url) as table:
        for row in ROWS:
            table.put(row)
    return found


@pytest.fixture
def catalog(catalog_url: str) -> Iterator[Catalog]:
    """The open catalog."""
    with closing(open_catalog(catalog_url)) as catalog:
        yield catalog


def set_attributes(place: str, **words: str) -> None:
    """Change attributes of the table."""
    with open_engine(place) as engine:
        store = engine.open_table("logs")
        told = {f"rowkey.{word}": text for word, text in words.items()}
        store.replace_attributes({**store.spec.attributes, **told})


def test_a_lost_entry_of_several_generations_is_restored_only_by_repair(
    logs: rowkey.Design, table_url: str, catalog_url: str, catalog: Catalog
) -> None:
    """The entry of a table with several generations is restored only by a repair."""
    catalog.remove("logs")
    set_attributes(table_url, generation="3", counts="0=32")
    for opened in (logs, "logs"):
        with pytest.raises(
            Unavailable,
            match=r"rowkey.generation '3' and rowkey.counts '0=32'. Run rowkey repair DESIGN",
        ):
            rowkey.open(opened, table_url, catalog=catalog_url)
    assert catalog.read("logs") is None


def test_a_repaired_entry_equals_the_lost_one(
    logs: rowkey.Design, table_url: str, catalog_url: str, catalog: Catalog
) -> None:
    """A repaired entry equals the lost one except for times, and a dry run changes nothing."""
    before = catalog.read("logs")
    assert before is not None
    catalog.remove("logs")
    looked = repair_catalog(logs, table_url)
    assert looked is not None
    assert (False, "", None) == (looked.is_repaired, looked.obstacle, catalog.read("logs"))
    mended = repair_catalog(logs, table_url, apply=True)
    assert mended is not None
    assert (True, looked.correct_entry) == (mended.is_repaired, mended.correct_entry)
    after = catalog.read("logs")
    assert after is not None
    first = replace(before.generations[0], opened_ms=None)
    assert replace(before, generations=(first,), version=1) == after
    assert repair_catalog(logs, table_url, apply=True) is None
    with rowkey.open("logs", table_url, catalog=catalog_url) as table:
        assert ROWS == sorted(table.scan(), key=lambda row: row["ts"])


def test_a_repair_restores_the_design_of_the_attributes_and_not_a_given_one(
    logs: rowkey.Design, table_url: str, catalog_url: str, catalog: Catalog
) -> None:
    """A repair restores the design in the attributes, and compares the given design later."""
    catalog.remove("logs")
    other = build_design(catalog_url, "[bucket(host, 16)][ts][host]")
    assert repair_catalog(other, table_url, apply=True) is not None
    with pytest.raises(CatalogMismatch):
        rowkey.open(other, table_url)
    with rowkey.open("logs", table_url, catalog=catalog_url) as table:
        assert logs == table.design


def test_a_table_with_other_bucket_counts_than_its_catalog_is_refused(
    logs: rowkey.Design, table_url: str, catalog_url: str, catalog: Catalog
) -> None:
    """A table whose attributes have other counts than its catalog is not opened or changed."""
    set_attributes(table_url, counts="0=32")
    for opened in (logs, "logs"):
        with pytest.raises(Unavailable, match=r"counts 0=16 for logs, but its attributes 0=32"):
            rowkey.open(opened, table_url, catalog=catalog_url)
    with open_engine(table_url) as engine:
        assert "0=32" == engine.open_table("logs").families_and_attributes[1]["rowkey.counts"]
    assert repair_catalog(logs, table_url, apply=True) is not None
    entry = catalog.read("logs")
    assert entry is not None
    assert [{0: 32}] == [one.counts for one in entry.generations]


def test_the_error_for_a_foreign_table_proposes_to_describe_it(tmp_path: Path) -> None:
    """The error for a foreign table proposes to describe the table, not to drop it."""
    place = f"rocks:{tmp_path / 'data'}"
    with open_engine(place) as engine:
        engine.create_table(TableSpec("theirs", (Family("d"),), (), {}))
    with pytest.raises(
        Unavailable, match=r"was not created by rowkey.*rowkey describe theirs --on"
    ):
        rowkey.open("theirs", place)


@pytest.mark.parametrize("key", [KEY, KEY.replace("16", "32"), KEY.replace("16", "24")])
def test_a_repair_restores_all_generations_of_the_attributes(
    logs: rowkey.Design, table_url: str, catalog_url: str, catalog: Catalog, key: str
) -> None:
    """A repair restores all generations in the attributes, whatever counts the file has."""
    catalog.remove("logs")
    set_attributes(table_url, generation="3", counts="0=32", live="1:0=16 3:0=32")
    assert repair_catalog(build_design(catalog_url, key), table_url, apply=True) is not None
    entry = catalog.read("logs")
    assert entry is not None
    assert [(1, {0: 16}), (3, {0: 32})] == [(one.number, one.counts) for one in entry.generations]
    assert (15, logs.dumps(defaults=False)) == (
        len(entry.generations[-1].splits),
        entry.declaration,
    )


def test_an_older_copy_of_the_catalog_is_repaired_to_the_latest_generation(
    logs: rowkey.Design, table_url: str, catalog: Catalog
) -> None:
    """A catalog copy of generation 1 is repaired to generation 3."""
    set_attributes(table_url, generation="3", counts="0=32")
    with pytest.raises(
        Unavailable,
        match=r"lacks 2 changes .*generation 1, but rowkey.generation of the table is 3.*repair",
    ):
        rowkey.open(logs, table_url)
    before = catalog.read("logs")
    assert before is not None
    assert repair_catalog(logs, table_url, apply=True) is not None
    entry = catalog.read("logs")
    assert entry is not None
    assert [(1, {0: 16}), (3, {0: 32})] == [(one.number, one.counts) for one in entry.generations]
    assert before.version + 1 == entry.version
    assert before.generations[0] == entry.generations[0]
    assert [False, True] == [one.opened_ms is None for one in entry.generations]


def test_a_generation_announced_in_an_old_copy_is_restored_with_its_time(
    logs: rowkey.Design, table_url: str, catalog: Catalog
) -> None:
    """A generation that an old copy has as announced is restored with its original time."""
    before = catalog.read("logs")
    assert before is not None
    announced = before.announce_generation({0: 32}, (b"\1",), 5)
    catalog.write("logs", announced, before.version)
    set_attributes(table_url, generation="3", counts="0=64", live="1:0=16 2:0=32 3:0=64")
    assert repair_catalog(logs, table_url, apply=True) is not None
    entry = catalog.read("logs")
    assert entry is not None
    assert (False, False, False) == tuple(one.is_announced for one in entry.generations)
    times = tuple(one.opened_ms for one in entry.generations)
    assert (before.generations[0].opened_ms, 5, None) == times


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"generation": "x"},
            "table logs, attributes: rowkey.generation = 'x' is not a valid number",
        ),
        ({"generation": "0"}, "rowkey.generation = '0' is not a valid number"),
        ({"generation": "²"}, "rowkey.generation = '²' is not a valid number"),
        (
            {"counts": "0=x"},
            "table logs, attributes: rowkey.live or rowkey.counts is damaged: 1:0=x",
        ),
        ({"counts": "0=0"}, "rowkey.live or rowkey.counts is damaged"),
        (
            {"counts": "5=16"},
            "rowkey.counts = '5=16' lists bucket counts for other parts of the key",
        ),
        ({"live": "x"}, "rowkey.live or rowkey.counts is damaged"),
        (
            {"declaration": "0" * 64},
            "rowkey.design was changed: rowkey.declaration is not its hash",
        ),
        ({"design": "x"}, "rowkey.design was changed: rowkey.declaration is not its hash"),
    ],
)
def test_attributes_changed_by_hand_are_reported_and_not_used(
    logs: rowkey.Design, table_url: str, catalog: Catalog, options: dict[str, str], message: str
) -> None:
    catalog.remove("logs")
    set_attributes(table_url, **options)
    found = repair_catalog(logs, table_url)
    assert found is not None
    assert message in found.obstacle
    with pytest.raises(Unavailable, match="has no entry for logs"):
        rowkey.open(logs, table_url)


def test_lost_ids_of_coded_values_cannot_be_repaired(
    table_url: str, catalog_url: str, catalog: Catalog
) -> None:
    """Lost ids of `code` cannot be repaired, as only the entry has them."""
    coded = build_design(catalog_url, "[code(host)][ts]", splits=None)
    with rowkey.open(coded, table_url) as table:
        table.put(ROWS[0])
    catalog.remove("logs")
    found = repair_catalog(coded, table_url, apply=True)
    assert found is not None
    assert (
        "its rows have ids of code(…) that only its lost catalog entry can decode" in found.obstacle
    )
    assert catalog.read("logs") is None


def test_a_repair_removes_the_entry_of_an_interrupted_create(
    table_url: str, catalog_url: str, catalog: Catalog
) -> None:
    """A repair removes the entry that an interrupted create left."""
    logs = build_design(catalog_url)
    catalog.write("logs", replace(CatalogEntry.from_design(logs, (), 0), is_created=False), None)
    open_engine(table_url).close()
    with pytest.raises(
        InvalidArgument,
        match=r"has an entry for a table logs already.*rowkey repair DESIGN --on URL",
    ):
        create_table(logs, table_url)
    found = repair_catalog(logs, table_url)
    assert found is not None
    assert "the engine has no such table. The entry would be removed; check" in str(found)
    assert catalog.read("logs") is not None
    repair_catalog(logs, table_url, apply=True)
    assert catalog.read("logs") is None
    create_table(logs, table_url).close()


def test_a_table_that_neither_engine_nor_catalog_knows_is_not_repaired(
    table_url: str, catalog_url: str
) -> None:
    open_engine(table_url).close()
    with pytest.raises(InvalidArgument, match="there is no table logs"):
        repair_catalog(build_design(catalog_url), table_url)


def test_an_entry_lost_while_a_table_is_opened_is_not_replaced(
    logs: rowkey.Design, table_url: str, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry that is lost while a table is opened is not replaced by a first generation."""
    read, times = type(catalog).read, []

    def losing(self: Catalog, table: str) -> CatalogEntry | None:
        times.append(table)
        return read(self, table) if len(times) == 1 else None

    monkeypatch.setattr(type(catalog), "read", losing)
    with pytest.raises(Unavailable, match="the catalog no longer has an entry for this table"):
        rowkey.open(logs, table_url)
    with pytest.raises(Unavailable, match="no longer has an entry for this table"):
        register_design(catalog, logs, opened_ms=0, may_be_new=False)


@pytest.mark.parametrize("engine", ["memory", "rocks"])
def test_the_catalog_table_is_on_the_engine_of_the_table(engine: str, tmp_path: Path) -> None:
    """With `catalog = "table"` the entry is in a table of the same engine."""
    place = f"{engine}:{tmp_path / 'data'}"
    with rowkey.open(build_design("table"), place) as table:
        table.put(ROWS[0])
        assert "table" == table.store.spec.attributes["rowkey.catalog"]
        assert ["logs"] == table.catalog.list_tables()
    with rowkey.open("logs", place) as table:
        assert [ROWS[0]] == list(table.scan())
    with open_engine(place) as found:
        assert ["logs", "rowkey.catalog"] == found.list_tables()
    drop_table("logs", place)
    with open_engine(place) as found:
        with closing(open_catalog("table", found, place)) as catalog:
            assert [] == catalog.list_tables()
        assert ["rowkey.catalog"] == found.list_tables()
    with pytest.raises(InvalidArgument, match="is the catalog") as caught:
        drop_table("rowkey.catalog", place)
    assert "rowkey keeps their catalog, which is empty then" in str(caught.value)


def test_a_catalog_url_of_another_type_needs_a_location(table_url: str) -> None:
    with pytest.raises(
        InvalidArgument,
        match="'memory' alone does not say where the catalog is; expected memory:WHERE",
    ):
        rowkey.open(build_design("memory"), table_url)
    with pytest.raises(
        InvalidArgument, match=r"'tabel' is not the URL of a catalog.*Did you mean table"
    ):
        rowkey.open(build_design("tabel"), table_url)


def test_a_table_with_its_catalog_in_zookeeper_is_repaired(
    zookeeper: Any, table_url: str, tmp_path: Path
) -> None:
    """A table whose catalog is in ZooKeeper is opened by name and repaired."""
    url = zookeeper.url(f"/rowkey/{tmp_path.name}")
    logs = build_design(url)
    with rowkey.open(logs, table_url) as table:
        table.put(ROWS[0])
        assert url == table.store.spec.attributes["rowkey.catalog"]
    with rowkey.open("logs", table_url, catalog=url) as table:
        assert [ROWS[0]] == list(table.scan())
    with closing(open_catalog(url)) as catalog:
        assert ["logs"] == catalog.list_tables()
        catalog.remove("logs")
        assert repair_catalog(logs, table_url, apply=True) is not None
        assert ["logs"] == catalog.list_tables()
    drop_table("logs", table_url, catalog=url)
    with closing(open_catalog(url)) as catalog:
        assert [] == catalog.list_tables()
