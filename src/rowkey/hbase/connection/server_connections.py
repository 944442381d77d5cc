"""The connections of a client: one for each server and service, opened when first needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Event, Lock
from time import monotonic
from typing import Any, Final

from rowkey import fork_safety
from rowkey.hbase.connection.handshake import format_address
from rowkey.hbase.connection.server_connection import ServerConnection
from rowkey.hbase.errors import (
    CallTimedOut,
    ClientClosed,
    ConnectionLost,
    HBaseError,
)
from rowkey.hbase.settings import Deadline, Settings

_DEAD_ADDRESS_TTL_S: Final = 600.0
"""Seconds after which a dead address is forgotten: in a cloud many addresses are used only once."""


@dataclass(slots=True)
class _Opening:
    """A connection that one thread opens while others wait for it."""

    done_event: Event = field(default_factory=Event)
    connection: ServerConnection | None = None
    error: HBaseError | None = None


@dataclass(slots=True)
class _DeadAddress:
    """An address to which no connection opened: when to try again, and whether a thread does."""

    error: HBaseError
    pause_s: float
    retry_at: float
    is_probed: bool = False


class ServerConnections:
    """One connection for each server and service, opened once for all threads.

    Args:
        settings: limits; a dead server is tried again after `retry_pause_s` to `max_retry_pause_s`.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._connections: dict[tuple[tuple[str, int], str], ServerConnection] = {}
        self._known_services: set[tuple[tuple[str, int], str]] = set()
        self._is_closed = False
        self._reset_state()
        fork_safety.register_resource(self)

    def _reset_state(self) -> None:
        """Create new locks, and clear the lists of openings and of dead addresses."""
        self._lock = Lock()
        self._openings: dict[tuple[tuple[str, int], str], _Opening] = {}
        self._dead: dict[tuple[str, int], _DeadAddress] = {}

    def get_connection(
        self, address: tuple[str, int], service: str, deadline: Deadline
    ) -> ServerConnection:
        """Return the connection to an RPC service of a server; open it if there is none.

        A server that refused a connection is tried by one thread at a time, after a growing pause;
        the other threads get its last error at once.

        Raises:
            ServerGone: the server does not accept, or did not when it was last tried.
            AuthenticationFailed: Kerberos or TLS failed, or did when it was last tried.
            ClientClosed: the client is closed.
        """
        key = (address, service)
        ready = self._connections.get(key)
        if ready is not None:
            ready.check_idle()
            if ready.failure is None:
                return ready
        own_opening = _Opening()
        try:
            opening = self._join_opening(key, own_opening)
            if opening is own_opening:
                return self._open_connection(key, own_opening, deadline)
        except BaseException as problem:
            if self._openings.get(key) is own_opening:
                self._record_failure(key, own_opening, problem)
            raise
        if not opening.done_event.wait(deadline.get_remaining_s()):
            host_port = format_address(address)
            what = "another thread is still connecting to the server"
            raise ConnectionLost(host_port, what, server=host_port)
        if opening.connection is None:
            assert opening.error is not None
            raise opening.error.copy_error()
        return opening.connection

    def get_open_connection(self, address: tuple[str, int], service: str) -> ServerConnection:
        """Return the open connection to a service; never opens one or waits.

        Raises:
            ConnectionLost: the client has no open connection to the service.
        """
        connection = self._connections.get((address, service))
        if connection is None or connection.failure is not None:
            host_port = format_address(address)
            what = "there is no open connection to the server"
            raise ConnectionLost(host_port, what, server=host_port)
        return connection

    def _join_opening(self, key: tuple[tuple[str, int], str], new_opening: _Opening) -> _Opening:
        """Return the opening of a connection that exists or that another thread has begun.

        Without either, register the caller's own, and return it.

        Raises:
            ClientClosed: the client was closed.
            HBaseError: the address was found dead a moment ago.
        """
        with self._lock:
            if self._is_closed:
                raise ClientClosed
            ready = self._connections.get(key)
            if ready is not None and ready.failure is None:
                opening = _Opening(connection=ready)
                opening.done_event.set()
                return opening
            dead = self._dead.get(key[0])
            if dead is not None and (dead.is_probed or monotonic() < dead.retry_at):
                raise dead.error.copy_error()
            pending = self._openings.get(key)
            if pending is not None:
                return pending
            self._openings[key] = new_opening
            if dead is not None:
                dead.is_probed = True
            return new_opening

    def _open_connection(
        self, key: tuple[tuple[str, int], str], opening: _Opening, deadline: Deadline
    ) -> ServerConnection:
        """Open a connection, store it, and wake the threads that wait for it.

        Raises:
            HBaseError: the connection cannot be opened, or the client was closed meanwhile.
        """
        address, service = key
        connection = ServerConnection.open(
            address, service, self._settings, deadline, self._known_services
        )
        with self._lock:
            if self._is_closed:
                opening.error = ClientClosed("the client was closed during the call")
            else:
                opening.connection = self._connections[key] = connection
                self._forget_broken()
            opening.done_event.set()
            self._dead.pop(address, None)
            self._openings.pop(key, None)
        if opening.error is not None:
            connection.close()
            raise opening.error.copy_error()
        return connection

    def _record_failure(
        self, key: tuple[tuple[str, int], str], opening: _Opening, problem: BaseException
    ) -> None:
        """Wake the threads that wait for a failed connection; mark the address as dead."""
        now, address = monotonic(), key[0]
        host_port = format_address(address)
        what = "the thread that connected to the server was interrupted"
        interrupted = ConnectionLost(host_port, what, server=host_port)
        error = problem if isinstance(problem, HBaseError) else interrupted
        with self._lock:
            self._openings.pop(key, None)
            last_failure = self._dead.get(address)
            pause = self._settings.retry_pause_s
            if last_failure is not None:
                pause = min(self._settings.max_retry_pause_s, 2 * last_failure.pause_s)
            self._dead = {
                one: dead
                for one, dead in self._dead.items()
                if now - dead.retry_at < _DEAD_ADDRESS_TTL_S
            }
            self._dead[address] = _DeadAddress(error, pause, now + pause)
            opening.error = error
            opening.done_event.set()

    def _forget_broken(self) -> None:
        """Remove broken connections; the caller holds the lock."""
        broken = [key for key, one in self._connections.items() if one.failure is not None]
        for key in broken:
            del self._connections[key]

    def drop_connections(self, address: tuple[str, int], error: HBaseError | None = None) -> None:
        """Close the connections to a server.

        Args:
            error: why; connections that were opened after it was raised are kept. A call that
                timed out closes them only after a full call timeout, when it has closed its own.
                None: all are closed.
        """
        with self._lock:
            connections = [
                (key, one)
                for key, one in self._connections.items()
                if key[0] == address and (error is None or one.opened_at <= error.created_at)
            ]
            if isinstance(error, CallTimedOut) and not any(one.failure for _, one in connections):
                return
            for key, _ in connections:
                del self._connections[key]
        for _, one in connections:
            why = f"the connection was dropped, because {error.mistake.problem}" if error else ""
            connection_error = (
                ConnectionLost(one.host_port, why, server=one.host_port) if error else None
            )
            one.close(connection_error)

    def close(self) -> None:
        """Close all connections, and refuse to open new ones."""
        with self._lock:
            self._is_closed = True
            found = list(self._connections.values())
            self._connections.clear()
        for one in found:
            one.close()

    def dump_state(self) -> dict[str, Any]:
        """Return the state of all connections as JSON values."""
        now = monotonic()
        with self._lock:
            connections, dead = list(self._connections.values()), dict(self._dead)
            openings = [f"{format_address(address)} {name}" for address, name in self._openings]
        return {
            "connections": [one.dump_state() for one in connections],
            "opening": openings,
            "dead": {
                format_address(address): {
                    "error": str(one.error),
                    "tried_again_in_s": round(max(0.0, one.retry_at - now), 3),
                    "probed": one.is_probed,
                }
                for address, one in dead.items()
            },
        }

    def reset_in_child(self) -> None:
        """Close this process's copies of the sockets; called in a forked child process."""
        inherited = list(self._connections.values())
        self._connections = {}
        self._reset_state()
        for one in inherited:
            one.abandon()
