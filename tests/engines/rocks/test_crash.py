"""Acknowledged changes survive a killed process completely, with their counts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from engines.rocks.killed_writers import KilledWriters
from engines.rocks.script import SPEC
from reliability.record import record
from rowkey.engines.backends.rocks import RocksEngine
from rowkey.errors import Unavailable


def test_a_killed_table_keeps_acknowledged_changes_and_its_last_batch_whole_or_not_at_all(
    tmp_path: Path,
) -> None:
    """A killed table holds the acknowledged changes, and its last batch whole or not at all."""
    random = Random(3)
    killing = KilledWriters(tmp_path, seed=3)
    for _ in range(2):
        killing.kill(random)
        killing.verify()
    assert killing.done > 3


@pytest.mark.long
@pytest.mark.parametrize(
    ("count", "mode", "sync"),
    [(60, "writes", False), (60, "care", False), (40, "writes", True), (40, "care", True)],
)
def test_a_kill_during_a_flush_compaction_or_split_loses_nothing(
    tmp_path: Path, count: int, mode: str, sync: bool
) -> None:
    """A kill loses nothing during flushes, compactions and splits, nor with a synced log."""
    random = Random(count)
    killing = KilledWriters(tmp_path, seed=count, mode=mode, sync=sync)
    for _ in range(count):
        killing.kill(random)
        killing.verify()
    name = f"kills amid {mode}{' with sync' if sync else ''}"
    record(name, {"kills": count, "changes": killing.done})
    assert killing.done > count


@pytest.mark.long
def test_a_writer_that_hangs_before_it_is_killed_loses_nothing(tmp_path: Path) -> None:
    """A writer that hangs for five seconds before it is killed loses nothing."""
    random = Random(5)
    killing = KilledWriters(tmp_path, seed=5, mode="care")
    for _ in range(10):
        killing.kill(random, stopped_s=5)
        killing.verify()
    record("kills of a stopped writer", {"kills": 10, "changes": killing.done})
    assert killing.done > 10


def test_an_interrupted_flush_compaction_or_split_changes_no_read(tmp_path: Path) -> None:
    """A flush, a major compaction or a split that is interrupted changes no read."""
    random = Random(4)
    killing = KilledWriters(tmp_path, seed=4, mode="care")
    for _ in range(2):
        killing.kill(random)
        killing.verify()
    assert killing.done > 3


_OPENING_CODE = """
import sys, time
from rowkey.engines import open_engine
def never_sleep(seconds): sys.exit("it waits")
time.sleep = never_sleep
open_engine(sys.argv[1])
"""


def test_a_second_process_is_refused_a_directory_at_once(tmp_path: Path) -> None:
    """A second process gets an error with the directory, and does not wait for the first one."""
    with RocksEngine.open(str(tmp_path / "db")) as engine:
        engine.create_table(SPEC)
        url = f"rocks:{tmp_path / 'db'}"
        second = subprocess.run(
            [sys.executable, "-c", _OPENING_CODE, url], capture_output=True, text=True, check=False
        )
    assert 1 == second.returncode
    problem = f"{tmp_path / 'db'}: the directory is open already"
    assert f"rowkey.errors.Unavailable: {problem}" in second.stderr


def test_a_directory_can_be_opened_once_its_process_is_killed(tmp_path: Path) -> None:
    """A directory can be opened as soon as the process that had it open is killed."""
    killing = KilledWriters(tmp_path, seed=6)
    writer = killing.start()
    with pytest.raises(Unavailable, match="the directory is open already"):
        RocksEngine.open(str(tmp_path / "db"))
    writer.kill()
    writer.communicate()
    killing.verify()
