"""Intact tables to damage: one that was closed, and one whose process was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import rowkey
from rowkey.cli.pandas_guard import skip_pandas

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FULL_SIZE = "ROWKEY_FULL_SIZE"
"""An environment variable that long tests set: their tables are larger."""
ROWS = 1_200 if os.environ.get(FULL_SIZE) else 96
"""Rows in files that were merged."""
LATER_ROWS = ROWS // 8
"""Rows in files that were not merged, and as many in the log."""
COUNTER_ID = 7
"""The row whose counter is incremented."""

DESIGN = rowkey.Design(
    "t",
    "[bucket(id, 4)][id]",
    fields={"id": "u32", "v": "text", "n": {"type": "i64", "nullable": True}},
    families={"d": {"block_size": 2_048}},
    splits="per_bucket",
)
STATES = ("closed", "killed")


def make_row(number: int) -> dict[str, Any]:
    """Return the row of a number."""
    return {"id": number, "v": f"value {number:06} " + "x" * (number % 23), "n": number % 5 or None}


def make_rows(state: str) -> list[dict[str, Any]]:
    """Return all rows of a table in a state, sorted by number."""
    del state  # a kill loses nothing
    return [make_row(number) for number in range(ROWS + 2 * LATER_ROWS)]


def make_place(directory: Path, state: str) -> Path:
    """Create a directory with a table in a state.

    Args:
        directory: the directory to create.
        state: one of `STATES`.
    """
    words = [sys.executable, __file__, str(directory), state]
    paths = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        words, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )
    expected = -signal.SIGKILL if state == "killed" else 0
    assert expected == done.returncode, done.stderr
    return directory


def list_files(place: Path) -> Iterator[Path]:
    """Yield the files of a directory by relative path, in a fixed order."""
    yield from sorted(path.relative_to(place) for path in place.rglob("*") if path.is_file())


def classify_file(path: Path) -> str:
    """Return the type of a file, which is its name without a number."""
    name = path.name
    for begin in ("MANIFEST", "OPTIONS", "LOG"):
        if name.startswith(begin):
            return begin
    if path.suffix in (".sst", ".log") and path.stem.isdigit():
        return f"*{path.suffix}"
    return str(path)


def _write(directory: str, state: str) -> None:
    with rowkey.open(DESIGN, f"rocks:{directory}") as table:
        _put(table, range(ROWS // 2))
        table.flush()
        _put(table, range(ROWS // 2, ROWS))
        table.compact()
        _put(table, range(ROWS, ROWS + LATER_ROWS))
        table.flush()
        _put(table, range(ROWS + LATER_ROWS, ROWS + 2 * LATER_ROWS))
        if state == "killed":
            os.kill(os.getpid(), signal.SIGKILL)


def _put(table: rowkey.Table, numbers: range) -> None:
    for number in numbers:
        table.put(make_row(number))


if __name__ == "__main__":
    with skip_pandas():
        _write(*sys.argv[1:])
