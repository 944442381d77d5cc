"""One pass over the stored rows of a table by chunks, which may be limited, stopped and resumed."""

from __future__ import annotations

import gc
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from threading import Event, Lock
from typing import TypeVar

from rowkey.catalog import Catalog
from rowkey.cells import RowCells
from rowkey.engines import RAW_CELLS, CellSelection, ScanRange, Store
from rowkey.errors import InvalidArgument
from rowkey.messages import format_value
from rowkey.move.copy_progress import PROGRESS_NOTE, CopyInterval, CopyProgress, save_progress
from rowkey.move.rate_limit import RateLimit
from rowkey.progress import Progress, ReportProgress

T = TypeVar("T")

CHUNK_ROWS = 8_192
"""Rows of a chunk."""
CHUNK_BYTES = 4 << 20
"""Bytes of values from which a chunk ends."""
PIECE_ROWS = 64
"""Rows after which the bytes of a chunk are counted, at most; first after one row, then two."""
CLUSTER_THREADS = 4
"""Intervals that are read at the same time on a cluster."""
REPORT_INTERVAL_S = 1.0
"""Seconds between two reports."""
MIN_SHARE = 0.01
"""Share of an interval from which its rows are estimated."""


class TablePass(ABC):
    """Hands all stored rows of a table on, chunk by chunk, and records how far it has come.

    A pass that is started again after a crash goes on there: each thread hands on at most one chunk
    twice.

    Args:
        store: the table that is read.
        table: its name.
        selection: the cells of each row that are read.
        target: the table that is written.
        catalog: where the progress is kept, as a note of the table; None to keep none.
        limit: the rate, which may be changed while the pass runs.
        threads: intervals that are read at the same time; None for 4 on a cluster, else 1.
        chunk_rows: rows of a chunk, 1 or more.
        chunk_bytes: bytes of values from which a chunk ends.
        progress: called about each second, and at the end, with how many rows were handed on.
        check: called before each write, and while it waits to write; an error that it raises ends
            the pass.

    Raises:
        InvalidArgument: a number is out of range.
    """

    PHASE = "copy"
    """What the progress of the pass is called."""
    NOTE = PROGRESS_NOTE
    """The name of the note that holds how far it is."""

    def __init__(
        self,
        store: Store,
        table: str,
        selection: CellSelection,
        target: Store,
        catalog: Catalog | None,
        *,
        limit: RateLimit | None = None,
        threads: int | None = None,
        chunk_rows: int = CHUNK_ROWS,
        chunk_bytes: int = CHUNK_BYTES,
        progress: ReportProgress | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        numbers = {"threads": threads, "chunk_rows": chunk_rows, "chunk_bytes": chunk_bytes}
        for name, number in numbers.items():
            if number is not None and number < 1:
                what = f"{format_value(number)} is too small"
                raise InvalidArgument(f"argument {name}", what, "1 or more")
        self._source_store, self._source_name = store, table
        self._catalog = catalog
        self.limit = RateLimit() if limit is None else limit
        is_shared = store.is_shared or target.is_shared
        self._threads = threads or (CLUSTER_THREADS if is_shared else 1)
        # A power loss must not keep the progress and lose the rows.
        self._sync = None if target.is_shared else True
        self._chunk_rows, self._chunk_bytes = chunk_rows, chunk_bytes
        self._report, self._check = progress, check
        self._selection = replace(selection, limit=chunk_rows)
        self._stop_event = Event()
        self._lock = Lock()
        self._estimates: dict[int, _IntervalEstimate] = {}
        self._reported_at = -REPORT_INTERVAL_S

    def stop(self) -> None:
        """Make the pass end after the chunks that are being handled; it can be called anywhere."""
        self._stop_event.set()

    @abstractmethod
    def _handle_rows(self, rows: Sequence[RowCells]) -> bool:
        """Do what the pass does with some rows; return whether all were handled.

        Some are not only if the pass is stopped in between.
        """

    @property
    @abstractmethod
    def _left_out_count(self) -> int:
        """Rows that were left out since the pass was started."""

    @abstractmethod
    def _load_progress(self) -> CopyProgress | None:
        """Return the stored progress of this pass; None if it is to begin."""

    @abstractmethod
    def _begin_progress(self, starts: Sequence[bytes], last_row: bytes) -> CopyProgress:
        """Return the progress of a pass that begins.

        Args:
            starts: the first row keys of the regions.
            last_row: the last row key; empty if there is none.
        """

    def _run_pass(self) -> CopyProgress:
        """Hand on all rows that were not handed on yet; return how far the pass has come."""
        stored = self._load_progress()
        if stored is None:
            last_row = self._find_last_row(ScanRange()) or b""
            stored = self._begin_progress(self._source_store.spec.splits, last_row)
            self._save(stored)
        self._progress, self._left_out_before = stored, stored.left_out_rows
        pending = deque(index for index, one in enumerate(stored.intervals) if not one.is_done)
        with ThreadPoolExecutor(self._threads, f"rowkey-{self.PHASE}") as pool:
            futures = [pool.submit(self._read_intervals, pending) for _ in range(self._threads)]
            errors = [error for one in futures if (error := one.exception()) is not None]
        if errors:
            raise errors[0]
        self._send_report(is_last=True)
        return self._progress

    def _save(self, progress: CopyProgress) -> None:
        """Keep the progress for a pass that is started after a crash."""
        if self._catalog is not None:
            save_progress(self._catalog, self._source_name, progress, self.NOTE)

    def _read_intervals(self, pending: deque[int]) -> None:
        """Read intervals one after the other until none is left or the pass is stopped."""
        try:
            while not self._stop_event.is_set():
                with self._lock:
                    if not pending:
                        return
                    index = pending.popleft()
                interval = self._progress.intervals[index]
                while not interval.is_done and not self._stop_event.is_set():
                    after = self._copy_chunk(index, interval)
                    if after is None:
                        return
                    interval = after
                    with self._lock:
                        self._progress = replace(
                            self._progress.replace_interval(index, interval),
                            left_out_rows=self._left_out_before + self._left_out_count,
                        )
                        self._save(self._progress)
                    self._send_report()
        except BaseException:
            self._stop_event.set()  # the other threads end after their chunks
            raise

    def _copy_chunk(self, index: int, interval: CopyInterval) -> CopyInterval | None:
        """Hand on the next rows of an interval; return its new state, None if it was stopped."""
        with pause_collector():
            rows, is_last = self._read_chunk(interval)
        if rows and index not in self._estimates and self._report is not None:
            last = self._find_last_row(ScanRange(interval.position, interval.stop))
            self._estimates[index] = _IntervalEstimate(interval.row_count, rows[0].row, last)
        if not self._handle_rows(rows):
            return None
        row_count = interval.row_count + len(rows)
        if is_last or rows[-1].row >= self._progress.last_row:
            return replace(interval, is_done=True, row_count=row_count)
        return replace(interval, position=rows[-1].row + b"\0", row_count=row_count)

    def _write_slices(self, items: Sequence[T], write: Callable[[Sequence[T]], None]) -> bool:
        """Write items slice by slice within the limit; return whether all were written."""
        written = 0
        for piece in self.limit.iterate_slices(items, self._is_stopped):
            self._check()
            began = time.perf_counter()
            with pause_collector():
                write(piece)
            self.limit.record_call(time.perf_counter() - began)
            written += len(piece)
        return written == len(items)

    def _is_stopped(self) -> bool:
        """Return whether to end; called also while the pass waits, so that it may be resumed."""
        self._check()
        return self._stop_event.is_set()

    def _read_chunk(self, interval: CopyInterval) -> tuple[Sequence[RowCells], bool]:
        """Return the next rows of an interval, and whether they are its last."""
        rows: list[RowCells] = []
        size, piece_rows = 0, 1
        (cursor,) = self._source_store.scan(
            [ScanRange(interval.position, interval.stop)], self._selection
        )
        with cursor:
            remaining = iter(cursor)
            while size < self._chunk_bytes:
                piece = list(islice(remaining, piece_rows))
                piece_rows = min(2 * piece_rows, PIECE_ROWS)
                if not piece:
                    return rows, len(rows) < self._chunk_rows
                rows += piece
                size += sum([len(cell[3]) for _, cells in piece for cell in cells])
        return rows, False

    def _find_last_row(self, span: ScanRange) -> bytes | None:
        """Return the last row key of a range, also of a deleted row; None if there is none."""
        selection = replace(RAW_CELLS, reverse=True, limit=1, expected_rows=1)
        (cursor,) = self._source_store.scan([span], selection)
        with cursor:
            return next((row.row for row in cursor), None)

    def _send_report(self, *, is_last: bool = False) -> None:
        """Report the status if the last report is a second old."""
        now = time.monotonic()
        with self._lock:
            is_due = is_last or now >= self._reported_at + REPORT_INTERVAL_S
            if self._report is None or not is_due:
                return
            self._reported_at = now
            progress = self._progress
        total = self._estimate_rows(progress) or 0
        self._report(Progress(self.PHASE, progress.row_count, total, "rows"))

    def _estimate_rows(self, progress: CopyProgress) -> int | None:
        """Return about how many rows the source has; None while too little is known.

        Rows of an interval are estimated from the position between its first and last row key;
        intervals that have not begun are taken to be like the others.
        """
        known = []
        for index, one in enumerate(progress.intervals):
            if one.is_done:
                known.append(float(one.row_count))
            elif (estimate := self._estimates.get(index)) is not None:
                share = estimate.compute_share(one.position)
                if share >= MIN_SHARE:
                    before = estimate.initial_rows
                    known.append(before + (one.row_count - before) / share)
        if not known:
            return None
        total = round(sum(known) / len(known) * len(progress.intervals))
        return max(total, progress.row_count)


class _IntervalEstimate:
    """What is known of an interval since the copier was started.

    Args:
        initial_rows: rows that were copied before.
        first: the first row key that was read.
        last: about its last row key; None if unknown.
    """

    def __init__(self, initial_rows: int, first: bytes, last: bytes | None) -> None:
        self.initial_rows, self.first, self.last = initial_rows, first, last

    def compute_share(self, position: bytes) -> float:
        """Return the share of the interval before a position, 0..1, by row keys as numbers."""
        if self.last is None or self.last <= self.first:
            return 0.0
        same = next(
            n for n, (a, b) in enumerate(zip(self.first + b"\0", self.last, strict=False)) if a != b
        )
        low, here, high = (
            int.from_bytes(key[same : same + 8].ljust(8, b"\0"), "big")
            for key in (self.first, position, self.last)
        )
        return min(1.0, max(0.0, (here - low) / max(1, high - low)))


@contextmanager
def pause_collector() -> Iterator[None]:
    """Keep Python's garbage collector off while some thousand cells are handled.

    They are no garbage, and looking at them takes a third of the time of a copy. Between two such
    steps it runs as usual.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
