"""How far a move is, from its record and its notes alone: no table is opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rowkey.catalog import MovePhase
from rowkey.move.copy_progress import load_progress
from rowkey.move.move_record import (
    CAUGHT_UP_NOTE,
    HISTORY_NOTE,
    SETTINGS_NOTE,
    VERIFICATION_NOTE,
    MoveRecord,
)
from rowkey.move.staying_cells import StayingCells
from rowkey.table import ShadowCounts, sum_shadow_counts


@dataclass(frozen=True, slots=True)
class MoveSettings:
    """What may be changed while rows are copied.

    Args:
        rows_per_s: most rows that are copied in a second, by all threads together; None for no
            limit.
        max_p99_ms: milliseconds within which 99 of 100 writes of the copy must end: it slows down
            where they take longer; None for no limit.
        is_paused: whether the copy waits.
    """

    rows_per_s: float | None = None
    max_p99_ms: float | None = None
    is_paused: bool = False

    @classmethod
    def read(cls, record: MoveRecord) -> MoveSettings:
        """Return the settings that were noted last."""
        note = record.read_note(SETTINGS_NOTE)
        return cls(
            note.get("rows_per_s"), note.get("max_p99_ms"), bool(note.get("is_paused", False))
        )

    def write(self, record: MoveRecord) -> None:
        """Note the settings; a copy that runs follows them within a second."""
        record.write_note(
            SETTINGS_NOTE,
            {
                "rows_per_s": self.rows_per_s,
                "max_p99_ms": self.max_p99_ms,
                "is_paused": self.is_paused,
            },
        )


@dataclass(frozen=True, slots=True)
class MoveStatus:
    """How far a move is.

    Args:
        source: the table that is moved.
        target: the table that it is moved to; empty if it is not moved.
        step: `none`, `announced`, `copying`, `copied`, `switching`, `cut over`, `finishing` or
            `finished`.
        primary: the table that clients read.
        row_count: rows that are copied; None before the copy has begun.
        copied_share: the share of the source's key intervals that is copied, 0..1; None before.
        left_out_rows: rows that the copy left out, because a design cannot read or store them.
        staying: the cells of the table that is read which the other one does not get, as the last
            verification counted them.
        verification: the note of the last verification; empty if there was none.
        settings: the limits of the copy.
        has_mover: whether some process works on the move, or did when it died.
        started_ms: when the move was announced, milliseconds since 1970; None if there is none.
        history: the steps so far, oldest first, each with `time_ms` and `step`.
        shadow_share: the share of the reads that clients repeat on the table that is not read.
        shadow_counts: what they counted since the table that is read is.
    """

    source: str
    target: str
    step: str
    primary: str
    row_count: int | None
    copied_share: float | None
    left_out_rows: int
    staying: Sequence[StayingCells]
    verification: Mapping[str, Any]
    settings: MoveSettings
    has_mover: bool
    started_ms: int | None
    history: Sequence[Mapping[str, Any]]
    shadow_share: float
    shadow_counts: ShadowCounts


def read_status(record: MoveRecord) -> MoveStatus:
    """Return how far the move of a table is.

    Raises:
        Unavailable: the catalog does not answer.
    """
    move = record.read()
    progress = load_progress(record.catalog, record.source)
    note, verification = record.read_note(CAUGHT_UP_NOTE), record.read_note(VERIFICATION_NOTE)
    is_copied = bool(note.get("is_copied"))
    row_count = share = None
    left_out_rows = 0
    if progress is not None:
        done = sum(one.is_done for one in progress.intervals)
        row_count, share = progress.row_count, done / len(progress.intervals)
        left_out_rows = progress.left_out_rows
    if is_copied:
        row_count, share = note.get("row_count"), 1.0
        left_out_rows = note.get("left_out_rows", 0)
    step = "none"
    if move is not None:
        if move.phase is MovePhase.SWITCHING:
            step = "switching"
        elif move.phase is MovePhase.FINISHED:
            target = record.catalog.read(move.target)
            is_done = target is not None and not target.moved_from
            step = "finished" if move.is_target_primary and is_done else "finishing"
        elif move.is_target_primary:
            step = "cut over"
        elif is_copied:
            step = "copied"
        else:
            step = "announced" if progress is None else "copying"
    primary = move.target if move is not None and move.is_target_primary else record.source
    return MoveStatus(
        source=record.source,
        target="" if move is None else move.target,
        step=step,
        primary=primary,
        row_count=row_count,
        copied_share=share,
        left_out_rows=left_out_rows,
        staying=[StayingCells.from_document(one) for one in verification.get("staying", ())],
        verification=verification,
        settings=MoveSettings.read(record),
        has_mover=move is not None and bool(move.mover),
        started_ms=None if move is None else move.started_ms,
        history=record.read_note(HISTORY_NOTE).get("steps", []),
        shadow_share=0.0 if move is None else move.shadow_share,
        shadow_counts=sum_shadow_counts(
            record.catalog.read_notes(record.source), "" if move is None else move.period
        ),
    )
