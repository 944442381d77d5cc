"""Companions on a real HBase: several processes write, are killed, and leave no row too few."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from random import Random
from secrets import token_hex
from threading import Event
from typing import TYPE_CHECKING

import rowkey
from rowkey.errors import Unavailable
from rowkey.table import drop_table, repair_companions
from table.companion_tables import (
    INDEXED,
    apply_change,
    change_model,
    draw_change,
    read_all_cells,
    read_all_tables,
    write_designs,
)
from table.killed_companion_writers import KilledCompanionWriters

if TYPE_CHECKING:
    from table.companion_tables import Identity, Row

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
KILLS, PROCESSES, KILLS_PER_REPAIR = (281, 8, 19) if IS_LONG else (3, 3, 3)
"""Processes that are killed, in all; those that write at a time; those that are killed one by one
before all are killed and the tables are repaired."""


def test_companions_have_equal_cells_on_a_cluster(hbase_url: str, tmp_path: Path) -> None:
    """After puts, replaces, deletes and batches, all tables have the same cells."""
    design, random = write_designs(tmp_path, f"c{token_hex(4)}.", INDEXED), Random(5)
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


def test_a_companion_filled_while_clients_write_has_every_row(
    hbase_url: str, tmp_path: Path
) -> None:
    """Once a repair has filled a new companion, it has every row that clients have written."""
    prefix, stop = f"f{token_hex(4)}.", Event()
    plain = write_designs(tmp_path, prefix, INDEXED, declared=["orders_by_number"])

    def write(user: str) -> dict[Identity, Row]:
        model: dict[Identity, Row] = {}
        random, table = Random(user), rowkey.open(plain.table, hbase_url)
        with ExitStack() as stack:
            stack.callback(lambda: table.close())  # noqa: PLW0108 - the table that is open then
            while not stop.is_set():
                change = draw_change(random, user)
                try:
                    apply_change(table, change)
                except Unavailable:  # the table has another companion: the change is made again
                    table.close()
                    table = rowkey.open(plain.table, hbase_url)
                    apply_change(table, change)
                change_model(model, change)
                time.sleep(0.01)  # the repair needs the processor too
        return model

    try:
        with rowkey.open(plain, hbase_url, max_stale=1) as table, table.batch() as batch:
            for number in range(100):
                batch.put({"user": "old", "at": number, "number": number, "amount": number})
        design = write_designs(tmp_path, prefix, INDEXED)
        with ThreadPoolExecutor(2) as pool:
            writers = [pool.submit(write, f"u{number}") for number in range(2)]
            try:
                _, filled = repair_companions(design, hbase_url, apply=True)
            finally:
                stop.set()
            models = [one.result() for one in writers]
        assert filled.is_missing
        assert filled.written >= 100
        with rowkey.open(design, hbase_url) as table:
            for name, rows in read_all_tables(table).items():
                assert 100 == sum(place[0] == "old" for place in rows), name
                for number, model in enumerate(models):
                    user = f"u{number}"
                    assert model == {p: row for p, row in rows.items() if p[0] == user}, name
            first, *copies = read_all_cells(table)
            assert [first] * 2 == copies
            assert table.explain("at = ?", 5).table == f"{prefix}index_by_time"
    finally:
        drop_table(write_designs(tmp_path, prefix, INDEXED), hbase_url)


def test_killed_writers_leave_no_row_missing_in_a_companion_on_a_cluster(
    hbase_url: str, tmp_path: Path
) -> None:
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
