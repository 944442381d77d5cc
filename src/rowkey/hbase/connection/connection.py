"""One socket to one service of one server, shared by all threads, with many calls in flight.

There is no thread in it: whoever waits for an answer reads for all (`turns`).
"""

from __future__ import annotations

import os
import select
from collections import Counter
from math import ceil
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Self

from rowkey.hbase.connection.calls import Call
from rowkey.hbase.connection.ending import hang_up
from rowkey.hbase.connection.handshake import (
    connect,
    first_words,
    hung_up,
    is_tls,
    no_answer,
    shown_address,
)
from rowkey.hbase.connection.inbox import Inbox
from rowkey.hbase.connection.outbox import Outbox
from rowkey.hbase.connection.turns import Turns
from rowkey.hbase.errors import (
    AskedWrongly,
    BusyError,
    CallTimedOut,
    ConnectionLost,
    HBaseError,
    from_remote,
)
from rowkey.hbase.settings import Deadline
from rowkey.hbase.wire.compression import compress, decompress
from rowkey.hbase.wire.frames import CONNECTION_FAILURE, RequestTooLong, request, response
from rowkey.hbase.wire.proto import Malformed

if TYPE_CHECKING:
    import socket

    from rowkey.hbase.settings import Settings
    from rowkey.hbase.wire.frames import RemoteFault, Response

_CALL_NUMBERS: Final = 1 << 31
"""Call numbers go round below this. Source: RequestHeader.call_id is read as a Java int."""

_PACKED: Final = "zlib"
"""How cell blocks are packed, if they are: what `handshake.first_words` asks for."""

_LONGEST_WAIT_S: Final = 3_600.0
"""Seconds of one poll: it takes milliseconds in 32 bits."""

_IDLE_S: Final = 1.0
"""Seconds after which a silent connection is looked at before it is used again."""


class Connection:
    """A socket to a service of a server; any thread may send on it and wait for its answers.

    Made by `open`.

    Args:
        connected: the socket, not blocking, its first words said.
        address: host and port.
        service: the one it was opened for.
        settings: limits.
    """

    def __init__(
        self, connected: socket.socket, address: tuple[str, int], service: str, settings: Settings
    ) -> None:
        self.address = address
        self.service = service
        self.place = shown_address(address)
        self.opened_at = self._active_at = monotonic()
        self._settings = settings
        self._socket = connected
        self._pid = os.getpid()
        self._broken: HBaseError | None = None
        self._echo: HBaseError | None = None
        self._inbox = Inbox()
        self._calls: dict[int, Call] = {}
        self._next = 0
        self._room: list[Lock] = []
        self._answers = 0
        self._lock = Lock()
        self._turns = Turns(self._lock, self)
        self._outbox = Outbox(connected, self._turns, self)
        self._readable = select.poll()
        self._readable.register(connected, select.POLLIN)

    @classmethod
    def open(
        cls, address: tuple[str, int], service: str, settings: Settings, deadline: Deadline
    ) -> Self:
        """A connection to a service; the server says nothing yet, not even if it refuses it.

        Raises:
            UnknownHost: the name has no address.
            ConnectionLost: the server does not accept in time.
        """
        connected = connect(address, settings, deadline)
        try:
            connected.sendall(first_words(service, settings))
        except OSError as problem:
            connected.close()
            place = shown_address(address)
            raise ConnectionLost(place, f"was cut at once: {problem}", server=place) from None
        except BaseException:
            connected.close()
            raise
        return cls(connected, address, service, settings)

    @property
    def broken(self) -> HBaseError | None:
        """Why nothing can be sent any more; None while something can."""
        return self._broken

    @property
    def in_flight(self) -> int:
        """Calls that were sent and not answered, the cancelled ones too."""
        return len(self._calls)

    def send(
        self,
        method: str,
        param: bytes,
        cells: bytes = b"",
        *,
        deadline: Deadline,
        priority: int | None = None,
        at_once: bool = False,
    ) -> Call:
        """Send a request, and do not wait for its answer.

        Args:
            method: of the RPC.
            param: the request's protobuf.
            cells: its cell block, not packed.
            deadline: for room among the calls in flight, and for sending.
            priority: of the call, or None.
            at_once: whether to give up rather than wait for room or a turn to send.

        Raises:
            AskedWrongly: the request is longer than servers read.
            BusyError: no room, or no turn to send, until the deadline; nothing was sent.
            ServerGone: the connection is broken, or broke amid the request; as half a request
                cannot be taken back, a deadline amid it breaks the connection.
        """
        self._check_process()
        if cells and self._settings.compress:
            cells = compress(_PACKED, cells)
        call = self._enlist(method, Deadline(0.0) if at_once else deadline)
        try:
            timeout_ms = int(deadline.left() * 1000) or 1
            frame = request(call.number, method, param, cells, timeout_ms, priority)
            self._outbox.transmit(method, frame, deadline, at_once=at_once)
        except RequestTooLong as problem:
            self._withdraw(call)
            what = f"{method} is {problem.mistake.what}"
            raise AskedWrongly(self.place, what, problem.mistake.allowed) from None
        except BaseException:
            self._withdraw(call)
            raise
        return call

    def _enlist(self, method: str, deadline: Deadline) -> Call:
        """A new call, when there is room for one more."""
        most = self._settings.in_flight
        while True:
            with self._lock:
                self.require_whole()
                if len(self._calls) < most:
                    number = self._next
                    while number in self._calls:
                        number = (number + 1) % _CALL_NUMBERS
                    self._next = (number + 1) % _CALL_NUMBERS
                    call = self._calls[number] = Call(self, number, method)
                    return call
            if not self._turns.until(self._has_room, self._room, deadline):
                self._refuse_room(method)

    def _has_room(self) -> bool:
        return len(self._calls) < self._settings.in_flight or self._broken is not None

    def _refuse_room(self, method: str) -> None:
        """Raises BusyError, or breaks the connection if the server has been silent for long."""
        with self._lock:
            count = len(self._calls)
            asked_at = next((call.sent_at for call in self._calls.values()), monotonic())
        silent = monotonic() - max(asked_at, self._active_at)
        what = f"{count} calls are in flight, there is no room for {method}"
        if silent >= self._settings.call_s:
            self.fail(CallTimedOut(self.place, f"{what}, and no answer for {silent:.3g} s"))
            self.require_whole()
        raise BusyError(self.place, what, server=self.place)

    def wait(self, call: Call, deadline: Deadline) -> Response:
        """The answer of one of the connection's calls; see `Call.result`."""
        if call.outcome is None:
            self._check_process()
            if not self._turns.until(call.is_done, call.bells, deadline):
                self._give_up(call)
        outcome = call.outcome
        assert outcome is not None
        if isinstance(outcome, HBaseError):
            raise outcome.again()
        if outcome.error is not None:
            raise self._remote(outcome.error)
        if outcome.cells and self._settings.compress:
            return outcome._replace(cells=self._unpack(outcome.cells))
        return outcome

    def _unpack(self, cells: bytes | memoryview) -> bytes:
        try:
            return decompress(_PACKED, cells)
        except Malformed as problem:
            error = no_answer(self.place, b"", problem.mistake.what, fresh=False)
            self.fail(error)
            raise error.again() from None

    def _remote(self, fault: RemoteFault) -> HBaseError:
        return from_remote(
            fault.java, fault.trace, fault.do_not_retry, fault.host, fault.port, self.place
        )

    def arrived(self, call: Call) -> bool:
        """Whether one of its calls is done, after reading what is there; never waits."""
        if call.outcome is None:
            self._check_process()
            self._turns.until(call.is_done, call.bells, Deadline(0.0))
        return call.outcome is not None

    def _give_up(self, call: Call) -> None:
        """Wait no more; only a server that was given its time loses the calls of all others."""
        waited = monotonic() - call.sent_at
        what = f"{call.method} was not answered within {waited:.3g} s"
        error = CallTimedOut(self.place, what, server=self.place)
        self.release(call, error)
        if call.outcome is error and waited >= self._settings.call_s:
            self.fail(error)

    def release(self, call: Call, outcome: HBaseError) -> None:
        """Give a call an outcome before its answer comes; it keeps its number until then."""
        self._check_process()
        with self._lock:
            if call.outcome is None:
                call.outcome = outcome
                self._turns.ring(call.bells)

    def _withdraw(self, call: Call) -> None:
        """Take out a call that was not sent."""
        with self._lock:
            if self._calls.pop(call.number, None) is not None:
                self._turns.ring_one(self._room)

    def read(self, seconds: float) -> None:
        """Wait for bytes at most so long, and hand out what they complete."""
        if self._readable.poll(ceil(min(seconds, _LONGEST_WAIT_S) * 1000)):
            self.receive()

    def receive(self) -> None:
        """Read what is there, without waiting, and hand it out; only with the turn to read."""
        try:
            if not self._inbox.fill(self._socket):
                self.fail(self._ended())
                return
            self._active_at = monotonic()
            self._require_no_tls()
            while frames := self._inbox.frames():
                for frame in frames:
                    self._deliver(response(frame))
        except BlockingIOError:
            return
        except OSError as problem:
            self.cut(problem)
        except Malformed as problem:
            head, fresh = self._inbox.head(), not self._answers
            self.fail(no_answer(self.place, head, problem.mistake.what, fresh=fresh))

    def _require_no_tls(self) -> None:
        if not self._answers and is_tls(self._inbox.head()):
            raise Malformed("TLS")

    def _deliver(self, answer: Response) -> None:
        self._answers += 1
        if answer.call_id == CONNECTION_FAILURE:
            self.fail(
                self._remote(answer.error)
                if answer.error
                else no_answer(
                    self.place, answer.message[:16], "refuses without a word", fresh=False
                )
            )
            return
        with self._lock:
            call = self._calls.pop(answer.call_id, None)
            if call is None:
                return  # of a call that was withdrawn
            if call.outcome is None:
                call.outcome = answer
                self._turns.ring(call.bells)
            if self._room:
                self._turns.ring_one(self._room)

    def _ended(self) -> HBaseError:
        if not self._answers:
            return hung_up(self.place, self.service, self._settings)
        return ConnectionLost(self.place, "closed the connection", server=self.place)

    def cut(self, problem: OSError) -> None:
        """The socket failed: the connection is broken."""
        if not self._answers and isinstance(problem, ConnectionResetError | BrokenPipeError):
            self.fail(hung_up(self.place, self.service, self._settings))
        what = f"the connection was cut: {problem.strerror or problem}"
        self.fail(ConnectionLost(self.place, what, server=self.place))

    def fail(self, error: HBaseError) -> None:
        """Let nothing be sent any more; every call in flight gets an error."""
        with self._lock:
            if self._broken is not None:
                return
            self._echo = error
            if isinstance(error, CallTimedOut):
                what = f"was closed, because {error.mistake.what}"
                self._echo = ConnectionLost(self.place, what, server=self.place)
            self._broken = error
            for call in self._calls.values():
                if call.outcome is None:
                    call.outcome = self._echo
            self._calls.clear()
            self._turns.ring_all()
            hang_up(self._socket, reset=isinstance(error, CallTimedOut))
            self.left()

    def left(self) -> None:
        """Close the socket if the connection is broken and nobody uses it any more."""
        if self._broken is not None and not self._turns.reading and not self._outbox.busy:
            self._socket.close()

    def interrupted(self) -> None:
        """End it: who read or sent was ended amid it, and nobody knows where."""
        self.fail(ConnectionLost(self.place, "was interrupted amid a message", server=self.place))

    def close(self, error: HBaseError | None = None) -> None:
        """Close it; every call in flight gets the error, and who waits is woken."""
        if self._pid != os.getpid():
            self.abandon()
            return
        closed = ConnectionLost(self.place, "the connection was closed here", server=self.place)
        self.fail(error or closed)

    def abandon(self) -> None:
        """Close a socket that was inherited, without a word to the server: it has another owner."""
        self._socket.close()

    def look(self) -> None:
        """After a silence, notice that the server has closed the connection."""
        if monotonic() - self._active_at > _IDLE_S:
            self._turns.spare(self._glance)

    def _glance(self) -> None:
        if self._broken is None and self._readable.poll(0):
            self.receive()

    def require_whole(self) -> None:
        """Raise what broke the connection, if anything did."""
        if self._echo is not None:
            raise self._echo.again()

    def _check_process(self) -> None:
        if self._pid != os.getpid():
            what = f"the connection belongs to process {self._pid}, which was forked"
            raise ConnectionLost(self.place, what, server=self.place)

    def dump(self) -> dict[str, Any]:
        """What it is doing, as JSON takes it; ages in seconds."""
        now = monotonic()
        with self._lock:
            calls = list(self._calls.values())
        return {
            "server": self.place,
            "service": self.service,
            "age_s": round(now - self.opened_at, 3),
            "in_flight": dict(Counter(call.method for call in calls)),
            "oldest_s": round(max((now - call.sent_at for call in calls), default=0.0), 3),
            "cancelled": sum(call.done for call in calls),
            "answers": self._answers,
            "bytes_sent": self._outbox.sent,
            "bytes_received": self._inbox.received,
            "broken": str(self._broken) if self._broken is not None else None,
        }
