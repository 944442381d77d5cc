"""The contract of all catalog stores, and the files of the file store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from secrets import token_hex
from threading import Thread
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.writers import DESIGN
from rowkey.catalog import (
    CATALOG_TABLE,
    CATALOGS,
    CatalogEntry,
    Generation,
    TableRetirement,
    open_catalog,
    restore_entry,
)
from rowkey.catalog.entry_document import (
    format_checksummed,
    format_entry,
    parse_checksummed,
    parse_entry,
)
from rowkey.catalog.stores.file import FileCatalog
from rowkey.cells import RowCells
from rowkey.engines import open_engine
from rowkey.errors import Conflict, CorruptionError, InvalidArgument, Unavailable

if TYPE_CHECKING:
    from rowkey.catalog import Catalog

FIRST = CatalogEntry.from_design(DESIGN, (b"a", b"\xff"), 1_000)
OTHER_ENTRY = CatalogEntry(FIRST.declaration, FIRST.generations, {"host": ("a", "é\n", "")})


@pytest.fixture(params=sorted(CATALOGS))
def catalog(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Catalog]:
    """Return an empty catalog of each store."""
    engine = "rocks:" if request.param == "table" else ""
    url = f"{request.param}:{engine}{tmp_path / 'designs'}"
    if request.param == "zookeeper":
        url = request.getfixturevalue("zookeeper").url(f"/rowkey/{token_hex(4)}")
    with closing(open_catalog(url)) as catalog:
        yield catalog


def test_a_written_entry_is_read_back_with_its_version(catalog: Catalog) -> None:
    """An entry is read back with its version, whatever the name of the table."""
    names = ["logs", "app:logs", "a.b-c_d", "..", "A" * 100]
    assert [1] * 5 == [catalog.write(name, FIRST, None) for name in names]
    assert sorted(names) == catalog.list_tables()
    found = catalog.read("app:logs")
    assert found is not None
    assert (FIRST.declaration, FIRST.generations, {}, 1) == (
        found.declaration, found.generations, found.codes, found.version
    )  # fmt: skip
    assert DESIGN == found.design


def test_a_write_with_an_outdated_version_is_refused(catalog: Catalog) -> None:
    assert catalog.read("logs") is None
    with pytest.raises(Conflict, match="the catalog now has no entry; expected version 1"):
        catalog.write("logs", FIRST, 1)
    assert [1, 2] == [catalog.write("logs", FIRST, None), catalog.write("logs", OTHER_ENTRY, 1)]
    for stale in (None, 1, 3):
        with pytest.raises(Conflict, match="version 2"):
            catalog.write("logs", FIRST, stale)
    found = catalog.read("logs")
    assert found is not None
    assert (OTHER_ENTRY.codes, 2) == (found.codes, found.version)


def test_a_removed_entry_is_gone_and_can_be_removed_again(catalog: Catalog) -> None:
    catalog.write("logs", FIRST, None)
    catalog.remove("logs")
    catalog.remove("logs")
    assert (None, []) == (catalog.read("logs"), catalog.list_tables())
    assert catalog.write("logs", FIRST, None) == 1


def test_of_eight_threads_that_replace_one_version_one_succeeds(catalog: Catalog) -> None:
    """Of eight threads that replace the same version one succeeds and seven are refused."""
    catalog.write("logs", FIRST, None)
    won: list[int] = []
    lost: list[Conflict] = []

    def race() -> None:
        try:
            won.append(catalog.write("logs", OTHER_ENTRY, 1))
        except Conflict as refused:
            lost.append(refused)

    threads = [Thread(target=race) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ([2], 7) == (won, len(lost))


def test_an_invalid_catalog_url_is_refused() -> None:
    """A catalog URL must have a known scheme, and that of a file a directory."""
    with pytest.raises(
        InvalidArgument,
        match="is not the URL of a catalog; expected a URL that begins with one of file:, memory:",
    ):
        open_catalog("flie:x")
    for url in ("memory", ""):
        with pytest.raises(InvalidArgument, match="is not the URL of a catalog"):
            open_catalog(url)
    with pytest.raises(InvalidArgument, match=r"catalog: the URL .file:. names no directory"):
        open_catalog("file:")


TEXTS = st.text(max_size=8)
ENTRIES = st.builds(
    CatalogEntry,
    declaration=TEXTS,
    generations=st.lists(
        st.builds(
            Generation,
            number=st.integers(1, 9),
            counts=st.dictionaries(st.integers(0, 9), st.integers(1, 65_536), max_size=3),
            splits=st.lists(st.binary(max_size=4), max_size=3).map(tuple),
            opened_ms=st.integers(0, 2**63),
        ),
        min_size=1,
        max_size=3,
    ).map(tuple),
    codes=st.dictionaries(TEXTS, st.lists(TEXTS, max_size=3).map(tuple), max_size=3),
    version=st.integers(1, 2**40),
    retirement=st.builds(TableRetirement)
    | st.builds(TableRetirement, mover=TEXTS, step=st.integers(1, 2**40)),
)


@given(ENTRIES, TEXTS)
def test_any_catalog_entry_survives_formatting_and_parsing(entry: CatalogEntry, table: str) -> None:
    """Any entry is equal after it was formatted and parsed."""
    assert entry == parse_entry(format_entry(entry, table, entry.version).encode(), table, "f")


WRONG = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"format": 3}',
    b'{"format": 2, "table": "other"}',
    b'{"format": 2, "table": "logs"}',
]


@pytest.mark.parametrize("data", WRONG, ids=[repr(data[:40]) for data in WRONG])
def test_garbage_in_a_catalog_file_is_reported_with_its_name(data: bytes, tmp_path: Path) -> None:
    """Garbage in a file raises an error with its name for readers and writers."""
    catalog = FileCatalog(tmp_path)
    catalog.get_path("logs").write_bytes(data)
    with pytest.raises((CorruptionError, Unavailable), match=r"logs\.json"):
        catalog.read("logs")
    with pytest.raises((CorruptionError, Unavailable), match=r"logs\.json"):
        catalog.write("logs", FIRST, None)
    assert data == catalog.get_path("logs").read_bytes()


@given(st.data())
def test_a_truncated_or_changed_document_is_refused(data: st.DataObject) -> None:
    """A truncated or changed document is refused, unless only blanks changed."""
    whole = format_entry(OTHER_ENTRY, "logs", 3).encode()
    cut = whole[: data.draw(st.integers(0, len(whole) - 3))]
    with pytest.raises((CorruptionError, Unavailable)):
        parse_entry(cut, "logs", "logs.json")
    place = data.draw(st.integers(0, len(whole) - 1))
    changed = whole[:place] + bytes([data.draw(st.integers(0, 255))]) + whole[place + 1 :]
    try:
        found = parse_entry(changed, "logs", "logs.json")
    except (CorruptionError, Unavailable):
        return
    assert found == parse_entry(whole, "logs", "logs.json")


WORDS = [
    ("version", 0), ("version", "1"), ("version", True), ("generations", []), ("codes", []),
    ("codes", {"host": [1]}), ("generations", [{}]), ("declaration", None), ("hash", "0"),
    ("declaration", "table = 'other'"),
]  # fmt: skip


@pytest.mark.parametrize(("word", "value"), WORDS)
def test_each_key_of_a_catalog_document_is_validated(word: str, value: object) -> None:
    """A key of a wrong type and a declaration changed by hand are refused."""
    document = {**parse_checksummed(format_entry(FIRST, "logs", 1).encode(), "f"), word: value}
    with pytest.raises(Unavailable, match=r"^logs\.json: "):
        parse_entry(format_checksummed(document).encode(), "logs", "logs.json")


def test_the_entry_of_a_companion_names_its_main_table() -> None:
    """A companion's entry names the main table, and so do the attributes that restore it."""
    entry = CatalogEntry.from_design(DESIGN, (), 0, companion_of="main")
    name = DESIGN.table
    assert (
        entry.companion_of
        == parse_entry(format_entry(entry, name, 1).encode(), name, "f").companion_of
    )
    assert "main" == entry.table_attributes["rowkey.companion_of"]
    assert "main" == restore_entry(name, entry.table_attributes, ()).companion_of
    assert "rowkey.companion_of" not in CatalogEntry.from_design(DESIGN, (), 0).table_attributes


def test_file_system_errors_of_a_catalog_are_reported(tmp_path: Path) -> None:
    """A file in place of a directory, or a directory in place of a document, is reported."""
    (tmp_path / "taken").write_bytes(b"")
    with pytest.raises(
        Unavailable, match="taken: the file of the catalog cannot be read or written"
    ):
        FileCatalog(tmp_path / "taken")
    catalog = FileCatalog(tmp_path / "designs")
    catalog.get_path("logs").mkdir()
    for use in (catalog.read, catalog.remove):
        with pytest.raises(
            Unavailable, match=r"logs\.json: the file of the catalog cannot be read or written"
        ):
            use("logs")


def test_a_note_does_not_change_the_version_of_an_entry(catalog: Catalog) -> None:
    """A note stays until it or its table is removed, and does not change the version."""
    assert {} == catalog.read_notes("logs")
    version = catalog.write("logs", FIRST, None)
    for text in ("1", "é\n"):
        catalog.write_note("logs", "load", text)
    catalog.write_note("logs", "other", "2")
    assert {"load": "é\n", "other": "2"} == catalog.read_notes("logs")
    catalog.write_note("logs", "load", None)
    assert {"other": "2"} == catalog.read_notes("logs")
    assert ["logs"] == catalog.list_tables()
    assert version + 1 == catalog.write("logs", OTHER_ENTRY, version)
    catalog.remove("logs")
    assert ({}, []) == (catalog.read_notes("logs"), catalog.list_tables())


def test_a_file_with_the_notes_of_another_table_is_refused(tmp_path: Path) -> None:
    """A file with the notes of another table is refused: a load would leave out rows."""
    with closing(FileCatalog(tmp_path)) as catalog:
        for table in ("a", "b"):
            catalog.write_note(table, "load", table)
        (tmp_path / "a.notes").replace(tmp_path / "b.notes")
        for use in (catalog.read_notes, lambda table: catalog.write_note(table, "load", "2")):
            with pytest.raises(CorruptionError, match=r"b\.notes: .* the notes of table 'a'"):
                use("b")


def test_a_document_whose_version_differs_from_its_row_is_refused() -> None:
    """A document that does not have the version of its row is refused."""
    with open_engine("memory:") as engine, closing(open_catalog("table", engine)) as catalog:
        catalog.write("logs", FIRST, None)
        (row,) = engine.open_table(CATALOG_TABLE).get([b"logs"])
        catalog.write("logs", OTHER_ENTRY, 1)
        old = [cell for cell in row.cells if cell.qualifier == b"document"]
        newest = [cell._replace(timestamp=cell.timestamp + 60_000) for cell in old]
        engine.open_table(CATALOG_TABLE).mutate([RowCells(b"logs", newest)])
        with pytest.raises(CorruptionError, match="has version 1; expected version 2"):
            catalog.read("logs")


def test_removing_an_entry_by_an_outdated_version_is_refused(catalog: Catalog) -> None:
    """A removal with an outdated version is refused, and a missing entry counts as removed."""
    version = catalog.write("logs", FIRST, None)
    catalog.write("logs", OTHER_ENTRY, version)
    with pytest.raises(Conflict, match="version 2"):
        catalog.remove("logs", version)
    assert ["logs"] == catalog.list_tables()
    catalog.remove("logs", version + 1)
    catalog.remove("logs", version + 1)
    assert [] == catalog.list_tables()
