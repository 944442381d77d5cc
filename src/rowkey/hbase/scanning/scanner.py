"""A scan as its reader sees it: rows in order, each once, whatever happens to servers and regions.

**Why no row is lost or given twice.** A region's name holds its table, its first row and an id that
no other region of that first row has, so the bounds that hbase:meta told beside a name are those of
that name for ever: a split or a merge makes regions of other names, and a move keeps name and
bounds. A scanner is opened by region name. A server that does not have a region of that name
refuses (NotServingRegion), so a stale location costs a look-up and never rows; a server that has it
reads all rows between its bounds. Hence:

1. A region is opened only if its bounds hold the row to go on with (`Remainder.locate`), for what
   lies outside of them is left out without a word.
2. If it answers that its rows are done (field 8), then all rows up to *its* end have been seen,
   whatever has become of it since, and the scan goes on exactly there, wherever that now is.
3. If it is lost before (split, moved, lease over, connection cut, an answer that was not
   understood), a new scanner begins behind the last row that was given whole, or, reading pieces,
   with the row that was given in part, less its cells up to the last one given.
4. An answer that was lost on its way was never given. A server's scanner is never asked again
   after an error: it may have gone on without us.

Source: RSRpcServices.scan; AsyncScanSingleRegionRpcRetryingCaller; HBase 2.5.13, 2.6.4 and
3.0.0-alpha-4, tried.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, NoReturn, Self
from weakref import finalize

from rowkey import forks
from rowkey.errors import Refused
from rowkey.hbase.errors import AtOnceError, BusyError, HBaseError, MalformedAnswer, OutOfTime
from rowkey.hbase.requests import OpenScanner
from rowkey.hbase.scanning.intake import Intake, Pieces, WholeRows
from rowkey.hbase.scanning.keeper import Keeper
from rowkey.hbase.scanning.remainder import Remainder
from rowkey.hbase.scanning.source import LOOK_AGAIN_S, Source
from rowkey.hbase.wire.proto import Malformed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from rowkey.cells import RowCells
    from rowkey.hbase.calling import Caller
    from rowkey.hbase.locations import Region
    from rowkey.hbase.reading import Scan
    from rowkey.hbase.requests import ScanAnswer
    from rowkey.hbase.scanning.answer import Answer
    from rowkey.hbase.settings import Deadline, Settings

AT_ONCE_ROWS = 100
"""Rows up to which a scan with a limit is asked in one call that opens and closes its scanner.

As many rows of 1 kB are a twentieth of the bytes that one answer may have (`Settings.scan_bytes`).
"""


_LOOK_UP_S = 1.0
"""Seconds that rows which are here wait for the place of those behind them: a look-up takes 3 ms.

Source: measured on HBase 2.6.4; while nobody tells the place, it would take all of an operation.
"""


class Scanner:
    """Reads the rows of a range from all its regions, in order.

    The first request is sent when it is made, and one answer is always asked ahead, never more: so
    many scanners wait for their servers at the same time, and each holds two answers at most. A
    scan may last as long as it likes: the budget of an operation is that of one answer.

    One thread at a time reads it; any thread may close it.

    Args:
        caller: sends its requests.
        table: the table's name.
        scan: the range, and what is wanted of it.
        settings: rows and bytes of an answer, where `scan` does not say.

    Raises:
        AskedWrongly: the table is not there, or is disabled.
        OutOfTime: the first region was not found in time.
    """

    def __init__(self, caller: Caller, table: str, scan: Scan, settings: Settings) -> None:
        self._caller, self._table = caller, table
        self._rows = scan.rows or settings.scan_rows
        self._bytes = scan.bytes or settings.scan_bytes
        self._rest = Remainder(scan, table)
        limit = 1 if self._rest.is_one_row else scan.limit
        self._intake: Intake = Pieces(limit) if scan.batch else WholeRows(limit)
        self._at_once = limit is not None and limit <= AT_ONCE_ROWS
        self._lock = Lock()
        self._keeper = Keeper.of(caller)
        self._attempts = caller.attempts(caller.deadline())
        self._region: Region | None = None
        self._source: Source | None = None
        self._dropped: finalize | None = None  # type: ignore[type-arg]  # not generic when it runs
        self._failed: HBaseError | None = None
        self._behind: Answer | None = None
        self._reached = b""
        self._ready: Answer | None = None
        self._given: Answer | None = None
        self._is_over = self._rest.is_over
        self._is_closed = False
        forks.register(self)
        self._ask(self._attempts.deadline)
        if self._failed is not None and not self._failed.retriable:
            raise self._failed
        self._watch()

    @property
    def position(self) -> bytes | None:
        """The last row that was given whole, or None.

        Reading pieces, it is not known of the last row whether it is whole until another comes; the
        row before it is not remembered, so None stands for that as well.
        """
        given = self._given
        return None if given is None or given.ends_inside else given.last_row

    def answers(self) -> Iterator[Answer]:
        """The rows, as many at a time as a server answers: at most `rows` and about `bytes`.

        Whoever reads on after an error tries again behind the last row.

        Raises:
            Refused: the scanner is closed.
            HBaseError: the rows cannot be had; the one of them that was raised says why.
        """
        while (answer := self.next_answer()) is not None:
            yield answer

    def rows(self) -> Iterator[RowCells]:
        """As `answers`, the rows one by one; a broken answer ends the scan behind those before."""
        for answer in self.answers():
            try:
                for row in answer.rows():
                    yield row
                    if self._is_closed:
                        self._refuse()
            except Malformed as problem:
                self.close()
                raise MalformedAnswer(self._table, str(problem)) from problem

    def next_answer(self) -> Answer | None:
        """What `answers` gives next, or None at the end."""
        with self._held():
            self._fill()
            answer = self._ready
            if answer is not None:
                self._ask_ahead()
            self._watch()
            self._ready, self._given = None, answer or self._given
        return answer

    def first_row(self) -> bytes | None:
        """The key of the row that comes next, which stays to be read; None at the end.

        It waits for the answer that was asked ahead; what it raises is what `answers` raises.
        """
        with self._held():
            self._fill()
            row = None if self._ready is None else self._ready.first_row
            self._watch()
        return row

    def _fill(self) -> None:
        """Wait until there are rows to be given, or none are left."""
        self._attempts = self._caller.attempts(self._caller.deadline())
        while self._ready is None:
            self._ask(self._attempts.deadline)
            if self._is_over:
                return
            if self._is_closed:
                self._refuse()
            try:
                self._account(self._take())
            except HBaseError as error:
                self._recover(error)

    def _take(self) -> ScanAnswer:
        """The answer that was asked ahead.

        Raises:
            HBaseError: asking failed, or the answer is an error.
        """
        failed, self._failed = self._failed, None
        if failed is not None:
            raise failed
        assert self._source is not None
        return self._source.take(self._attempts.deadline)

    def _account(self, told: ScanAnswer) -> None:
        """Make rows of an answer, and know from it where the scan goes on."""
        assert self._source is not None
        region_done = told.more_in_region is False
        scan_done = not told.more_results
        try:
            rows = self._intake.take(told, ended=region_done or scan_done)
        except Malformed as problem:
            server = str(self._source.region.server)
            raise MalformedAnswer(server, str(problem), server=server) from problem
        self._attempts.deadline = self._caller.deadline()
        if rows.counts:
            self._ready = self._behind = rows
            self._reached = b""
        elif told.cursor_row and not self._intake.holds:
            self._reached = told.cursor_row
        if region_done and not scan_done:
            self._leave(self._source.region)
        self._is_over = scan_done or self._rest.is_over or self._intake.left == 0
        if self._is_over or not self._source.is_open:
            self._at_once = self._at_once and region_done
            self._release()

    def _leave(self, region: Region) -> None:
        self._rest.leave(region)
        self._behind, self._reached = None, b""
        self._attempts = self._caller.attempts(self._caller.deadline())

    def _recover(self, error: HBaseError) -> None:
        """Do what an error asks for, and wait.

        Raises:
            HBaseError: another attempt cannot succeed, or there is no time for it. Reading on
                begins with the same error, and then tries again.
        """
        self._release(lost=True)
        self._caller.heed(error, self._region)
        self._failed = error
        if isinstance(error, AtOnceError):  # what is asked does not get smaller by asking at once
            says = error.mistake
            error = BusyError(says.path, says.what, java=error.java, says=error.says)
        self._attempts.failed(error)
        self._failed = None

    def _ask_ahead(self) -> None:
        """Ask for what comes behind what is about to be given, unless nobody knows where it is."""
        with suppress(OutOfTime):
            self._ask(self._caller.deadline().sooner(_LOOK_UP_S))

    def _ask(self, known_by: Deadline) -> None:
        """Ask, unless that was done, without waiting for the answer.

        What goes wrong with asking is told as if it were the answer.

        Args:
            known_by: when the region must be known.

        Raises:
            OutOfTime: it was not; nothing is asked.
        """
        if self._is_over or self._failed is not None:
            return
        try:
            source = self._source
            if source is not None and source.is_asked:
                return
            if source is not None:
                source.settle(known_by)
            if source is not None and source.is_open:
                source.ask_next(self._rows, self._intake.left, self._attempts.deadline)
            else:
                self._open(known_by)
        except OutOfTime:
            raise
        except HBaseError as error:
            self._failed = error

    def _open(self, known_by: Deadline) -> None:
        """Ask for a scanner that begins where the last one ended, however it ended."""
        self._resume()
        if self._is_over:
            return
        self._region = None
        self._region = self._rest.locate(self._caller.locations, self._table, known_by)
        deadline = self._attempts.deadline
        source = Source(self._caller, self._region)
        source.open(self._opening(), deadline)
        self._source = source
        self._dropped = finalize(self, self._keeper.drop, source)
        self._dropped.atexit = False

    def _opening(self) -> OpenScanner:
        """What to open; of a scan in one call, its first look must not end after a few blocks."""
        scan = self._rest.scan
        if self._at_once and scan.read_type == "default":
            scan = replace(scan, read_type="pread")
        return OpenScanner(
            scan,
            rows=self._rows,
            bytes_most=self._bytes,
            limit=self._intake.left,
            close=self._at_once,
            cursor=True,
        )

    def _resume(self) -> None:
        """Know what is left to read, behind what was given."""
        self._release(lost=True)
        behind, reached = self._behind, self._reached
        is_inside = self._intake.resume(behind)
        self._behind, self._reached = None, b""
        if behind is not None and is_inside:
            self._rest.go_to(behind.last_row)
        elif behind is not None:
            self._rest.go_behind(behind.last_row)
        if reached:
            self._rest.skip_to(reached)
        self._is_over = self._is_over or self._rest.is_over

    def _release(self, *, lost: bool = False) -> None:
        """Have no region scanner any more; close it at the server, unless it is lost there."""
        source, self._source = self._source, None
        if self._dropped is not None:
            self._dropped.detach()
            self._dropped = None
        if source is not None and not lost and not source.close():
            self._keeper.finish(source)

    def _watch(self) -> None:
        """Have the lease renewed while nobody reads."""
        if self._source is not None and not self._at_once:
            self._keeper.watch(self)

    def reset_in_child(self) -> None:
        """In a forked child: leave the region scanner to the parent, and open another."""
        self._lock = Lock()
        self._release(lost=True)

    def keep(self) -> float | None:
        """Renew the lease if that is due; called by the keeper.

        Returns:
            Seconds until it is due again; None if there is nothing to be renewed.
        """
        if not self._lock.acquire(blocking=False):
            return LOOK_AGAIN_S
        try:
            source = self._source
            return None if source is None or self._is_closed else source.keep()
        finally:
            self._let_go()

    @contextmanager
    def _held(self) -> Iterator[None]:
        """The scanner for one reader alone.

        Raises:
            Refused: it is closed.
            OutOfTime: another reader has it for as long as an operation may take.
        """
        if not self._lock.acquire(timeout=self._caller.settings.operation_s):
            raise OutOfTime(self._table, "another thread reads the same scanner")
        try:
            if self._is_closed:
                self._refuse()
            yield
        finally:
            self._let_go()

    def _let_go(self) -> None:
        """Let others have it; who closed it meanwhile has left that to us."""
        self._lock.release()
        if self._is_closed:
            self._shut()

    def _refuse(self) -> NoReturn:
        what = "it was closed while it was read"
        raise Refused(self._table, what, "an open scanner", "Scan again to read more.")

    def close(self) -> None:
        """Close the region scanner at its server, without waiting; closing twice is harmless.

        Whoever then reads gets `Refused`, so that nobody takes it for the end.
        """
        self._is_closed = True
        self._shut()

    def _shut(self) -> None:
        if self._lock.acquire(blocking=False):
            try:
                self._release()
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
