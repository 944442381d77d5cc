"""A read-only table is read through a folder of links, and its files do not change."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

from ramdisk import RAM_FOLDER
from rowkey.cells import Cell, Family, RowCells
from rowkey.engines import ScanRange, TableSpec
from rowkey.engines.backends.rocks import RocksEngine
from rowkey.engines.rocksdb import database
from rowkey.engines.rocksdb.database import check_database, open_linked_database
from rowkey.engines.rocksdb_files.descriptor import read_descriptor
from rowkey.engines.rocksdb_files.linked_folder import LinkedFolder
from rowkey.errors import Unavailable

if TYPE_CHECKING:
    from rowkey.engines import Store

FAMILIES = (Family("d"), Family("e"))
FULL, READ_ONLY = errno.ENOSPC, errno.EROFS


@pytest.fixture
def killed_directory() -> Iterator[Path]:
    """Return a killed table with rows in files and rows in its log alone."""
    with TemporaryDirectory(dir=RAM_FOLDER) as folder:
        source = Path(folder) / "source"
        with RocksEngine.open(str(source)) as engine:
            store = engine.create_table(TableSpec("t", FAMILIES))
            for number in range(40):
                cells = [Cell(name, b"q", 1, b"%d" % number) for name in "de"]
                store.mutate([RowCells(b"%03d" % number, cells)])
                if number == 20:
                    store.flush()
            while len(list((source / "t").glob("*.log"))) > 1:  # RocksDB removes flushed logs later
                time.sleep(0.001)
            yield shutil.copytree(source, Path(folder) / "data")


def describe_files(place: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return inode, change time and content of a table's files, and the folders' times."""
    return {
        str(path): (status.st_ino, status.st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in [place / "t", *(place / "t").rglob("*")]
        for status in [path.stat()]
    }


def read_rows(store: Store) -> list[RowCells]:
    """Return all rows, read in each way that there is."""
    (cursor,) = store.scan([ScanRange()])
    rows = list(cursor)
    assert rows == store.get([row.row for row in rows])
    (cursor,) = store.snapshot().scan([ScanRange()])
    assert rows == list(cursor)
    return rows


@pytest.fixture(params=[FULL, READ_ONLY], ids=["full", "read-only"])
def refusing_disk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the disk refuse new files of a table."""

    def refuse(directory: Path) -> None:
        raise OSError(request.param, os.strerror(request.param), str(directory))

    monkeypatch.setattr(database, "write_settings", refuse)


@pytest.mark.usefixtures("refusing_disk")
def test_reading_a_read_only_table_changes_no_file(killed_directory: Path) -> None:
    """Reading a read-only table returns all rows and changes no byte, inode or time."""
    before = describe_files(killed_directory)
    with RocksEngine.open(str(killed_directory)) as engine:
        store = engine.open_table("t")
        assert [b"%03d" % number for number in range(40)] == [r.row for r in read_rows(store)]
        folder = _get_folder(engine)
        assert folder.is_dir()
        assert {"CURRENT"} < {path.name for path in folder.iterdir()}
        assert before == describe_files(killed_directory)
    assert not folder.exists()
    assert before == describe_files(killed_directory)


def _get_folder(engine: RocksEngine) -> Path:
    found = engine._tables["t"].database._linked_folder
    assert found is not None
    return found.path


CHANGES: dict[str, Callable[[Store], Any]] = {
    "mutate": lambda store: store.mutate([RowCells(b"z", [Cell("d", b"q", 1, b"v")])]),
    "increment": lambda store: store.increment(b"z", [("d", b"n", 1)]),
    "alter": lambda store: store.alter_families([Family("f")]),
    "flush": lambda store: store.flush(),
    "compact": lambda store: store.compact(),
    "split": lambda store: store.split(b"010"),
    "annotate": lambda store: store.replace_attributes({"word": "value"}),
}


@pytest.mark.usefixtures("refusing_disk")
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_writing_to_a_read_only_table_is_refused(
    killed_directory: Path, change: Callable[[Store], Any]
) -> None:
    """A read-only table refuses writes, and its rows do not change."""
    before = describe_files(killed_directory)
    with RocksEngine.open(str(killed_directory)) as engine:
        store = engine.open_table("t")
        rows, spec = read_rows(store), store.spec
        with pytest.raises(Unavailable, match="the table is open read-only"):
            change(store)
        assert rows == read_rows(store)
    assert before == describe_files(killed_directory)
    assert {family.name for family in spec.families} == {"d", "e"}


def test_rocksdb_writes_only_into_the_folder_of_links_of_a_read_only_table(
    killed_directory: Path,
) -> None:
    """RocksDB writes into the folder of links alone, which is removed at close."""
    before = describe_files(killed_directory)
    table = killed_directory / "t"
    db, folder = open_linked_database(
        table, check_database(table, read_descriptor(table)), FAMILIES
    )
    links = [path for path in folder.path.iterdir() if path.is_symlink()]
    assert {path.name for path in (killed_directory / "t").glob("*.sst")} < {
        path.name for path in links
    }
    assert 40 == len(list(db.get_column_family("f_d").keys()))
    db.close()
    folder.close()
    folder.close()
    assert not folder.path.exists()
    assert before == describe_files(killed_directory)


def test_a_leftover_folder_of_links_is_removed_and_its_targets_stay(tmp_path: Path) -> None:
    """A folder of links is removed with its last user, and its targets stay."""
    (tmp_path / "000001.sst").write_bytes(b"pairs")
    folder = LinkedFolder(tmp_path, [tmp_path / "000001.sst"])
    path = folder.path
    assert b"pairs" == (path / "000001.sst").read_bytes()
    del folder
    assert not path.exists()
    assert b"pairs" == (tmp_path / "000001.sst").read_bytes()


def test_a_read_only_table_without_space_for_links_names_the_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a writable folder for links the error names the setting."""

    def refuse(**_: object) -> str:
        raise OSError(FULL, os.strerror(FULL))

    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    with pytest.raises(Unavailable, match="Set TMPDIR to a folder that can be written"):
        LinkedFolder(tmp_path)


MOUNTED_CODE = """
import sys
import time
from pathlib import Path
from engines.rocks.test_read_only import _get_folder, describe_files, read_rows
from rowkey.engines.backends.rocks import RocksEngine
place = Path(sys.argv[1])
try:
    (place / "t" / "new").touch()
except OSError as problem:
    assert "Read-only file system" in str(problem)
else:
    raise AssertionError("the disk can be written")
before = describe_files(place)
with RocksEngine.open(str(place)) as engine:
    rows, folder = read_rows(engine.open_table("t")), _get_folder(engine)
assert not folder.exists()
assert before == describe_files(place)
print(len(rows))
"""


def test_a_killed_table_on_a_read_only_mount_returns_all_rows(killed_directory: Path) -> None:
    script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && exec "$2" -c "$3" "$1"'
    may_mount = ["unshare", "-m", "sh", "-c", 'mount --bind "$1" "$1"', "sh", str(killed_directory)]
    if shutil.which("unshare") is None or subprocess.run(may_mount, check=False).returncode:
        pytest.skip("this user may not mount")
    words = [
        "unshare",
        "-m",
        "sh",
        "-c",
        script,
        "sh",
        str(killed_directory),
        sys.executable,
        MOUNTED_CODE,
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert ("40\n", 0) == (done.stdout, done.returncode), done.stderr[-4_000:]
