"""One scanner of one region on one server, with its lease."""

from __future__ import annotations

from contextlib import suppress
from time import monotonic
from typing import TypeVar

from rowkey.errors import RowkeyError
from rowkey.hbase.connection import PendingCall
from rowkey.hbase.errors import (
    BusyError,
    HBaseError,
    MalformedAnswer,
    ScannerReset,
    UnknownScanner,
)
from rowkey.hbase.locations import RegionLocation
from rowkey.hbase.messages.contract import Request
from rowkey.hbase.requests import CloseScanner, NextRows, OpenScanner, RenewScanner, ScanResponse
from rowkey.hbase.retrying_caller import RetryingCaller
from rowkey.hbase.settings import Deadline
from rowkey.hbase.wire.proto import WireFormatError

A = TypeVar("A")

FIRST_LEASE_CHECK_S = 1.0
"""Seconds after which a prefetched answer is taken, to learn the duration of the lease.

Derivation: a fifth of the shortest lease in use (5 s, in tests); the default is 60 s.
"""

LEASE_RECHECK_S = 0.2
"""Seconds after which a scanner that waits for its server, or is being read, is checked again."""


class RegionScanner:
    """A scanner that is open at the server of one region; not used again after an error.

    Each request for rows and each renewal carries the sequence number that the server expects, so
    that neither is carried out twice. The caller must hold the lock of the scan.

    Args:
        caller: sends its requests.
        region: the region that it reads.
    """

    def __init__(self, caller: RetryingCaller, region: RegionLocation) -> None:
        self.region = region
        self.is_open = False
        """Whether the server has a scanner open, according to the last answer."""
        self._caller = caller
        self._call: PendingCall | None = None
        self._renewal: PendingCall | None = None
        self._request: Request[ScanResponse] | None = None
        self._response: ScanResponse | HBaseError | None = None
        self._scanner_id = 0
        self._seq = 0
        self._closes_itself = False
        self._ttl_s = 2 * FIRST_LEASE_CHECK_S
        self._requested_at = 0.0

    @property
    def has_pending_answer(self) -> bool:
        """Whether an answer is pending, or has come and was not returned yet."""
        return self._call is not None or self._response is not None

    def open(self, request: OpenScanner, deadline: Deadline) -> None:
        """Send the request that opens the scanner and returns its first rows; do not wait."""
        self._closes_itself = request.close
        self._send_request(request, deadline)

    def request_next(self, rows: int, limit: int | None, deadline: Deadline) -> None:
        """Send the request for the next rows; do not wait."""
        self._seq += 1
        self._send_request(NextRows(self._scanner_id, self._seq - 1, rows, limit), deadline)

    def _send_request(self, request: Request[ScanResponse], deadline: Deadline) -> None:
        """Send a request to the region without waiting, and record its time."""
        self._requested_at = monotonic()
        self._request = request
        self._call = self._caller.send_request(
            self.region.server.address, request, self.region.name, deadline
        )

    def take_response(self, deadline: Deadline) -> ScanResponse:
        """Wait for the answer to the last request, and return it, once.

        Raises:
            HBaseError: there is no answer, or it is an error; the server's scanner is lost.
        """
        self.fetch_response(deadline)
        response, self._response = self._response, None
        assert response is not None
        if isinstance(response, HBaseError):
            raise response
        return response

    def fetch_response(self, deadline: Deadline) -> None:
        """Wait for the pending answer, and store it, or its error, for `take_response`."""
        if self._call is None:
            return
        try:
            self._response = self._read_response(deadline)
        except HBaseError as error:
            self._response = error
        except BaseException:
            what = "the thread that waited for the scan answer was interrupted"
            self._response = ScannerReset(str(self.region.server), what)
            raise
        finally:
            self._call = self._request = None
            self.is_open = self.is_open and not isinstance(self._response, HBaseError)

    def _read_response(self, deadline: Deadline) -> ScanResponse:
        """Wait for the answer to the pending request, and update id, lease and state from it.

        Raises:
            MalformedAnswer: the answer cannot be parsed.
            UnknownScanner: the server does not know the scanner any more.
        """
        assert self._call is not None
        assert self._request is not None
        server = str(self.region.server)
        response = self._call.result(deadline.shorten_to(self._caller.settings.call_timeout_s))
        try:
            answer = self._request.decode(response)
        except WireFormatError as problem:
            raise MalformedAnswer.from_wire_error(server, problem, server) from problem
        if answer.more_results is None:
            # A server that does not know the scanner any more may answer without this field.
            raise UnknownScanner(server, "the scan answer does not say whether more rows follow")
        self._scanner_id = answer.scanner_id or self._scanner_id
        if answer.ttl_ms:
            self._ttl_s = answer.ttl_ms / 1000
        is_done = answer.more_in_region is False or not answer.more_results
        self.is_open = not (is_done or self._closes_itself)
        return answer

    def compute_due_in_s(self) -> float:
        """Return the seconds until the lease must be renewed."""
        return self._requested_at + self._ttl_s / 2 - monotonic()

    def renew_if_due(self) -> float | None:
        """Renew the lease of the scanner if it is due; never waits.

        A pending answer is taken first, since the server refuses a second request before it.

        Returns:
            Seconds until the next check; None if it has no lease.
        """
        if self.compute_due_in_s() > 0 and self._renewal is None:
            return self.compute_due_in_s() if self.is_open or self._call is not None else None
        if not self.is_settled():
            return LEASE_RECHECK_S
        if self.is_open and self.compute_due_in_s() <= 0:
            self.renew_lease()
            return LEASE_RECHECK_S
        return self.compute_due_in_s() if self.is_open else None

    def renew_lease(self) -> None:
        """Send the request that renews the lease, without waiting; see `is_settled`.

        Without an open connection the scanner is lost: the call never waits for a server.
        """
        try:
            call = self._send_without_waiting(RenewScanner(self._scanner_id, self._seq))
        except BusyError:
            return  # too many calls in flight: the next check retries
        except RowkeyError:
            self.is_open = False
            return
        self._seq += 1
        self._renewal = call
        self._requested_at = monotonic()

    def finish_renewal(self, deadline: Deadline) -> None:
        """Wait for the answer to a renewal; if that fails, the scanner is lost.

        The server refuses a request for rows before that answer.
        """
        call, self._renewal = self._renewal, None
        if call is None:
            return
        try:
            response = call.result(deadline.shorten_to(self._caller.settings.call_timeout_s))
            RenewScanner(self._scanner_id, self._seq).decode(response)
        except (HBaseError, WireFormatError):
            self.is_open = False
        except BaseException:
            self.is_open = False
            raise

    def is_settled(self) -> bool:
        """Process the answers that have come, without waiting; return whether none is pending.

        A request that is older than the call timeout counts as answered.
        """
        is_late = monotonic() - self._requested_at >= self._caller.settings.call_timeout_s
        if self._call is not None:
            if not (is_late or self._has_arrived(self._call)):
                return False
            self.fetch_response(Deadline(0.0))
        if self._renewal is not None:
            if not (is_late or self._has_arrived(self._renewal)):
                return False
            self.finish_renewal(Deadline(0.0))
        return True

    def close(self) -> bool:
        """Close the scanner at the server if it is open there; never waits.

        Returns:
            Whether that is done. If not, an answer is pending, and the caller must try again: a
            busy scanner cannot be closed.
        """
        if not self.is_settled():
            return False
        self._response = None
        if self.is_open:
            self.is_open = False
            with suppress(RowkeyError):  # then the server closes it when the lease expires
                self._send_without_waiting(CloseScanner(self._scanner_id)).cancel()
        return True

    def _has_arrived(self, call: PendingCall) -> bool:
        """Return whether the answer to a call, or an error, has come; never waits."""
        try:
            return call.has_arrived()
        except HBaseError:
            return True  # sent before a fork: taking the answer raises that error

    def _send_without_waiting(self, request: Request[A]) -> PendingCall:
        """Send a request on the open connection, or not at all if that would wait.

        Raises:
            BusyError: too many calls are in flight on it.
            RowkeyError: there is no open connection.
        """
        server, service = self.region.server, request.service
        param, cells = request.encode(self.region.name)
        connection = self._caller.connections.get_open_connection(server.address, service)
        deadline = Deadline.from_now(self._caller.settings.call_timeout_s)
        return connection.send(request.method, param, cells, deadline=deadline, no_wait=True)
