"""A mover may be killed at any moment: nothing is lost, and the move goes on where it stopped."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from random import Random
from signal import SIGKILL
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from move.killed_mover import (
    CHUNK_ROWS,
    COLUMNS,
    FIRST_MS,
    NEW,
    OLD,
    ROWS,
    STEPS,
    WRITERS,
    patch_waits,
    read_lines,
    run_mover,
)
from reliability.record import record
from rowkey.cells import PURGE_DELAY_ATTRIBUTE, Cell, RowCells

if TYPE_CHECKING:
    from rowkey.table import Table

STALE_S = 0.03
END_TIMEOUT_S = 120.0
QUICK_BOUNDARIES = (5, 12, 14, 22)
"""Boundaries of a short run, each counted from the last kill."""
QUICK_MOMENTS, MANY_MOMENTS = 2, 100
MAX_MOMENT_S = 2.5
"""Seconds after its start within which a mover is killed at random; it takes about as long."""

State = tuple[Any, ...] | None
"""The columns of a row, and its undeclared cell."""
FIRST: State = ("first", 0, b"foreign")
CONTEXT = get_context("forkserver")


class KilledMove:
    """One move whose processes are killed, and the rows that must be there.

    Args:
        folder: an empty folder.
        seed: decides what is written.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.url, self.seed = folder, f"rocks:{folder / 'data'}", seed
        self.kills = self.checked = 0
        folder.mkdir(parents=True, exist_ok=True)
        CONTEXT.set_forkserver_preload([n for n in sys.modules if n.partition(".")[0] == "rowkey"])
        keys: list[bytes] = []
        with rowkey.open(OLD, self.url, max_stale=STALE_S) as table, table.batch() as batch:
            for writer in range(WRITERS):
                for number in range(ROWS):
                    key = {"host": f"w{writer}", "ts": FIRST_MS + number}
                    batch.put({**key, "note": "first", "hits": 0})
                    keys.append(OLD.key.encode(key))
            foreign = Cell("d", b"x", 1, b"foreign")
            table.store.mutate([RowCells(key, [foreign]) for key in keys])

    @property
    def is_finished(self) -> bool:
        """Whether all steps were taken."""
        return len(STEPS) == len(read_lines(self.folder / "steps"))

    def run(self, *, kill_at: int = 0, kill_after_s: float | None = None) -> bool:
        """Go on with the move; return whether it was killed."""
        self.seed += 1
        arguments = (str(self.folder), self.url, self.seed, kill_at)
        process = CONTEXT.Process(target=run_mover, args=arguments, daemon=True)
        process.start()
        process.join(END_TIMEOUT_S if kill_after_s is None else kill_after_s)
        if kill_after_s is not None and process.is_alive():
            process.kill()
            process.join()
        if process.exitcode not in (0, -SIGKILL):
            pytest.fail(f"the mover ended with {process.exitcode}")
        self.kills += process.exitcode == -SIGKILL
        self.check()
        return process.exitcode == -SIGKILL

    def check(self) -> None:
        """Read all rows, in the old table or in the new one."""
        with ExitStack() as stack:
            patch_waits(stack)
            table = stack.enter_context(rowkey.open("logs", self.url))
            table.get(host="w0", ts=FIRST_MS)
            assert str(table.design.key) in (str(OLD.key), str(NEW.key))
            found = read_rows(table)
        for key, states in self._list_states():
            assert found.pop(key, None) in states, (self.kills, key, states)
            self.checked += 1
        assert {} == found

    def finish(self) -> None:
        """Go on until the end, and check what is left of the move."""
        while not self.is_finished:
            self.run()
        with rowkey.open("logs", self.url) as table:
            assert str(NEW.key) == str(table.design.key)
            assert [table.design.table] == [
                name for name in table.engine.list_tables() if name.startswith("logs")
            ]
            assert PURGE_DELAY_ATTRIBUTE not in table.store.families_and_attributes[1]
            table.store.compact(major=True)
        self.check()
        copied = sum(map(int, read_lines(self.folder / "chunks")))
        assert copied <= 2 * ROWS * WRITERS + 2 * CHUNK_ROWS * self.kills, copied

    @property
    def rows_copied_again(self) -> int:
        """Rows that were copied more than once, or came while rows were copied."""
        return sum(map(int, read_lines(self.folder / "chunks"))) - ROWS * WRITERS

    def _list_states(self) -> Iterator[tuple[tuple[str, int], set[State]]]:
        """Yield each row with what it may be: one state, two where a kill cut off its change."""
        for writer in range(WRITERS):
            states: dict[int, set[State]] = {n: {FIRST} for n in range(ROWS)}
            lines = read_lines(self.folder / f"journal.{writer}")
            for line, after in zip(lines, [*lines, ""][1:], strict=True):
                if not line.startswith("["):
                    continue
                kind, key, values = json.loads(line)
                number = key["ts"] - FIRST_MS
                made = {apply_change(one, kind, values) for one in states[number]}
                states[number] = made if after == "end" else made | states[number]
            for number, possible in states.items():
                yield (f"w{writer}", FIRST_MS + number), possible


def apply_change(state: State, kind: str, values: dict[str, Any]) -> State:
    """Return the values of a row after a change; None if it has none."""
    *stored, foreign = state or (None, None, None)
    row = dict(zip(COLUMNS, stored, strict=True))
    if kind == "increment":
        row["hits"] = (row["hits"] or 0) + values["hits"]
    elif kind in ("replace", "delete"):
        row = {**dict.fromkeys(COLUMNS), **values}
        foreign = foreign if kind == "replace" else None
    else:
        row |= values
    after = (*(row[name] for name in COLUMNS), foreign)
    return None if set(after) == {None} else after


def read_rows(table: Table) -> dict[tuple[str, int], State]:
    """Return the rows of a table that have values or undeclared cells."""
    return {
        (row["host"], row["ts"]): state
        for row in table.scan(undeclared=True)
        if set(state := (*map(row.get, COLUMNS), row["undeclared"].get("d:x"))) != {None}
    }


def name_last_boundary(folder: Path) -> str:
    """Return the name of the boundary at which a process was killed."""
    return read_lines(folder / "boundaries")[-1].split(" ", 1)[1]


def test_a_mover_killed_at_boundaries_and_at_random_loses_nothing(tmp_path: Path) -> None:
    """After kills at boundaries and at random nothing is lost, and the move is finished."""
    random, move = Random(1), KilledMove(tmp_path / "move", 1)
    for boundary in QUICK_BOUNDARIES:
        assert move.run(kill_at=boundary)
    for _ in range(QUICK_MOMENTS):
        if not move.is_finished:
            move.run(kill_after_s=random.uniform(0.2, 0.8))
    move.finish()
    assert move.kills >= len(QUICK_BOUNDARIES)


@pytest.mark.long
def test_a_mover_killed_at_every_boundary_loses_nothing(tmp_path: Path) -> None:
    """A kill at every boundary, one move each, loses nothing."""
    names: Counter[str] = Counter()
    boundary, rows_again, checked, started_s = 1, 0, 0, time.monotonic()
    while True:
        move = KilledMove(tmp_path / str(boundary), boundary)
        if not move.run(kill_at=boundary):
            break
        names[name_last_boundary(move.folder)] += 1
        move.finish()
        rows_again, checked = max(rows_again, move.rows_copied_again), checked + move.checked
        boundary += 1
    assert boundary > 25
    figures = {
        "boundaries": dict(names),
        "kills": boundary - 1,
        "most rows copied again": rows_again,
        "rows checked": checked,
        "lost": 0,
        "seconds": round(time.monotonic() - started_s),
    }
    record("moves, mover killed at each step", figures)


@pytest.mark.long
def test_a_mover_killed_at_a_hundred_random_moments_loses_nothing(tmp_path: Path) -> None:
    """A hundred kills at random moments lose nothing."""
    random, kills, moves, checked, rows_again = Random(), 0, 0, 0, 0
    while kills < MANY_MOMENTS:
        move = KilledMove(tmp_path / str(moves), moves)
        while not move.is_finished and move.kills < 5:
            move.run(kill_after_s=random.uniform(0.1, MAX_MOMENT_S))
        move.finish()
        kills, moves, checked = kills + move.kills, moves + 1, checked + move.checked
        rows_again += move.rows_copied_again
    figures = {
        "kills": kills,
        "moves": moves,
        "rows checked": checked,
        "rows copied again": rows_again,
        "lost": 0,
    }
    record("moves, mover killed at random", figures)
