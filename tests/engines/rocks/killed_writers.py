"""Writers that are killed, and checks that the table has the acknowledged changes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from engines.rocks.script import (
    SPEC,
    Clock,
    ExpectedTable,
    Script,
    count_writes,
    list_everything,
    list_visible,
)
from rowkey.engines.backends.memory import MemoryEngine
from rowkey.engines.backends.rocks import RocksEngine

if TYPE_CHECKING:
    from rowkey.cells import RowCells
    from rowkey.engines import Store

MAX_TIME_S = 0.6 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 0.2
"""Seconds that a writer has at most before it is killed."""
ROOT = Path(__file__).parents[3]


class KilledWriters:
    """One table, its writers, and a model of the acknowledged changes.

    Args:
        place: an empty folder.
        seed: decides what is written.
        mode: as `Script` takes it.
        sync: whether the writers wait for the disk.
    """

    def __init__(self, place: Path, seed: int, mode: str = "writes", *, sync: bool = False) -> None:
        self.place, self.script, self.mode, self.sync = place, Script(seed, mode), mode, sync
        self.model: ExpectedTable | MaintainedTable = (
            ExpectedTable if mode == "writes" else MaintainedTable
        )(self.script)
        self.clock = self.model.clock
        self.kept = self.lost = 0

    @property
    def done(self) -> int:
        """Return how many operations the model has done."""
        return self.model.done

    def start(self) -> subprocess.Popen[str]:
        """Start a writer that continues after the model's last operation."""
        (self.place / "journal").unlink(missing_ok=True)
        arguments = [str(self.place), str(self.script.seed), self.mode, str(self.done + 1)]
        writer = subprocess.Popen(
            [sys.executable, "-m", "engines.rocks.script", *arguments, "sync" * self.sync],
            env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        deadline = time.monotonic() + 30
        while not self.journal():
            if writer.poll() is not None or time.monotonic() > deadline:
                writer.kill()
                pytest.fail(f"the writer did not start: {writer.communicate()[0]}")
            time.sleep(0.002)
        return writer

    def wait_for(self, operations: int) -> None:
        """Wait until a writer has done this many operations, for a minute at most."""
        deadline = time.monotonic() + 60
        while sum(line.startswith("commit") for line in self.journal()) < operations:
            assert time.monotonic() < deadline, "the writer writes nothing"
            time.sleep(0.01)

    def journal(self) -> list[str]:
        """Return the complete lines of the writer's journal."""
        path = self.place / "journal"
        text = path.read_text("ascii") if path.exists() else ""
        return text[: text.rfind("\n") + 1].splitlines()

    def kill(self, random: Random, *, stopped_s: float = 0) -> None:
        """Let a writer write for some time, then kill it; stop it first if requested."""
        writer = self.start()
        time.sleep(random.uniform(0.02, MAX_TIME_S))
        self.wait_for(1)
        if stopped_s:
            writer.send_signal(signal.SIGSTOP)
            time.sleep(stopped_s)
        writer.kill()
        said = writer.communicate()[0]
        assert -signal.SIGKILL == writer.returncode, said

    def verify(self) -> None:
        """Check that the table has the acknowledged changes, and the last operation or not."""
        acknowledged, under_way = self._read_last_operations()
        while self.done < acknowledged:
            self.model.do_next()
        engine = RocksEngine.open(str(self.place / "db"), clock=self.clock)
        store = engine.open_table("t")
        if under_way and self.model.writes() != count_writes(store):
            self.model.do_next()
            self.kept += 1
        else:
            self.lost += bool(under_way)
        assert self.model.writes() == count_writes(store)
        # A compaction that was cut short has dropped some of what nobody sees.
        look = list_everything if self.mode == "writes" else list_visible
        assert self.model.list_rows() == look(store)
        engine.close()

    def _read_last_operations(self) -> tuple[int, int]:
        """Return the last acknowledged operation and the one in progress, or 0."""
        lines = [line.split() for line in self.journal() if " " in line]
        last = {word: int(number) for word, number in lines}
        acknowledged = last.get("commit", self.done)
        pending = last.get("pending", 0)
        return acknowledged, pending if pending > acknowledged else 0


class MaintainedTable:
    """A model in memory for scripts with flushes, compactions and splits.

    Args:
        script: the operations.
    """

    def __init__(self, script: Script) -> None:
        self.script, self.clock = script, Clock()
        self.store: Store = MemoryEngine.open("", clock=self.clock).create_table(SPEC)
        self.done = 0

    def do_next(self) -> None:
        """Do the next operation."""
        self.done += 1
        self.clock.operation = self.done
        self.script.apply(self.store, self.done)

    def list_rows(self) -> list[RowCells]:
        """Return all visible rows in order."""
        return list_visible(self.store)

    def writes(self) -> list[tuple[bytes, int]]:
        """Return the regions with their numbers of writes."""
        return count_writes(self.store)
