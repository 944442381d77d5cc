"""Writers of a table with companions that are killed, and checks of all its tables afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from rowkey.table import repair_companions
from table.companion_tables import (
    change_model,
    collect_rows,
    read_all_cells,
    read_all_tables,
    write_designs,
)
from table.companion_writer import SHARED_USER, THREADS

if TYPE_CHECKING:
    from random import Random

    from table.companion_tables import Identity, Row

ROOT = Path(__file__).parents[2]


class KilledCompanionWriters:
    """A table with companions, its writers, and a model of the acknowledged changes.

    Args:
        folder: an empty folder.
        url: where the tables are.
        seed: decides what is written.
        prefix: goes before the names of the tables.
        process_count: processes among which the threads are divided.
    """

    def __init__(
        self, folder: Path, url: str, seed: int, prefix: str = "", process_count: int = 1
    ) -> None:
        self.folder, self.url, self.seed = folder, url, seed
        self.process_count = process_count
        self.design = write_designs(folder, prefix)
        self.model: dict[Identity, Row] = {}
        self.acknowledged_count = 0
        self.differing_count = 0
        """Kills after which a companion differed from the main table."""
        self.repaired_rows = 0
        rowkey.open(self.design, url).close()

    def kill_writers(self, random: Random, max_time_s: float) -> None:
        """Let writers write for some time, and kill them."""
        for journal in self.folder.glob("journal.*"):
            journal.unlink()
        self.seed += 1
        each = THREADS // self.process_count
        writers = [self._start_writer(first, each) for first in range(0, THREADS, each)]
        deadline = time.monotonic() + 60
        while not any("end" in self._read_journal(n) for n in range(THREADS)):
            for writer in writers:
                if writer.poll() is not None or time.monotonic() > deadline:
                    writer.kill()
                    pytest.fail(f"a writer did not start: {writer.communicate()[0]}")
            time.sleep(0.005)
        time.sleep(random.uniform(0, max_time_s))
        for writer in writers:
            writer.kill()
        for writer in writers:
            said = writer.communicate()[0]
            assert -signal.SIGKILL == writer.returncode, said
        if self.process_count > 1:  # a server may still make a change that it has received
            time.sleep(1)

    def _start_writer(self, first: int, count: int) -> subprocess.Popen[str]:
        """Start a process with some writing threads."""
        arguments = [str(self.folder), self.url, str(self.seed), str(first), str(count)]
        paths = os.pathsep.join((str(ROOT / "src"), str(ROOT / "tests")))
        return subprocess.Popen(
            [sys.executable, "-m", "table.companion_writer", *arguments],
            env={**os.environ, "PYTHONPATH": paths},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _read_journal(self, thread: int) -> list[str]:
        """Return the complete lines of a thread's journal."""
        path = self.folder / f"journal.{thread}"
        text = path.read_text("utf-8") if path.exists() else ""
        return text[: text.rfind("\n") + 1].splitlines()

    def _read_pending(self) -> dict[Identity, list[Row | None]]:
        """Make the acknowledged changes in the model; return what each other row may be."""
        pending: dict[Identity, list[Row | None]] = {}
        for thread in range(THREADS):
            lines = self._read_journal(thread)
            for number, line in enumerate(lines):
                if line == "end":
                    continue
                changes: Any = json.loads(line.removeprefix("begin "))
                if number + 1 < len(lines):
                    self.acknowledged_count += len(changes)
                    for change in changes:
                        change_model(self.model, change)
                    continue
                after = dict(self.model)
                for change in changes:
                    change_model(after, change)
                    place = tuple(change[1][name] for name in ("user", "at", "number"))
                    states = pending.setdefault(place, [self.model.get(place)])
                    states.append(after.get(place))
        return pending

    def verify(self) -> None:
        """Check all tables before and after a repair, which makes them equal."""
        pending = self._read_pending()
        with rowkey.open(self.design, self.url) as table:
            before = read_all_tables(table)
            for name, found in before.items():
                self._check_rows(name, found, pending, is_repaired=False)
            main, *copies = before.values()
            for copy in copies:  # a row too many, never one too few
                assert main.keys() <= copy.keys()
            for place in list(self.model)[::7]:  # through the read that a companion serves
                if place not in pending:
                    rows = table.scan("number = ? and at = ?", place[2], place[1])
                    assert self.model[place] == collect_rows(rows)[place]
        results = repair_companions(self.design, self.url, apply=True, min_age_s=0)
        self.differing_count += any(one.has_differences for one in results)
        self.repaired_rows += sum(one.written + one.deleted for one in results)
        again = repair_companions(self.design, self.url, min_age_s=0)
        assert not any(one.has_differences for one in again), again
        with rowkey.open(self.design, self.url) as table:
            main, *others = read_all_tables(table).values()
            assert [main] * len(others) == others
            first, *copies = read_all_cells(table)
            assert [first] * len(copies) == copies
            self._check_rows("all", main, pending, is_repaired=True)
        self.model = {place: row for place, row in main.items() if place[0] != SHARED_USER}

    def _check_rows(
        self,
        name: str,
        found: dict[Identity, Row],
        pending: dict[Identity, list[Row | None]],
        *,
        is_repaired: bool,
    ) -> None:
        """Check that a table has every acknowledged row, and else only what was under way."""
        for place in {*self.model, *pending, *found}:
            if place[0] == SHARED_USER:
                continue
            if place not in pending:
                assert self.model.get(place) == found.get(place), (name, place)
            elif None not in pending[place]:
                assert place in found, (name, place)
            if is_repaired and place in pending:
                assert found.get(place) in pending[place], (name, place, pending[place])
