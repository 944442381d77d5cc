"""Tables on disk are directories that store everything and never touch foreign files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from rowkey.cells import Cell, CellType, Family, RowCells
from rowkey.engines import CellSelection, ScanRange, TableSpec, open_engine
from rowkey.engines.backends.rocks import RocksEngine
from rowkey.engines.rocksdb_files.descriptor import STATE_CREATING, Descriptor, write_descriptor
from rowkey.engines.rocksdb_files.write_ahead_log import list_logs
from rowkey.errors import Closed, CorruptionError, InvalidArgument, NotSupported, Unavailable
from rowkey.table import drop_table, repair_tables, verify_tables

if TYPE_CHECKING:
    from rowkey.engines import Store

LOGS = rowkey.Design("logs", "[n]", fields={"n": "u8"})
RAW = CellSelection(raw=True, versions=100)
ODD_FAMILIES = (Family("d", versions=3), Family("default", ttl_s=9), Family("é [x]=#%"))


def create_odd_table(engine: RocksEngine) -> Store:
    """Create a table of unusual families with a row of every cell type."""
    store = engine.create_table(
        TableSpec("space:t.able", ODD_FAMILIES, (b"\0", b"m"), {"word": "vålue"})
    )
    cells = [Cell("d", b"q", 5, b"v", kind) for kind in (CellType.PUT,)]
    cells += [
        Cell("d", b"q", 5, cell_type=kind) for kind in (CellType.DELETE, CellType.DELETE_COLUMN)
    ]
    cells += [
        Cell("default", b"", 7, cell_type=CellType.DELETE_FAMILY),
        Cell("default", b"\0", 7, b"\xc1"),
    ]
    cells += [Cell("é [x]=#%", b"\1", 2**63 - 2, b"", ttl_ms=1)]
    store.mutate([RowCells(b"\0\1\xff", cells), RowCells(b"z", [Cell("d", b"n", 1, b"1")])])
    store.increment(b"z", [("d", b"n8", 4)])
    store.get([b"z", b"none"])
    return store


def describe_table(store: Store) -> tuple[TableSpec, list[RowCells], list[RowCells]]:
    """Return the spec of a table, all its cells, and the versions of one row."""
    (cursor,) = store.scan([ScanRange()], RAW)
    return store.spec, list(cursor), store.get([b"z"], CellSelection(versions=9))


def test_opening_a_table_reads_the_descriptor_of_no_other_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A portal that reads 500 tables one after the other does not read 250,000 descriptors."""
    with RocksEngine.open(str(tmp_path)) as engine:
        for name in ("one", "two", "three"):
            engine.create_table(TableSpec(name, (Family("d"),))).close()
    monkeypatch.setattr(RocksEngine, "list_tables", lambda _: pytest.fail("lists all tables"))
    with RocksEngine.open(str(tmp_path)) as engine:
        assert "two" == engine.open_table("two").spec.name


def test_tables_are_found_although_a_directory_is_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables are found without `glob`, which hides unreadable directories since 3.12."""
    with RocksEngine.open(str(tmp_path)) as engine:
        create_odd_table(engine)
    monkeypatch.setattr("pathlib.Path.glob", lambda self, pattern: iter(()))
    assert RocksEngine.is_initialized(str(tmp_path))
    with RocksEngine.open(str(tmp_path)) as engine:
        assert ["space:t.able"] == engine.list_tables()
    assert list_logs(tmp_path / "space@t.able")


def test_a_table_is_complete_after_two_reopenings(tmp_path: Path) -> None:
    """Spec, regions, counters and all cells are there after two reopenings."""
    with RocksEngine.open(str(tmp_path)) as engine:
        store = create_odd_table(engine)
        store.split(b"y")
        seen, regions = describe_table(store), store.list_regions()
    for _ in range(2):
        with RocksEngine.open(str(tmp_path)) as engine:
            assert ["space:t.able"] == engine.list_tables()
            store = engine.open_table("space:t.able")
            assert regions == store.list_regions()
            assert seen == describe_table(store)
            regions = store.list_regions()


def test_closing_one_store_of_a_table_keeps_another_open(tmp_path: Path) -> None:
    """Closing one store keeps another open, and a drop affects both."""
    with RocksEngine.open(str(tmp_path)) as engine:
        first, second = create_odd_table(engine), engine.open_table("space:t.able")
        first.close()
        with pytest.raises(Closed, match="is closed"):
            first.get([b"z"])
        assert second.get([b"z"])[0].cells
        engine.drop_table("space:t.able")
        with pytest.raises(Closed, match="was dropped"):
            second.get([b"z"])
        assert [] == [path.name for path in tmp_path.iterdir() if path.is_dir()]


def test_open_cursors_and_snapshots_do_not_keep_a_directory_in_use_after_close(
    tmp_path: Path,
) -> None:
    """Open cursors, blocks and snapshots end with an error at close and free the directory."""
    engine = RocksEngine.open(str(tmp_path))
    store = create_odd_table(engine)
    rows, blocks = store.scan([ScanRange(), ScanRange(b"a")])
    started, snapshot = iter(rows), store.snapshot()
    next(started)
    (kept,) = snapshot.scan([ScanRange()])
    batches = blocks.read_blocks()
    engine.close()
    with RocksEngine.open(str(tmp_path)) as again:
        assert again.open_table("space:t.able").get([b"z"])[0].cells
    for left in (started, kept, batches):
        with pytest.raises(Closed, match="closed"):
            list(left)


def test_a_table_whose_creation_was_interrupted_can_be_created_again(tmp_path: Path) -> None:
    """A table whose creation was interrupted does not exist, and can be created again."""
    with RocksEngine.open(str(tmp_path)) as engine:
        engine.create_table(TableSpec("t", (Family("old"),)))
    write_descriptor(tmp_path / "t", Descriptor((Family("old"),), "", STATE_CREATING))
    with RocksEngine.open(str(tmp_path)) as engine:
        assert [] == engine.list_tables()
        with pytest.raises(InvalidArgument, match="no table 't'"):
            engine.open_table("t")
        store = engine.create_table(TableSpec("t", (Family("new"),)))
        assert ["new"] == [family.name for family in store.spec.families]


def test_a_half_created_table_with_foreign_files_is_kept(tmp_path: Path) -> None:
    """A half-created table with foreign files is left as it is."""
    with RocksEngine.open(str(tmp_path)) as engine:
        engine.create_table(TableSpec("t", (Family("old"),)))
    write_descriptor(tmp_path / "t", Descriptor((Family("old"),), "", STATE_CREATING))
    (tmp_path / "t" / "20240101.log").write_text("mine")
    before = set(tmp_path.rglob("*"))
    with (
        RocksEngine.open(str(tmp_path)) as engine,
        pytest.raises(Unavailable, match="the directory of the new table has other files"),
    ):
        engine.create_table(TableSpec("t", (Family("new"),)))
    assert before == set(tmp_path.rglob("*"))


def test_a_table_whose_drop_was_interrupted_is_removed(tmp_path: Path) -> None:
    """A table whose drop was interrupted is removed, its descriptor last."""
    with RocksEngine.open(str(tmp_path)) as engine:
        create_odd_table(engine)
    left = (tmp_path / "space@t.able").rename(tmp_path / ".dropped-space@t.able")
    (left / "CURRENT").unlink()
    with RocksEngine.open(str(tmp_path)) as engine:
        assert [] == engine.list_tables()
    assert not left.exists()


def test_a_drop_does_not_report_a_file_that_rocksdb_removes_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A drop does not name a file that RocksDB removes while the directory is checked."""
    with RocksEngine.open(str(tmp_path)) as engine:
        engine.create_table(TableSpec("t", (Family("d"),)))
        list_paths = type(tmp_path).iterdir
        removed = tmp_path / "t" / "000021.sst"
        monkeypatch.setattr(
            type(tmp_path), "iterdir", lambda self: iter([*list_paths(self), removed])
        )
        engine.drop_table("t")
        assert [] == engine.list_tables()


@pytest.mark.parametrize("name", ["20240101.log", "notes.txt", "999999999.sst"])
def test_a_drop_names_foreign_files_and_works_once_they_are_removed(
    tmp_path: Path, name: str
) -> None:
    with RocksEngine.open(str(tmp_path)) as engine:
        engine.create_table(TableSpec("t", (Family("d"),)))
        (tmp_path / "t" / name).write_text("mine")
        with pytest.raises(Unavailable, match=f"rowkey did not write these files .*: {name}"):
            engine.drop_table("t")
        assert ["t"] == engine.list_tables()
        (tmp_path / "t" / name).unlink()
        engine.drop_table("t")
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize("content", [None, b"", b"{}", b"null", b"\xff", b'{"checksum": "x"}'])
def test_a_table_without_its_descriptor_is_neither_opened_nor_dropped_until_repaired(
    tmp_path: Path, content: bytes | None
) -> None:
    """A table without a descriptor is neither opened, created nor dropped; a repair restores it."""
    with RocksEngine.open(str(tmp_path)) as engine:
        seen = describe_table(create_odd_table(engine))
    path = tmp_path / "space@t.able" / "descriptor.json"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    before = set(tmp_path.rglob("*"))
    with RocksEngine.open(str(tmp_path)) as engine:
        assert ["space:t.able"] == engine.list_tables()
        for refused in (engine.open_table, engine.drop_table):
            with pytest.raises(CorruptionError, match=r"descriptor\.json: the descriptor of the"):
                refused("space:t.able")
        with pytest.raises(InvalidArgument, match="exists already"):
            engine.create_table(TableSpec("space:t.able", (Family("d"),)))
        assert before == set(tmp_path.rglob("*"))
        engine.repair("space:t.able")
        assert seen == describe_table(engine.open_table("space:t.able"))


def test_each_flipped_bit_of_a_descriptor_fails_its_checksum(tmp_path: Path) -> None:
    """A flipped bit of a descriptor fails its checksum, except in blanks."""
    with RocksEngine.open(str(tmp_path)) as engine:
        engine.create_table(TableSpec("t", (Family("d"),)))
        families = engine.open_table("t").spec.families
    path = tmp_path / "t" / "descriptor.json"
    content = path.read_bytes()
    found = 0
    for at in range(0, len(content), 3):
        damaged = bytearray(content)
        damaged[at] ^= 1 << at % 8
        path.write_bytes(damaged)
        with RocksEngine.open(str(tmp_path)) as engine:
            try:
                assert families == engine.open_table("t").spec.families
            except CorruptionError:
                found += 1
    assert found > len(content) / 3 * 0.8


def test_a_table_of_a_later_format_version_is_refused(tmp_path: Path) -> None:
    with RocksEngine.open(str(tmp_path)) as engine:
        create_odd_table(engine)
        meta = engine._tables["space:t.able"].database.meta
        described = json.loads(meta.get(b"table") or b"")
        meta.put(b"table", json.dumps({**described, "format": 4}).encode())
    for _ in range(2):
        with (
            RocksEngine.open(str(tmp_path)) as engine,
            pytest.raises(NotSupported, match="have the format version 4; expected version 3"),
        ):
            engine.open_table("space:t.able")


def test_an_empty_path_and_the_path_of_a_file_are_refused_as_directory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InvalidArgument, match="names no directory"):
        RocksEngine.open("")
    with pytest.raises(Unavailable, match="the directory cannot be used"):
        RocksEngine.open(str(tmp_path / "file"))


@pytest.mark.parametrize("where", ["a\0b", "\ud800", "\0", "a/\udfff"])
@pytest.mark.parametrize("how", [RocksEngine.open, RocksEngine.is_initialized])
def test_a_path_that_no_file_can_have_is_refused(where: str, how: Callable[[str], object]) -> None:
    with pytest.raises(
        InvalidArgument, match="contains a character that no path can have; expected rocks:PATH"
    ):
        how(where)


@pytest.mark.parametrize("how", [RocksEngine.open, RocksEngine.is_initialized])
def test_a_path_that_is_not_utf_8_is_refused(
    tmp_path: Path, how: Callable[[str], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path that is not UTF-8 is refused before anything is created."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        InvalidArgument, match="contains bytes that are not UTF-8; expected rocks:PATH"
    ):
        how(os.fsdecode(b"a\xff"))
    assert [] == list(tmp_path.iterdir())


def test_foreign_files_with_names_like_those_of_rowkey_are_not_removed(tmp_path: Path) -> None:
    for name in (".dropped-a", ".dropped-t", "t"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine").touch()
    (tmp_path / ".dropped-file").touch()
    (tmp_path / ".dropped-empty").mkdir()
    before = {path for path in tmp_path.rglob("*") if path.name != ".lock"}
    with RocksEngine.open(str(tmp_path)) as engine:
        with pytest.raises(Unavailable, match="the directory of the new table has other files"):
            engine.create_table(TableSpec("t", (Family("d"),)))
        assert before == {path for path in tmp_path.rglob("*") if path.name != ".lock"}
        (tmp_path / "t").rename(tmp_path / "elsewhere")
        engine.create_table(TableSpec("t", (Family("d"),)))
        engine.drop_table("t")
        assert [] == engine.list_tables()
    assert not (tmp_path / "t").exists()
    (tmp_path / "elsewhere").rename(tmp_path / "t")
    assert before == {path for path in tmp_path.rglob("*") if path.name != ".lock"}


def test_a_foreign_directory_is_not_used_for_tables(tmp_path: Path) -> None:
    """A foreign directory with files named like a table's is not used as a place."""
    for folder in ("bin", "src", ".hidden"):
        (tmp_path / folder).mkdir()
    (tmp_path / "bin" / "descriptor.json").write_text('{"format": 2}\n')
    (tmp_path / "src" / "descriptor.json").mkdir()
    (tmp_path / ".hidden" / "MANIFEST-000004").write_text("")
    before = set(tmp_path.rglob("*"))
    assert not RocksEngine.is_initialized(str(tmp_path))
    with RocksEngine.open(str(tmp_path)) as engine:
        assert [] == engine.list_tables()
    (tmp_path / ".lock").unlink()
    assert before == set(tmp_path.rglob("*"))


def test_checking_a_directory_for_tables_creates_nothing(tmp_path: Path) -> None:
    """Checking a place for existence or damage creates nothing."""
    where = str(tmp_path / "none" / "data")
    assert not RocksEngine.is_initialized(where)
    with pytest.raises(InvalidArgument, match="no table is stored at this URL"):
        list(verify_tables(f"rocks:{where}"))
    assert [] == list(tmp_path.iterdir())
    with RocksEngine.open(where):
        pass
    assert RocksEngine.is_initialized(where)
    assert [] == list(verify_tables(f"rocks:{where}"))
    with pytest.raises(Unavailable, match="the directory cannot be used"):
        RocksEngine.is_initialized(f"{tmp_path / 'none' / 'data' / '.lock'}/data")


def test_no_table_can_have_the_name_of_the_catalog_folder(tmp_path: Path) -> None:
    """The catalog's folder is not a table, and no table can have its name."""
    with RocksEngine.open(str(tmp_path)) as engine:
        assert f"file:{tmp_path / '.catalog'}" == engine.catalog_url
        (tmp_path / ".catalog").mkdir()
        assert [] == engine.list_tables()
        with pytest.raises(InvalidArgument, match="begins with"):
            engine.create_table(TableSpec(".catalog", (Family("d"),)))


@pytest.mark.parametrize(
    "read",
    [
        lambda url: open_engine(url, create=False),
        lambda url: rowkey.open("logs", url),
        lambda url: rowkey.open(LOGS, url, create=False),
        lambda url: drop_table("logs", url),
        lambda url: list(repair_tables(url, ["logs"])),
    ],
    ids=["open_engine", "by name", "create=False", "drop_table", "repair"],
)
def test_a_directory_is_created_only_when_a_table_is_created(
    tmp_path: Path, read: Callable[[str], Any]
) -> None:
    """A missing or foreign directory stays as it is until a table is created."""
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "file").touch()
    for where in (tmp_path / "a" / "b", tmp_path / "others"):
        with pytest.raises(InvalidArgument, match="no table is stored at this URL"):
            read(f"rocks:{where}")
    assert not (tmp_path / "a").exists()
    assert ["file"] == [path.name for path in (tmp_path / "others").iterdir()]
