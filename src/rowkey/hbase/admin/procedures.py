"""Start procedures of the master and wait for them by their id."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import sleep
from typing import Final

from rowkey.cells import RowCells
from rowkey.errors import Unavailable
from rowkey.hbase.errors import CallTimedOut, OperationTimedOut, parse_remote_error
from rowkey.hbase.locations.meta import (
    build_end_key,
    build_first_key,
    build_meta_scan,
    decode_whole_rows,
)
from rowkey.hbase.messages.schema import ProcedureRequest
from rowkey.hbase.requests.tables import (
    GetProcedureResult,
    ProcedureResult,
    ProcedureState,
)
from rowkey.hbase.retrying_caller import RetryingCaller
from rowkey.hbase.settings import Deadline
from rowkey.hbase.wire.names import META_TABLE, shorten_table_name

_FIRST_PAUSE_S: Final = 0.02
_PAUSE_GROWTH: Final = 1.5
_MAX_PAUSE_S: Final = 0.5
"""Pauses between two polls. Source: creating a small table takes 0.3 s to 0.7 s on HBase 2.6.4."""

SECONDS_PER_REGION: Final = 0.25
"""Seconds that opening or closing one region adds to the timeout of an operation.

Source: twice the 0.12 s that each of 1,000 took to be opened on three servers that shared two busy
cores with others, HBase 2.6.4.
"""


_STILL_RUNNING_REMEDY: Final = "Wait, then check the result: the master goes on with the procedure."

META_PAGE_ROWS = 1_000
"""Rows of one answer, about 660 B each."""


class ProcedureRunner:
    """Start procedures of the master and wait for them; the base of all administration classes.

    Args:
        caller: sends requests to the master and the region servers.
    """

    def __init__(self, caller: RetryingCaller) -> None:
        self._caller = caller

    def _build_deadline(self, wait_s: float | None) -> Deadline:
        """Return the deadline of an operation; None means `operation_timeout_s`."""
        return Deadline.from_now(
            self._caller.settings.operation_timeout_s if wait_s is None else wait_s
        )

    def _build_table_deadline(self, name: str, wait_s: float | None, times: int = 1) -> Deadline:
        """Return the deadline of an operation on every region of a table.

        Args:
            name: the table, enabled or not.
            wait_s: seconds to wait; None for `operation_timeout_s` and 0.25 s for each region.
            times: how many times all regions are opened or closed.
        """
        if wait_s is not None:
            return Deadline.from_now(wait_s)
        count = count_regions(self._caller, name, self._build_deadline(None))
        return self._build_regions_deadline(count * times)

    def _build_regions_deadline(self, regions: int) -> Deadline:
        """Return the deadline of an operation on this number of regions."""
        return Deadline.from_now(
            self._caller.settings.operation_timeout_s + SECONDS_PER_REGION * regions
        )

    def _run_procedure(
        self, path: str, request: ProcedureRequest, deadline: Deadline, is_done: Callable[[], bool]
    ) -> None:
        """Start a procedure and wait until it has ended.

        Args:
            path: the table or other object, for messages.
            deadline: when to stop waiting.
            is_done: returns whether the effect of the procedure is there.

        Raises:
            HBaseError: the master refused the request, or the procedure failed.
            OperationTimedOut: the procedure is still running; the message has its id.
            Unavailable: the master does not know how it ended, and its effect is not there.
        """
        number = self._caller.call_master(request, deadline)
        self._wait_for_procedure(path, request.method, number, deadline, is_done)

    def _wait_for_procedure(
        self,
        path: str,
        method: str,
        number: int,
        deadline: Deadline,
        is_done: Callable[[], bool],
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        """Wait until a procedure has ended; `meanwhile` is called at each poll while it runs.

        The master removes the result of a procedure when it is fetched, even if that answer is
        lost. Then, and if no procedure was started (number 0), `is_done` decides.

        Raises:
            OperationTimedOut: the procedure is still running at the deadline.

        Source: MasterRpcServices.getProcedureResult, removeResult.
        """
        if not number:
            _require_done(is_done, path, f"the master started no procedure for {method}")
            return
        what = f"procedure {number} ({method}) is still running"
        for _ in poll_with_backoff(path, what, deadline, _STILL_RUNNING_REMEDY):
            try:
                result = self._caller.call_master(GetProcedureResult(number), deadline)
            except OperationTimedOut as late:
                # A poll that had no time left is not the cause.
                last = None if isinstance(late.last_error, CallTimedOut) else late.last_error
                raise OperationTimedOut(
                    path, what, last_error=last, remedy=_STILL_RUNNING_REMEDY
                ) from late
            if result.state is ProcedureState.FINISHED:
                _raise_procedure_failure(number, result)
                return
            if result.state is ProcedureState.NOT_FOUND:
                lost = f"the master no longer knows procedure {number} ({method})"
                _require_done(is_done, path, lost)
                return
            if meanwhile:
                meanwhile()


def count_regions(caller: RetryingCaller, name: str, deadline: Deadline) -> int:
    """Return the number of regions of a table in hbase:meta, with replicas and split parents.

    The master's own count, `get_cluster_status().tables`, is 0 for a disabled table.

    Args:
        caller: sends the scans of hbase:meta.
        name: the table; an unknown table has 0 regions.
        deadline: when to stop.

    Raises:
        OperationTimedOut: hbase:meta could not be read in time.

    Cost: one RPC for 1,000 regions.

    Source: HBase 2.6.4, AssignmentManager.getRegionStatesCount.
    """
    table = shorten_table_name(name)
    scan = build_meta_scan(build_first_key(table), build_end_key(table), META_PAGE_ROWS)
    count = 0
    while not deadline.is_expired:
        answer = caller.call_row(META_TABLE, b"", scan, deadline)
        rows = decode_whole_rows(scan, answer)
        count += sum(map(_count_replicas, rows))
        if answer.more_in_region is False:
            return count
        if rows:
            rest = replace(scan.scan, start=rows[-1].row, include_start=False)
            scan = replace(scan, scan=rest)
    raise OperationTimedOut(META_TABLE, "the list of regions was not read in time")


def _count_replicas(row: RowCells) -> int:
    """Return the number of regions in a row of hbase:meta: the primary and its replicas.

    Source: RegionStateStore.getStateColumn, `state_0001` is the state of the first replica.
    """
    return 1 + sum(cell.qualifier.startswith(b"state_") for cell in row.cells)


def _require_done(is_done: Callable[[], bool], path: str, what: str) -> None:
    """Raise `Unavailable` unless the effect of a procedure is there."""
    if not is_done():
        raise Unavailable(path, f"{what}, and the change was not made", remedy="Try again.")


def poll_with_backoff(path: str, what: str, deadline: Deadline, remedy: str = "") -> Iterator[None]:
    """Yield at once and then after growing pauses, until the caller stops or the deadline passes.

    Args:
        path: the table, for the message.
        what: why the caller still waits, for the message.
        deadline: when to stop.
        remedy: what to do then, or an empty string.

    Raises:
        OperationTimedOut: the deadline has passed.
    """
    pause = _FIRST_PAUSE_S
    while True:
        yield
        if deadline.is_expired:
            raise OperationTimedOut(path, what, remedy=remedy)
        sleep(min(pause, deadline.get_remaining_s()))
        pause = min(pause * _PAUSE_GROWTH, _MAX_PAUSE_S)


def _raise_procedure_failure(number: int, result: ProcedureResult) -> None:
    """Raise the error that a procedure ended with, as if the call had been refused."""
    if not result.java_class:
        return
    text = f"{result.java_class}: {result.error_message}"
    error = parse_remote_error(result.java_class, text, True, server=f"procedure {number}")
    error.server = None  # the path in the message names the procedure, not a server
    raise error
