"""Calls of a region, a region server or the master, retried until a deadline.

The class of an error says how to handle it (`rowkey.hbase.errors`). Calls are retried until the
answer comes, or the time or the attempts of the operation are used up.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from threading import Event
from typing import TypeVar

from rowkey import fork_safety
from rowkey.errors import InvalidArgument, RowkeyError
from rowkey.hbase.connection import PendingCall, ServerConnections
from rowkey.hbase.errors import (
    CallTimedOut,
    ClientClosed,
    HBaseError,
    MalformedAnswer,
    MasterInitializing,
    MaybeApplied,
    NotMaster,
    OperationTimedOut,
    RegionMoved,
    RetryNowError,
    ServerGone,
    ServerNotRunningYet,
    StaleLocationError,
)
from rowkey.hbase.locations import RegionLocation, RegionLocator
from rowkey.hbase.messages.contract import Idempotence, Request
from rowkey.hbase.registry import Registry
from rowkey.hbase.requests.cluster import GetClusterStatus, StatusOption
from rowkey.hbase.settings import Deadline, Settings
from rowkey.hbase.wire.names import ServerName
from rowkey.hbase.wire.proto import WireFormatError

A = TypeVar("A")

JITTER_RANDOM = Random()  # noqa: S311 - spreads retries, guards nothing
"""A generator of its own: background threads must not draw from one that a user has seeded."""
LIKELY_PERMANENT_ATTEMPTS = 5
"""Attempts at what will hardly ever succeed: `HBaseError.is_likely_permanent`."""


class RetryingCaller:
    """Sends requests to the right server, and retries them as their errors say.

    Args:
        registry: finds the active master.
        connections: the connections to servers.
        locator: finds the regions.
        settings: timeouts and pauses.
    """

    def __init__(
        self,
        registry: Registry,
        connections: ServerConnections,
        locator: RegionLocator,
        settings: Settings,
    ) -> None:
        self.registry, self.connections = registry, connections
        self.locator, self.settings = locator, settings
        self._master: ServerName | None = None
        self.reset_in_child()
        fork_safety.register_resource(self)

    def reset_in_child(self) -> None:
        """Create a new close event; called in a forked child process."""
        self._close_event = Event()

    def start_deadline(self) -> Deadline:
        """Return the deadline of an operation that starts now."""
        return Deadline.from_now(self.settings.operation_timeout_s)

    def call_row(
        self,
        table: str,
        row: bytes,
        request: Request[A],
        deadline: Deadline | None = None,
        check_send: Callable[[], float] | None = None,
    ) -> A:
        """Send a request to the region that holds a row, with retries, and return the answer.

        Args:
            table: the name of the table.
            row: the row key.
            deadline: when to give up; None for the time of an operation from now.
            check_send: called before each time that the request is sent: returns the seconds within
                which it must be sent, or raises an error.

        Raises:
            InvalidRequest: the request can never succeed.
            MaybeApplied: an answer was lost, and a retry could apply the change twice.
            OperationTimedOut: time or attempts are used up; it holds the last error.
        """
        attempts = self.start_attempts(deadline)
        lost_servers: list[ServerName] = []
        try:
            return self._retry_on_row(table, row, request, attempts, lost_servers, check_send)
        except RowkeyError as error:
            if lost_servers and not isinstance(error, MaybeApplied):
                raise _build_maybe_applied(request, lost_servers[0]) from error
            raise

    def _retry_on_row(
        self,
        table: str,
        row: bytes,
        request: Request[A],
        attempts: Attempts,
        lost_servers: list[ServerName],
        check_send: Callable[[], float] | None,
    ) -> A:
        """Send the request of `call_row` until it succeeds, and collect `lost_servers`.

        These lost the answer to a request that is protected by a nonce.
        """
        while True:
            region: RegionLocation | None = None
            try:
                region = self.locator.locate_region(table, row, attempts.deadline)
                if lost_servers and region.server != lost_servers[-1]:
                    self._require_server_dead(lost_servers[-1], request, attempts.deadline)
                until = attempts.deadline
                if check_send is not None:
                    until = until.shorten_to(check_send())
                call = self.send_request(region.server.address, request, region.name, until)
            except HBaseError as error:
                self.invalidate_on_error(error, region)
                attempts.wait_or_raise(error)
                continue
            try:
                return self.wait_for_answer(call, request, attempts)
            except HBaseError as error:
                self.invalidate_on_error(error, region)
                if error.is_outcome_unknown and request.idempotence is Idempotence.NOT_IDEMPOTENT:
                    raise _build_maybe_applied(request, region.server) from error
                if error.is_outcome_unknown and request.idempotence is Idempotence.NONCE_PROTECTED:
                    lost_servers.append(region.server)
                attempts.wait_or_raise(error)

    def call_server(
        self, address: tuple[str, int], request: Request[A], deadline: Deadline | None = None
    ) -> A:
        """Send a request to a server, with retries until the deadline, and return the answer."""
        attempts = self.start_attempts(deadline)
        while True:
            try:
                call = self.send_request(address, request, b"", attempts.deadline)
                return self.wait_for_answer(call, request, attempts)
            except HBaseError as error:
                self._drop_connections(address, error)
                attempts.wait_or_raise(error)

    def call_master(self, request: Request[A], deadline: Deadline | None = None) -> A:
        """Send a request to the active master, with retries, and return the answer.

        A request that creates something carries a nonce, so that a retry does not create two.
        """
        attempts = self.start_attempts(deadline)
        while True:
            try:
                master = self._master or self.registry.get_master(attempts.deadline)
                self._master = master
                call = self.send_request(master.address, request, b"", attempts.deadline)
                return self.wait_for_answer(call, request, attempts)
            except HBaseError as error:
                if error.is_retriable and self._master is not None:
                    self._drop_connections(self._master.address, error)
                    self._master = (
                        None if isinstance(error, _MASTER_CHANGE_ERRORS) else self._master
                    )
                attempts.wait_or_raise(error)

    def send_request(
        self, address: tuple[str, int], request: Request[A], region: bytes, deadline: Deadline
    ) -> PendingCall:
        """Send a request to a server once, without waiting for the answer.

        Args:
            address: host and port of the server.
            region: the full name of the region; empty if the request needs none.
            deadline: when the request must be sent.
        """
        if self._close_event.is_set():
            raise ClientClosed
        until = deadline
        if not request.is_slow:
            until = until.shorten_to(self.settings.call_timeout_s)
        connection = self.connections.get_connection(address, request.service, until)
        try:
            param, cells = request.encode(region)
        except InvalidArgument as problem:
            mistake = problem.mistake
            if not mistake.path.startswith("protobuf"):
                raise
            path = f"request {request.method}, {mistake.path}"
            raise InvalidArgument(
                path, mistake.problem, mistake.expected, mistake.remedy
            ) from problem
        return connection.send(request.method, param, cells, deadline=until)

    def wait_for_answer(self, call: PendingCall, request: Request[A], attempts: Attempts) -> A:
        """Wait for the answer to a call, at most the time of one attempt; return it decoded.

        Raises:
            MalformedAnswer: it cannot be decoded as the answer to this request.
        """
        until = attempts.deadline
        if not request.is_slow:
            until = until.shorten_to(self.settings.call_timeout_s)
        response = call.result(until)
        try:
            return request.decode(response)
        except WireFormatError as problem:
            raise MalformedAnswer.from_wire_error(
                f"the answer to {request.method}", problem
            ) from problem

    def invalidate_on_error(self, error: HBaseError, region: RegionLocation | None) -> None:
        """Drop the cached location or the connection that an error shows to be wrong.

        A server may name an earlier location of the region; that is ignored.
        """
        if region is None:
            return
        if isinstance(error, RegionMoved) and (error.seqnum or 0) > region.seqnum and error.host:
            server = ServerName(error.host, error.port or 0, error.start_code or 0)
            self.locator.record_move(region, server, error.seqnum or 0)
        elif isinstance(error, StaleLocationError | ServerNotRunningYet):
            self.locator.forget_region(region)
        elif isinstance(error, ServerGone):
            self.locator.forget_server(region.server.address)
            self._drop_connections(region.server.address, error)

    def _drop_connections(self, address: tuple[str, int], error: HBaseError) -> None:
        """Close the connections to a server whose error shows that they are broken.

        A call that timed out has closed its own connection; the others may be sound.
        """
        if isinstance(error, ServerGone | ServerNotRunningYet) and not isinstance(
            error, CallTimedOut
        ):
            self.connections.drop_connections(address, error)

    def _require_server_dead(
        self, lost_at: ServerName, request: Request[A], deadline: Deadline
    ) -> None:
        """Raise `MaybeApplied` unless the server that lost an answer has died.

        Nonces are in the WAL of a dead server, so the servers that replay it know them; a region
        that only moved does not take them along. A region that was recovered and has moved since
        looks the same as one that was recovered: then the request may be applied twice.

        Raises:
            MaybeApplied: the server is not known to have died.
        """
        status = self.call_master(
            GetClusterStatus((StatusOption.SERVERS, StatusOption.DEAD_SERVERS)), deadline
        )
        successor = (
            one.address == lost_at.address and one.start_code > lost_at.start_code
            for one in status.servers
        )
        if lost_at not in status.dead_servers and not any(successor):
            raise _build_maybe_applied(request, lost_at)

    def start_attempts(self, deadline: Deadline | None = None) -> Attempts:
        """Return a new attempt counter for one operation; without a deadline it starts now."""
        return Attempts(
            self.settings,
            deadline or Deadline.from_now(self.settings.operation_timeout_s),
            self._close_event,
        )

    def close(self) -> None:
        """Close the caller: operations that pause and new ones fail."""
        self._close_event.set()


_MASTER_CHANGE_ERRORS = (ServerGone, NotMaster, MasterInitializing, ServerNotRunningYet)
"""After these another master may be the active one."""


def _build_maybe_applied(request: Request[A], server: ServerName) -> MaybeApplied:
    """Return the error for a request whose answer was lost and that must not be repeated."""
    what = f"the answer to {request.method} was lost, so the change may be applied or not"
    return MaybeApplied(str(server), what)


class Attempts:
    """Counts the attempts of one operation, and pauses between them.

    Args:
        settings: pauses, and the limit of attempts.
        deadline: when the operation must end.
        close_event: set when the client is closed.
    """

    def __init__(self, settings: Settings, deadline: Deadline, close_event: Event) -> None:
        self.settings, self.deadline, self._close_event = settings, deadline, close_event
        self.count = 0
        self._likely_permanent_count = 0

    def wait_or_raise(self, error: HBaseError) -> None:
        """Pause before the next attempt, or raise the error if there is none.

        A region that moved is looked up at once, the first time; every other pause is about twice
        as long as the one before, with jitter, so that many clients do not retry together. A pause
        that would outlast the operation ends it, so that its error holds what a server answered,
        and not that a last attempt had no time.

        Raises:
            HBaseError: this one, if another attempt cannot succeed.
            OperationTimedOut: time or attempts are used up.
            ClientClosed: the client was closed during the pause.
        """
        self.count += 1
        self._likely_permanent_count += error.is_likely_permanent
        if not error.is_retriable or self._likely_permanent_count >= LIKELY_PERMANENT_ATTEMPTS:
            raise error
        pause_s = self._compute_pause_s(error)
        late = self.deadline.get_remaining_s() <= (pause_s or 0.0)
        if late or self.count >= self.settings.max_attempts:
            limit = "time" if late else "attempts"
            path, what = error.mistake.path, f"the operation has used up its {limit}"
            raise OperationTimedOut(path, what, last_error=error, attempts=self.count) from error
        if pause_s is not None and self._close_event.wait(pause_s):
            raise ClientClosed("the client was closed while an operation was running")

    def restart_budget(self) -> None:
        """Reset the timeout and the attempt count, because part of the operation is done."""
        self.count = self._likely_permanent_count = 0
        self.deadline = Deadline.from_now(self.settings.operation_timeout_s)

    def _compute_pause_s(self, error: HBaseError) -> float | None:
        """Return the seconds before the next attempt, or None to try at once."""
        if isinstance(error, RetryNowError) or (
            isinstance(error, StaleLocationError) and self.count < 2
        ):
            return None
        longest = self.settings.max_retry_pause_s
        pause = min(longest, self.settings.retry_pause_s * 2.0 ** min(self.count - 1, 20))
        return pause * JITTER_RANDOM.uniform(0.75, 1.25)
