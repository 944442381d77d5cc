"""One scanner of one region on one server: what is asked of it, in its order, and its lease."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from rowkey.hbase.errors import HBaseError, MalformedAnswer, ScannerReset, UnknownScanner
from rowkey.hbase.requests import CloseScanner, NextRows, RenewScanner
from rowkey.hbase.wire.proto import Malformed

if TYPE_CHECKING:
    from rowkey.hbase.calling import Caller
    from rowkey.hbase.connection import Call
    from rowkey.hbase.locations import Region
    from rowkey.hbase.messages.contract import Request
    from rowkey.hbase.requests import OpenScanner, ScanAnswer
    from rowkey.hbase.settings import Deadline

FIRST_LOOK_S = 1.0
"""Seconds after which an answer that nobody asked for is taken in, to learn how long a lease is.

A fifth of the shortest lease that anybody sets (tests do, 5 s); the default is 60 s.
"""


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

    @property
    def may_have_lease(self) -> bool:
        """Whether a server may hold a scanner for it, as far as is known."""
        return self.is_open or self._call is not None

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

    def renew(self, deadline: Deadline) -> None:
        """Let its lease begin anew; if that fails, it counts as lost.

        An answer on its way is taken in first: the server refuses what overtakes it.
        """
        self.fetch(deadline)
        if not self.is_open:
            return
        self._seq += 1
        request = RenewScanner(self._id, self._seq - 1)
        self._asked_at = monotonic()
        try:
            call = self._caller.on_region(self.region, request, deadline)
            request.decode(call.result(deadline.sooner(self._caller.settings.call_s)))
        except (HBaseError, Malformed):
            self.is_open = False

    def close(self, deadline: Deadline) -> None:
        """Close it at the server, if it is open there, without waiting for that.

        An answer on its way is waited for: a scanner that is busy cannot be closed.
        """
        self.fetch(deadline)
        self._arrived = None
        if self.is_open:
            self.is_open = False
            self._caller.on_region(self.region, CloseScanner(self._id), deadline).cancel()
