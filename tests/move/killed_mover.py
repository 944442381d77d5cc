"""A process that moves a table while its threads write it, until it is killed.

It kills itself at the n-th boundary of a step: before or after a write to the catalog, a creation
or removal of a table, a change of its attributes, or the write of a chunk.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial, wraps
from itertools import count
from pathlib import Path
from random import Random
from signal import SIGKILL
from threading import Event, Lock, Thread, current_thread, main_thread
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import rowkey
from rowkey.errors import Closed, Conflict, Unavailable
from rowkey.move import Move, RowCopier
from rowkey.table.row_writer import RowWriter

if TYPE_CHECKING:
    from rowkey.table import Table

CHUNK_ROWS = 25
FIRST_MS = 1_700_000_000_000
FIELDS: dict[str, Any] = {
    "host": "text",
    "ts": "timestamp_ms",
    "note": {"type": "text", "nullable": True},
    "hits": {"type": "i64", "nullable": True},
}
COLUMNS = ("note", "hits")
OLD = rowkey.Design("logs", "[ts][host]", fields=FIELDS)
NEW = rowkey.Design("logs", "[bucket(host, 4)][host][desc(ts)]", fields=FIELDS)


def require_passed(move: Move) -> None:
    """Copy and verify; fail if the tables differ."""
    found = move.run(NEW)
    assert found.has_passed, (found.differences, found.unsettled)


STEPS: dict[str, Callable[[Move], Any]] = {
    "run": require_passed,
    "cut over": lambda move: move.cut_over(),
    "roll back": lambda move: move.roll_back(),
    "cut over again": lambda move: move.cut_over(),
    "finish": lambda move: move.finish(),
}
ROWS = 60
"""Rows that each thread changes."""
WRITERS = 2


def patch_waits(stack: ExitStack) -> None:
    """Shorten what a process waits for that one which died may live."""
    stack.enter_context(patch("rowkey.move.mover_lock.LIFETIME_S", 1.0))
    stack.enter_context(patch("rowkey.move.mover_lock.BEAT_INTERVAL_S", 0.1))
    stack.enter_context(patch("rowkey.table.moves.move_follower.MIN_PATIENCE_S", 1.0))


class Boundaries:
    """Counts the boundaries of steps, and kills the process at one of them.

    Args:
        kill_at: the number of that boundary, from 1; 0 for none.
        log: notes the name of each boundary.
    """

    def __init__(self, kill_at: int, log: Callable[[str], None]) -> None:
        self.kill_at, self._log, self._numbers, self._lock = kill_at, log, count(1), Lock()

    def reach(self, name: str) -> None:
        """Note that a boundary is reached."""
        if current_thread() is not main_thread() and "rowkey-copy" not in current_thread().name:
            return
        with self._lock:
            number = next(self._numbers)
            self._log(f"{number} {name}")
            if number == self.kill_at:
                os.kill(os.getpid(), SIGKILL)

    def watch(self, stack: ExitStack, place: Any, name: str) -> None:
        """Make each call of a method two boundaries."""
        call = getattr(place, name)

        @wraps(call)
        def call_between(*arguments: Any, **words: Any) -> Any:
            self.reach(f"before {name}")
            result = call(*arguments, **words)
            self.reach(f"after {name}")
            return result

        stack.enter_context(patch.object(place, name, call_between))


class CountingCopier(RowCopier):
    """A copier of small chunks that notes the rows of each chunk that it has written."""

    def __init__(self, *arguments: Any, log: Callable[[str], None], **words: Any) -> None:
        super().__init__(*arguments, chunk_rows=CHUNK_ROWS, **words)
        self._log = log

    def _copy_chunk(self, index: int, interval: Any) -> Any:
        before = interval.row_count
        after = super()._copy_chunk(index, interval)
        if after is not None and self._since_ms is None:
            self._log(str(after.row_count - before))
        return after


def take_step(move: Move, take: Callable[[Move], Any]) -> None:
    """Take a step, again if the machine was too slow for the shortened waits."""
    while True:
        with suppress(Conflict):
            take(move)
            return


def open_log(path: Path) -> Callable[[str], None]:
    """Return a function that appends a line to a file, which a kill of the process leaves there."""
    file = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def append(line: str) -> None:
        os.write(file, f"{line}\n".encode())

    return append


def draw_change(random: Random, writer: int) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return a random change of a row of a writer: its kind, the key and the values."""
    key = {"host": f"w{writer}", "ts": FIRST_MS + random.randrange(ROWS)}
    kind = random.choice(("put", "put", "put", "none", "replace", "delete", "increment"))
    number = random.randrange(1_000)
    values: dict[str, dict[str, Any]] = {
        "put": {"note": f"n{number}", "hits": number},
        "none": {"note": None, "hits": number},
        "replace": {"note": f"r{number}"},
        "delete": {},
        "increment": {"hits": number},
    }
    return kind, key, values[kind]


def write_rows(table: Table, folder: Path, seed: int, writer: int, is_over: Event) -> None:
    """Change rows of a writer, and note each change before it begins and when it has ended."""
    random, log = Random(f"{seed} {writer}"), open_log(folder / f"journal.{writer}")
    while not is_over.is_set():
        kind, key, values = draw_change(random, writer)
        log(json.dumps([kind, key, values]))
        try:
            if kind == "increment":
                table.increment(key, **values)
            elif kind == "delete":
                table.delete(key)
            else:
                getattr(table, "replace" if kind == "replace" else "put")({**key, **values})
        except (Closed, Conflict, Unavailable):  # too slow for the short lease: it may be made
            log("unknown")
        else:
            log("end")
        is_over.wait(0.001)


def run_mover(folder_name: str, url: str, seed: int, kill_at: int) -> None:
    """Go on with the move where it stopped, while threads write, and end once it is finished."""
    folder = Path(folder_name)
    boundaries = Boundaries(kill_at, open_log(folder / "boundaries"))
    done, log = read_lines(folder / "steps"), open_log(folder / "steps")
    with ExitStack() as stack:
        patch_waits(stack)
        copier = partial(CountingCopier, log=open_log(folder / "chunks"))
        stack.enter_context(patch("rowkey.move.copying.RowCopier", copier))
        table = stack.enter_context(rowkey.open("logs", url))
        move = stack.enter_context(Move.from_table(table, url))
        for name in ("write", "write_note", "remove"):
            boundaries.watch(stack, type(move.record.catalog), name)
        for name in ("create_table", "drop_table"):
            boundaries.watch(stack, type(table.engine), name)
        boundaries.watch(stack, type(table.store), "replace_attributes")
        boundaries.watch(stack, RowWriter, "send_mutations")
        is_over = Event()
        threads = [
            Thread(target=write_rows, args=(table, folder, seed, writer, is_over))
            for writer in range(WRITERS)
        ]
        for thread in threads:
            thread.start()
        try:
            for name, take in STEPS.items():
                if name not in done:
                    take_step(move, take)
                    log(name)
        finally:
            is_over.set()
            for thread in threads:
                thread.join()


def read_lines(path: Path) -> list[str]:
    """Return the complete lines of a file; none if it does not exist."""
    text = path.read_text("utf-8") if path.exists() else ""
    return text[: text.rfind("\n") + 1].splitlines()
