"""Moves on a real HBase while servers fail and movers are killed: no change is lost."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from move.faults import Faults
from move.moved_table import MovedTable
from reliability.record import record

if TYPE_CHECKING:
    from cluster import Cluster

SEEDS = range(4)
FAULTS = 20
"""Faults, and moves, splits and compactions of regions, during one move."""
QUICK_KILLS, KILLS, KILLS_IN_SWITCH = 1, 30, 10
DESIGN = 1


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_a_move_loses_nothing_while_servers_are_killed(
    seed: int, hbase_url: str, hbase_cluster: Cluster, tmp_path: Path
) -> None:
    """Nothing is lost or out of order while servers are killed, and both tables are equal."""
    with MovedTable(
        *(hbase_url, tmp_path),
        stale_s=1 + seed // 2,
        standing_rows=20_000,
        rows_per_s=1_500,
    ) as moved:
        with Faults(hbase_cluster, moved.name, seed) as faults:
            moved.require_passed("run", seed % 2)
            steps = cycle(("cut_over", "roll_back"))
            while len(moved.windows_s) < 3 or faults.counts.total() < FAULTS:
                moved.make_step(next(steps))
                moved.check_clients()
            moved.make_step("cut_over")
            moved.require_passed("verify")
            moved.make_step("finish")
        moved.end_clients()
        figures: dict[str, object] = {**moved.check_histories(), "failed runs": moved.failed_runs}
        figures["window_s"] = [round(one, 2) for one in moved.windows_s]
    record(f"moves, faults on HBase {seed}", {**figures, **faults.counts})
    print(seed, figures, dict(faults.counts), dict(faults.skipped))


def kill_movers(moved: MovedTable, random: Random, kills: int, kills_in_switch: int) -> None:
    """Kill movers at random moments; the same step is run again each time."""
    while moved.kills < kills:
        moved.kill_step("run", DESIGN, random, "", 6.0)
    moved.require_passed("run", DESIGN)
    switch = "cut_over"
    while moved.kills_in_switch < kills_in_switch:
        if not moved.kill_step(switch, DESIGN, random, "switch", 1.5):
            switch = "roll_back" if switch == "cut_over" else "cut_over"
        moved.check_clients()
    moved.make_step("cut_over")
    moved.require_passed("verify")


@pytest.mark.long
def test_a_mover_killed_while_copying_or_cutting_over_leaves_nothing_behind(
    hbase_url: str, tmp_path: Path
) -> None:
    """A mover killed in its copy and one killed in its cut-over leave nothing behind."""
    with MovedTable(hbase_url, tmp_path, lifetime_s=1.5) as moved:
        kill_movers(moved, Random(1), QUICK_KILLS, QUICK_KILLS)
        moved.make_step("finish")
        moved.end_clients()
        moved.check_histories()


@pytest.mark.long
def test_movers_killed_at_many_moments_lose_nothing(hbase_url: str, tmp_path: Path) -> None:
    """Movers killed at many moments lose nothing, and both tables are equal at the end."""
    with MovedTable(hbase_url, tmp_path, lifetime_s=1.5) as moved:
        kill_movers(moved, Random(2), KILLS, KILLS_IN_SWITCH)
        moved.make_step("finish")
        moved.end_clients()
        figures = moved.check_histories()
        figures |= {"kills": moved.kills, "kills in a switch": moved.kills_in_switch}
    record("moves, mover killed on HBase", figures)
    print(figures)
