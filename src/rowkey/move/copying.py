"""Copy the rows of a move, all or those that have changed, under the lock of the mover."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.boottime import read_boottime_s
from rowkey.catalog import MovePhase
from rowkey.engines import get_time_ms
from rowkey.errors import Conflict, InvalidDesign, Mistake
from rowkey.move.copier import CopyResult, RowCopier
from rowkey.move.copy_progress import load_progress, save_progress
from rowkey.move.design_comparison import compare_designs
from rowkey.move.move_record import CAUGHT_UP_NOTE, MoveRecord
from rowkey.move.rate_limit import RateLimit
from rowkey.move.recent_rows import RecentRows
from rowkey.move.status import MoveSettings
from rowkey.move.verification import VerificationResult, verify_move
from rowkey.progress import ReportProgress
from rowkey.table import GenerationState, RowTranslator, Table, rename_design

if TYPE_CHECKING:
    from rowkey.move.mover_lock import MoverLock


@dataclass(frozen=True, slots=True)
class TransferResult:
    """What a copy to another engine did.

    Args:
        verification: what the comparison of both tables found.
        left_out_rows: rows that the copy left out; see `CopyProgress`.
    """

    verification: VerificationResult
    left_out_rows: int

    @property
    def has_passed(self) -> bool:
        """Whether all rows are equal."""
        return self.verification.has_passed


def transfer_table(
    source: Table, target: Table, *, progress: ReportProgress | None = None
) -> TransferResult:
    """Copy all rows of a table to a table of another engine, and compare both.

    Both designs have the same fields; their keys, families and placements may differ. Cells keep
    their timestamps. Clients write only one table: the source until the copy is done. An
    interrupted call goes on where it stopped; a further call copies what has changed in the source
    since the last one began, and compares both tables again.

    Args:
        source: the open table to copy.
        target: the open table that gets the rows; nobody else writes it meanwhile.
        progress: called with `copy` or `verify`, how much is done, and of how much.

    Raises:
        InvalidDesign: with everything in the two designs that a copy cannot bridge.
        Conflict: the rows of the source are being moved.
        Unavailable: an engine or a catalog does not answer; call it again to go on.

    Cost: as `RowCopier` and `verify_move`.

    >>> import rowkey
    >>> design = rowkey.Design("notes", "[id]", fields={"id": "u64", "note": "text"})
    >>> other = rowkey.Design("notes", "[bucket(id, 4)][id]", fields=design.declaration.fields)
    >>> with (
    ...     rowkey.open(design, "memory:prototype") as old,
    ...     rowkey.open(other, "memory:production") as new,
    ... ):
    ...     old.put({"id": 1, "note": "a"})
    ...     transfer_table(old, new).has_passed, new.get(id=1)
    (True, {'id': 1, 'note': 'a'})
    """
    name = source.design.table
    renamed = rename_design(target.design, f"{name}_2")
    compared = compare_designs(source.design, renamed, has_splits=True)
    blocking = [one.to_mistake() for one in compared if one.severity == "error"]
    if source.companions or target.companions:
        what = "tables with companions are not copied to another engine"
        blocking.append(Mistake("companions", what, "", "Copy to a table without, then add them."))
    if blocking:
        raise InvalidDesign(blocking)
    record, target_id = MoveRecord(source.catalog, name), target.lease.last_entry.table_id
    move = record.read()
    if move is not None and move.phase is not MovePhase.FINISHED:
        what = f"its rows are being moved to {move.target}"
        remedy = "End that move first: rowkey move status shows how far it is."
        raise Conflict(f"table {name}", what, remedy=remedy)
    note = record.read_note(CAUGHT_UP_NOTE)
    is_known = note.get("target_id") == target_id
    stored = load_progress(source.catalog, name)
    if not is_known or "started_ms" not in note:  # another copy, or the first of this one
        save_progress(source.catalog, name, None)
        note = {"target_id": target_id, "since_ms": None, "started_ms": get_time_ms()}
    elif stored is None or stored.is_complete:
        save_progress(source.catalog, name, None)
        since_ms = note["started_ms"] - LATE_MARGIN_MS
        note = {"target_id": target_id, "since_ms": since_ms, "started_ms": get_time_ms()}
    record.write_note(CAUGHT_UP_NOTE, note)
    copier = RowCopier(
        source.get_state(),
        target.get_state(),
        source.catalog,
        since_ms=note["since_ms"],
        progress=progress,
    )
    copied = copier.run()
    found = verify_move(source.get_state(), target.get_state(), progress=progress)
    return TransferResult(found, copied.left_out_rows)


SETTINGS_INTERVAL_S = 0.5
"""Seconds between two reads of the settings."""
LATE_MARGIN_MS = 10_000
"""Milliseconds by which a change may reach its table after its timestamp: by a slow call, or since
the clock of its client is behind. It matters only for a client that dies between its two writes."""


class LimitFollower:
    """Applies the settings of a move to the rate limit of its copy, while it runs.

    A limit that is set again forgets how long writes took, so only changed settings are applied.

    Args:
        lock: held by this process.
    """

    def __init__(self, record: MoveRecord, lock: MoverLock) -> None:
        self.record, self.lock = record, lock
        self.limit = RateLimit()
        self.settings = MoveSettings()
        self.read_at_s = 0.0
        self.update()

    def update(self) -> None:
        """Read the settings again if the last time is long ago; check the lock.

        Raises:
            Conflict: another process works on the move.
        """
        self.lock.check()
        if read_boottime_s() - self.read_at_s < SETTINGS_INTERVAL_S:
            return
        self.read_at_s = read_boottime_s()
        settings = MoveSettings.read(self.record)
        if settings == self.settings:
            return
        self.settings = settings
        self.limit.rows_per_s, self.limit.max_p99_ms = settings.rows_per_s, settings.max_p99_ms
        if settings.is_paused:
            self.limit.pause()
        else:
            self.limit.resume()


def copy_all_rows(
    source: GenerationState,
    target: GenerationState,
    record: MoveRecord,
    lock: MoverLock,
    progress: ReportProgress,
) -> CopyResult:
    """Copy all rows of the source that are not copied yet."""
    settings = LimitFollower(record, lock)
    copier = RowCopier(
        source,
        target,
        record.catalog,
        limit=settings.limit,
        progress=progress,
        check=settings.update,
    )
    return copier.run()


class CatchUp:
    """One pass over the rows of the primary table that have changed since the last pass.

    It reads first what the other table has of them, which takes about half of its time and may be
    done while clients still write: what they write later is copied by `run`. An interrupted pass is
    begun again.

    Args:
        primary: the state of the table that is read.
        secondary: the state of the other table.
        lock: held by this process.
        is_limited: whether the limits of the move hold; not while clients wait.

    Raises:
        Conflict: another process works on the move.
        Unavailable: a table or the catalog does not answer.
    """

    def __init__(
        self,
        primary: GenerationState,
        secondary: GenerationState,
        lock: MoverLock,
        *,
        is_limited: bool = False,
    ) -> None:
        lock.check()
        self.primary, self.secondary, self.lock = primary, secondary, lock
        self._limits = LimitFollower(lock.record, lock) if is_limited else None
        self._note = lock.record.read_note(CAUGHT_UP_NOTE)
        self.since_ms = self._note.get("since_ms", 0)
        # A row that is built from others is written in any case, after the clients that build it.
        self._recent_rows = (
            None
            if RowTranslator(primary, secondary).needs_whole_rows
            else RecentRows(secondary.writer.store, self.since_ms, lock.check)
        )

    def run(self) -> int:
        """Copy what the other table lacks; return how many rows have changed since the last pass.

        Raises:
            Conflict: another process works on the move.
            Unavailable: a table or the catalog does not answer.
        """
        now_ms = time.time_ns() // 1_000_000
        copier = RowCopier(
            self.primary,
            self.secondary,
            None,
            since_ms=self.since_ms,
            recent_rows=self._recent_rows,
            limit=None if self._limits is None else self._limits.limit,
            check=self.lock.check if self._limits is None else self._limits.update,
        )
        result = copier.run()
        next_ms = max(self.since_ms, now_ms - LATE_MARGIN_MS)
        self.lock.record.write_note(CAUGHT_UP_NOTE, {**self._note, "since_ms": next_ms})
        return result.row_count
