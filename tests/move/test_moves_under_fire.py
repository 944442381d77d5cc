"""Moves lose and invent nothing while threads change the rows that are copied.

Clients sleep and die, the copier dies, and both tables are compacted between the read and the write
of each chunk. Planted bugs show that the comparison finds what it should.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import rowkey.move.copier
import rowkey.move.switch
import rowkey.table.table_location
from move.moves_under_fire import MoveUnderFire, build_url
from move.test_sleeping_clients import (
    QUICK_SLEEPS,
    check_increment_at_a_cut_over,
    check_write_that_slept,
)
from reliability.record import record
from rowkey.cells import CellType, RowCells
from rowkey.engines import get_time_ms
from rowkey.table.joint_writes import JointWriteState, WrittenChange
from rowkey.table.moves.move_follower import MoveFollower
from rowkey.table.moves.row_translator import RowTranslator
from rowkey.table.table import Table

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SEEDS, MANY_SEEDS = 2, 20
MAX_SEEDS = 12
"""Moves within which a planted bug must be found."""


def fire_at_small_table(folder: Path, engine: str, seed: int) -> MoveUnderFire:
    """Return a move of a few rows."""
    return MoveUnderFire(
        build_url(engine, folder),
        seed,
        rows=20,
        chunk_rows=20,
        changes_per_chunk=30,
        target="other families" if engine == "memory" else "packed",
        has_early_deaths=engine == "rocks",
    )


@pytest.mark.parametrize("seed", range(SEEDS))
def test_after_each_step_of_a_move_both_tables_equal_the_model(seed: int, tmp_path: Path) -> None:
    """After each step both tables have exactly the versions of the oracle."""
    with fire_at_small_table(tmp_path, ("memory", "rocks")[seed % 2], seed) as fire:
        fire.run(with_roll_back=seed % 2 == 0)
    assert fire.kills
    assert fire.compactions


@pytest.mark.long
@pytest.mark.parametrize("engine", ["memory", "rocks"])
def test_twenty_moves_to_three_designs_lose_nothing(engine: str, tmp_path: Path) -> None:
    """Twenty moves of more rows to three designs lose nothing."""
    changes = deaths = compactions = kills = uncertain = 0
    for seed in range(MANY_SEEDS):
        url = build_url(engine, tmp_path)
        with MoveUnderFire(
            url,
            seed,
            rows=300,
            chunk_rows=40,
            changes_per_chunk=150,
            has_early_deaths=seed % 4 < 2,
        ) as fire:
            fire.run(with_roll_back=seed % 2 == 0)
        changes, deaths = changes + fire.change_count, deaths + fire.deaths
        compactions, kills = compactions + fire.compactions, kills + fire.kills
        uncertain += fire.uncertain_count
    figures = {
        "moves": MANY_SEEDS,
        "changes": changes,
        "clients that died between two writes": deaths,
        "copiers that died": kills,
        "compactions between read and write": compactions,
        "changes refused with a remark": uncertain,
        "differences": 0,
    }
    record(f"moves, under fire on {engine}", figures)


# Planted bugs


def stamp_with_now(mutations: Sequence[RowCells]) -> list[RowCells]:
    """Return mutations with the time of now."""
    now = get_time_ms()
    return [RowCells(row, [c._replace(timestamp=now) for c in cells]) for row, cells in mutations]


class CopiesWithTimeOfNow(RowTranslator):
    """Gives copied cells the time of the copy."""

    def translate(self, rows: Sequence[RowCells]) -> list[RowCells]:
        return stamp_with_now(super().translate(rows))


class RestartsWithTimeOfNow(RowTranslator):
    """Gives the cells of the first chunk after a crash the time of the copy."""

    was_started = False

    def __init__(self, *states: Any) -> None:
        super().__init__(*states)
        self.is_restarted = type(self).was_started
        type(self).was_started = True

    def translate(self, rows: Sequence[RowCells]) -> list[RowCells]:
        translated = super().translate(rows)
        if not self.is_restarted:
            return translated
        self.is_restarted = False
        return stamp_with_now(translated)


class ForgetsUndeclaredCells(RowTranslator):
    """Copies the cells of fields alone."""

    def translate(self, rows: Sequence[RowCells]) -> list[RowCells]:
        columns = {(slot.family, slot.qualifier) for slot in self.source.active_design.layout.slots}
        return super().translate(
            [
                RowCells(row, [one for one in cells if not one.qualifier or one[:2] in columns])
                for row, cells in rows
            ]
        )


def repeat_in_both_tables(follower: MoveFollower, change: Callable[[Any], Any]) -> Any:
    """Make an increment in each of the tables, in place of its result."""
    route = follower._get_route()
    result = route.primary.run_pinned(change)
    if route.secondary is not None:
        route.secondary.run_pinned(change)
    return result


def write_and_forget(table: Table, build_change: Any, row: Any, *, sync: bool | None) -> None:
    """Write a change without a look at the record after it."""
    state = table.get_write_state()
    change = state.build_change(build_change, row)
    if change.mutations:
        state.apply_changes([change], sync=sync)


@contextmanager
def plant_copy_only() -> Iterator[None]:
    """Let clients write only the table that they read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JointWriteState, "load_order", property(lambda state: (state.primary,)))
        patch.setattr(JointWriteState, "mirror_change", lambda *_: None)
        yield


@contextmanager
def plant_no_deletes() -> Iterator[None]:
    """Let clients write no deletes to the other table."""
    send = JointWriteState._send_to_table

    def send_puts(
        state: Any, index: int, stamped: Sequence[WrittenChange], sync: bool | None
    ) -> None:
        if state.states[index] is not state.primary:
            stamped = [
                [
                    (
                        one,
                        [
                            RowCells(m.row, [c for c in m.cells if c.cell_type is CellType.PUT])
                            for m in mutations
                            if any(c.cell_type is CellType.PUT for c in m.cells)
                        ],
                    )
                    for one, mutations in tables
                ]
                for tables in stamped
            ]
        send(state, index, stamped, sync)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JointWriteState, "_send_to_table", send_puts)
        yield


@contextmanager
def plant(place: Any, name: str, value: Any) -> Iterator[None]:
    """Replace an attribute during a `with` block."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place, name, value)
        yield


PLANTED_BUGS: dict[str, Callable[[], Any]] = {
    "clients write one table": plant_copy_only,
    "deletes are not written to both tables": plant_no_deletes,
    "copied cells get the time of now": lambda: plant(
        rowkey.move.copier, "RowTranslator", CopiesWithTimeOfNow
    ),
    "undeclared cells are not copied": lambda: plant(
        rowkey.move.copier, "RowTranslator", ForgetsUndeclaredCells
    ),
    "compactions of the target drop deletes": lambda: plant(
        rowkey.table.table_location, "KEEP_ALL_DELETES", "0"
    ),
    "a restarted chunk gets the time of now": lambda: plant(
        rowkey.move.copier,
        "RowTranslator",
        type("Restarts", (RestartsWithTimeOfNow,), {}),
    ),
    "increments are repeated in the other table": lambda: plant(
        MoveFollower, "run_pinned", repeat_in_both_tables
    ),
    "the switch copies nothing": lambda: plant(rowkey.move.copying.CatchUp, "run", lambda _: 0),
}


SLOW_BUGS = ("the switch copies nothing", "undeclared cells are not copied")
"""Bugs that take a second or more to find."""


@pytest.mark.parametrize(
    "bug",
    [pytest.param(bug, marks=[pytest.mark.long] * (bug in SLOW_BUGS)) for bug in PLANTED_BUGS],
)
def test_a_planted_bug_in_a_move_is_found(bug: str, tmp_path: Path) -> None:
    """The oracle differs from a table within some moves with a planted bug."""
    for seed in range(MAX_SEEDS):
        try:
            with PLANTED_BUGS[bug](), fire_at_small_table(tmp_path, "memory", seed) as fire:
                fire.run(with_roll_back=True)
        except AssertionError as found:
            print(f"{bug}: found in move {seed + 1}: {str(found)[:300]}")
            return
    pytest.fail(f"not found in {MAX_SEEDS} moves")


def test_a_client_that_does_not_reread_the_move_record_is_found_to_lose_writes(
    tmp_path: Path,
) -> None:
    """A client that does not read the record again after a write loses it, if it slept before."""
    # Threads under fire are seldom asleep at the right moment.
    with plant(Table, "_write_row", write_and_forget):
        for first, last in QUICK_SLEEPS:
            try:
                check_write_that_slept("put", first, last, build_url("memory", tmp_path))
            except AssertionError:
                return
    pytest.fail("not found")


def test_a_switch_that_does_not_wait_for_leases_is_found_to_lose_writes(tmp_path: Path) -> None:
    """A client whose lease is not over increments a field of the source in vain."""
    # Under fire all clients read of the switch at once.
    with plant(rowkey.move.switch, "compute_wait_s", lambda *_: 0.0), pytest.raises(AssertionError):
        check_increment_at_a_cut_over(build_url("memory", tmp_path), is_told=False)
