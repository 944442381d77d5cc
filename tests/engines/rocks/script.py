"""Reproducible changes of a table by a seed, and the rows that result.

Operation `n` is always the same, so a journal of numbers suffices to know, after a kill, which
operations were acknowledged and which one was in progress. This file is also the writer's program.
"""

from __future__ import annotations

import os
import sys
from bisect import bisect_right
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from rowkey.cells import LATEST, Cell, CellType, Family, RowCells
from rowkey.engines import CellSelection, ScanRange, TableSpec
from rowkey.engines.backends.rocks import RocksEngine
from rowkey.errors import Unavailable
from rowkey.pandas_guard import skip_pandas

if TYPE_CHECKING:
    from rowkey.engines import Store

KEYS = 5_000
START_MS = 1_700_000_000_000
FAMILIES = (Family("d", versions=2), Family("e", versions=1, ttl_s=10))
SPEC = TableSpec("t", FAMILIES, (b"key1", b"key3"))
RAW = CellSelection(raw=True, versions=2**31 - 1)


class Clock:
    """A clock that shows the current operation: thousands of operations per millisecond."""

    def __init__(self) -> None:
        self.operation = 0

    def __call__(self) -> int:
        return START_MS + self.operation // 20_000


def _cells(random: Random) -> list[Cell]:
    return [_cell(random) for _ in range(random.choice((1, 1, 2, 4)))]


def _cell(random: Random) -> Cell:
    family, qualifier = random.choice("de"), random.choice((b"", b"a\0"))
    timestamp = random.choice((LATEST, START_MS - 3, START_MS - 11_000))
    kind = random.choice(
        (CellType.PUT,) * 7 + (CellType.DELETE, CellType.DELETE_COLUMN, CellType.DELETE_FAMILY)
    )
    if kind == CellType.PUT:
        ttl_ms = random.choice((None,) * 9 + (3_600_000,))
        value = random.randbytes(random.choice((0, 8, 40)))
        return Cell(family, qualifier, timestamp, value, ttl_ms=ttl_ms)
    if kind == CellType.DELETE:
        timestamp = START_MS - 3
    return Cell(
        family, b"" if kind == CellType.DELETE_FAMILY else qualifier, timestamp, cell_type=kind
    )


class Script:
    """The operations on one table.

    Args:
        seed: decides them.
        mode: `writes`, or `care` for a history with flushes, compactions and splits in it.
    """

    def __init__(self, seed: int, mode: str = "writes") -> None:
        self.seed, self.mode = seed, mode

    def apply(self, store: Store, number: int) -> None:
        """Do operation `number`, from 1."""
        random = Random(self.seed * 1_000_003 + number)
        if self.mode == "care" and number % 40 == 0:
            self._care(store, number, random)
        elif self.mode == "care" and number % 10 == 0:
            row = b"key%d" % random.randrange(KEYS)
            store.increment(row, [("d", b"count", random.randrange(-9, 9))])
        else:
            mutations = self.mutations(number)
            store.mutate(mutations)
            store.get([mutation.row for mutation in mutations])

    def mutations(self, number: int) -> list[RowCells]:
        """Return the puts and deletes of operation `number`."""
        random = Random(self.seed * 1_000_003 + number)
        rows = [b"key%d" % random.randrange(KEYS) for _ in range(random.choice((1, 3, 9)))]
        return [RowCells(row, _cells(random)) for row in rows]

    @staticmethod
    def _care(store: Store, number: int, random: Random) -> None:
        if number % 160 == 0:
            store.compact()
        elif number % 80 == 0:
            at = b"key%d" % random.randrange(KEYS)
            if at not in store.spec.splits and len(store.spec.splits) < 50:
                store.split(at)
        else:
            store.flush()


class ExpectedTable:
    """The expected rows after some operations of a script that only writes, in a dictionary.

    Args:
        script: the operations.
    """

    def __init__(self, script: Script) -> None:
        self.script, self.clock = script, Clock()
        self.done = 0
        self.rows: dict[bytes, dict[tuple[str, bytes, int, int], Cell]] = {}
        self.counts = [0] * (len(SPEC.splits) + 1)

    def do_next(self) -> None:
        """Do the next operation."""
        self.done += 1
        self.clock.operation = self.done
        for row, cells in self.script.mutations(self.done):
            held = self.rows.setdefault(row, {})
            for given in cells:
                latest = given.timestamp == LATEST
                cell = given._replace(timestamp=self.clock()) if latest else given
                held[cell.family, cell.qualifier, -cell.timestamp, -cell.cell_type] = cell
            self.counts[bisect_right(SPEC.splits, row)] += 1

    def list_rows(self) -> list[RowCells]:
        """Return all stored rows in order."""
        return [
            RowCells(row, [cell for _, cell in sorted(held.items())])
            for row, held in sorted(self.rows.items())
        ]

    def writes(self) -> list[tuple[bytes, int]]:
        """Return the regions with their numbers of writes."""
        return list(zip((b"", *SPEC.splits), self.counts, strict=True))


def list_everything(store: Store) -> list[RowCells]:
    """Return all stored cells of a table, deletes and old versions included."""
    return [row for cursor in store.scan([ScanRange()], RAW) for row in cursor]


def list_visible(store: Store) -> list[RowCells]:
    """Return the rows that a read of the whole table returns."""
    return [
        row for cursor in store.scan([ScanRange()], CellSelection(versions=3)) for row in cursor
    ]


def count_writes(store: Store) -> list[tuple[bytes, int]]:
    """Return the regions with their numbers of writes."""
    return [(count.start, count.writes) for count in store.list_regions()]


def write_until_killed(place: Path, seed: int, mode: str, first: int, *, sync: bool) -> None:
    """Do operations until killed or the disk is full, each noted before and after.

    A full disk is noted as well, and ends it.
    """
    journal = os.open(place / "journal", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    script, clock, number = Script(seed, mode), Clock(), first
    clock.operation = first
    engine = RocksEngine.open(str(place / "db"), sync=sync, clock=clock)
    store = engine.open_table("t") if engine.list_tables() else engine.create_table(SPEC)
    if mode == "care":
        for family in engine._tables["t"].database.sources.values():
            family.family.set_options({"write_buffer_size": "65536"})
    os.write(journal, b"ready\n")
    try:
        while True:
            os.write(journal, b"pending %d\n" % number)
            clock.operation = number
            script.apply(store, number)
            os.write(journal, b"commit %d\n" % number)
            number += 1
    except Unavailable as problem:
        os.write(journal, b"full %d\n" % number)
        sys.stdout.write(str(problem))
        sys.stdout.flush()
        os._exit(0)


if __name__ == "__main__":
    where, given_seed, given_mode, given_first, given_sync = sys.argv[1:]
    with skip_pandas():
        write_until_killed(
            Path(where), int(given_seed), given_mode, int(given_first), sync=given_sync == "sync"
        )
