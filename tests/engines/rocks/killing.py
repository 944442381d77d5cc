"""Writers that are killed, and the proof that what they were told is what the table holds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engines.rocks.script import SPEC, Clock, Script, everything, visible, writes
from rowkey.engines.backends.memory import Memory
from rowkey.engines.backends.rocks import Rocks

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from rowkey.engines import Store

ROOT = Path(__file__).parents[3]


class Killing:
    """One table, its writers, and a table in memory that holds what was acknowledged.

    Args:
        place: an empty folder.
        seed: decides what is written.
        mode: as `Script` takes it.
        sync: whether the writers wait for the disk.
    """

    def __init__(self, place: Path, seed: int, mode: str = "writes", *, sync: bool = False) -> None:
        self.place, self.script, self.mode, self.sync = place, Script(seed, mode), mode, sync
        self.clock = Clock()
        self.model: Store = Memory.open("", clock=self.clock).create(SPEC)
        self.done = self.kept = self.lost = 0

    def start(self, limit: Callable[[], None] | None = None) -> subprocess.Popen[str]:
        """A writer that goes on where the model stands."""
        (self.place / "journal").unlink(missing_ok=True)
        arguments = [str(self.place), str(self.script.seed), self.mode, str(self.done + 1)]
        writer = subprocess.Popen(
            [sys.executable, "-m", "engines.rocks.script", *arguments, "sync" * self.sync],
            env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=limit,
        )
        deadline = time.monotonic() + 30
        while not self.journal():
            if writer.poll() is not None or time.monotonic() > deadline:
                writer.kill()
                pytest.fail(f"the writer did not start: {writer.communicate()[0]}")
            time.sleep(0.002)
        return writer

    def journal(self) -> list[str]:
        """The whole lines that the writer has noted."""
        path = self.place / "journal"
        text = path.read_text("ascii") if path.exists() else ""
        return text[: text.rfind("\n") + 1].splitlines()

    def kill(self, random: Random, *, stopped_s: float = 0) -> None:
        """Let a writer write for 20 to 600 ms, and kill it; stop it first if asked."""
        writer = self.start()
        time.sleep(random.uniform(0.02, 0.6))
        if stopped_s:
            writer.send_signal(signal.SIGSTOP)
            time.sleep(stopped_s)
        writer.kill()
        said = writer.communicate()[0]
        assert -signal.SIGKILL == writer.returncode, said

    def verify(self) -> None:
        """Hold the table against the model: what is acknowledged, and the last operation or not."""
        acknowledged, under_way = self._noted()
        while self.done < acknowledged:
            self._do_next()
        engine = Rocks.open(str(self.place / "db"), clock=self.clock)
        store = engine.table("t")
        if under_way and writes(self.model) != writes(store):
            self._do_next()
            self.kept += 1
        else:
            self.lost += bool(under_way)
        assert writes(self.model) == writes(store)
        # A compaction that was cut short has dropped some of what nobody sees.
        look = everything if self.mode == "writes" else visible
        assert look(self.model) == look(store)
        engine.close()

    def _noted(self) -> tuple[int, int]:
        """The last operation that was acknowledged, and the one that was under way, or 0."""
        lines = [line.split() for line in self.journal() if " " in line]
        last = {word: int(number) for word, number in lines}
        acknowledged = last.get("commit", self.done)
        pending = last.get("pending", 0)
        return acknowledged, pending if pending > acknowledged else 0

    def _do_next(self) -> None:
        self.done += 1
        self.clock.operation = self.done
        self.script.apply(self.model, self.done)
