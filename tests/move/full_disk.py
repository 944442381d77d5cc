"""Move tables on a disk that becomes full, and again once it has space.

`full_disk.py PLACE` runs with the shim loaded; it prints a line of JSON for each move.
"""

from __future__ import annotations

import errno
import json
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import rowkey
from move.foreign_cells import read_foreign, write_foreign
from reliability.shim import Shim
from rowkey.cells import Cell
from rowkey.errors import RowkeyError
from rowkey.move import Move, RowCopier
from rowkey.pandas_guard import skip_pandas

FULL_AT = (1, 8, 20, 30)
"""Writes to the disk, counted from the begin of the move, from which on it is full."""
ROWS = 200
FIELDS: dict[str, Any] = {"host": "text", "ts": "timestamp_ms", "note": "text"}
OLD = rowkey.Design("logs", "[ts][host]", fields=FIELDS)
NEW = rowkey.Design("logs", "[bucket(host, 4)][host][desc(ts)]", fields=FIELDS)


def fill(url: str) -> None:
    """Create a table of some rows, of which half have an undeclared cell."""
    with rowkey.open(OLD, url, max_stale=0.02) as table:
        for number in range(ROWS):
            row = {"host": f"h{number % 7}", "ts": number, "note": f"n{number}"}
            table.put(row)
            if number % 2:
                write_foreign(table, row, Cell("d", b"x", number, b"v"))


def move_on_full_disk(url: str, shim: Shim, full_at: int) -> str:
    """Begin a move on a disk that becomes full; return the error, empty if there was none."""
    said = ""
    with suppress(RowkeyError), rowkey.open("logs", url) as table:
        shim.fail("writes", errno.ENOSPC, full_at, is_sticky=True)
        try:
            with Move.from_table(table, url) as move:
                move.run(NEW)
        except RowkeyError as error:
            said = f"{type(error).__name__}: {error}"
        finally:
            shim.disarm()
    return said


def end_move(url: str) -> dict[str, Any]:
    """Go on with a move once the disk has space; return what is in both tables then."""
    with rowkey.open("logs", url) as table, Move.from_table(table, url) as move:
        found = move.run(NEW)
        states = move.source.get_state(), move.target.get_state()
        foreign = [read_foreign(state, ("host", "ts")) for state in states]
        rows = sorted((row["ts"], row["note"]) for row in table.scan())
    return {
        "has_passed": found.has_passed,
        "rows": found.target.rows,
        "are_right": rows == [(number, f"n{number}") for number in range(ROWS)],
        "foreign": len(foreign[1]),
        "are_equal": foreign[0] == foreign[1],
    }


def main() -> None:
    """Move a table for each moment at which the disk is full."""
    place = Path(sys.argv[1])
    shim = Shim(place)
    small_chunks = partial(RowCopier, chunk_rows=20)
    with (
        patch("rowkey.move.copying.RowCopier", small_chunks),
        patch("rowkey.move.mover_lock.LIFETIME_S", 0.5),
        patch("rowkey.move.mover_lock.BEAT_INTERVAL_S", 0.1),
    ):
        for full_at in FULL_AT:
            url = f"rocks:{place / str(full_at)}"
            fill(url)
            said = move_on_full_disk(url, shim, full_at)
            result = {"said": said, **end_move(url)}
            sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    with skip_pandas():
        main()
