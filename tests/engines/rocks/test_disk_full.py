"""A full disk raises an error, loses no acknowledged change, and can be recovered from."""

from __future__ import annotations

import errno
import os
import resource
from pathlib import Path
from unittest.mock import DEFAULT, patch

import pytest

import rowkey
from engines.rocks.killed_writers import KilledWriters
from rowkey.engines.rocksdb_files.descriptor import write_descriptor
from rowkey.errors import CorruptionError, Unavailable
from rowkey.table import repair_tables, verify_tables

KIBIBYTE = 1_024


def get_size(path: Path) -> int:
    """Return the bytes of a file, 0 if it is gone."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def fill_up(killing: KilledWriters, extra_bytes: int) -> str:
    """Let a writer write until no file may grow further, and return its output."""
    writer = killing.start()
    largest = max(map(get_size, (killing.place / "db" / "t").iterdir()))
    resource.prlimit(
        writer.pid, resource.RLIMIT_FSIZE, (largest + extra_bytes, largest + extra_bytes)
    )
    return writer.communicate()[0]


@pytest.mark.parametrize(
    "step",
    [
        "rowkey.engines.rocksdb.database.HighWaterMark",
        "rowkey.engines.rocksdb.open_table.OpenTable.store_description",
        "rowkey.engines.rocksdb.open_table.write_descriptor",
    ],
)
def test_a_creation_that_found_no_space_can_be_repeated_in_the_same_process(
    tmp_path: Path, step: str
) -> None:
    """A step of a creation that finds no space leaves nothing open."""
    url, design = f"rocks:{tmp_path}", rowkey.Design("t", "[id]", fields={"id": "u32"})
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    passing = [DEFAULT] if step.endswith("write_descriptor") else []
    with (
        patch(step, wraps=write_descriptor, side_effect=[*passing, full]),
        pytest.raises(Unavailable, match="No space left"),
    ):
        rowkey.open(design, url)
    with rowkey.open(design, url) as table:
        assert [] == list(table.scan())


def test_a_table_is_not_created_if_the_id_of_its_database_cannot_be_read(tmp_path: Path) -> None:
    """If RocksDB's id of the database cannot be read, a creation fails, and can be repeated."""
    url, design = f"rocks:{tmp_path}", rowkey.Design("t", "[id]", fields={"id": "u32"})
    with (
        patch(
            "rowkey.engines.rocksdb.database.read_regular_file",
            side_effect=OSError(errno.EIO, os.strerror(errno.EIO)),
        ),
        pytest.raises(CorruptionError, match="Input/output error"),
    ):
        rowkey.open(design, url)
    with rowkey.open(design, url) as table:
        table.put({"id": 1})
    with rowkey.open(design, url) as table:
        assert [{"id": 1}] == list(table.scan())


def test_writing_continues_after_a_full_disk(tmp_path: Path) -> None:
    """On a full disk the writer gets rowkey's error, and the next writer continues."""
    killing = KilledWriters(tmp_path, seed=9)
    for turn in range(2):
        said = fill_up(killing, extra_bytes=(turn + 1) * 32 * KIBIBYTE)
        assert "the disk is full, or a file reached its" in said
        assert killing.journal()[-1].startswith("full ")
        killing.verify()
    assert killing.done > 10


@pytest.mark.long
@pytest.mark.parametrize("mode", ["writes", "care"])
def test_a_disk_that_fills_up_fifty_times_loses_nothing(tmp_path: Path, mode: str) -> None:
    """Fifty full disks during writes, flushes and compactions lose nothing."""
    killing = KilledWriters(tmp_path, seed=10, mode=mode)
    for turn in range(25):
        said = fill_up(killing, extra_bytes=(turn % 5 + 1) * 16 * KIBIBYTE)
        assert "the disk is full, or a file reached its" in said
        killing.verify()
    assert killing.done > 25


def test_a_repair_on_a_failing_disk_is_refused_and_succeeds_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repair that cannot write names the table, and succeeds once the disk works again."""
    design = rowkey.Design("t", "[id]", fields={"id": "u32"})
    url = f"rocks:{tmp_path / 'place'}"
    with rowkey.open(design, url) as table:
        table.put({"id": 1})
    (tmp_path / "place" / "t" / "descriptor.json").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(
            "rowkey.engines.backends.rocks.repair_table",
            lambda _: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left on device")),
        )
        with pytest.raises(Unavailable, match=r"place/t"):
            list(repair_tables(url, ["t"]))
    list(repair_tables(url, ["t"]))
    with rowkey.open(design, url, create=False) as table:
        assert 1 == table.count()


def test_verify_reports_that_a_full_disk_has_no_space_for_an_opening(tmp_path: Path) -> None:
    """A table is sound only if what an opening writes has a place; the files stay as they are."""
    url = f"rocks:{tmp_path}"
    with rowkey.open(rowkey.Design("t", "[id]", fields={"id": "u32"}), url) as table:
        table.put({"id": 1})
    files = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    for code in (errno.ENOSPC, errno.EDQUOT):
        full = OSError(code, os.strerror(code))
        with patch("os.posix_fallocate", side_effect=full):
            (found,) = verify_tables(url)
        assert (False, True) == (found.is_sound, found.is_readable)
        assert f"{os.strerror(code)}: the table cannot be written" in str(found.problems[0])
    (found,) = verify_tables(url)
    assert found.is_sound
    assert files.items() >= {path: path.stat().st_mtime_ns for path in files}.items()


def test_verify_accepts_a_file_system_that_cannot_reserve_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a system or a file system cannot reserve space, a table is sound all the same."""
    url = f"rocks:{tmp_path}"
    rowkey.open(rowkey.Design("t", "[id]", fields={"id": "u32"}), url).close()
    for code in (errno.EOPNOTSUPP, errno.EINVAL):
        with patch("os.posix_fallocate", side_effect=OSError(code, os.strerror(code))):
            assert [True] == [one.is_sound for one in verify_tables(url)]
    monkeypatch.delattr(os, "posix_fallocate")  # as on macOS
    assert [True] == [one.is_sound for one in verify_tables(url)]
