"""Zeros at the end of a log are unused space; zeros elsewhere are damage."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import rowkey
from engines.rocks.restarts import restart_machine
from rowkey.engines.backends.rocks import RocksEngine
from rowkey.engines.rocksdb.storage_errors import explain_error
from rowkey.engines.rocksdb_files.inspection import (
    MAX_LOG_BYTES,
    REPAIR_LOG_HINT,
    SALVAGE_HINT,
)
from rowkey.engines.rocksdb_files.log_format import (
    BLOCK_BYTES,
    HEADER_BYTES,
    LogDamage,
    find_damage,
)
from rowkey.engines.rocksdb_files.write_ahead_log import list_logs
from rowkey.errors import CorruptionError

if TYPE_CHECKING:
    from rowkey.engines import RepairResult

ROWS = 1_500
THINGS = rowkey.Design("t", "[id]", fields={"id": "u64", "v": "text"})


@pytest.fixture(scope="module")
def killed_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a place as a killed writer leaves it, with its rows in a log of many blocks."""
    folder = tmp_path_factory.mktemp("zeroed")
    with rowkey.open(THINGS, f"rocks:{folder / 'db'}") as table:
        for number in range(ROWS):
            table.put({"id": number, "v": "x" * 60 + str(number)})
        return Path(shutil.copytree(folder / "db", folder / "killed"))


@pytest.fixture
def copy(killed_directory: Path, tmp_path: Path) -> Path:
    """Return a copy of the killed place, to be damaged."""
    return Path(shutil.copytree(killed_directory, tmp_path / "copy"))


def find_record_starts(log: bytes) -> list[int]:
    """Return the offsets of the records of an undamaged log."""
    found, at = [], 0
    while at + HEADER_BYTES <= len(log):
        left = BLOCK_BYTES - at % BLOCK_BYTES
        if left < HEADER_BYTES:
            at += left
            continue
        found.append(at)
        at += HEADER_BYTES + int.from_bytes(log[at + 4 : at + 6], "little")
    return found


def zero_bytes(place: Path, begin: int, end: int) -> Path:
    """Overwrite bytes of the log with zeros, and return the log."""
    (log,) = list_logs(place / "t")
    content = log.read_bytes()
    log.write_bytes(content[:begin] + bytes(end - begin) + content[end:])
    return log


def list_ids(place: Path) -> list[int]:
    """Return the ids of the rows of a place."""
    with rowkey.open(THINGS, f"rocks:{place}") as table:
        return [row["id"] for row in table.scan()]


def list_damage(place: Path) -> list[str]:
    """Return the reported damage of the table of a place."""
    with RocksEngine.open(str(place)) as engine:
        return [str(one) for one in engine.examine("t").problems]


def repair_place(place: Path) -> RepairResult:
    """Repair the table of a place and return the report."""
    with RocksEngine.open(str(place)) as engine:
        return engine.repair("t")


def find_record_start(place: Path, at: int) -> int:
    """Return the offset of the record that has a byte."""
    (log,) = list_logs(place / "t")
    return max(start for start in find_record_starts(log.read_bytes()) if start <= at)


@pytest.mark.parametrize("where", ["header", "page", "block", "last block"])
def test_zeros_within_a_log_are_damage_at_a_byte(copy: Path, where: str) -> None:
    """Zeros within a log are damage, and a repair keeps all rows before them."""
    (log,) = list_logs(copy / "t")
    begin = find_record_start(
        copy, {"last block": log.stat().st_size - 900}.get(where, 2 * BLOCK_BYTES)
    )
    zero_bytes(copy, begin, begin + {"page": 4_096, "block": BLOCK_BYTES}.get(where, HEADER_BYTES))
    said = f"damaged at byte {begin:,}: a record has the unknown type 0"
    with pytest.raises(CorruptionError, match=said) as refusal:
        list_ids(copy)
    assert str(log) == refusal.value.mistake.path
    (found,) = list_damage(copy)
    assert f"{log}: the log is {said}" in found
    mended = repair_place(copy)
    assert (log.name, begin) == (mended.log_name, mended.offset)
    assert mended.lost_change_count
    kept = list_ids(copy)
    assert list(range(len(kept))) == kept
    assert 0 < len(kept) < ROWS


def test_opening_and_repair_report_the_same_damaged_byte(copy: Path) -> None:
    """An open and a repair report the same byte for zeros within a record."""
    begin = find_record_start(copy, 2 * BLOCK_BYTES + 9_000)
    zero_bytes(copy, begin + HEADER_BYTES + 20, begin + 4_096)
    with pytest.raises(CorruptionError, match=f"damaged at byte {begin:,}: "):
        list_ids(copy)
    (found,) = list_damage(copy)
    assert f"damaged at byte {begin:,}: " in found
    assert begin == repair_place(copy).offset


def test_zeros_at_the_end_of_a_log_are_no_damage(copy: Path) -> None:
    """Preallocated space and a last page of zeros end a log without damage."""
    (log,) = list_logs(copy / "t")
    content = log.read_bytes()
    end = find_record_starts(content)[-5]
    assert find_damage(content + bytes(3 * BLOCK_BYTES), verify_checksums=True) is None
    zero_bytes(copy, end, len(content))
    restart_machine(copy / "t")
    assert [] == list_damage(copy)
    kept = list_ids(copy)
    assert list(range(len(kept))) == kept
    assert ROWS - 10 < len(kept) < ROWS


def test_zeros_that_hide_acknowledged_changes_are_damage(copy: Path) -> None:
    (log,) = list_logs(copy / "t")
    content = log.read_bytes()
    zero_bytes(copy, find_record_starts(content)[-5], len(content))
    with pytest.raises(CorruptionError, match=r"the last [\d,]+ acknowledged changes are lost"):
        list_ids(copy)


def test_a_log_is_not_truncated_if_the_table_has_other_damage(copy: Path) -> None:
    """A log is not cut if the table has other damage too."""
    begin = find_record_start(copy, BLOCK_BYTES)
    log = zero_bytes(copy, begin, begin + HEADER_BYTES)
    (copy / "t" / "CURRENT").write_text("nothing")
    before = log.read_bytes()
    with pytest.raises(CorruptionError, match="CURRENT: the file does not name a MANIFEST"):
        repair_place(copy)
    assert before == log.read_bytes()
    assert not (copy / "t" / "cut").exists()


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("Corruption: block checksum mismatch in /a/000012.sst offset 0", SALVAGE_HINT),
        ("Corruption: CURRENT file does not end with newline", SALVAGE_HINT),
        ("Corruption: missing start of fragmented record(2)", SALVAGE_HINT),
    ],
)
def test_a_table_damaged_outside_of_its_log_can_be_saved_elsewhere(
    copy: Path, text: str, advice: str
) -> None:
    """A table with damage outside of its log can be saved into a new place."""
    problem = explain_error(copy / "t", RuntimeError(text))
    assert isinstance(problem, CorruptionError)
    assert advice == problem.mistake.remedy


def test_damage_to_a_log_is_located_where_rocksdb_names_no_place(copy: Path) -> None:
    """An error names the damaged log and byte where RocksDB names none."""
    begin = find_record_start(copy, BLOCK_BYTES)
    log = zero_bytes(copy, begin, begin + HEADER_BYTES)
    problem = explain_error(copy / "t", RuntimeError("Corruption: missing start of a record"))
    assert isinstance(problem, CorruptionError)
    assert (str(log), REPAIR_LOG_HINT) == (problem.mistake.path, problem.mistake.remedy)


def test_zeros_over_a_whole_block_are_reported_at_their_first_byte(killed_directory: Path) -> None:
    (log,) = list_logs(killed_directory / "t")
    content = log.read_bytes()
    broken = content[:BLOCK_BYTES] + bytes(BLOCK_BYTES) + content[2 * BLOCK_BYTES :]
    assert LogDamage(BLOCK_BYTES, "a record has the unknown type 0") == find_damage(broken)


def test_a_log_with_a_huge_hole_is_reported_without_reading_it_into_memory(copy: Path) -> None:
    """Its size is reported, and it is not read into memory."""
    (log,) = list_logs(copy / "t")
    with log.open("r+b") as file:
        file.truncate(MAX_LOG_BYTES + 1)
    with pytest.raises(CorruptionError, match="4,294,967,297 bytes, more than 4,294,967,296"):
        list_ids(copy)
    assert "4,294,967,297 bytes" in list_damage(copy)[0]
