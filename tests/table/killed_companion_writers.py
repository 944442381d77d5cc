"""Writers of a table with companions that are killed, and checks of all its tables afterwards."""

from __future__ import annotations

import json
import sys
import time
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from random import Random
from signal import SIGKILL
from typing import TYPE_CHECKING, Any, Self

import pytest

import rowkey
from rowkey.table import repair_companions
from table.companion_tables import (
    INDEXED,
    NAMES,
    change_model,
    collect_rows,
    get_identity,
    read_all_cells,
    read_all_tables,
    write_designs,
)
from table.companion_writer import SHARED_USER, run_writers

if TYPE_CHECKING:
    from rowkey.table import Table
    from table.companion_tables import Identity, Row

START_TIMEOUT_S = 60.0
LAST_CALLS_S = 1.0
"""Seconds in which a server makes the changes that it had received from a killed process."""


class KilledCompanionWriters:
    """A table with a companion and an index, its writing processes, and a model of its rows.

    A process that replaces a killed one writes rows of another user. So the rows of the killed one
    stay as the kill left them, until all processes are killed and the tables are repaired.

    Args:
        folder: an empty folder.
        url: where the tables are.
        seed: decides what is written.
        prefix: goes before the names of the tables.
        process_count: how many processes write at the same time.
        thread_count: how many threads write in each.
    """

    def __init__(
        self,
        folder: Path,
        url: str,
        seed: int,
        prefix: str = "",
        process_count: int = 1,
        thread_count: int = 8,
    ) -> None:
        self.folder, self.url, self.seed = folder, url, seed
        self.thread_count = thread_count
        self.design = write_designs(folder, prefix, INDEXED)
        self.model: dict[Identity, Row] = {}
        self.pending: dict[Identity, list[Row | None]] = {}
        """What each row may be whose change a kill has cut off."""
        self.kill_count = 0
        self.acknowledged_count = 0
        self.checked_count = 0
        """Acknowledged rows that were looked for through each companion right after a kill."""
        self.differing_count = 0
        """Repairs before which a companion differed from the main table."""
        self.repaired_rows = 0
        self.user_count = 0
        self._context = get_context("forkserver")
        rowkey.open(self.design, url).close()
        imported = [name for name in sys.modules if name.partition(".")[0] == "rowkey"]
        self._context.set_forkserver_preload([*imported, "pyarrow"])
        self._slots: list[tuple[ForkServerProcess, list[str]] | None] = [None] * process_count

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._kill_all()

    def start_missing(self) -> None:
        """Start a process in place of each that was killed."""
        for slot, running in enumerate(self._slots):
            if running is None:
                self._slots[slot] = self._start_process()

    def wait_until_writing(self, slot: int, changes: int = 1) -> None:
        """Wait until a process has made some changes."""
        running = self._slots[slot]
        assert running is not None
        process, users = running
        deadline = time.monotonic() + START_TIMEOUT_S
        while sum(self._read_journal(user).count("end") for user in users) < changes:
            if not process.is_alive() or time.monotonic() > deadline:
                pytest.fail(f"a writer did not start, its exit code is {process.exitcode}")
            time.sleep(0.002)

    def _start_process(self) -> tuple[ForkServerProcess, list[str]]:
        """Start a process with threads that each write rows of a new user."""
        first, self.user_count = self.user_count, self.user_count + self.thread_count
        users = [f"u{number}" for number in range(first, self.user_count)]
        self.seed += 1
        process = self._context.Process(
            target=run_writers, args=(str(self.folder), self.url, self.seed, users), daemon=True
        )
        process.start()
        return process, users

    def kill_one(self, random: Random) -> None:
        """Kill a process that has written, and read its acknowledged rows through each table."""
        slot = random.randrange(len(self._slots))
        self.wait_until_writing(slot)
        time.sleep(random.uniform(0, 0.1))
        users = self._kill_process(slot)
        with rowkey.open(self.design, self.url) as table:
            for user in users:
                self._check_user(table, user)

    def _kill_process(self, slot: int) -> list[str]:
        """Kill a process, and make its acknowledged changes in the model; return its users."""
        running, self._slots[slot] = self._slots[slot], None
        if running is None:
            return []
        process, users = running
        process.kill()
        process.join()
        assert -SIGKILL == process.exitcode
        self.kill_count += 1
        for user in users:
            self._replay_journal(user)
        return users

    def _kill_all(self) -> None:
        """Kill all processes."""
        for slot in range(len(self._slots)):
            self._kill_process(slot)

    def _read_journal(self, user: str) -> list[str]:
        """Return the complete lines of the journal of a user's writer."""
        path = self.folder / f"journal.{user}"
        text = path.read_text("utf-8") if path.exists() else ""
        return text[: text.rfind("\n") + 1].splitlines()

    def _replay_journal(self, user: str) -> None:
        """Make the acknowledged changes of a writer in the model; note what others may be."""
        lines = self._read_journal(user)
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
                place = get_identity(change[1])
                states = self.pending.setdefault(place, [self.model.get(place)])
                states.append(after.get(place))

    def _check_user(self, table: Table, user: str) -> None:
        """Check that each table has the acknowledged rows of a writer that was just killed."""
        expected = {place: row for place, row in self.model.items() if place[0] == user}
        numbers = sorted({place[2] for place in expected})
        reads = [
            table.scan("user = ?", user),
            table.scan("user = ? and number in ?", user, numbers),
            table.companions[self._companion_names[0]].scan("number in ?", numbers),
            table.scan(order="at, number, user"),
        ]
        assert self._companion_names[1] == table.explain(order="at, number, user").table
        for read in reads:
            found = collect_rows(row for row in read if row["user"] == user)
            self._check_rows(user, found, expected)
        self.checked_count += len(expected)
        for place in list(expected)[::7]:  # as a client reads, by the table that serves it best
            names = ("number", "at")
            where = " and ".join(f"{name} = ?" for name in names)
            values = [place[NAMES.index(name)] for name in names]
            found = collect_rows(table.scan(where, *values))
            if place not in self.pending:
                assert expected[place] == found[place]

    @property
    def _companion_names(self) -> list[str]:
        """The names of the companions."""
        return list(self.design.companions)

    def verify(self) -> None:
        """Kill all processes; check all tables before and after a repair that makes them equal."""
        self._kill_all()
        with rowkey.open(self.design, self.url) as table:
            if table.engine.is_shared:
                time.sleep(LAST_CALLS_S)
            main, *copies = before = list(read_all_tables(table).values())
            for found in before:
                self._check_rows("before repair", found, self.model)
            for copy in copies:  # a row too many, never one too few
                assert main.keys() <= copy.keys()
        results = repair_companions(self.design, self.url, apply=True, min_age_s=0)
        self.differing_count += any(one.has_differences for one in results)
        self.repaired_rows += sum(one.written + one.deleted for one in results)
        again = repair_companions(self.design, self.url, min_age_s=0)
        assert not any(one.has_differences for one in again), again
        with rowkey.open(self.design, self.url) as table:
            main, *others = read_all_tables(table).values()
            assert [main] * len(others) == others
            first, *other_cells = read_all_cells(table)
            assert [first] * len(other_cells) == other_cells
            self._check_rows("after repair", main, self.model, is_repaired=True)
        self.model = {place: row for place, row in main.items() if place[0] != SHARED_USER}
        self.pending = {}

    def _check_rows(
        self,
        name: str,
        found: dict[Identity, Row],
        expected: dict[Identity, Row],
        *,
        is_repaired: bool = False,
    ) -> None:
        """Check that a table has every acknowledged row, and else only what was under way."""
        for place in {*expected, *found}:
            if place[0] == SHARED_USER:
                continue
            states = self.pending.get(place)
            if states is None:
                assert expected.get(place) == found.get(place), (name, place)
            elif None not in states:
                assert place in found, (name, place)
            if is_repaired and states is not None:
                assert found.get(place) in states, (name, place, states)
