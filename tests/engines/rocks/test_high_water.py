"""The high-water mark shows lost changes after a crash, as far as it can be trusted."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.rocks.restarts import restart_machine
from ramdisk import RAM_FOLDER
from rowkey.cells import Cell, Family, RowCells
from rowkey.engines import ScanRange, TableSpec
from rowkey.engines.backends.rocks import RocksEngine
from rowkey.engines.rocksdb_files import high_water_mark
from rowkey.engines.rocksdb_files.high_water_mark import (
    HIGH_WATER_FILE,
    HighWaterMark,
    StoredMark,
    read_mark,
)
from rowkey.engines.rocksdb_files.log_format import read_records
from rowkey.engines.rocksdb_files.write_ahead_log import list_logs
from rowkey.errors import CorruptionError

ORIGIN = b"of table opening"
SYNCED, WRITTEN = 10, 30
"""Rows that were put on disk, and those that were acknowledged in all."""


@pytest.fixture
def mark_path(tmp_path: Path) -> Path:
    """Return the mark of a table with 12 acknowledged changes, 10 of them on disk."""
    mark = HighWaterMark(tmp_path / HIGH_WATER_FILE, 7, ORIGIN)
    mark.raise_mark(10, durable=True)
    mark.raise_mark(12, durable=False)
    mark.close()
    mark.close()
    return tmp_path / HIGH_WATER_FILE


def test_on_the_same_boot_all_acknowledged_changes_must_be_in_the_log(mark_path: Path) -> None:
    assert StoredMark(12, 10, is_of_this_boot=True, origin=ORIGIN) == read_mark(mark_path)
    assert 12 == StoredMark(12, 10, is_of_this_boot=True, origin=ORIGIN).required_sequence


def test_after_a_reboot_only_synced_changes_must_be_in_the_log(mark_path: Path) -> None:
    """After a reboot only the changes that were on disk must be in the log."""
    restart_machine(mark_path.parent)
    assert StoredMark(12, 10, is_of_this_boot=False, origin=ORIGIN) == read_mark(mark_path)
    assert 10 == StoredMark(12, 10, is_of_this_boot=False, origin=ORIGIN).required_sequence


@pytest.mark.parametrize("is_there", [True, False], ids=["another boot", "no boot is known"])
def test_a_mark_with_another_boot_id_is_of_an_earlier_boot(
    mark_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_there: bool
) -> None:
    """A mark is of an earlier boot if the system says so, or has no boot id."""
    other = tmp_path / "boot_id"
    if is_there:
        other.write_text("another start\n")
    monkeypatch.setattr(high_water_mark, "_BOOT_ID_FILE", other)
    assert StoredMark(12, 10, is_of_this_boot=False, origin=ORIGIN) == read_mark(mark_path)


def test_a_raised_high_water_mark_can_be_read_without_a_close(tmp_path: Path) -> None:
    """A raised mark can be read at once, without a close."""
    mark = HighWaterMark(tmp_path / HIGH_WATER_FILE, 0, ORIGIN)
    for sequence in range(1, 50):
        mark.raise_mark(sequence, durable=sequence % 10 == 0)
        expected = StoredMark(sequence, sequence // 10 * 10, is_of_this_boot=True, origin=ORIGIN)
        assert expected == read_mark(tmp_path / HIGH_WATER_FILE)
    mark.close()


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"",
        b"rowkey high water\n",
        b"\xff" * 500,
        b"\0" * 128,
    ],
)
def test_a_missing_or_unreadable_high_water_mark_is_replaced_by_the_next(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / HIGH_WATER_FILE
    if content is not None:
        path.write_bytes(content)
    assert read_mark(path) is None
    mark = HighWaterMark(path, 5, ORIGIN)
    mark.close()
    assert StoredMark(5, 5, is_of_this_boot=True, origin=ORIGIN) == read_mark(path)


def test_a_directory_in_place_of_the_high_water_mark_counts_as_missing(tmp_path: Path) -> None:
    assert read_mark(tmp_path) is None


@given(st.binary(max_size=300))
def test_any_bytes_are_read_as_a_high_water_mark_without_an_error(content: bytes) -> None:
    with TemporaryDirectory(dir=RAM_FOLDER) as folder:
        path = Path(folder) / HIGH_WATER_FILE
        for garbage in (content, b"rowkey high water\n" + content):
            path.write_bytes(garbage)
            assert read_mark(path) is None


def test_a_flipped_bit_of_a_high_water_mark_never_gives_other_numbers(mark_path: Path) -> None:
    """A mark with a flipped bit is invalid or unchanged, never one with other numbers."""
    sound, content = read_mark(mark_path), mark_path.read_bytes()
    found = []
    for at in range(0, 8 * len(content), 5):
        damaged = bytearray(content)
        damaged[at // 8] ^= 1 << at % 8
        mark_path.write_bytes(damaged)
        found.append(read_mark(mark_path))
    assert {None, sound} == set(found)
    assert found.count(None) >= 8 * (18 + 32 + 4) // 5
    for length in range(0, len(content), 3):
        mark_path.write_bytes(content[:length])
        assert read_mark(mark_path) in (None, sound)


@pytest.fixture(scope="module")
def source() -> Iterator[Path]:
    """Return a copy of an open table, as a kill would leave it, partly synced."""
    with TemporaryDirectory(dir=RAM_FOLDER) as folder:
        place = Path(folder) / "data"
        with RocksEngine.open(str(place)) as engine:
            store = engine.create_table(TableSpec("t", (Family("d"),)))
            for number in range(WRITTEN):
                cells = [Cell("d", b"q", 1, b"%d" % number)]
                store.mutate([RowCells(b"%03d" % number, cells)], sync=number < SYNCED)
            shutil.copytree(place, Path(folder) / "killed")
        yield Path(folder) / "killed"


@pytest.fixture
def killed_copy(source: Path) -> Iterator[Path]:
    """Return a copy of the killed table to be damaged."""
    with TemporaryDirectory(dir=RAM_FOLDER) as folder:
        yield shutil.copytree(source, Path(folder) / "data")


def cut_log(place: Path, rows: int) -> None:
    """Cut the log after the batch of the last of this many rows."""
    (log,) = list_logs(place / "t")
    content = log.read_bytes()
    ends = [offset for offset, _ in read_records(content)]
    os.truncate(log, [*ends, len(content)][len(ends) - WRITTEN + rows])


def read_rows(place: Path) -> list[bytes]:
    """Return the rows of the table in a place."""
    with RocksEngine.open(str(place)) as engine:
        (cursor,) = engine.open_table("t").scan([ScanRange()])
        return [row.row for row in cursor]


@pytest.mark.parametrize("rows", [0, SYNCED - 1, SYNCED, WRITTEN - 1])
def test_a_log_that_lacks_acknowledged_batches_is_refused_on_the_same_boot(
    killed_copy: Path, rows: int
) -> None:
    """A log without acknowledged batches is refused on the same boot, with their number."""
    (log,) = list_logs(killed_copy / "t")
    cut_log(killed_copy, rows)
    before = {path: path.read_bytes() for path in (killed_copy / "t").iterdir() if path.is_file()}
    with pytest.raises(CorruptionError, match="the end of this log") as refused:
        read_rows(killed_copy)
    assert str(log) == refused.value.mistake.path
    assert "acknowledged change" in refused.value.mistake.problem
    assert before == {path: path.read_bytes() for path in before}


@pytest.mark.parametrize("rows", [SYNCED, SYNCED + 7, WRITTEN])
def test_a_table_that_lost_unsynced_changes_opens_with_a_warning(
    killed_copy: Path, rows: int, caplog: pytest.LogCaptureFixture
) -> None:
    """A table that lost unsynced changes opens with a warning about the loss."""
    cut_log(killed_copy, rows)
    restart_machine(killed_copy / "t")
    with caplog.at_level(logging.WARNING):
        assert [b"%03d" % number for number in range(rows)] == read_rows(killed_copy)
    assert (rows < WRITTEN) == ("they were written without sync, and are lost" in caplog.text)


@pytest.mark.parametrize("rows", [0, SYNCED - 1])
def test_a_log_that_lacks_synced_changes_is_refused(killed_copy: Path, rows: int) -> None:
    """A log that lacks synced changes is refused as damaged."""
    cut_log(killed_copy, rows)
    restart_machine(killed_copy / "t")
    with pytest.raises(CorruptionError, match="the end of this log"):
        read_rows(killed_copy)


def _remove(path: Path) -> None:
    path.unlink()


def _empty(path: Path) -> None:
    os.truncate(path, 0)


def _flip_mark(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[70] ^= 1
    path.write_bytes(content)


def _flip_name(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[0] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    "spoil",
    [
        _remove,
        _empty,
        _flip_mark,
        _flip_name,
    ],
)
def test_a_table_with_a_damaged_high_water_mark_opens_with_a_warning(
    killed_copy: Path, spoil: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    """A table with a damaged mark opens with a warning, and gets a new mark."""
    spoil(killed_copy / "t" / HIGH_WATER_FILE)
    with caplog.at_level(logging.WARNING):
        assert WRITTEN == len(read_rows(killed_copy))
    assert "the file, which counts the stored changes, is missing or damaged" in caplog.text
    caplog.clear()
    assert WRITTEN == len(read_rows(killed_copy))
    assert "high-water" not in caplog.text
    assert read_mark(killed_copy / "t" / HIGH_WATER_FILE) is not None
