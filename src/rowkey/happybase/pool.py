"""happybase's pool of connections, each used by one thread at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty, LifoQueue
from threading import local
from typing import Any

from rowkey.errors import InvalidArgument, RowkeyError
from rowkey.happybase.arguments import build_type_error
from rowkey.happybase.connection import Connection
from rowkey.messages import format_value

MAX_POOL_SIZE = 10_000
"""Maximum size of a pool; no process has more threads."""

MAX_WAIT_S = 86_400
"""Maximum seconds to wait for a connection; a longer time is probably in a wrong unit."""


class NoConnectionsAvailable(RowkeyError, RuntimeError):
    """No connection was returned to the pool in time."""


class ConnectionPool:
    """A pool of connections that share one native client.

    The first connection is opened at once, so that a wrong host raises here.

    Args:
        size: maximum number of connections in use at the same time.
        kwargs: arguments of `Connection`; `autoconnect` has no effect.

    Raises:
        WrongArgumentType: the size or an argument has the wrong type.
        InvalidArgument: the size is out of range, or an argument is not valid.
        HBaseError: the cluster cannot be reached.
    """

    def __init__(self, size: int, **kwargs: Any) -> None:
        _check_size(size)
        self._thread_local = local()
        self._free_connections: LifoQueue[Connection] = LifoQueue(size)
        first = Connection(**{**kwargs, "autoconnect": False})
        for _ in range(size - 1):
            self._free_connections.put(first.clone_closed())
        self._free_connections.put(first)
        with self.connection():
            pass

    @contextmanager
    def connection(self, timeout: float | None = None) -> Iterator[Connection]:
        """Lend an open connection for a `with` block; nested calls of a thread share it.

        Args:
            timeout: seconds to wait for a connection; None to wait forever.

        Raises:
            NoConnectionsAvailable: no connection was returned in time.
        """
        current = getattr(self._thread_local, "connection", None)
        if current is not None:
            current.open()
            yield current
            return
        connection = self._take_connection(timeout)
        self._thread_local.connection = connection
        try:
            connection.open()
            yield connection
        finally:
            del self._thread_local.connection
            self._free_connections.put(connection)

    def _take_connection(self, timeout: float | None) -> Connection:
        """Take a free connection from the pool, waiting for one up to `timeout` seconds.

        Raises:
            NoConnectionsAvailable: none was returned to the pool in time.
        """
        _check_timeout(timeout)
        try:
            return self._free_connections.get(timeout=timeout)
        except Empty:
            what = f"no connection was returned to the pool within {timeout} s"
            remedy = "Try again, wait longer, or create the pool with a larger size."
            raise NoConnectionsAvailable(f"{what}. {remedy}") from None


def _check_size(size: object) -> None:
    if not isinstance(size, int) or isinstance(size, bool):
        raise build_type_error("size", size, f"a whole number from 1 to {MAX_POOL_SIZE}")
    if not 0 < size <= MAX_POOL_SIZE:
        what = f"{format_value(size)} is out of range"
        raise InvalidArgument("size", what, f"a whole number from 1 to {MAX_POOL_SIZE}")


def _check_timeout(timeout: object) -> None:
    """Raise InvalidArgument unless a timeout is None or a valid number of seconds."""
    if timeout is None:
        return
    if not isinstance(timeout, int | float) or isinstance(timeout, bool):
        raise build_type_error("timeout", timeout, "a number of seconds, or None")
    if not 0 <= timeout <= MAX_WAIT_S:
        what = f"{format_value(timeout)} s is out of range"
        raise InvalidArgument("timeout", what, f"0 to {MAX_WAIT_S} s")
