"""One scanner of one region on one server: what is asked of it, in its order, and its lease."""

from __future__ import annotations

from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from rowkey.errors import RowkeyError
from rowkey.hbase.errors import (
    BusyError,
    HBaseError,
    MalformedAnswer,
    ScannerReset,
    UnknownScanner,
)
from rowkey.hbase.requests import CloseScanner, NextRows, RenewScanner
from rowkey.hbase.settings import Deadline
from rowkey.hbase.wire.proto import Malformed

if TYPE_CHECKING:
    from rowkey.hbase.calling import Caller
    from rowkey.hbase.connection import Call
    from rowkey.hbase.locations import Region
    from rowkey.hbase.messages.contract import Request
    from rowkey.hbase.requests import OpenScanner, ScanAnswer

A = TypeVar("A")

FIRST_LOOK_S = 1.0
"""Seconds after which an answer that nobody asked for is taken in, to learn how long a lease is.

A fifth of the shortest lease that anybody sets (tests do, 5 s); the default is 60 s.
"""

LOOK_AGAIN_S = 0.2
"""Seconds after which a scanner is looked at again that waits for its server, or is being read."""


class Source:
    """A scanner of one region. It is never asked again after an error.

    Each `next` and each renewal carries the number that the server expects, so that neither is
    carried out twice. Whoever calls must hold the lock of the scan that it belongs to.

    Args:
        caller: sends its requests.
        region: the region it reads.
    """

    def __init__(self, caller: Caller, region: Region) -> None:
        self.region = region
        self.is_open = False
        """Whether the server holds a scanner for it, as far as answers have told."""
        self._caller = caller
        self._call: Call | None = None
        self._renewal: Call | None = None
        self._request: Request[ScanAnswer] | None = None
        self._arrived: ScanAnswer | HBaseError | None = None
        self._id = 0
        self._seq = 0
        self._closes = False
        self._ttl_s = 2 * FIRST_LOOK_S
        self._asked_at = 0.0

    @property
    def is_asked(self) -> bool:
        """Whether an answer is on its way, or here and not taken yet."""
        return self._call is not None or self._arrived is not None

    def open(self, request: OpenScanner, deadline: Deadline) -> None:
        """Ask for a scanner and its first rows, without waiting."""
        self._closes = request.close
        self._ask(request, deadline)

    def ask_next(self, rows: int, limit: int | None, deadline: Deadline) -> None:
        """Ask for the next rows, without waiting."""
        self._seq += 1
        self._ask(NextRows(self._id, self._seq - 1, rows, limit), deadline)

    def _ask(self, request: Request[ScanAnswer], deadline: Deadline) -> None:
        self._asked_at = monotonic()
        self._request = request
        self._call = self._caller.on_region(self.region, request, deadline)

    def take(self, deadline: Deadline) -> ScanAnswer:
        """What it was asked for, once.

        Raises:
            HBaseError: there is no answer, or it is an error; the server's scanner is lost.
        """
        self.fetch(deadline)
        arrived, self._arrived = self._arrived, None
        assert arrived is not None
        if isinstance(arrived, HBaseError):
            raise arrived
        return arrived

    def fetch(self, deadline: Deadline) -> None:
        """Wait for the answer that is on its way, and keep it; an error is kept as well."""
        if self._call is None:
            return
        try:
            self._arrived = self._read(deadline)
        except HBaseError as error:
            self._arrived = error
        except BaseException:
            what = "whoever waited for the answer was interrupted"
            self._arrived = ScannerReset(str(self.region.server), what)
            raise
        finally:
            self._call = self._request = None
            self.is_open = self.is_open and not isinstance(self._arrived, HBaseError)

    def _read(self, deadline: Deadline) -> ScanAnswer:
        assert self._call is not None
        assert self._request is not None
        server = str(self.region.server)
        response = self._call.result(deadline.sooner(self._caller.settings.call_s))
        try:
            told = self._request.decode(response)
        except Malformed as problem:
            raise MalformedAnswer(server, str(problem), server=server) from problem
        if told.more_results is None:
            # A server that does not know a scanner any more may say so by saying nothing.
            raise UnknownScanner(server, "the answer does not say whether rows are left")
        self._id = told.scanner_id or self._id
        if told.ttl_ms:
            self._ttl_s = told.ttl_ms / 1000
        is_done = told.more_in_region is False or not told.more_results
        self.is_open = not (is_done or self._closes)
        return told

    def due_in(self) -> float:
        """Seconds until it must be renewed: half its lease after it was asked last."""
        return self._asked_at + self._ttl_s / 2 - monotonic()

    def keep(self) -> float | None:
        """Renew its lease if that is due; never waits.

        An answer on its way is taken in first: the server refuses what overtakes it.

        Returns:
            Seconds until it is to be looked at again; None if it has no lease.
        """
        if self.due_in() > 0 and self._renewal is None:
            return self.due_in() if self.is_open or self._call is not None else None
        if not self.is_settled():
            return LOOK_AGAIN_S
        if self.is_open and self.due_in() <= 0:
            self.renew()
            return LOOK_AGAIN_S
        return self.due_in() if self.is_open else None

    def renew(self) -> None:
        """Ask that its lease begins anew, without waiting; `is_settled` takes the answer in.

        Without a connection it counts as lost: nobody is kept waiting for a server that is away.
        """
        try:
            call = self._send_at_once(RenewScanner(self._id, self._seq))
        except BusyError:
            return  # no room just now: it is tried again at the next look
        except RowkeyError:
            self.is_open = False
            return
        self._seq += 1
        self._renewal = call
        self._asked_at = monotonic()

    def settle(self, deadline: Deadline) -> None:
        """Wait for the answer to a renewal; if that fails, the scanner counts as lost.

        The server refuses what overtakes it.
        """
        call, self._renewal = self._renewal, None
        if call is None:
            return
        try:
            response = call.result(deadline.sooner(self._caller.settings.call_s))
            RenewScanner(self._id, self._seq).decode(response)
        except (HBaseError, Malformed):
            self.is_open = False
        except BaseException:
            self.is_open = False
            raise

    def is_settled(self) -> bool:
        """Whether nothing is on its way any more, after taking in what is there; never waits.

        What was asked as long ago as one call may take is not waited for any longer.
        """
        over = monotonic() - self._asked_at >= self._caller.settings.call_s
        if self._call is not None:
            if not (over or self._has_come(self._call)):
                return False
            self.fetch(Deadline(0.0))
        if self._renewal is not None:
            if not (over or self._has_come(self._renewal)):
                return False
            self.settle(Deadline(0.0))
        return True

    def close(self) -> bool:
        """Close it at the server, if it is open there; never waits.

        Returns:
            Whether that is done. If not, an answer is on its way, and it must be tried again: a
            scanner that is busy cannot be closed.
        """
        if not self.is_settled():
            return False
        self._arrived = None
        if self.is_open:
            self.is_open = False
            with suppress(RowkeyError):  # then the server does it when the lease is over
                self._send_at_once(CloseScanner(self._id)).cancel()
        return True

    def _has_come(self, call: Call) -> bool:
        try:
            return call.arrived()
        except HBaseError:
            return True  # of another process: waiting tells so

    def _send_at_once(self, request: Request[A]) -> Call:
        """Send on the connection that there is, or not at all.

        Raises:
            BusyError: there is no room in it just now.
            RowkeyError: there is none.
        """
        server, service = self.region.server, request.service
        param, cells = request.encode(self.region.name)
        connection = self._caller.servers.ready(server.address, service)
        deadline = Deadline.after(self._caller.settings.call_s)
        return connection.send(request.method, param, cells, deadline=deadline, at_once=True)
