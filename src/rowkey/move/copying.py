"""Copy the rows of a move, all or those that have changed, under the lock of the mover."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rowkey.boottime import read_boottime_s
from rowkey.move.copier import RowCopier
from rowkey.move.copy_progress import save_progress
from rowkey.move.move_record import CAUGHT_UP_NOTE
from rowkey.move.rate_limit import RateLimit
from rowkey.move.status import MoveSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from rowkey.move.copier import CopyResult, CopyStatus
    from rowkey.move.move_record import MoveRecord
    from rowkey.move.mover_lock import MoverLock
    from rowkey.table import GenerationState

SETTINGS_INTERVAL_S = 0.5
"""Seconds between two reads of the settings."""
LATE_MARGIN_MS = 10_000
"""Milliseconds by which a change may reach its table after its timestamp: by a slow call, or since
the clock of its client is behind. It matters only for a client that dies between its two writes."""


class LimitFollower:
    """Applies the settings of a move to the rate limit of its copy, while it runs.

    A limit that is set again forgets how long writes took, so only changed settings are applied.

    Args:
        record: the record of the move.
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
    report: Callable[[CopyStatus], None],
) -> CopyResult:
    """Copy all rows of the source that are not copied yet."""
    settings = LimitFollower(record, lock)
    copier = RowCopier(
        source,
        target,
        record.catalog,
        limit=settings.limit,
        report=report,
        check=settings.update,
    )
    return copier.run()


def copy_changed_rows(
    ruling: GenerationState, following: GenerationState, lock: MoverLock, *, is_limited: bool
) -> int:
    """Copy the rows of the ruling table that have changed since the last pass; return how many.

    An interrupted pass is begun again: rows that were copied are copied once more.

    Args:
        ruling: the state of the table that is read.
        following: the state of the other one.
        lock: held by this process.
        is_limited: whether the limits of the move hold; not while clients wait.
    """
    lock.check()
    record, name = lock.record, ruling.active_design.table
    note = record.read_note(CAUGHT_UP_NOTE)
    since_ms, now_ms = note.get("since_ms", 0), time.time_ns() // 1_000_000
    save_progress(record.catalog, name, None)
    limits = LimitFollower(record, lock) if is_limited else None
    copier = RowCopier(
        ruling,
        following,
        record.catalog,
        since_ms=since_ms,
        limit=None if limits is None else limits.limit,
        check=lock.check if limits is None else limits.update,
    )
    result = copier.run()
    save_progress(record.catalog, name, None)
    next_ms = max(since_ms, now_ms - LATE_MARGIN_MS)
    record.write_note(CAUGHT_UP_NOTE, {**note, "since_ms": next_ms})
    return result.row_count
