"""A process with threads that write orders until it is killed, each with a journal.

A thread writes rows of its own user, and now and then rows of a user that all threads share. It
notes what it is about to write, and that it has written it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from threading import Thread
from typing import TYPE_CHECKING

import pyarrow as pa

import rowkey
from rowkey.table.row_writer import RowWriter
from table.companion_tables import COLUMNS, NAMES, apply_change, draw_change, format_changes

if TYPE_CHECKING:
    from rowkey.cells import RowCells
    from rowkey.table import Table
    from table.companion_tables import Row

SHARED_USER = "all"


def write_rows(table: Table, folder: Path, seed: int, user: str) -> None:
    """Write random changes until the process is killed."""
    random = Random(f"{seed} {user}")
    journal = os.open(folder / f"journal.{user}", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    while True:
        if random.random() < 0.2:
            apply_change(table, draw_change(random, SHARED_USER, 5))
            continue
        count = random.choice((1, 1, 1, 5))
        changes = [draw_change(random, user) for _ in range(count)]
        is_load = count > 1 and random.random() < 0.5
        if is_load:
            changes = [("put", row | dict.fromkeys(COLUMNS, None)) for _, row in changes]
            for n, (_, row) in enumerate(changes):
                row.update(note=f"load {n}", amount=n)
        os.write(journal, f"begin {format_changes(changes)}\n".encode())
        write_changes(table, changes, is_load=is_load)
        os.write(journal, b"end\n")


def write_changes(table: Table, changes: list[tuple[str, Row]], *, is_load: bool) -> None:
    """Write changes of rows one by one, as a batch, or as Arrow columns."""
    if is_load:
        fields = (*NAMES, *COLUMNS)
        table.load(pa.table({name: [row[name] for _, row in changes] for name in fields}))
    elif len(changes) == 1:
        apply_change(table, changes[0])
    else:
        with table.batch() as batch:
            for change in changes:
                apply_change(batch, change)


def slow_down_writes(seed: int) -> None:
    """Pause before some writes of a table, so that a kill often comes between those of two."""
    random, send = Random(seed), RowWriter.send_changes

    def pause_and_send(
        self: RowWriter, stamped_changes: Sequence[Sequence[RowCells]], *, sync: bool | None = None
    ) -> None:
        time.sleep(random.choice((0, 0, 0.001, 0.003)))
        send(self, stamped_changes, sync=sync)

    RowWriter.send_changes = pause_and_send  # type: ignore[method-assign]


def run_writers(folder: str, url: str, seed: int, users: list[str]) -> None:
    """Open the table and write rows of each user in a thread."""
    slow_down_writes(seed)
    table = rowkey.open(rowkey.Design.read(Path(folder, "orders.toml")), url, sync=True)
    threads = [Thread(target=write_rows, args=(table, Path(folder), seed, user)) for user in users]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
