"""The progress of a copy: which intervals of the source's row keys are copied, and how far."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rowkey.errors import CorruptionError

if TYPE_CHECKING:
    from rowkey.catalog import Catalog

PROGRESS_NOTE = "move.progress"
"""The name of the note that holds the progress, next to the catalog entry of the source."""
MAX_INTERVALS = 256
"""The most intervals of a copy. With row keys of 100 bytes their note has at most 200 KB, below
the 1 MB that ZooKeeper allows."""
FORMAT_VERSION = 2


@dataclass(frozen=True, slots=True)
class CopyInterval:
    """An interval of row keys of the source, and how far it is copied.

    Args:
        start: its first row key, inclusive; empty for the first one of the table.
        stop: the first row key after it; empty for the end of the table.
        position: the row key from which it is not copied yet, `start` at first.
        is_done: whether all of it is copied.
        row_count: the rows that were copied.
    """

    start: bytes
    stop: bytes
    position: bytes
    is_done: bool = False
    row_count: int = 0

    def find_mistake(self) -> str:
        """Return what is wrong with the interval; an empty text if nothing is."""
        if self.stop and self.start >= self.stop:
            return f"the interval from {self.start.hex()} to {self.stop.hex()} is empty"
        if self.position < self.start or (self.stop and self.position > self.stop):
            return f"the position {self.position.hex()} is outside of its interval"
        return ""


@dataclass(frozen=True, slots=True)
class CopyProgress:
    """How far a pass over a table has come: intervals that cover all row keys exactly.

    The intervals are fixed when the pass begins, so that later splits and merges of regions change
    nothing.

    Args:
        target: the name of the table that is written.
        since_ms: the pass copies only rows with a cell that is not older; None for all rows.
        intervals: ascending.
        last_row: the last row key when the pass began, empty if there was none. Rows behind it are
            new and are not copied: the pass would never reach the end of a table to which rows are
            appended faster.
        left_out_rows: rows that the source's design cannot read or the target's cannot store. What
            a killed copier copies again counts twice.
    """

    target: str
    since_ms: int | None
    intervals: tuple[CopyInterval, ...]
    last_row: bytes
    left_out_rows: int = 0

    @classmethod
    def start(
        cls,
        target: str,
        region_starts: Sequence[bytes],
        since_ms: int | None = None,
        last_row: bytes = b"",
    ) -> CopyProgress:
        """Return the progress of a pass that begins.

        Args:
            target: the name of the table that is written.
            region_starts: the first row keys of the source's regions; neighbours share an interval
                if there are more than `MAX_INTERVALS`.
            since_ms: see the class.
            last_row: see the class.

        >>> [one.start for one in CopyProgress.start("t", [b"", b"m"]).intervals]
        [b'', b'm']
        """
        starts = sorted({b"", *region_starts})
        step = -(-len(starts) // MAX_INTERVALS)
        bounds = [*starts[::step], b""]
        intervals = (CopyInterval(start, stop, start) for start, stop in pairwise(bounds))
        return cls(target, since_ms, tuple(intervals), last_row)

    @property
    def is_complete(self) -> bool:
        """Whether all rows are copied."""
        return all(one.is_done for one in self.intervals)

    @property
    def row_count(self) -> int:
        """The rows that were copied."""
        return sum(one.row_count for one in self.intervals)

    def replace_interval(self, index: int, interval: CopyInterval) -> CopyProgress:
        """Return the progress with another state of one interval."""
        before, after = self.intervals[:index], self.intervals[index + 1 :]
        return replace(self, intervals=(*before, interval, *after))

    def to_json(self) -> str:
        """Return the progress as JSON text; row keys are hexadecimal."""
        intervals = [
            {
                "start": one.start.hex(),
                "stop": one.stop.hex(),
                "position": one.position.hex(),
                "done": one.is_done,
                "rows": one.row_count,
            }
            for one in self.intervals
        ]
        document = {
            "version": FORMAT_VERSION,
            "target": self.target,
            "since_ms": self.since_ms,
            "last_row": self.last_row.hex(),
            "left_out_rows": self.left_out_rows,
            "intervals": intervals,
        }
        return json.dumps(document)

    @classmethod
    def from_json(cls, text: str) -> CopyProgress:
        """Return the progress that a text holds.

        Raises:
            ValueError: it is no progress, or its intervals do not cover all row keys exactly.
        """
        document = json.loads(text)
        if not isinstance(document, dict) or document.get("version") != FORMAT_VERSION:
            message = f"it is not a progress of version {FORMAT_VERSION}"
            raise ValueError(message)
        try:
            target, since_ms = document["target"], document["since_ms"]
            last_row = bytes.fromhex(document["last_row"])
            intervals = tuple(_parse_interval(one) for one in document["intervals"])
            left_out_rows = int(document["left_out_rows"])
        except (KeyError, TypeError) as error:
            message = f"a field is missing or has another type: {error}"
            raise ValueError(message) from None
        if type(target) is not str or not (since_ms is None or type(since_ms) is int):
            message = "the fields `target` and `since_ms` have other types"
            raise ValueError(message)
        if mistake := _find_coverage_mistake(intervals):
            raise ValueError(mistake)
        return cls(target, since_ms, intervals, last_row, left_out_rows)


def _parse_interval(document: Any) -> CopyInterval:
    names = ("start", "stop", "position")
    start, stop, position = (bytes.fromhex(document[name]) for name in names)
    is_done, row_count = document["done"], document["rows"]
    if type(is_done) is not bool or type(row_count) is not int:
        message = "`done` must be a truth value and `rows` a number"
        raise TypeError(message)
    return CopyInterval(start, stop, position, is_done, row_count)


def _find_coverage_mistake(intervals: Sequence[CopyInterval]) -> str:
    """Return why intervals do not cover all row keys exactly; an empty text if they do."""
    if not intervals:
        return "it has no interval"
    for one in intervals:
        if mistake := one.find_mistake():
            return mistake
    for before, after in pairwise(intervals):
        if before.stop != after.start or not before.stop:
            return f"the interval after {before.start.hex()} does not begin where that one ends"
    if intervals[0].start or intervals[-1].stop:
        return "its intervals do not cover the first or the last row keys"
    return ""


def load_progress(catalog: Catalog, table: str, note: str = PROGRESS_NOTE) -> CopyProgress | None:
    """Return the progress of the copy of a table; None if none has begun.

    Args:
        catalog: the catalog of the source.
        table: the name of the source.
        note: the name of its note.

    Raises:
        CorruptionError: the note is damaged.
        Unavailable: the catalog does not answer.
    """
    text = catalog.read_notes(table).get(note)
    if text is None:
        return None
    try:
        return CopyProgress.from_json(text)
    except ValueError as error:
        what = f"the stored progress of the copy is damaged: {error}"
        remedy = "Remove the note and copy again: a copy may be repeated."
        raise CorruptionError(f"table {table}, note {note}", what, remedy=remedy) from None


def save_progress(
    catalog: Catalog, table: str, progress: CopyProgress | None, note: str = PROGRESS_NOTE
) -> None:
    """Store the progress of the copy of a table; None removes it.

    Raises:
        Unavailable: the catalog does not answer.
    """
    catalog.write_note(table, note, None if progress is None else progress.to_json())
