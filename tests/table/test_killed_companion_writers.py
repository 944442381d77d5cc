"""Killed writers leave no companion a row short, and repair makes all tables equal."""

from __future__ import annotations

import os
import time
from pathlib import Path
from random import Random

from table.killed_companion_writers import KilledCompanionWriters

KILLS = 200 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 3


def test_killed_writers_leave_no_row_missing_in_a_companion(tmp_path: Path) -> None:
    """After each kill, companions have every acknowledged row, and repair makes them equal."""
    random = Random(1)
    with KilledCompanionWriters(tmp_path, f"rocks:{tmp_path / 'data'}", seed=1) as writers:
        for _ in range(KILLS):
            writers.start_missing()
            writers.wait_until_writing(0, changes=20)
            time.sleep(random.uniform(0, 0.4))
            writers.verify()
    assert KILLS == writers.kill_count
    assert writers.acknowledged_count > 10 * KILLS
    print(writers.acknowledged_count, writers.differing_count, writers.repaired_rows)
