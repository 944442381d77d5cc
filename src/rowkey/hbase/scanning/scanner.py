"""A scan for its reader: all rows in order, each once, whatever happens to servers and regions.

**Why no row is lost or returned twice.** A region's name holds its table, its first row and an id
that no other region of that first row has, so a name has the same bounds for ever: a split or a
merge makes regions of other names, and a move keeps name and bounds. A scanner is opened by region
name. A server that does not have a region of that name refuses (NotServingRegion), so a stale
location costs a lookup and never rows; a server that has it reads all rows between its bounds.
Hence:

1. A region is opened only if its bounds hold the next row (`RemainingScan.locate_region`), since
   a server leaves out rows outside of them without an error.
2. If it answers that its rows are done (field 8), then all rows up to *its* end have been read,
   even if it was split or merged since, and the scan continues exactly there.
3. If it is lost before (split, moved, lease expired, connection broken, malformed answer), a new
   scanner begins after the last row that was returned whole or, for a scan of partial rows, with
   the row that was returned in part, without its cells up to the last one returned.
4. An answer that was lost was never returned. A server's scanner is never used again after an
   error: it may be ahead of what was received.

Source: RSRpcServices.scan; AsyncScanSingleRegionRpcRetryingCaller; tested on HBase 2.5.13, 2.6.4
and 3.0.0-alpha-4.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import Lock
from types import TracebackType
from typing import NoReturn, Self
from weakref import finalize

from rowkey import fork_safety
from rowkey.cells import RowCells
from rowkey.errors import Closed
from rowkey.hbase.errors import (
    BusyError,
    HBaseError,
    MalformedAnswer,
    OperationTimedOut,
    RetryNowError,
)
from rowkey.hbase.locations import RegionLocation
from rowkey.hbase.read_spec import ScanSpec
from rowkey.hbase.requests import OpenScanner, ScanResponse
from rowkey.hbase.retrying_caller import RetryingCaller
from rowkey.hbase.scanning.lease_renewer import LeaseRenewer
from rowkey.hbase.scanning.region_scanner import LEASE_RECHECK_S, RegionScanner
from rowkey.hbase.scanning.remaining_scan import RemainingScan
from rowkey.hbase.scanning.row_assembler import PartialRowAssembler, RowAssembler, WholeRowAssembler
from rowkey.hbase.scanning.row_order import RowOrder, check_cell_order
from rowkey.hbase.scanning.scan_block import ScanBlock
from rowkey.hbase.settings import Deadline, Settings
from rowkey.hbase.wire.proto import WireFormatError

SINGLE_CALL_ROWS = 100
"""Rows up to which a scan that needs no more is one call that opens and closes its scanner.

Derivation: so many rows of 1 kB are a twentieth of the bytes of one answer
(`Settings.scan_answer_bytes`).
"""


_PREFETCH_LOOKUP_S = 1.0
"""The longest that a block waits to be returned while the region after it is looked up.

Derivation: a lookup takes 3 ms on HBase 2.6.4; without this limit, a failing one would take all
the time of an operation.
"""


class Scanner:
    """Scans the rows of a range over all its regions, in order; created by `HBaseTable.scan`.

    The constructor sends the first request, and one answer is always prefetched, never more: so
    many scanners can wait for their servers at the same time, and each holds at most two answers.
    Only after the expected rows of a scan nothing is prefetched until the answers are full ones.
    A scan may take any time: the timeout of an operation is that of the next row or cell.

    One thread at a time reads it; any thread may close it.

    Args:
        caller: sends its requests.
        table: the table's name.
        settings: rows and bytes of an answer, if `scan` does not give them.

    Raises:
        InvalidRequest: the table does not exist, or is disabled.
        OperationTimedOut: the first region was not found in time.
    """

    def __init__(
        self, caller: RetryingCaller, table: str, scan: ScanSpec, settings: Settings
    ) -> None:
        self._caller, self._table = caller, table
        self._answer_rows = scan.answer_rows or settings.scan_answer_rows
        self._batch_rows = self._batch_rows_left = scan.expected_rows or 0
        self._answer_bytes = scan.answer_bytes or settings.scan_answer_bytes
        self._remaining = RemainingScan(scan, table)
        limit = 1 if self._remaining.is_one_row else scan.limit
        self._assembler: RowAssembler = (
            PartialRowAssembler(limit) if scan.batch else WholeRowAssembler(limit, is_raw=scan.raw)
        )
        # The scanner of partial rows stays open: another one would begin with a whole row again.
        likely_rows = limit or (None if scan.batch else scan.expected_rows)
        self._is_single_call = likely_rows is not None and likely_rows <= SINGLE_CALL_ROWS
        self._lock = Lock()
        self._lease_renewer = LeaseRenewer.get_for_caller(caller)
        self._attempts = caller.start_attempts()
        self._region: RegionLocation | None = None
        self._region_scanner: RegionScanner | None = None
        self._finalizer: finalize | None = None  # type: ignore[type-arg]  # not generic when it runs
        self._pending_error: HBaseError | None = None
        self._last_block: ScanBlock | None = None
        self._cursor_row = b""
        self._ready_block: ScanBlock | None = None
        self._returned_block: ScanBlock | None = None
        self._is_over = self._remaining.is_over
        self._is_closed = False
        fork_safety.register_resource(self)
        self._request_rows(self._attempts.deadline)
        if self._pending_error is not None and not self._pending_error.is_retriable:
            raise self._pending_error
        self._watch_lease()

    @property
    def position(self) -> bytes | None:
        """The row key of the last row that was returned completely, or None.

        It is also None for a scan of partial rows whose last row may continue.
        """
        block = self._returned_block
        return None if block is None or block.is_last_row_partial else block.last_row_key

    @property
    def is_batch_complete(self) -> bool:
        """Whether all expected rows have come, so that the next are not prefetched.

        If they are needed after all, twice as many are expected.
        """
        return self._batch_rows > 0 and self._batch_rows_left <= 0

    def iter_blocks(self) -> Iterator[ScanBlock]:
        """Yield the rows in blocks, one for each answer of a server.

        A caller that reads on after an error retries after the last row.

        Raises:
            Closed: the scanner is closed.
            HBaseError: the rows cannot be read; the class says why.
        """
        while (block := self.read_block()) is not None:
            yield block

    def iter_row_cells(self) -> Iterator[RowCells]:
        """Yield the rows one by one; a malformed answer closes the scanner."""
        for block in self.iter_blocks():
            try:
                for rows in block.iter_row_groups():
                    for row in rows:
                        yield row
                        if self._is_closed:
                            self._raise_closed()
            except MalformedAnswer:
                self.close()
                raise

    def read_block(self) -> ScanBlock | None:
        """Return the next block of rows, or None at the end of the scan."""
        with self._lock_for_reading():
            self._fill_ready_block()
            block = self._ready_block
            self._check_first_row(block)
            if block is not None and not self.is_batch_complete:
                self._prefetch_rows()
            self._watch_lease()
            self._ready_block, self._returned_block = None, block or self._returned_block
        return block

    def peek_row_key(self) -> bytes | None:
        """Return the row key of the next row without moving on; None at the end.

        It waits for the prefetched answer, and raises the same errors as `iter_blocks`.
        """
        with self._lock_for_reading():
            self._fill_ready_block()
            self._check_first_row(self._ready_block)
            row = None if self._ready_block is None else self._ready_block.first_row_key
            self._watch_lease()
        return row

    def _fill_ready_block(self) -> None:
        """Read answers until there is a block to return, or the scan is at its end."""
        self._attempts = self._caller.start_attempts()
        while self._ready_block is None:
            self._request_rows(self._attempts.deadline)
            if self._is_over:
                return
            if self._is_closed:
                self._raise_closed()
            try:
                self._process_response(self._take_response())
            except HBaseError as error:
                self._recover_from_error(error)
            else:
                self._require_progress()

    def _require_progress(self) -> None:
        """Raise an error if no answer has had rows for the time of an operation."""
        if self._ready_block is None and not self._is_over and self._attempts.deadline.is_expired:
            self._release_region_scanner()
            region = self._region
            assert region is not None
            limit_s = self._caller.settings.operation_timeout_s
            what = f"region {region.name!r} was scanned for {limit_s:g} s without a row"
            server = str(region.server)
            raise OperationTimedOut(server, what, server=server, region=region.name)

    def _take_response(self) -> ScanResponse:
        """Wait for the prefetched answer, and return it.

        Raises:
            HBaseError: sending the request failed, or the answer is an error.
        """
        error, self._pending_error = self._pending_error, None
        if error is not None:
            raise error
        assert self._region_scanner is not None
        return self._region_scanner.take_response(self._attempts.deadline)

    def _process_response(self, response: ScanResponse) -> None:
        """Assemble rows from an answer, and find where the scan continues."""
        assert self._region_scanner is not None
        region_done = response.more_in_region is False
        scan_done = not response.more_results
        order = RowOrder(self._region_scanner.region, self._remaining.scan)
        try:
            rows = self._assembler.assemble_rows(response, is_end=region_done or scan_done)
            rows.order = order
        except WireFormatError as problem:
            raise order.build_error(problem) from problem
        if self._has_progressed(response, rows):
            self._attempts.deadline = self._caller.start_deadline()
        self._batch_rows_left -= len(response.counts)
        if rows.counts:
            self._ready_block = self._last_block = rows
            self._cursor_row = b""
        elif response.cursor_row and not self._assembler.has_pieces:
            self._cursor_row = response.cursor_row
        if region_done and not scan_done:
            self._leave_region(self._region_scanner.region)
        self._is_over = scan_done or self._remaining.is_over or self._assembler.rows_left == 0
        if self._is_over or not self._region_scanner.is_open:
            self._is_single_call = self._is_single_call and region_done
            self._release_region_scanner()

    def _check_first_row(self, block: ScanBlock | None) -> None:
        """Close the scan and raise an error unless a block follows the one returned before.

        Another scanner could not tell: it begins after that block, where the server is wrong.
        """
        if block is None or block.order is None:
            return
        first, before = block.first_row_key, self._returned_block
        try:
            block.order.check_range(first)
            if before is None:
                return
            block.order.check_order([before.last_row_key, first], [before.is_last_row_partial])
            if before.last_row_key == first:
                cells = [before.last_cell, block.first_cell]
                check_cell_order(first, cells, is_raw=block.order.scan.raw)
        except WireFormatError as problem:
            self._is_closed = True  # closed when the lock is released
            raise block.order.build_error(problem) from problem

    def _has_progressed(self, response: ScanResponse, rows: ScanBlock) -> bool:
        """Return whether an answer has rows or cells, or read on in the region.

        Others, such as heartbeats of a filtered scan, do not extend the time of the operation.
        """
        if rows.counts or any(response.counts):
            return True
        row, reached = response.cursor_row, self._cursor_row
        if not row:
            return False
        return not reached or (row < reached if self._remaining.scan.reverse else row > reached)

    def _leave_region(self, region: RegionLocation) -> None:
        """Continue the scan in the next region."""
        self._remaining.leave_region(region)
        self._last_block, self._cursor_row = None, b""
        self._attempts = self._caller.start_attempts()

    def _recover_from_error(self, error: HBaseError) -> None:
        """Handle an error of an answer, and pause before the next attempt.

        Raises:
            HBaseError: another attempt cannot succeed, or there is no time for it. The next read
                raises the same error, and the one after it retries.
        """
        self._release_region_scanner(is_lost=True)
        self._caller.invalidate_on_error(error, self._region)
        self._pending_error = error
        if isinstance(error, RetryNowError):  # the same request at once would get the same answer
            mistake = error.mistake
            error = BusyError(
                mistake.path,
                mistake.problem,
                java_class=error.java_class,
                remote_message=error.remote_message,
            )
        self._attempts.wait_or_raise(error)
        self._pending_error = None

    def _prefetch_rows(self) -> None:
        """Request the rows after the block that is returned now, if their region is cached."""
        with suppress(OperationTimedOut):
            self._request_rows(self._caller.start_deadline().shorten_to(_PREFETCH_LOOKUP_S))

    def _request_rows(self, lookup_deadline: Deadline) -> None:
        """Send the next request unless one is pending, without waiting for the answer.

        An error of sending is raised when the answer is taken.

        Args:
            lookup_deadline: when the lookup of the region must end.

        Raises:
            OperationTimedOut: the lookup took too long; nothing was sent.
        """
        if self._is_over or self._pending_error is not None:
            return
        try:
            source = self._region_scanner
            if source is not None and source.has_pending_answer:
                return
            self._grow_batch()
            if source is not None:
                source.finish_renewal(lookup_deadline)
            if source is not None and source.is_open:
                source.request_next(
                    self._count_rows_to_request(),
                    self._assembler.rows_left,
                    self._attempts.deadline,
                )
            else:
                self._open_region_scanner(lookup_deadline)
        except OperationTimedOut:
            raise
        except HBaseError as error:
            self._pending_error = error

    def _grow_batch(self) -> None:
        """Expect twice as many rows if those expected have come; all rows after a full answer."""
        if self.is_batch_complete:
            self._batch_rows *= 2
            if self._batch_rows > self._answer_rows:
                self._batch_rows = 0
            self._batch_rows_left = self._batch_rows

    def _count_rows_to_request(self) -> int:
        """Return the most rows of the next answer."""
        if not self._batch_rows:
            return self._answer_rows
        return min(self._batch_rows_left, self._answer_rows)

    def _open_region_scanner(self, lookup_deadline: Deadline) -> None:
        """Open a scanner in the region of the next row, without waiting for its answer."""
        self._update_remaining()
        if self._is_over:
            return
        self._region = None
        self._region = self._remaining.locate_region(
            self._caller.locator, self._table, lookup_deadline
        )
        deadline = self._attempts.deadline
        source = RegionScanner(self._caller, self._region)
        source.open(self._build_open_request(), deadline)
        self._region_scanner = source
        self._finalizer = finalize(self, self._lease_renewer.close_later, source)
        self._finalizer.atexit = False

    def _build_open_request(self) -> OpenScanner:
        scan = self._remaining.scan
        if self._is_single_call and scan.read_type == "default":
            scan = replace(scan, read_type="pread")
        return OpenScanner(
            scan,
            rows=self._count_rows_to_request(),
            max_result_bytes=self._answer_bytes,
            limit=self._assembler.rows_left,
            close=self._is_single_call,
            cursor=True,
        )

    def _update_remaining(self) -> None:
        """Set the start of the rest of the scan to the row after the returned ones."""
        self._release_region_scanner(is_lost=True)
        last_block, cursor_row = self._last_block, self._cursor_row
        is_within_row = self._assembler.prepare_resume(last_block)
        self._last_block, self._cursor_row = None, b""
        if last_block is not None and is_within_row:
            self._remaining.continue_at(last_block.last_row_key)
        elif last_block is not None:
            self._remaining.continue_after(last_block.last_row_key)
        if cursor_row:
            self._remaining.skip_forward(cursor_row)
        self._is_over = self._is_over or self._remaining.is_over

    def _release_region_scanner(self, *, is_lost: bool = False) -> None:
        """Drop the scanner of the current region; close it at the server unless it is lost."""
        source, self._region_scanner = self._region_scanner, None
        if self._finalizer is not None:
            self._finalizer.detach()
            self._finalizer = None
        if source is not None and not is_lost and not source.close():
            self._lease_renewer.close_when_answered(source)

    def _watch_lease(self) -> None:
        if self._region_scanner is not None and not self._is_single_call:
            self._lease_renewer.watch_lease(self)

    def reset_in_child(self) -> None:
        """Drop the region scanner, which the parent uses; called in a forked child process."""
        self._lock = Lock()
        self._release_region_scanner(is_lost=True)

    def renew_if_due(self) -> float | None:
        """Renew the lease of this scanner if it is due; the lease renewer calls this.

        Returns:
            Seconds until it is due again; None if there is no lease to renew.
        """
        if not self._lock.acquire(blocking=False):
            return LEASE_RECHECK_S
        try:
            source = self._region_scanner
            return None if source is None or self._is_closed else source.renew_if_due()
        finally:
            self._unlock()

    @contextmanager
    def _lock_for_reading(self) -> Iterator[None]:
        """Lock the scanner for one reading thread.

        Raises:
            Closed: the scanner is closed.
            OperationTimedOut: another thread holds it for as long as an operation may take.
        """
        if not self._lock.acquire(timeout=self._caller.settings.operation_timeout_s):
            what, remedy = "another thread reads the same scanner", "Open a scanner in each thread."
            raise OperationTimedOut(self._table, what, remedy=remedy)
        try:
            if self._is_closed:
                self._raise_closed()
            yield
        finally:
            self._unlock()

    def _unlock(self) -> None:
        """Unlock the scanner; if it was closed meanwhile, close its region scanner."""
        self._lock.release()
        if self._is_closed:
            self._close_region_scanner()

    def _raise_closed(self) -> NoReturn:
        raise Closed(self._table, "the scanner was closed", remedy="Scan again to read more.")

    def close(self) -> None:
        """Close the region scanner at its server, without waiting; closing twice does nothing.

        Reading it then raises `Closed`, so that the close is not mistaken for the end.
        """
        self._is_closed = True
        self._close_region_scanner()

    def _close_region_scanner(self) -> None:
        """Close the scanner of the current region, unless another thread is reading it."""
        if self._lock.acquire(blocking=False):
            try:
                self._release_region_scanner()
            finally:
                self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
