"""What the master does takes its time: a procedure is begun, and waited for by its number."""

from __future__ import annotations

from time import sleep
from typing import TYPE_CHECKING, Final

from rowkey.errors import Unsupported
from rowkey.hbase.errors import CallTimedOut, OutOfTime, from_remote
from rowkey.hbase.requests.procedure_result import GetProcedureResult, ProcedureState
from rowkey.hbase.settings import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rowkey.hbase.calling import Caller
    from rowkey.hbase.messages.begins import Begins
    from rowkey.hbase.requests.procedure_result import ProcedureResult

_FIRST_PAUSE_S: Final = 0.02
_PAUSE_GROWTH: Final = 1.5
_PAUSE_MOST_S: Final = 0.5
"""Pauses between two questions. Source: a small create takes 0.3 s to 0.7 s on HBase 2.6.4."""


class Procedures:
    """Begins procedures and waits for them; what all sorts of administration share.

    Args:
        caller: by whom the master and the region servers are asked.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def _deadline(self, wait_s: float | None) -> Deadline:
        return Deadline.after(self._caller.settings.operation_s if wait_s is None else wait_s)

    def _run(self, path: str, request: Begins, deadline: Deadline) -> None:
        """Begin a procedure and wait until it is over.

        Args:
            path: the table, or what else it is about, for messages.
            request: what begins it.
            deadline: when nobody waits any more.

        Raises:
            HBaseError: by its class what the master, or the procedure, refused.
            OutOfTime: it goes on; the text names its number.
        """
        number = self._caller.on_master(request, deadline)
        if number:
            self._finish(path, request.method, number, deadline)

    def _finish(
        self,
        path: str,
        method: str,
        number: int,
        deadline: Deadline,
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        """Wait until a procedure is over; `meanwhile` is called while it goes on."""
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
                raise Unsupported(path, told, remedy="Look whether it was done.")
            if meanwhile:
                meanwhile()


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
