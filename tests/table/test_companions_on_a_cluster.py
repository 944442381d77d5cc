"""Companions on a real HBase: several processes write, are killed, and leave no row too few."""

from __future__ import annotations

import os
import time
from random import Random
from secrets import token_hex
from typing import TYPE_CHECKING

import rowkey
from rowkey.table import drop_table
from table.companion_tables import (
    apply_change,
    draw_change,
    read_all_cells,
    write_designs,
)
from table.killed_companion_writers import KilledCompanionWriters

if TYPE_CHECKING:
    from pathlib import Path

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
KILLS, PROCESSES, KILLS_PER_REPAIR = (200, 8, 12) if IS_LONG else (6, 3, 3)
"""Processes that are killed, in all; those that write at a time; those that are killed one by one
before all are killed and the tables are repaired."""


def test_companions_have_equal_cells_on_a_cluster(hbase_url: str, tmp_path: Path) -> None:
    """After puts, replaces, deletes and batches, all tables have the same cells."""
    design, random = write_designs(tmp_path, f"c{token_hex(4)}."), Random(5)
    try:
        with rowkey.open(design, hbase_url, max_stale=1) as table:
            for _ in range(60):
                apply_change(table, draw_change(random, "u"))
            with table.batch() as batch:
                for _ in range(60):
                    apply_change(batch, draw_change(random, "v"))
            next(iter(table.companions.values())).set_buckets(3)
            for _ in range(30):
                apply_change(table, draw_change(random, "u"))
            first, *copies = read_all_cells(table)
            assert [first] * 2 == copies
            assert first
        with rowkey.open(design.table, hbase_url) as again:
            assert 2 == len(again.companions)
            assert again.count("number >= ?", 0) == len(first)
    finally:
        drop_table(design, hbase_url)


def test_killed_processes_leave_no_companion_a_row_short(hbase_url: str, tmp_path: Path) -> None:
    """After each kill of a writing process no acknowledged row is missing; repair heals."""
    random = Random(3)
    writers = KilledCompanionWriters(
        tmp_path, hbase_url, 3, f"k{token_hex(4)}.", process_count=PROCESSES, thread_count=1
    )
    try:
        with writers:
            while writers.kill_count < KILLS:
                for _ in range(KILLS_PER_REPAIR):
                    writers.start_missing()
                    time.sleep(random.uniform(0, 0.1))
                    writers.kill_one(random)
                writers.verify()
    finally:
        drop_table(writers.design, hbase_url)
    assert writers.acknowledged_count > KILLS
    assert writers.checked_count > KILLS
    print(
        *(writers.kill_count, writers.acknowledged_count, writers.checked_count),
        *(writers.differing_count, writers.repaired_rows),
    )
