"""A clock that is set back during a move loses no change and brings nothing back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from secrets import token_hex
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from engines.written_rows import START_MS, JumpingClock
from move.foreign_cells import read_foreign, write_foreign
from rowkey.cells import Cell
from rowkey.move import Move

if TYPE_CHECKING:
    from rowkey.table import Table

FIELDS: dict[str, Any] = {"id": "u64", "note": {"type": "text", "nullable": True}}
OLD = rowkey.Design("t", "[id]", fields=FIELDS)
NEW = rowkey.Design("t", "[bucket(id, 4)][desc(id)]", fields=FIELDS)
BACK_MS = 3_600_000
ROWS = 40
STEPS: tuple[tuple[int, Callable[[Move], Any]], ...] = (
    (BACK_MS, lambda move: move.run(NEW)),
    (0, lambda move: move.verify()),
    (BACK_MS, lambda move: move.cut_over()),
    (2 * BACK_MS, lambda move: move.roll_back()),
    (0, lambda move: move.cut_over()),
)
"""How far the clock is set back before each step."""


class CheckedTable:
    """A table whose rows have an undeclared cell each, and a model of it.

    Args:
        table: the open table.
        random: decides what is changed.
    """

    def __init__(self, table: Table, random: Random) -> None:
        self.table, self.random = table, random
        self.notes = dict.fromkeys(range(ROWS), "first")
        self.foreign = {number: b"%d" % number for number in range(ROWS)}
        for number, value in self.foreign.items():
            table.put({"id": number, "note": "first"})
            write_foreign(table, {"id": number}, Cell("d", b"x", START_MS, value))

    def change(self, count: int) -> None:
        """Put and delete some rows."""
        for number in range(count):
            row = {"id": self.random.randrange(ROWS)}
            if self.random.random() < 0.9:
                self.notes[row["id"]] = f"note {number}"
                self.table.put({**row, "note": f"note {number}"})
            else:
                self.notes.pop(row["id"], None)
                self.foreign.pop(row["id"], None)
                self.table.delete(row)

    def check(self) -> None:
        """Compare the table that is read with the model."""
        found = {row["id"]: row["note"] for row in self.table.scan()}
        assert self.notes == found
        cells = read_foreign(self.table.get_state(), ("id",))
        assert self.foreign == {number: value for ((number,), *_), value in cells.items()}


@pytest.mark.parametrize("engine", ["memory", "rocks"])
def test_a_clock_that_is_set_back_during_a_move_loses_no_change(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the clock says at each step, each change is there, and no deleted one returns."""
    clock = JumpingClock()
    monkeypatch.setattr("rowkey.move.move.get_time_ms", clock)
    clock_ns = SimpleNamespace(time_ns=lambda: clock() * 1_000_000)
    monkeypatch.setattr("rowkey.move.copying.time", clock_ns)
    url = f"{engine}:{tmp_path / token_hex(4)}"
    with (
        rowkey.open(OLD, url, max_stale=0.02, clock=clock) as table,
        Move.from_table(table, url) as move,
    ):
        checked = CheckedTable(table, Random(5))
        for back_ms, step in STEPS:
            clock.back_ms = back_ms
            checked.change(30)
            step(move)
            checked.check()
            checked.change(30)
            checked.check()
        assert move.verify().has_passed
        move.finish()
        checked.check()
