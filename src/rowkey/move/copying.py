"""Copy the rows of a move, all or those that have changed, under the lock of the mover."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from rowkey.boottime import read_boottime_s
from rowkey.move.copier import CopyResult, CopyStatus, RowCopier
from rowkey.move.move_record import CAUGHT_UP_NOTE, MoveRecord
from rowkey.move.rate_limit import RateLimit
from rowkey.move.recent_rows import RecentRows
from rowkey.move.status import MoveSettings
from rowkey.table import GenerationState, RowTranslator

if TYPE_CHECKING:
    from rowkey.move.mover_lock import MoverLock

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
