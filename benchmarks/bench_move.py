"""How fast a table is copied to another key and verified, compared with a program of one's own."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from itertools import count
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from timing import Result, measure_ratio

import rowkey
from rowkey.move import RowCopier, save_progress, verify_move

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.table import Table

ROWS = 1_000_000
COPY_GOAL, VERIFY_GOAL = 200_000, 250_000
"""Rows a second that are copied, and verified in each table."""
FIELDS: dict[str, Any] = {"id": "u64", "note": {"type": "text", "max_bytes": 100}}
_numbers = count(1)


def measure_all() -> Iterator[Result]:
    """Yield all results on copying and verifying rows of 100 bytes on the embedded engine."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        source = stack.enter_context(_open_table(f"rocks:{folder}/old", "[id]"))
        notes = pa.array([f"{number % 9_973:0>100}" for number in range(ROWS)])
        source.load(pa.table({"id": pa.array(np.arange(ROWS, dtype=np.uint64)), "note": notes}))
        target = stack.enter_context(_open_table(f"rocks:{folder}/new", "[bucket(id, 16)][id]"))
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
            "M rows/s a table",
            (2 * ROWS, partial(verify_move, source.get_state(), target.get_state())),
            "both tables sorted and compared as Arrow columns, without timestamps",
            (2 * ROWS, partial(_compare_by_hand, source, target)),
        )
        verified.goal = f"{VERIFY_GOAL:,} rows/s of each table"
        verified.met = verified.median >= VERIFY_GOAL
        yield verified


def _open_table(url: str, key: str) -> Table:
    """Open a new table with a key."""
    return rowkey.open(rowkey.Design("notes", key, fields=FIELDS), url)


def _copy(source: Table, target: Table) -> None:
    """Copy all rows as a move does."""
    save_progress(source.catalog, "notes", None)
    RowCopier(source.get_state(), target.get_state(), source.catalog).run()


def _copy_by_hand(source: Table, folder: str) -> None:
    """Copy all rows to a new table through Arrow columns, as a program of one's own would."""
    with _open_table(f"rocks:{folder}/hand{next(_numbers)}", "[bucket(id, 16)][id]") as target:
        target.load(source.scan().to_arrow())


def _compare_by_hand(source: Table, target: Table) -> None:
    """Compare all rows of both tables, sorted by their fields."""
    order = [("id", "ascending")]
    tables = [table.scan().to_arrow().sort_by(order) for table in (source, target)]
    assert tables[0].equals(tables[1])
