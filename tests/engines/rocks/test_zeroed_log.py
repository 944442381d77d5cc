"""Zeros in a log: at its end they are space that was not written, elsewhere they are damage."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rowkey
from rowkey.engines.backends.rocks import Rocks
from rowkey.engines.rocksdb.files import RESTORE, UNTOLD, explained
from rowkey.engines.rocksdb.wal import BLOCK, HEADER, Damage, find_damage, last_change, logs_in
from rowkey.errors import Unsupported

ROWS = 1_500
THINGS = rowkey.Design("t", "[id]", fields={"id": "u64", "v": "text"})
KILLED = f"""
import os, signal, sys
import rowkey
design = rowkey.Design("t", "[id]", fields={{"id": "u64", "v": "text"}})
table = rowkey.open(design, "rocks:" + sys.argv[1])
for n in range({ROWS}):
    table.put({{"id": n, "v": "x" * 60 + str(n)}})
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place whose writer was killed with all its rows in a log of many blocks."""
    place = tmp_path_factory.mktemp("zeroed") / "db"
    subprocess.run([sys.executable, "-c", KILLED, str(place)], check=False)
    return place


@pytest.fixture
def copy(killed: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    return Path(shutil.copytree(killed, tmp_path / "copy"))


def starts(log: bytes) -> list[int]:
    """Where the records of a sound log begin."""
    found, at = [], 0
    while at + HEADER <= len(log):
        left = BLOCK - at % BLOCK
        if left < HEADER:
            at += left
            continue
        found.append(at)
        at += HEADER + int.from_bytes(log[at + 4 : at + 6], "little")
    return found


def zeroed(place: Path, begin: int, end: int) -> Path:
    """The log of a place, in which these bytes were turned into zeros."""
    (log,) = logs_in(place / "t")
    content = log.read_bytes()
    log.write_bytes(content[:begin] + bytes(end - begin) + content[end:])
    return log


def ids(place: Path) -> list[int]:
    """The rows a place has."""
    with rowkey.open(THINGS, f"rocks:{place}") as table:
        return [row["id"] for row in table.scan()]


def record_of(place: Path, at: int) -> int:
    """Where the record of a byte begins."""
    (log,) = logs_in(place / "t")
    return max(start for start in starts(log.read_bytes()) if start <= at)


@pytest.mark.parametrize("where", ["header", "page", "block", "last block"])
def test_zeros_amid_a_log_are_damage_by_file_and_byte(copy: Path, where: str) -> None:
    """RocksDB alone would skip to the next block; a repair keeps all rows before the zeros."""
    (log,) = logs_in(copy / "t")
    begin = record_of(copy, {"last block": log.stat().st_size - 900}.get(where, 2 * BLOCK))
    zeroed(copy, begin, begin + {"page": 4_096, "block": BLOCK}.get(where, HEADER))
    said = f"damaged at byte {begin:,}: a record of the unknown type 0"
    with pytest.raises(Unsupported, match=said) as refusal:
        ids(copy)
    assert str(log) == refusal.value.mistake.path
    (found,) = Rocks.examine(str(copy))
    assert (log.name, begin) == (found.log, found.at)
    (mended,) = Rocks.repair(str(copy))
    assert (log.name, begin) == (mended.log, mended.at)
    assert (mended.changes_cut > 0) == (where != "last block")
    kept = ids(copy)
    assert list(range(len(kept))) == kept
    assert 0 < len(kept) < ROWS


def test_an_open_names_the_byte_that_a_repair_cuts(copy: Path) -> None:
    """Zeros from within a record on damage that one first, though its length is still told."""
    begin = record_of(copy, 2 * BLOCK + 9_000)
    zeroed(copy, begin + HEADER + 20, begin + 4_096)
    with pytest.raises(Unsupported, match=f"damaged at byte {begin:,}: "):
        ids(copy)
    (found,) = Rocks.examine(str(copy))
    assert begin == found.at


def test_zeros_at_the_end_are_no_damage(copy: Path) -> None:
    """Space that was set aside and not written, and a last page that was lost, end a log."""
    (log,) = logs_in(copy / "t")
    content = log.read_bytes()
    end = starts(content)[-5]
    assert find_damage(content + bytes(3 * BLOCK), thorough=True) is None
    zeroed(copy, end, len(content))
    assert [""] == [found.log for found in Rocks.examine(str(copy))]
    kept = ids(copy)
    assert list(range(len(kept))) == kept
    assert ROWS - 10 < len(kept) < ROWS


def test_a_table_that_is_broken_elsewhere_too_is_told_with_its_cut(copy: Path) -> None:
    """The log was cut and is kept aside; that the table does not open all the same is said."""
    begin = record_of(copy, BLOCK)
    log = zeroed(copy, begin, begin + HEADER)
    (copy / "t" / "CURRENT").write_text("nothing")
    (mended,) = Rocks.repair(str(copy))
    assert f"t: {log.name} was cut at byte {begin:,}, but it cannot be mended. " in str(mended)
    assert "CURRENT file does not end with newline" in mended.broken
    assert (copy / "t" / "cut" / f"{log.name}.{begin}").is_file()


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("Corruption: block checksum mismatch in /a/000012.sst offset 0", RESTORE),
        ("Corruption: CURRENT file does not end with newline", RESTORE),
        ("Corruption: missing start of fragmented record(2)", UNTOLD),
        ("Corruption: missing start in /a/my.sst/t", UNTOLD),
    ],
)
def test_advice_tells_only_what_is_true(copy: Path, text: str, advice: str) -> None:
    """That it is in no log is said where RocksDB names another file."""
    problem = explained(copy / "t", RuntimeError(text))
    assert isinstance(problem, Unsupported)
    assert advice == problem.mistake.remedy


def test_the_last_change_is_told_from_behind_zeros(killed: Path) -> None:
    """A repair tells how much it cut: the count goes on in the block behind the zeros."""
    (log,) = logs_in(killed / "t")
    content = log.read_bytes()
    broken = content[:BLOCK] + bytes(BLOCK) + content[2 * BLOCK :]
    assert last_change(content) == last_change(broken)
    assert Damage(BLOCK, "a record of the unknown type 0") == find_damage(broken)
