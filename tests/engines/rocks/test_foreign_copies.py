"""Files of another table, or of another copy of the same table, are refused by name."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest

from ramdisk import RAM_FOLDER
from rowkey.cells import Cell, Family, RowCells
from rowkey.engines import ScanRange, TableSpec
from rowkey.engines.backends.rocks import RocksEngine
from rowkey.engines.rocksdb_files.descriptor import DESCRIPTOR_FILE, read_descriptor
from rowkey.engines.rocksdb_files.high_water_mark import HIGH_WATER_FILE
from rowkey.engines.rocksdb_files.write_ahead_log import list_logs
from rowkey.errors import CorruptionError

ROWS = 40
SPEC = TableSpec("t", (Family("d"),))


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return an empty folder in memory."""
    folder = Path(mkdtemp(dir=RAM_FOLDER))
    yield folder
    shutil.rmtree(folder)


def kill_writer(source: Path, target: Path, value: bytes, *, is_new: bool = False) -> Path:
    """Write rows into a table, and return a copy of it as a kill would leave it."""
    engine = RocksEngine.open(str(source), clock=lambda: 1)
    if is_new:
        engine.create_table(SPEC).flush()
    store = engine.open_table("t")
    for number in range(ROWS):
        store.mutate([RowCells(b"%03d" % number, [Cell("d", b"q", 1 + number, value)])])
    shutil.copytree(source, target)
    engine.close()
    return target / "t"


def read_values(table: Path) -> list[bytes]:
    """Open a table, and return the values of all its cells."""
    engine = RocksEngine.open(str(table.parent))
    try:
        (cursor,) = engine.open_table("t").scan([ScanRange()])
        return [cell.value for row in cursor for cell in row.cells]
    finally:
        engine.close()


def find_log(table: Path) -> Path:
    """Return the newest log of a table."""
    return list_logs(table)[-1]


@pytest.fixture
def tables(folder: Path) -> tuple[Path, Path]:
    """Return two killed tables with the same operations and other values."""
    mine = kill_writer(folder / "a", folder / "mine", b"mine", is_new=True)
    return mine, kill_writer(folder / "b", folder / "theirs", b"them", is_new=True)


def check_refused(table: Path, path: Path, owner: str) -> None:
    """Open, verify and repair a table, and check what they say of a foreign file."""
    with pytest.raises(CorruptionError, match=owner) as error:
        read_values(table)
    assert str(error.value).startswith(f"{path}: ")
    engine = RocksEngine.open(str(table.parent))
    problems = engine.examine("t").repairable_problems
    assert [True] == [f"{path}: " in str(p) and owner in str(p) for p in problems]
    engine.repair("t")
    assert engine.examine("t").is_sound
    engine.close()


def test_the_log_of_another_table_is_refused_and_dropped_by_repair(
    tables: tuple[Path, Path],
) -> None:
    """The log of a table with the same operations is refused, and repair drops it."""
    mine, theirs = tables
    assert find_log(mine).name == find_log(theirs).name
    shutil.copy(find_log(theirs), find_log(mine))
    check_refused(mine, find_log(mine), "belongs to another table")
    assert [] == read_values(mine)


@pytest.mark.parametrize("has_mark", [True, False], ids=["with mark", "without mark"])
def test_the_log_of_a_diverged_copy_of_a_table_is_refused(
    tables: tuple[Path, Path], folder: Path, *, has_mark: bool
) -> None:
    """The log of a copy of the table that was opened by itself is refused if it can be told."""
    mine, _ = tables
    for copy in ("first", "second"):
        shutil.copytree(mine.parent, folder / copy)
    first = kill_writer(folder / "first", folder / "first killed", b"one")
    second = kill_writer(folder / "second", folder / "second killed", b"two")
    if has_mark:
        shutil.copy(find_log(second), find_log(first))
        check_refused(first, find_log(first), "belongs to another copy of this table")
        assert {b"mine"} == set(read_values(first))
    else:
        (first / HIGH_WATER_FILE).unlink()
        assert {b"one"} == set(read_values(first))


def test_the_high_water_mark_of_another_table_is_ignored_and_rewritten_by_repair(
    tables: tuple[Path, Path],
) -> None:
    """The mark of another table says nothing of this one; repair writes it again."""
    mine, theirs = tables
    shutil.copy(theirs / HIGH_WATER_FILE, mine / HIGH_WATER_FILE)
    check_refused(mine, mine / HIGH_WATER_FILE, "belongs to another table")
    assert {b"mine"} == set(read_values(mine))


def test_the_descriptor_of_another_table_is_refused_and_rewritten_by_repair(
    tables: tuple[Path, Path],
) -> None:
    """The descriptor of another table is refused; repair writes it again."""
    mine, theirs = tables
    shutil.copy(theirs / DESCRIPTOR_FILE, mine / DESCRIPTOR_FILE)
    check_refused(mine, mine / DESCRIPTOR_FILE, "belongs to another table")
    assert {b"mine"} == set(read_values(mine))


def test_the_manifest_of_another_table_is_refused(tables: tuple[Path, Path]) -> None:
    """The MANIFEST of another table is refused by open, verify and repair, and rows are saved."""
    mine, theirs = tables
    (manifest,) = mine.glob("MANIFEST-*")
    shutil.copy(theirs / manifest.name, manifest)
    with pytest.raises(CorruptionError, match="the MANIFEST belongs to another table"):
        read_values(mine)
    engine = RocksEngine.open(str(mine.parent))
    assert "the MANIFEST belongs to another table" in str(engine.examine("t").problems[0])
    with pytest.raises(CorruptionError, match="the MANIFEST belongs to another table"):
        engine.repair("t")
    engine.close()


def test_a_table_file_of_another_table_is_refused(folder: Path) -> None:
    """A table file of another table with the same name and size is refused."""
    tables = []
    for name in ("mine", "them"):
        engine = RocksEngine.open(str(folder / name), clock=lambda: 1)
        store = engine.create_table(SPEC)
        store.mutate([RowCells(b"r", [Cell("d", b"q", 1, name.encode())])])
        engine.close()
        tables.append(folder / name / "t")
    for path in tables[1].glob("*.sst"):
        shutil.copy(path, tables[0])
    engine = RocksEngine.open(str(tables[0].parent))
    assert not engine.examine("t").is_sound
    engine.close()
    with pytest.raises(CorruptionError, match=r"\.sst"):
        read_values(tables[0])


def test_a_table_saved_by_repair_has_another_id(folder: Path) -> None:
    """A table that repair has saved has another id, which its files have too."""
    table = kill_writer(folder / "a", folder / "mine", b"mine", is_new=True)
    engine, target = (RocksEngine.open(str(path)) for path in (table.parent, folder / "new"))
    engine.save_into(target, "t")
    for one in (engine, target):
        one.close()
    assert {b"mine"} == set(read_values(folder / "new" / "t"))
    assert read_descriptor(table).table_id not in ("", read_descriptor(folder / "new/t").table_id)
