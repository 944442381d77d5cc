"""A move whose copier was killed: its record and its progress, in the catalog of the source."""

from __future__ import annotations

import shutil
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from unittest.mock import patch

import rowkey
from reliability.scenarios.contract import Scenario, StoredObject
from reliability.scenarios.embedded_table import fork
from rowkey.move import Move, RowCopier, mover_lock

if TYPE_CHECKING:
    from reliability.scenarios.contract import FailingCalls

FIELDS: dict[str, Any] = {"host": "text", "ts": "timestamp_ms", "note": "text"}
OLD = rowkey.Design("logs", "[host][ts]", fields=FIELDS)
NEW = rowkey.Design("logs", "[bucket(host, 4)][host][desc(ts)]", fields=FIELDS)
FIRST_MS = 1_700_000_000_000
ROWS = 60
STALE_S = 0.05
COPIED_INTERVALS = 2


BEAT_INTERVAL_S, LIFETIME_S = 0.4, 2.0
"""Shorter times of the mover's lock, for which the next mover waits after a crash."""


class CopierKilled(BaseException):
    """Stands for the end of the copier's process."""


def build_rows(text: str) -> list[dict[str, Any]]:
    """Return the rows of a table; the notes of one table begin with the text."""
    return [
        {"host": f"h{number % 9}", "ts": FIRST_MS + number, "note": f"{text} {number}"}
        for number in range(ROWS)
    ]


def move_half(place: Path, text: str) -> None:
    """Create a table, begin its move, and stop the copier between two intervals."""
    url = f"rocks:{place}"
    with rowkey.open(OLD, url, max_stale=STALE_S) as table:
        for row in build_rows(text):
            table.put(row)
        for key in (b"h2", b"h4", b"h7"):
            table.store.split(key)
        shutil.copytree(place, place.with_name(f"{place.name}.earlier"))
        copied: list[int] = []
        copy_chunk = RowCopier._copy_chunk

        def copy_or_die(copier: RowCopier, index: int, interval: Any) -> Any:
            if len(copied) == COPIED_INTERVALS:
                raise CopierKilled
            if len(copied) == 1:
                shutil.copytree(place, place.with_name(f"{place.name}.earlier-2"))
            copied.append(index)
            return copy_chunk(copier, index, interval)

        with (
            patch.object(RowCopier, "_copy_chunk", copy_or_die),
            Move.from_table(table, url) as move,
            suppress(CopierKilled),
        ):
            move.run(NEW)


class OpenMove:
    """The table and its move."""

    def __init__(self, place: Path) -> None:
        url = f"rocks:{place}"
        with ExitStack() as stack:
            stack.enter_context(patch.object(mover_lock, "BEAT_INTERVAL_S", BEAT_INTERVAL_S))
            stack.enter_context(patch.object(mover_lock, "LIFETIME_S", LIFETIME_S))
            self.table = stack.enter_context(rowkey.open("logs", url))
            self.move = stack.enter_context(Move.from_table(self.table, url))
            self._stack = stack.pop_all()

    def close(self) -> None:
        """Close both."""
        self._stack.close()


class HalfMove(Scenario):
    """A move whose copier was killed when half of the rows were copied; the table is in use."""

    states: ClassVar[tuple[str, ...]] = ("copying",)
    calls: ClassVar[tuple[str, ...]] = ("scan", "run", "verify", "put", "cut over", "scan after")

    def build(self, folder: Path) -> None:
        """Begin two moves alike."""
        for text, name in (("own", "copying"), ("other", "copying.other")):
            fork(lambda: move_half(folder / name, text))  # noqa: B023 - it runs at once

    def open(self, place: Path) -> OpenMove:
        """Open the table and its move."""
        return OpenMove(place)

    def run(self, session: OpenMove, call: str) -> str:
        """Take a step of the move, or compare the rows."""
        match call:
            case "run":
                found = session.move.run(NEW)
                return "" if found.has_passed else f"{len(found.differences)} rows differ"
            case "verify":
                found = session.move.verify()
                return "" if found.has_passed else f"{len(found.differences)} rows differ"
            case "put":
                session.table.put(build_rows("own")[7])
                return ""
            case "cut over":
                session.move.cut_over()
                return ""
        return self._compare(session.table)

    def try_call(self, place: Path, call: str, failing: FailingCalls) -> str:
        """Take the steps before a call without a fault, then the call with one."""
        if call not in ("verify", "cut over", "scan after"):
            return super().try_call(place, call, failing)
        session = self.open(place)
        try:
            session.move.run(NEW)
            if call == "scan after":
                session.move.cut_over()
            failing.start()
            return self.run(session, call)
        finally:
            failing.stop()
            self.close(session)

    @staticmethod
    def _compare(table: rowkey.Table) -> str:
        """Return how the rows of the table differ from those that were acknowledged."""
        found = sorted(table.scan(), key=lambda row: row["ts"])
        expected = build_rows("own")
        missing = [row for row in expected if row not in found]
        if found == expected:
            return ""
        return f"{len(found)} rows of {len(expected)}, not among them {missing[:1]}"

    def check(self, place: Path, call: str, *, is_acknowledged: bool) -> str:
        """Go on with the move, verify it, and compare the rows before and after the switch."""
        session = self.open(place)
        try:
            if call not in ("cut over", "scan after"):
                session.move.run(NEW)
                session.move.cut_over()
            elif not is_acknowledged:
                session.move.cut_over()
            return self._compare(session.table)
        finally:
            session.close()

    def list_names(self, place: Path, path: Path) -> list[str]:
        """Return the texts of which an error has at least one."""
        return [path.name, str(place), "logs"]


OBJECTS = (
    StoredObject(
        "move-record", "record of a move", HalfMove, (".catalog/logs.json",),
        (".catalog/logs.json", ".catalog/catalog.new"), weight=0.4,
    ),
    StoredObject(
        "move-progress", "progress note of a move", HalfMove, (".catalog/logs.notes",),
        (".catalog/logs.notes", ".catalog/catalog.new"),
    ),
)  # fmt: skip
