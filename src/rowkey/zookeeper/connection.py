"""One client of kazoo on which no call takes longer than its deadline.

The calls of kazoo wait for as long as ZooKeeper is away: requests are queued until it is back, and
once a few hundred are queued even handing over another one blocks. Here a request is handed over
only while there is a connection and nothing is left unanswered, so that a request that was never
handed over has surely changed nothing.
"""

from __future__ import annotations

import errno
import logging
import socket
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from random import Random
from threading import Condition, Event, Thread
from time import monotonic
from typing import Any

import kazoo.protocol.connection
import kazoo.retry
from kazoo.client import KazooClient
from kazoo.exceptions import (
    AuthFailedError,
    InvalidACLError,
    NoAuthError,
    NoNodeError,
    NotReadOnlyCallError,
    RequestTimeoutError,
    SessionExpiredError,
    SessionMovedError,
    ZookeeperError,
)
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.protocol.states import Callback, KazooState
from kazoo.retry import KazooRetry, RetryFailedError

from rowkey.zookeeper.contract import NotZooKeeper, Znode, ZooKeeperDenied, ZooKeeperUnreachable

LOG = logging.getLogger("rowkey.zookeeper")
LOG.addHandler(logging.NullHandler())  # the caller gets errors
logging.getLogger("kazoo").addHandler(logging.NullHandler())

# kazoo spreads its pings and retries at random, in threads of its own. A user may have seeded the
# module `random`, so kazoo gets a generator of its own.
for _module in (kazoo.retry, kazoo.protocol.connection):
    _module.random = Random()  # noqa: S311 - spreads retries, guards nothing

SESSION_TIMEOUT_S = 6.0
"""After two thirds of it a silent server is left for another one. Servers take 2 to 20 of their
ticks of 2 s. Source: ZooKeeper Administrator's Guide, minSessionTimeout."""
CONNECT_TIMEOUT_S = 2.0
"""The longest that one server may take to accept a connection."""
MIN_RETRY_PAUSE_S, MAX_RETRY_PAUSE_S = 0.1, 1.0
"""The first and the longest pause before all servers are tried again."""
RENEW_AFTER_S = 2 * SESSION_TIMEOUT_S
"""After so long without a connection a new session is opened: the old one has ended by then. A
session that goes on is refused for ever by servers that were set up again, or restored from an old
copy, since it has seen changes that they have not.
Source: ZooKeeperServer.processConnectRequest."""
CLOSE_TIMEOUT_S = 1.0
"""How long a server may take to end a session; after that the connection is cut."""
_POLL_S = 0.1
"""How long an answer is waited for before the thread that reads answers is looked at."""
MAX_FRAME_BYTES = 4 << 20
"""Longest answer that is read. Derivation: four times the longest request that a server takes by
default; the first bytes of HTTP or TLS, read as a length, are far above it.
Source: jute.maxbuffer, 1 MiB."""

_LENGTH_BYTES = 4
_SESSION_ANSWER_BYTES = (36, 37)
"""Lengths of a server's first frame, without and with the flag for read-only servers.
Source: zookeeper.jute, ConnectResponse with a password of 16 bytes."""

_NOT_ZOOKEEPER = "the server does not speak ZooKeeper's protocol"
_REASON_TEXTS = {
    "socket connection broken": "the server closed the connection, as one without a quorum does",
    "socket time-out during read": "the server accepts connections but does not answer",
    "outstanding heartbeat ping not received": "the server does not answer",
    "timed out": "the server does not accept connections in time",
    "Connection refused": "the server does not accept connections: Connection refused",
    "invalid server response": _NOT_ZOOKEEPER,
    "Session has expired": "the server refused the session, because it has expired",
}
"""Messages for what kazoo logs of a failed connection."""

_LOST_ERRORS = (SessionExpiredError, SessionMovedError, RequestTimeoutError)
_MAX_SERVER_CODE = -100
_DENIAL_REASONS: Mapping[type[Exception], str] = {
    NoAuthError: "the access list (ACL) of the znode does not allow this (NoAuth)",
    AuthFailedError: "ZooKeeper requires a login, which rowkey does not support (AuthFailed)",
    InvalidACLError: "ZooKeeper requires an access list (ACL) for each new znode (InvalidACL)",
    NotReadOnlyCallError: "the server has lost its quorum and is read-only",
}


class ZooKeeperConnection:
    """A session with a ZooKeeper ensemble, kept alive by the threads of kazoo until `close`.

    Args:
        hosts: `host:port` of each server, with commas between them.
        on_connect: called with this connection, by a thread of kazoo, each time it is connected.
        connect_timeout_s: the longest that one server may take to accept.
        max_rounds: how often all servers are tried before the connection is dead; -1 for no limit.

    Raises:
        ZooKeeperUnreachable: this process can have no more threads or files.
    """

    def __init__(
        self,
        hosts: str,
        on_connect: Callable[[ZooKeeperConnection], None] | None = None,
        *,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
        max_rounds: int = -1,
    ) -> None:
        self._on_connect = on_connect
        self._unanswered_requests: Sequence[Any] = ()
        self._state_changed = Condition()
        self._handler = _QuietHandler(self._state_changed, connect_timeout_s)
        self._reasons = _ReasonRecorder(LOG, {})
        retry = KazooRetry(
            max_tries=max_rounds,
            delay=MIN_RETRY_PAUSE_S,
            max_delay=MAX_RETRY_PAUSE_S,
            sleep_func=self._handler.sleep_func,
        )
        self.client = KazooClient(
            hosts,
            timeout=SESSION_TIMEOUT_S,
            handler=self._handler,
            connection_retry=retry,
            logger=self._reasons,
        )
        self._disconnected_s = monotonic()
        self.client.add_listener(self._handle_state)
        try:
            self._connected = self.client.start_async()
        except (RuntimeError, OSError) as problem:  # no more threads, or no more files
            self.client.stop()
            raise ZooKeeperUnreachable(str(problem), is_sent=False) from problem

    @property
    def is_connected(self) -> bool:
        """Whether the session is connected to a ZooKeeper server now."""
        return bool(self._connected.is_set())

    @property
    def has_reached_server(self) -> bool:
        """Whether any server has ever accepted a connection."""
        return self._handler.has_reached_server

    @property
    def is_dead(self) -> bool:
        """Whether a new connection is needed: a thread has ended, or it was away for too long."""
        disconnected_s = 0.0 if self.is_connected else monotonic() - self._disconnected_s
        return self._handler.thread_ended.is_set() or disconnected_s > RENEW_AFTER_S

    def get_last_reason(self, default: str) -> str:
        """Return why connecting last failed, or the default if that is unknown."""
        return self._reasons.last_reason or default

    def wait_until_ready(self, deadline_s: float) -> None:
        """Wait until a server is connected and every earlier request is answered.

        Args:
            deadline_s: when to give up, by the monotonic clock.

        Raises:
            ZooKeeperUnreachable: that did not happen in time, or will not happen any more.
        """
        while True:
            with self._state_changed:
                self._state_changed.wait_for(
                    lambda: self.is_connected or self._handler.thread_ended.is_set(),
                    compute_remaining_s(deadline_s),
                )
            if not self.is_connected:
                raise self._build_unreachable("no ZooKeeper server answered in time", is_sent=False)
            if not all(
                self._wait_for_answer(request, deadline_s) for request in self._unanswered_requests
            ):
                raise self._build_unreachable(
                    "the server has not answered the requests before this one", is_sent=False
                )
            self._unanswered_requests = ()
            if self.is_connected:
                return

    def send_requests(
        self, request: Callable[[KazooClient], Sequence[Any]], deadline_s: float
    ) -> list[Any]:
        """Send requests together and wait; return kazoo's answers, each with a value or an error.

        Args:
            request: hands the requests to a client of kazoo.
            deadline_s: when to give up, by the monotonic clock.

        Raises:
            ZooKeeperUnreachable: one was not answered.
        """
        answers = self._unanswered_requests = list(request(self.client))
        for answer in answers:
            if not self._wait_for_answer(answer, deadline_s):
                raise self._build_unreachable("the server did not answer in time", is_sent=True)
        self._unanswered_requests = ()
        for answer in answers:
            if isinstance(answer.exception, Exception) and _is_lost(answer.exception):
                reason = f"{type(answer.exception).__name__} {answer.exception}".strip()
                raise self._build_unreachable(reason, is_sent=True)
        return answers

    def _wait_for_answer(self, answer: Any, deadline_s: float) -> bool:
        """Wait for an answer of kazoo; return whether it came before the deadline."""
        while not answer.wait(min(_POLL_S, compute_remaining_s(deadline_s))):
            if self._handler.thread_ended.is_set() or not compute_remaining_s(deadline_s):
                return bool(answer.ready())
        return True

    def read_znodes(self, paths: Sequence[str], deadline_s: float) -> list[Znode | None]:
        """Read znodes, no older than the call; None for one that is missing.

        They are read in this order, in one round trip.

        Args:
            deadline_s: when to give up, by the monotonic clock.

        Raises:
            ZooKeeperUnreachable: no answer came in time.
            ZooKeeperDenied: one may not be read.

        Cost: one round trip, and one more from the server to its leader.
        """
        answers = self._read_answers(
            paths[0], lambda client: [client.get_async(path) for path in paths], deadline_s
        )
        return [None if answer is None else _build_znode(*answer) for answer in answers]

    def list_children(self, path: str, deadline_s: float) -> list[str]:
        """Return the names of a znode's children, in no order; none if it is missing.

        Raises:
            ZooKeeperUnreachable: no answer came in time.
            ZooKeeperDenied: it may not be read.
        """
        (answer,) = self._read_answers(
            path, lambda client: [client.get_children_async(path)], deadline_s
        )
        return list(answer or ())

    def _read_answers(
        self, path: str, request: Callable[[KazooClient], list[Any]], deadline_s: float
    ) -> list[Any]:
        """Send read requests after a sync; return their values, None for a missing znode."""

        def request_after_sync(client: KazooClient) -> list[Any]:
            """Send a sync before the requests, so that the server has the newest data."""
            return [client.sync_async(path), *request(client)]

        return [
            _get_value(answer) for answer in self.send_requests(request_after_sync, deadline_s)
        ][1:]

    def close(self, wait_s: float = CLOSE_TIMEOUT_S) -> None:
        """End the session and all threads.

        kazoo waits for its threads without limit, so another thread waits for them, and the
        connection is cut if that takes too long.

        Args:
            wait_s: how long the server may take to end the session, and the threads to end.
        """

        def stop() -> None:
            """Stop the client of kazoo, and ignore its errors."""
            with suppress(Exception):
                self.client.stop()
            with suppress(Exception):
                self.client.close()

        deadline_s, was_connected = monotonic() + wait_s, self.is_connected
        stopper = Thread(target=stop, name="rowkey-zookeeper-close", daemon=True)
        with suppress(RuntimeError):  # the interpreter ends, and all threads with it
            stopper.start()
            if was_connected:
                stopper.join(compute_remaining_s(deadline_s))
            self._handler.cut_connection()
            stopper.join(compute_remaining_s(deadline_s))

    def _handle_state(self, state: str) -> None:
        """Record that kazoo's connection was made or lost; kazoo calls this in its own thread."""
        if state != KazooState.CONNECTED:
            self._disconnected_s = monotonic()
            return
        self._reasons.last_reason = ""
        with self._state_changed:
            self._state_changed.notify_all()
        if self._on_connect is not None:
            self._handler.dispatch_callback(Callback("session", self._on_connect, (self,)))

    def _build_unreachable(self, default_reason: str, *, is_sent: bool) -> ZooKeeperUnreachable:
        """Return the error for an unanswered request, with the last reason that kazoo gave."""
        reason = self.get_last_reason(default_reason)
        error_class = NotZooKeeper if reason.startswith(_NOT_ZOOKEEPER) else ZooKeeperUnreachable
        return error_class(reason, is_sent=is_sent)


class _QuietHandler(SequentialThreadingHandler):  # type: ignore[misc]
    """The threads and the socket of a kazoo client; it logs why threads end."""

    def __init__(self, state_changed: Condition, connect_timeout_s: float) -> None:
        super().__init__()
        self._state_changed, self._connect_timeout_s = state_changed, connect_timeout_s
        self._socket: socket.socket | None = None
        self._is_cut = False
        self.has_reached_server = False
        self.thread_ended = Event()

    def spawn(self, func: Callable[..., None], *args: Any, **kwargs: Any) -> Any:
        """Start a thread of kazoo; log why it ends, and set `thread_ended`."""

        def run() -> None:
            """Run the function of the thread until it ends."""
            try:
                func(*args, **kwargs)
            except InterruptedError:
                pass  # closed between two attempts to connect
            except Exception:
                LOG.exception(
                    "a thread of the ZooKeeper session has failed; a new session is opened"
                )
            finally:
                with self._state_changed:
                    self.thread_ended.set()
                    self._state_changed.notify_all()

        return super().spawn(run)

    def create_connection(
        self, address: Any, timeout: float | None = None, **options: Any
    ) -> socket.socket:
        """Open kazoo's connection to a server, with a timeout and checked frame lengths."""
        bound_s = min(timeout or self._connect_timeout_s, self._connect_timeout_s)
        plain = super().create_connection(address, timeout=bound_s, **options)
        connected = self._socket = _FrameCheckingSocket(fileno=plain.detach())
        self.has_reached_server = True
        if self._is_cut:
            self.cut_connection()
        return connected

    def cut_connection(self) -> None:
        """Shut down the socket, now and after each reconnect, so that kazoo's thread ends."""
        self._is_cut = True
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


class _FrameCheckingSocket(socket.socket):
    """A socket that rejects a frame whose length is not valid in ZooKeeper's protocol.

    kazoo reads the 4 bytes of a length, and then as many bytes as the length says.
    """

    _has_session_answer = False

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        """Receive bytes; raise OSError if `size`, the length of a frame, is not ZooKeeper's."""
        is_valid = size <= MAX_FRAME_BYTES
        if not self._has_session_answer and size > _LENGTH_BYTES:
            self._has_session_answer, is_valid = True, size in _SESSION_ANSWER_BYTES
        if not is_valid:
            raise OSError(errno.EPROTO, f"{_NOT_ZOOKEEPER}: a frame has {size:,} bytes")
        return super().recv(size, flags)


class _ReasonRecorder(logging.LoggerAdapter):  # type: ignore[type-arg]
    """Stores the last warning that kazoo logs of a failed connection."""

    last_reason = ""

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        """Log a message of kazoo; store it as `last_reason` if it is a warning."""
        problem = sys.exc_info()[1]
        if level >= logging.WARNING and not isinstance(problem, RetryFailedError):
            self.last_reason = _describe_problem(problem, args) or self.last_reason
        super().log(level, msg, *args, **kwargs)


def compute_remaining_s(deadline_s: float) -> float:
    """Return the seconds until a moment of the monotonic clock, never below 0."""
    return max(0.0, deadline_s - monotonic())


def _describe_problem(problem: BaseException | None, log_arguments: tuple[object, ...]) -> str:
    """Return why connecting failed, from a warning that kazoo logs; may be empty."""
    if isinstance(problem, socket.gaierror) and log_arguments:
        return f"the host name {log_arguments[0]} cannot be resolved: {problem.strerror}"
    if isinstance(problem, struct.error):
        return _NOT_ZOOKEEPER
    text = str(log_arguments[-1]) if log_arguments else str(problem or "")
    text = text.removeprefix("socket connection error: ")
    name = f"{log_arguments[0]}: " if len(log_arguments) > 1 else ""
    return name + _REASON_TEXTS.get(text, text) if text else ""


def _get_value(answer: Any) -> Any:
    """Return the value of an answer of kazoo, or None if the znode is missing.

    Raises:
        ZooKeeperDenied: the answer is another error.
    """
    if isinstance(answer.exception, Exception):
        if isinstance(answer.exception, NoNodeError):
            return None
        raise ZooKeeperDenied(describe_denial(answer.exception))
    return answer.value


def _is_lost(problem: Exception) -> bool:
    """Return whether an error leaves the outcome of a request unknown.

    Source: KeeperException.Code: the errors of the server are -100 or below.
    """
    if isinstance(problem, _LOST_ERRORS) or not isinstance(problem, ZookeeperError):
        return True
    return bool(problem.code > _MAX_SERVER_CODE)


def describe_denial(problem: Exception) -> str:
    """Return a message for an error with which ZooKeeper refuses a request."""
    for error_class, reason in _DENIAL_REASONS.items():
        if isinstance(problem, error_class):
            return reason
    detail = f": {problem}" if str(problem) else ""
    return f"ZooKeeper answers {type(problem).__name__}{detail}"


def _build_znode(data: bytes | None, stat: Any) -> Znode:
    return Znode(data or b"", stat.version, stat.czxid)
