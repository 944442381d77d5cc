"""Companions on a real HBase: several processes write, are killed, and leave no row too few."""

from __future__ import annotations

import os
from random import Random
from secrets import token_hex
from typing import TYPE_CHECKING

import rowkey
from rowkey import Design
from rowkey.table import drop_table
from table.companion_tables import (
    apply_change,
    draw_change,
    read_all_cells,
    read_all_tables,
    write_designs,
)
from table.killed_companion_writers import KilledCompanionWriters

if TYPE_CHECKING:
    from pathlib import Path

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
KILLS, PROCESSES = (40, 8) if IS_LONG else (5, 4)


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
    """After each kill of all writing processes no acknowledged row is missing; repair heals."""
    writers = KilledCompanionWriters(
        tmp_path, hbase_url, seed=3, prefix=f"k{token_hex(4)}.", process_count=PROCESSES
    )
    random = Random(3)
    try:
        for _ in range(KILLS):
            writers.kill_writers(random, max_time_s=1.0)
            writers.verify()
        with rowkey.open(Design.read(tmp_path / "orders.toml"), hbase_url) as table:
            assert all(read_all_tables(table).values())
    finally:
        drop_table(writers.design, hbase_url)
    assert writers.acknowledged_count > 10 * KILLS
    print(writers.acknowledged_count, writers.differing_count, writers.repaired_rows)
