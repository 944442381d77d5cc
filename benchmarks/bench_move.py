"""How fast a table is copied to another key and verified, compared with a program of one's own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from timing import Result, measure_ratio

import rowkey
from rowkey.move import RowCopier, save_progress, verify_move

if TYPE_CHECKING:
    from rowkey.table import Table

ROWS, MANY_ROWS = 1_000_000, 10_000_000
COPY_GOAL, VERIFY_GOAL = 200_000, 250_000
"""Rows a second that are copied, and verified in each table."""
MEMORY_GOAL_MB = 600
FIELDS: dict[str, Any] = {"id": "u64", "note": {"type": "text", "max_bytes": 100}}
MOVE_MANY = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import bench_move
from rowkey.move import RowCopier, verify_move
old, new = (
    bench_move.open_table(f"rocks:{sys.argv[2]}/{name}", key) for name, key in bench_move.TABLES
)
with old, new:
    started = time.perf_counter()
    copied = RowCopier(old.get_state(), new.get_state(), old.catalog).run()
    copy_s = time.perf_counter() - started
    found = verify_move(old.get_state(), new.get_state())
    verify_s = time.perf_counter() - started - copy_s
assert found.has_passed
with open("/proc/self/status") as status:  # ru_maxrss also counts the process that started this one
    peak_kb = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
print(json.dumps({
    "rows": copied.row_count, "verified": found.target.rows, "copy_s": copy_s,
    "verify_s": verify_s, "memory_mb": peak_kb / 1024,
}))
"""
TABLES = (("old", "[id]"), ("new", "[bucket(id, 16)][id]"))
_numbers = count(1)


def measure_all() -> Iterator[Result]:
    """Yield all results on copying and verifying rows of 100 bytes on the embedded engine."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        source, target = (
            stack.enter_context(open_table(f"rocks:{folder}/{name}", key)) for name, key in TABLES
        )
        _load(source, ROWS)
        copied = measure_ratio(
            f"copy {ROWS:,} rows to another key, with timestamps, deletes and a resume point",
            "M rows/s",
            (ROWS, partial(_copy, source, target)),
            "new.load(old.scan().to_arrow()), without timestamps, deletes or resume",
            (ROWS, partial(_copy_by_hand, source, folder)),
        )
        copied.goal, copied.met = f"{COPY_GOAL:,} rows/s", copied.median >= COPY_GOAL
        yield copied
        verified = measure_ratio(
            f"verify {ROWS:,} rows of both tables, with timestamps",
            "M rows/s",
            (ROWS, partial(verify_move, source.get_state(), target.get_state())),
            "both tables sorted and compared as Arrow columns, without timestamps",
            (ROWS, partial(_compare_by_hand, source, target)),
        )
        verified.goal = f"{VERIFY_GOAL:,} rows/s"
        verified.met = verified.median >= VERIFY_GOAL
        yield verified
    yield from _measure_many()


def _measure_many() -> Iterator[Result]:
    """Yield the rates at which ten times as many rows are copied and verified, in one process."""
    with TemporaryDirectory() as folder:
        with open_table(f"rocks:{folder}/old", "[id]") as source:
            _load(source, MANY_ROWS)
        command = [sys.executable, "-c", MOVE_MANY, str(Path(__file__).parent), folder]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(run.stdout)
    assert MANY_ROWS == found["rows"] == found["verified"]
    copy_rate, verify_rate = (MANY_ROWS / found[name] for name in ("copy_s", "verify_s"))
    memory_mb = found["memory_mb"]
    yield Result(
        f"copy {MANY_ROWS:,} rows to another key",
        "M rows/s",
        [copy_rate],
        goal=f"{COPY_GOAL:,} rows/s with at most {MEMORY_GOAL_MB} MB",
        met=copy_rate >= COPY_GOAL and memory_mb <= MEMORY_GOAL_MB,
        notes=f"{memory_mb:,.0f} MB of memory with the verification",
    )
    yield Result(
        f"verify {MANY_ROWS:,} rows of both tables",
        "M rows/s",
        [verify_rate],
        goal=f"{VERIFY_GOAL:,} rows/s ",
        met=verify_rate >= VERIFY_GOAL,
    )


def _load(table: Table, count: int) -> None:
    """Fill a table with rows of 100 bytes."""
    notes = pa.array([f"{number % 9_973:0>100}" for number in range(ROWS)])
    for start in range(0, count, ROWS):
        ids = pa.array(np.arange(start, start + ROWS, dtype=np.uint64))
        table.load(pa.table({"id": ids, "note": notes}))


def open_table(url: str, key: str) -> Table:
    """Open a new table with a key."""
    return rowkey.open(rowkey.Design("notes", key, fields=FIELDS), url)


def _copy(source: Table, target: Table) -> None:
    """Copy all rows as a move does."""
    save_progress(source.catalog, "notes", None)
    RowCopier(source.get_state(), target.get_state(), source.catalog).run()


def _copy_by_hand(source: Table, folder: str) -> None:
    """Copy all rows to a new table through Arrow columns, as a program of one's own would."""
    with open_table(f"rocks:{folder}/hand{next(_numbers)}", "[bucket(id, 16)][id]") as target:
        target.load(source.scan().to_arrow())


def _compare_by_hand(source: Table, target: Table) -> None:
    """Compare all rows of both tables, sorted by their fields."""
    order = [("id", "ascending")]
    tables = [table.scan().to_arrow().sort_by(order) for table in (source, target)]
    assert tables[0].equals(tables[1])
