"""What is acknowledged survives the death of the process, whole and with its counts."""

from __future__ import annotations

import subprocess
import sys
from random import Random
from typing import TYPE_CHECKING

import pytest

from engines.rocks.killing import Killing
from engines.rocks.script import SPEC
from reliability.record import record
from rowkey.engines.backends.rocks import Rocks
from rowkey.errors import Unsupported

if TYPE_CHECKING:
    from pathlib import Path


def test_thirty_kills_lose_and_invent_nothing(tmp_path: Path) -> None:
    """After each kill the table is what was acknowledged, with the last batch whole or absent."""
    random = Random(3)
    killing = Killing(tmp_path, seed=3)
    for _ in range(30):
        killing.kill(random)
        killing.verify()
    assert killing.done > 30


@pytest.mark.long
@pytest.mark.parametrize(
    ("count", "mode", "sync"),
    [(150, "writes", False), (150, "care", False), (100, "writes", True), (50, "care", True)],
)
def test_hundreds_of_kills_lose_nothing(tmp_path: Path, count: int, mode: str, sync: bool) -> None:
    """The same at length: with flushes, compactions and splits under way, and with a synced log."""
    random = Random(count)
    killing = Killing(tmp_path, seed=count, mode=mode, sync=sync)
    for _ in range(count):
        killing.kill(random)
        killing.verify()
    name = f"kills amid {mode}{' with sync' if sync else ''}"
    record(name, {"kills": count, "changes": killing.done})
    assert killing.done > count


@pytest.mark.long
def test_a_stopped_writer_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    """A writer may hang for five seconds before it dies."""
    random = Random(5)
    killing = Killing(tmp_path, seed=5, mode="care")
    for _ in range(50):
        killing.kill(random, stopped_s=5)
        killing.verify()
    record("kills of a stopped writer", {"kills": 50, "changes": killing.done})
    assert killing.done > 50


def test_kills_amid_compactions_and_splits_lose_nothing(tmp_path: Path) -> None:
    """A flush, a major compaction or a split that was cut short changes nothing that is seen."""
    random = Random(4)
    killing = Killing(tmp_path, seed=4, mode="care")
    for _ in range(5):
        killing.kill(random)
        killing.verify()
    assert killing.done > 5


_OPEN = "import sys; from rowkey.engines import open_engine; open_engine(sys.argv[1])"


def test_a_second_process_is_refused_at_once(tmp_path: Path) -> None:
    """It is told the directory and to close the other one, within a second beside its start."""
    with Rocks.open(str(tmp_path / "db")) as engine:
        engine.create(SPEC)
        url = f"rocks:{tmp_path / 'db'}"
        program = f"import time; t = time.monotonic()\ntry:\n exec({_OPEN!r})\nfinally: "
        program += "print(time.monotonic() - t)"
        second = subprocess.run(
            [sys.executable, "-c", program, url], capture_output=True, text=True, check=False
        )
    assert 1 == second.returncode
    assert f"rowkey.errors.Unsupported: {tmp_path / 'db'}: it is open already" in second.stderr
    assert float(second.stdout) < 1


def test_the_same_process_is_refused_as_well(tmp_path: Path) -> None:
    """A directory opened twice by mistake would be two truths."""
    with Rocks.open(str(tmp_path)), pytest.raises(Unsupported, match="it is open already"):
        Rocks.open(str(tmp_path))


def test_a_kill_frees_the_directory(tmp_path: Path) -> None:
    """Nothing is left behind that would have to be removed by hand."""
    killing = Killing(tmp_path, seed=6)
    writer = killing.start()
    with pytest.raises(Unsupported, match="it is open already"):
        Rocks.open(str(tmp_path / "db"))
    writer.kill()
    writer.communicate()
    killing.verify()
