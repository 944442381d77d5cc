"""What the master does takes its time: a procedure is begun, and waited for by its number."""

from __future__ import annotations

from dataclasses import replace
from time import sleep
from typing import TYPE_CHECKING, Final

from rowkey.errors import Unsupported
from rowkey.hbase.errors import CallTimedOut, OutOfTime, from_remote
from rowkey.hbase.locations.rows import behind_all, first_of, meta_scan, whole_rows
from rowkey.hbase.requests.procedure_result import GetProcedureResult, ProcedureState
from rowkey.hbase.settings import Deadline
from rowkey.hbase.wire.names import short_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rowkey.cells import RowCells
    from rowkey.hbase.calling import Caller
    from rowkey.hbase.messages.begins import Begins
    from rowkey.hbase.requests.procedure_result import ProcedureResult

_FIRST_PAUSE_S: Final = 0.02
_PAUSE_GROWTH: Final = 1.5
_PAUSE_MOST_S: Final = 0.5
"""Pauses between two questions. Source: a small create takes 0.3 s to 0.7 s on HBase 2.6.4."""

REGION_S: Final = 0.25
"""Seconds a region may take to be opened or closed, on top of what any operation may.

Source: twice the 0.12 s that each of 1,000 took to be opened on three servers that shared two busy
cores with others, HBase 2.6.4.
"""


META = "hbase:meta"

PAGE = 1_000
"""Rows of one answer, some 660 B each."""


class Procedures:
    """Begins procedures and waits for them; what all sorts of administration share.

    Args:
        caller: by whom the master and the region servers are asked.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def _deadline(self, wait_s: float | None) -> Deadline:
        return Deadline.after(self._caller.settings.operation_s if wait_s is None else wait_s)

    def _deadline_of(self, name: str, wait_s: float | None, times: int = 1) -> Deadline:
        """When nobody waits any more for what is done to every region of a table.

        Args:
            name: the table, enabled or not.
            wait_s: seconds to wait; None for `operation_s` and 0.25 s for each region.
            times: how often all regions are opened or closed.
        """
        if wait_s is not None:
            return Deadline.after(wait_s)
        count = count_regions(self._caller, name, self._deadline(None))
        return self._deadline_for(count * times)

    def _deadline_for(self, regions: int) -> Deadline:
        """When nobody waits any more for so many regions."""
        return Deadline.after(self._caller.settings.operation_s + REGION_S * regions)

    def _run(
        self, path: str, request: Begins, deadline: Deadline, reached: Callable[[], bool]
    ) -> None:
        """Begin a procedure and wait until it is over.

        Args:
            path: the table, or what else it is about, for messages.
            request: what begins it.
            deadline: when nobody waits any more.
            reached: tells whether all is as the procedure should have left it.

        Raises:
            HBaseError: by its class what the master, or the procedure, refused.
            OutOfTime: it goes on; the text names its number.
            Unsupported: the master does not know how it ended, and it is not done.
        """
        number = self._caller.on_master(request, deadline)
        self._finish(path, request.method, number, deadline, reached)

    def _finish(
        self,
        path: str,
        method: str,
        number: int,
        deadline: Deadline,
        reached: Callable[[], bool],
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        """Wait until a procedure is over; `meanwhile` is called while it goes on.

        The master forgets how a procedure ended once it has told it, also if the answer is lost.
        Then, and if none was begun (number 0), what is there now decides.

        Source: MasterRpcServices.getProcedureResult, removeResult.
        """
        if not number:
            _require(reached, path, f"{method} began no procedure")
            return
        what = f"{method} is procedure {number}, which goes on"
        for _ in waiting(path, what, deadline):
            try:
                result = self._caller.on_master(GetProcedureResult(number), deadline)
            except OutOfTime as late:
                # That the last question had no time left is no reason of its own.
                last = None if isinstance(late.last, CallTimedOut) else late.last
                raise OutOfTime(path, what, last=last) from late
            if result.state is ProcedureState.FINISHED:
                _raise_failure(number, result)
                return
            if result.state is ProcedureState.NOT_FOUND:
                told = f"{method} was procedure {number}, which the master has forgotten"
                _require(reached, path, told)
                return
            if meanwhile:
                meanwhile()


def count_regions(caller: Caller, name: str, deadline: Deadline) -> int:
    """How many regions hbase:meta has of a table, replicas and those just divided included.

    The master's own count, `status().tables`, is 0 while a table is disabled.

    Args:
        caller: by whom hbase:meta is asked.
        name: the table; of an unknown one it is 0.
        deadline: until when.

    Raises:
        OutOfTime: hbase:meta could not be read in time.

    Cost: one RPC for 1,000 regions.

    Source: HBase 2.6.4, AssignmentManager.getRegionStatesCount.
    """
    table = short_table(name)
    scan = meta_scan(first_of(table), behind_all(table), PAGE)
    count = 0
    while not deadline.expired:
        answer = caller.on_row(META, b"", scan, deadline)
        rows = whole_rows(answer)
        count += sum(map(_copies, rows))
        if answer.more_in_region is False:
            return count
        if rows:
            rest = replace(scan.scan, start=rows[-1].row, include_start=False)
            scan = replace(scan, scan=rest)
    raise OutOfTime(META, "its rows were not read in time")


def _copies(row: RowCells) -> int:
    """The regions that a row of hbase:meta tells of: one, and each of its replicas.

    Source: RegionStateStore.getStateColumn, `state_0001` is the state of the first replica.
    """
    return 1 + sum(cell.qualifier.startswith(b"state_") for cell in row.cells)


def _require(reached: Callable[[], bool], path: str, told: str) -> None:
    """Raise unless all is as it should be."""
    if not reached():
        raise Unsupported(path, f"{told}, and it is not done", remedy="Ask for it again.")


def waiting(path: str, what: str, deadline: Deadline) -> Iterator[None]:
    """Times to look whether something is over, with growing pauses between them; first at once.

    Raises:
        OutOfTime: the deadline is over.
    """
    pause = _FIRST_PAUSE_S
    while True:
        yield
        if deadline.expired:
            raise OutOfTime(path, what)
        sleep(min(pause, deadline.left()))
        pause = min(pause * _PAUSE_GROWTH, _PAUSE_MOST_S)


def _raise_failure(number: int, result: ProcedureResult) -> None:
    """Raise what a procedure ended with, as if the call had been refused."""
    if not result.java:
        return
    text = f"{result.java}: {result.says}"
    error = from_remote(result.java, text, True, server=f"procedure {number}")
    error.server = None  # that was its path in the text; no server is to blame
    raise error
