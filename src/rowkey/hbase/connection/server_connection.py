"""One socket to one service of one server, shared by all threads, with many calls in flight.

It has no thread of its own: one of the threads that wait reads for all (`leader_followers`).
"""

from __future__ import annotations

import os
import select
import socket
import struct
from collections import Counter
from math import ceil
from threading import Lock
from time import monotonic
from typing import Any, Final, Self

from rowkey.hbase.connection.frame_reader import FrameReader
from rowkey.hbase.connection.frame_writer import FrameWriter
from rowkey.hbase.connection.handshake import (
    build_frame_error,
    build_handshake,
    build_hangup_error,
    connect_socket,
    format_address,
    is_tls,
)
from rowkey.hbase.connection.leader_followers import LeaderFollowers
from rowkey.hbase.connection.pending_call import PendingCall
from rowkey.hbase.connection.secure_handshake import secure_connection
from rowkey.hbase.connection.secure_socket import SecureSocket
from rowkey.hbase.errors import (
    BusyError,
    CallTimedOut,
    ConnectionLost,
    HBaseError,
    InvalidRequest,
    parse_remote_error,
)
from rowkey.hbase.settings import Deadline, Settings
from rowkey.hbase.wire.compression import compress, decompress
from rowkey.hbase.wire.frames import (
    CONNECTION_FAILURE_ID,
    RemoteFault,
    RequestTooLong,
    Response,
    encode_request,
    parse_response,
)
from rowkey.hbase.wire.proto import WireFormatError
from rowkey.messages import pluralize

_CALL_ID_LIMIT: Final = 1 << 31
"""Call ids wrap around at this. Source: RequestHeader.call_id is read as a Java int."""


_MAX_POLL_S: Final = 3_600.0
"""Seconds of one poll: it takes milliseconds in 32 bits."""

_IDLE_CHECK_S: Final = 1.0
"""Seconds after which an idle connection is checked before it is used again."""

_RESET_ON_CLOSE: Final = struct.pack("ii", 1, 0)
"""struct linger: close discards the bytes that are not sent yet. Source: socket(7), SO_LINGER."""


class ServerConnection:
    """A connection to a service of a server; any thread may send and wait for answers.

    `open` creates it.

    Args:
        sock: the socket, not blocking, with the handshake sent.
        address: host and port.
        service: the name of the RPC service.
        settings: limits.
        known_services: the services that have answered this client; the first answer adds this one.
    """

    def __init__(
        self,
        sock: socket.socket,
        address: tuple[str, int],
        service: str,
        settings: Settings,
        known_services: set[tuple[tuple[str, int], str]],
    ) -> None:
        self.address = address
        self.service = service
        self.host_port = format_address(address)
        self.opened_at = self._last_read_at = monotonic()
        self._settings = settings
        self._known_services = known_services
        self._socket = sock
        self._secure_socket = sock if isinstance(sock, SecureSocket) else None
        self._pid = os.getpid()
        self.failure: HBaseError | None = None
        """Why the connection is broken, or None."""
        self._caller_error: HBaseError | None = None
        self._frame_reader = FrameReader()
        self._calls: dict[int, PendingCall] = {}
        self._next_call_id = 0
        self._slot_waiters: list[Lock] = []
        self._answer_count = 0
        self._lock = Lock()
        self._readers = LeaderFollowers(self._lock, self)
        self._frame_writer = FrameWriter(sock, self._readers, self)
        self._read_poll = select.poll()
        self._read_poll.register(sock, select.POLLIN)

    @classmethod
    def open(
        cls,
        address: tuple[str, int],
        service: str,
        settings: Settings,
        deadline: Deadline,
        known_services: set[tuple[tuple[str, int], str]] | None = None,
    ) -> Self:
        """Open a connection to an RPC service of a server; nothing is read from it yet.

        Raises:
            UnknownHost: the name has no address.
            ConnectionLost: the server does not accept in time.
        """
        connected = connect_socket(address, settings, deadline)
        connected = secure_connection(connected, address, settings, deadline)
        try:
            connected.sendall(build_handshake(service, settings))
        except OSError as problem:
            connected.close()
            host_port = format_address(address)
            what = f"the server closed the connection at once: {problem}"
            raise ConnectionLost(host_port, what, server=host_port) from None
        except BaseException:
            connected.close()
            raise
        known_services = set() if known_services is None else known_services
        return cls(connected, address, service, settings, known_services)

    @property
    def _may_refuse_header(self) -> bool:
        """Whether this service of the server has never answered: it may be another kind of server.

        Later it closes connections for other reasons: it is stopped, or too busy.
        """
        return (self.address, self.service) not in self._known_services

    @property
    def in_flight_count(self) -> int:
        """The number of calls without an answer, including cancelled ones."""
        return len(self._calls)

    def send(
        self,
        method: str,
        param: bytes,
        cells: bytes = b"",
        *,
        deadline: Deadline,
        no_wait: bool = False,
    ) -> PendingCall:
        """Send a request without waiting for its answer.

        Args:
            method: the name of the RPC.
            param: the request's protobuf.
            cells: its cell block, not compressed.
            deadline: when the request must be sent.
            no_wait: whether to raise BusyError at once if too many calls are in flight, or
                another thread is sending.

        Raises:
            InvalidRequest: the request is longer than servers read.
            BusyError: too many calls were in flight, or other threads were sending, until the
                deadline; nothing was sent.
            ServerGone: the connection is broken, or broke within the request; since half a request
                cannot be taken back, a deadline within it breaks the connection.
        """
        self._check_process()
        if cells and self._settings.compress:
            cells = compress(cells)
        call = self._register_call(method, Deadline(0.0) if no_wait else deadline)
        try:
            timeout_ms = int(deadline.get_remaining_s() * 1000) or 1
            frame = encode_request(call.call_id, method, param, cells, timeout_ms)
            self._frame_writer.send_frame(method, frame, deadline, no_wait=no_wait)
        except RequestTooLong as problem:
            self._withdraw_call(call)
            what = f"{method} was not sent: {problem.mistake.problem}"
            raise InvalidRequest(
                self.host_port, what, problem.mistake.expected, problem.mistake.remedy
            ) from None
        except BaseException:
            self._withdraw_call(call)
            raise
        return call

    def _register_call(self, method: str, deadline: Deadline) -> PendingCall:
        """Register a new call; wait while `max_in_flight` calls are in flight."""
        while True:
            with self._lock:
                if self.failure is not None:
                    self.require_open()
                if len(self._calls) < self._settings.max_in_flight:
                    call_id = self._next_call_id
                    while call_id in self._calls:
                        call_id = (call_id + 1) % _CALL_ID_LIMIT
                    self._next_call_id = (call_id + 1) % _CALL_ID_LIMIT
                    call = self._calls[call_id] = PendingCall(self, call_id, method)
                    return call
            if not self._readers.wait_until(self._has_free_slot, self._slot_waiters, deadline):
                self._raise_busy(method)

    def _has_free_slot(self) -> bool:
        """Return whether a waiting call may go on: a call slot is free, or the connection broke."""
        return len(self._calls) < self._settings.max_in_flight or self.failure is not None

    def _raise_busy(self, method: str) -> None:
        """Raise `BusyError`: too many calls are in flight; break the connection if it is silent."""
        with self._lock:
            count = len(self._calls)
            oldest_sent_at = next((call.sent_at for call in self._calls.values()), monotonic())
        silent_s = monotonic() - max(oldest_sent_at, self._last_read_at)
        limit = f"{pluralize(count, 'call')} in flight, the limit (max_in_flight)"
        what = f"{method} was not sent: the connection has {limit}"
        if silent_s >= self._settings.call_timeout_s:
            what += f", and no answer came for {silent_s:.3g} s"
            self.fail(CallTimedOut(self.host_port, what))
            self.require_open()
        raise BusyError(self.host_port, what, server=self.host_port)

    def wait_for_answer(self, call: PendingCall, deadline: Deadline) -> Response:
        """Return the answer of a call of this connection; see `PendingCall.result`."""
        if call.outcome is None:
            self._check_process()
            if not self._readers.wait_until(call.is_done, call.waiters, deadline):
                self._time_out_call(call)
        outcome = call.outcome
        assert outcome is not None
        if isinstance(outcome, HBaseError):
            raise outcome.copy_error()
        if outcome.error is not None:
            raise self._build_remote_error(outcome.error)
        if outcome.cells and self._settings.compress:
            return outcome._replace(cells=self._decompress_cells(outcome.cells))
        return outcome

    def _decompress_cells(self, cells: bytes | memoryview) -> bytes:
        """Decompress the cell block of an answer; a malformed one breaks the connection."""
        try:
            return decompress(cells)
        except WireFormatError as problem:
            error = build_frame_error(self.host_port, b"", problem.mistake.problem, is_first=False)
            self.fail(error)
            raise error.copy_error() from None

    def _build_remote_error(self, fault: RemoteFault) -> HBaseError:
        return parse_remote_error(
            fault.java_class,
            fault.stack_trace,
            fault.do_not_retry,
            fault.host,
            fault.port,
            self.host_port,
        )

    def has_arrived(self, call: PendingCall) -> bool:
        """Read available answers without waiting; return whether this call has its answer."""
        if call.outcome is None:
            self._check_process()
            self._readers.wait_until(call.is_done, call.waiters, Deadline(0.0))
        return call.outcome is not None

    def _time_out_call(self, call: PendingCall) -> None:
        """End a call that timed out; break the connection only after a full call timeout."""
        elapsed_s = monotonic() - call.sent_at
        what = f"{call.method} was not answered within {elapsed_s:.3g} s"
        error = CallTimedOut(self.host_port, what, server=self.host_port)
        self.resolve_call(call, error)
        if call.outcome is error and elapsed_s >= self._settings.call_timeout_s:
            self.fail(error)

    def resolve_call(self, call: PendingCall, outcome: HBaseError) -> None:
        """Set the error of a call before its answer comes; its id stays in use until then."""
        self._check_process()
        with self._lock:
            if call.outcome is None:
                call.outcome = outcome
                self._readers.wake_waiters(call.waiters)

    def _withdraw_call(self, call: PendingCall) -> None:
        """Remove the registration of a call that was not sent."""
        with self._lock:
            if self._calls.pop(call.call_id, None) is not None:
                self._readers.wake_oldest(self._slot_waiters)

    def read(self, seconds: float) -> None:
        """Wait for bytes from the server, and deliver the answers in them."""
        if self._read_poll.poll(ceil(min(seconds, _MAX_POLL_S) * 1000)):
            self.receive_frames()

    def receive_frames(self) -> None:
        """Receive available bytes and deliver the answers, without waiting; for the leader only."""
        secure_socket = self._secure_socket
        try:
            self._receive_once()
            while secure_socket is not None and secure_socket.has_pending and not self.failure:
                self._receive_once()  # the kernel does not tell of bytes that are decrypted
        except BlockingIOError:
            return
        except OSError as problem:
            self.fail_on_socket_error(problem)
        except WireFormatError as problem:
            head, fresh = self._frame_reader.peek_head(), not self._answer_count
            self.fail(
                build_frame_error(self.host_port, head, problem.mistake.problem, is_first=fresh)
            )

    def _receive_once(self) -> None:
        """Receive from the socket once, and deliver the answers that are complete."""
        if not self._frame_reader.fill_buffer(self._socket):
            self.fail(self._build_eof_error())
            return
        self._last_read_at = monotonic()
        if not self._answer_count:
            self._require_no_tls()
        while frames := self._frame_reader.take_frames():
            for frame in frames:
                self._deliver_answer(parse_response(frame))
            if self._frame_reader.is_empty:
                return

    def _require_no_tls(self) -> None:
        """Raise `WireFormatError` if the first bytes of the server are TLS."""
        if is_tls(self._frame_reader.peek_head()):
            raise WireFormatError("the server answers with TLS")

    def _deliver_answer(self, answer: Response) -> None:
        """Give an answer to the call that waits for it; a refusal breaks the connection."""
        if not self._answer_count:
            self._known_services.add((self.address, self.service))
        self._answer_count += 1
        if answer.call_id == CONNECTION_FAILURE_ID:
            self.fail(
                self._build_remote_error(answer.error)
                if answer.error
                else build_frame_error(
                    self.host_port,
                    answer.message[:16],
                    "the server refused the connection without a reason",
                    is_first=False,
                )
            )
            return
        with self._lock:
            call = self._calls.pop(answer.call_id, None)
            if call is None:
                return  # of a call that was withdrawn
            if call.outcome is None:
                call.outcome = answer
                self._readers.wake_waiters(call.waiters)
            if self._slot_waiters:
                self._readers.wake_oldest(self._slot_waiters)

    def _build_eof_error(self) -> HBaseError:
        """Return the error for a connection that the server has closed."""
        if self._may_refuse_header:
            return build_hangup_error(self.host_port, self.service, self._settings)
        what = "the server closed the connection"
        return ConnectionLost(self.host_port, what, server=self.host_port)

    def fail_on_socket_error(self, problem: OSError) -> None:
        """Break the connection because the socket failed."""
        if self._may_refuse_header and isinstance(problem, ConnectionResetError | BrokenPipeError):
            self.fail(build_hangup_error(self.host_port, self.service, self._settings))
        what = f"the connection broke: {problem.strerror or problem}"
        self.fail(ConnectionLost(self.host_port, what, server=self.host_port))

    def fail(self, error: HBaseError) -> None:
        """Break the connection; every call in flight gets an error."""
        with self._lock:
            if self.failure is not None:
                return
            self._caller_error = error
            if isinstance(error, CallTimedOut):
                what = f"the connection was closed, because {error.mistake.problem}"
                self._caller_error = ConnectionLost(self.host_port, what, server=self.host_port)
            self.failure = error
            for call in self._calls.values():
                if call.outcome is None:
                    call.outcome = self._caller_error
            self._calls.clear()
            self._readers.wake_all()
            _shut_down_socket(self._socket, reset=isinstance(error, CallTimedOut))
            self.close_if_unused()

    def close_if_unused(self) -> None:
        """Close the socket if the connection is broken and no thread uses it."""
        if (
            self.failure is not None
            and not self._readers.has_leader
            and not self._frame_writer.is_sending
        ):
            self._socket.close()

    def fail_interrupted(self) -> None:
        """Break the connection because a thread was interrupted within a frame."""
        what = "the connection was closed, because a thread was interrupted within a message"
        self.fail(ConnectionLost(self.host_port, what, server=self.host_port))

    def close(self, error: HBaseError | None = None) -> None:
        """Close the connection; every call in flight gets the error."""
        if self._pid != os.getpid():
            self.abandon()
            return
        default_error = ConnectionLost(
            self.host_port, "the client closed the connection", server=self.host_port
        )
        self.fail(error or default_error)

    def abandon(self) -> None:
        """Close the socket in a forked child; the parent still uses the connection."""
        self._socket.close()

    def check_idle(self) -> None:
        """Check whether the server has closed the connection, if it was idle for a while."""
        if monotonic() - self._last_read_at > _IDLE_CHECK_S:
            self._readers.read_if_idle(self._receive_pending)

    def _receive_pending(self) -> None:
        """Receive the bytes that have come, without waiting, if the connection is not broken."""
        if self.failure is None and self._read_poll.poll(0):
            self.receive_frames()

    def require_open(self) -> None:
        """Raise the error that broke the connection, if it is broken."""
        if self._caller_error is not None:
            raise self._caller_error.copy_error()

    def _check_process(self) -> None:
        """Raise an error if the connection was opened before this process was forked."""
        if self._pid != os.getpid():
            what = f"the connection was opened by process {self._pid}, before the fork"
            remedy = "Send the request again: the client opens a new connection."
            raise ConnectionLost(self.host_port, what, remedy=remedy, server=self.host_port)

    def dump_state(self) -> dict[str, Any]:
        """Return the state of the connection as JSON values; ages in seconds."""
        now = monotonic()
        with self._lock:
            calls = list(self._calls.values())
        return {
            "server": self.host_port,
            "service": self.service,
            "age_s": round(now - self.opened_at, 3),
            "in_flight": dict(Counter(call.method for call in calls)),
            "oldest_s": round(max((now - call.sent_at for call in calls), default=0.0), 3),
            "cancelled": sum(call.has_outcome for call in calls),
            "answers": self._answer_count,
            "bytes_sent": self._frame_writer.sent_bytes,
            "bytes_received": self._frame_reader.received_bytes,
            "broken": str(self.failure) if self.failure is not None else None,
        }


def _shut_down_socket(sock: socket.socket, *, reset: bool) -> None:
    """Shut down the reading side of a socket, which wakes the thread that reads it.

    Args:
        reset: whether close discards the bytes that are not sent yet.
    """
    try:
        if reset:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        sock.shutdown(socket.SHUT_RD)
    except OSError:
        pass  # the server has closed it already
