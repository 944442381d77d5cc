"""Foreign files and directories are never changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

import rowkey
from rowkey.cells import Cell, Family, RowCells
from rowkey.durable_files import compute_checksum
from rowkey.engines import TableSpec
from rowkey.engines.backends.rocks import RocksEngine
from rowkey.engines.rocksdb_files.descriptor import DESCRIPTOR_FILE
from rowkey.engines.rocksdb_files.high_water_mark import HIGH_WATER_FILE
from rowkey.engines.rocksdb_files.inspection import TRUNCATED_FOLDER, UNREFERENCED_FOLDER
from rowkey.engines.rocksdb_files.rocksdict_settings import SETTINGS_FILE
from rowkey.errors import CorruptionError, NotSupported, Unavailable
from rowkey.table import drop_table

DESIGN = rowkey.Design("t", "[id]", fields={"id": "u32"})
OLD_S = time.time() - 30 * 86_400


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Return the directory of a table with one row."""
    with rowkey.open(DESIGN, f"rocks:{tmp_path / 'place'}") as table:
        table.put({"id": 1})
    return tmp_path / "place" / "t"


def count(table: Path) -> int:
    """Open a table and count its rows."""
    with rowkey.open(DESIGN, f"rocks:{table.parent}", create=False) as opened:
        return opened.count()


@pytest.mark.parametrize(
    "name", [HIGH_WATER_FILE, SETTINGS_FILE, DESCRIPTOR_FILE, "CURRENT", "LOG"]
)
def test_a_table_with_a_file_that_is_a_link_is_refused_and_the_target_unchanged(
    table: Path, tmp_path: Path, name: str
) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(
        (table / name).read_bytes() if name in (DESCRIPTOR_FILE, "CURRENT") else b"mine"
    )
    content = victim.read_bytes()
    (table / name).unlink()
    (table / name).symlink_to(victim)
    with pytest.raises(Unavailable, match="something else than rowkey made this file or link"):
        count(table)
    assert content == victim.read_bytes()


@pytest.mark.parametrize("name", [UNREFERENCED_FOLDER, TRUNCATED_FOLDER])
def test_a_table_with_a_folder_that_is_a_link_is_refused_and_the_target_unchanged(
    table: Path, tmp_path: Path, name: str
) -> None:
    victim = tmp_path / "documents"
    victim.mkdir()
    (victim / "000001.sst").write_bytes(b"mine")
    os.utime(victim / "000001.sst", (OLD_S, OLD_S))
    (table / name).symlink_to(victim)
    with pytest.raises(Unavailable, match="something else than rowkey made this file or link"):
        count(table)
    assert b"mine" == (victim / "000001.sst").read_bytes()


def test_foreign_files_in_the_folder_of_unreferenced_files_are_kept(table: Path) -> None:
    aside = table / UNREFERENCED_FOLDER
    aside.mkdir()
    for name in ("000001.sst", "my-rescued-copy.sst"):
        (aside / name).write_bytes(b"x")
        os.utime(aside / name, (OLD_S, OLD_S))
    assert 1 == count(table)
    assert ["my-rescued-copy.sst"] == [path.name for path in aside.iterdir()]


NUMBERED_FILES = ["20240101.log", "20240101.blob", "999999999.sst", "MANIFEST-999999"]


@pytest.mark.parametrize("name", NUMBERED_FILES)
def test_a_foreign_file_with_a_number_as_name_is_refused(table: Path, name: str) -> None:
    """A foreign file with a number as its name is refused: RocksDB would remove it."""
    (table / name).write_bytes(b"mine\n")
    with pytest.raises(
        Unavailable, match=f"{name}: something else than rowkey made this file or link"
    ):
        count(table)
    assert b"mine\n" == (table / name).read_bytes()
    (table / name).unlink()
    assert 1 == count(table)


def test_a_table_opens_next_to_foreign_notes_and_is_not_dropped_with_them(table: Path) -> None:
    """Foreign notes in the directory of a table do no harm until it is dropped."""
    (table / "notes.txt").write_text("mine")
    assert 1 == count(table)
    with pytest.raises(Unavailable, match=r"notes\.txt"):
        drop_table(DESIGN, f"rocks:{table.parent}")


def test_a_table_directory_that_is_a_link_is_refused(table: Path, tmp_path: Path) -> None:
    """A table that is a link is refused as a link, and nothing is created in its place."""
    elsewhere = tmp_path / "elsewhere"
    table.rename(elsewhere)
    table.symlink_to(elsewhere)
    for use in (lambda: count(table), lambda: drop_table(DESIGN, f"rocks:{table.parent}")):
        with pytest.raises(Unavailable, match="is a symbolic link"):
            use()
    table.unlink()
    elsewhere.rename(table)
    assert 1 == count(table)


FORGED_SPECS: list[dict[str, Any]] = [
    {"families": 5}, {"families": []}, {"families": [{}]}, {"families": [{"name": "d", "x": 1}]},
    {"families": [{"name": 7}]}, {"families": [{"name": "d", "versions": "x"}]}, {"state": "odd"},
    {"families": [{"name": "d", "block_size": 2**70}]}, {"format": None},
]  # fmt: skip


@pytest.mark.parametrize("options", FORGED_SPECS, ids=str)
def test_a_forged_descriptor_with_a_valid_checksum_is_refused(
    table: Path, options: dict[str, Any]
) -> None:
    """A forged descriptor with a valid checksum is refused, and other tables still work."""
    document = {**json.loads((table / DESCRIPTOR_FILE).read_bytes()), **options}
    document.pop("checksum")
    document["checksum"] = compute_checksum(document)
    (table / DESCRIPTOR_FILE).write_text(json.dumps(document))
    with pytest.raises((CorruptionError, NotSupported, Unavailable), match=DESCRIPTOR_FILE):
        count(table)
    other = rowkey.Design("other", "[id]", fields={"id": "u32"})
    with rowkey.open(other, f"rocks:{table.parent}") as opened:
        assert 0 == opened.count()


def test_a_path_that_looks_like_an_error_does_not_change_the_report_of_damage(
    tmp_path: Path,
) -> None:
    """A path that looks like an error does not change how damage is reported."""
    for name in ("BLOCKS", "LOCK", "No space left on device"):
        place = tmp_path / name
        design = rowkey.Design("BLOCKS", "[id]", fields={"id": "u32", "v": "text"})
        with rowkey.open(design, f"rocks:{place}") as table:
            for number in range(300):
                table.put({"id": number, "v": "x" * 50})
            table.compact()
        file = max((place / "BLOCKS").glob("*.sst"), key=lambda path: path.stat().st_size)
        content = bytearray(file.read_bytes())
        content[len(content) // 3] ^= 1
        file.write_bytes(content)
        with (
            rowkey.open(design, f"rocks:{place}") as table,
            pytest.raises(CorruptionError, match=file.name),
        ):
            table.count()


def test_all_tables_are_closed_even_if_closing_one_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If closing one table raises, all others are closed and the place can be reopened."""
    full = Unavailable("a", "the disk is full")

    def fail() -> None:
        raise full

    engine = RocksEngine.open(str(tmp_path))
    for name in ("a", "b"):
        store = engine.create_table(TableSpec(name, (Family("d"),)))
        store.mutate([RowCells(b"r", [Cell("d", b"q", 5, b"v")])])
    monkeypatch.setattr(engine._tables["a"], "flush", fail)
    with pytest.raises(Unavailable, match="the disk is full"):
        engine.close()
    with RocksEngine.open(str(tmp_path)) as again:
        assert all(again.open_table(name).get([b"r"])[0].cells for name in ("a", "b"))


def test_a_child_process_does_not_keep_a_directory_locked(tmp_path: Path) -> None:
    """A child process that inherits the lock's file does not keep a directory locked."""
    stop = Event()

    def start() -> None:
        while not stop.is_set():
            subprocess.run([sys.executable, "-S", "-c", ""], check=True, close_fds=True)

    thread = Thread(target=start)
    thread.start()
    try:
        for _ in range(2_000):
            RocksEngine.open(str(tmp_path)).close()
    finally:
        stop.set()
        thread.join()
