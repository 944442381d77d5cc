"""happybase's pool of connections, each of which one thread at a time holds."""

from __future__ import annotations

from contextlib import contextmanager
from queue import Empty, LifoQueue
from threading import local
from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused, RowkeyError, shown
from rowkey.hbase.happybase.arguments import wrong_type
from rowkey.hbase.happybase.connection import Connection

if TYPE_CHECKING:
    from collections.abc import Iterator

POOL_MOST = 10_000
"""Most connections of a pool: more threads than that no process has."""

WAIT_MOST_S = 86_400
"""Most seconds to wait for one: who waits longer has mistaken the unit."""


class NoConnectionsAvailable(RowkeyError, RuntimeError):
    """No connection came back to the pool in time."""


class ConnectionPool:
    """A pool of connections that share one native client.

    The first one is opened at once, so that a wrong host is told here.

    Args:
        size: how many connections there are, at most.
        kwargs: arguments of `Connection`; `autoconnect` has no effect.

    Raises:
        WrongType: the size is no whole number, or an argument is of another type.
        Refused: the size is not above 0, or an argument cannot be taken.
        HBaseError: the cluster is not there.
    """

    def __init__(self, size: int, **kwargs: Any) -> None:
        _check_size(size)
        self._mine = local()
        self._free: LifoQueue[Connection] = LifoQueue(size)
        first = Connection(**{**kwargs, "autoconnect": False})
        for _ in range(size - 1):
            self._free.put(first.twin())
        self._free.put(first)
        with self.connection():
            pass

    @contextmanager
    def connection(self, timeout: float | None = None) -> Iterator[Connection]:
        """An open connection for the block of a `with`; inside of it a thread gets the same one.

        Args:
            timeout: seconds to wait for one; None for ever.

        Raises:
            NoConnectionsAvailable: none came back in time.
        """
        held = getattr(self._mine, "connection", None)
        if held is not None:
            held.open()
            yield held
            return
        connection = self._taken(timeout)
        self._mine.connection = connection
        try:
            connection.open()
            yield connection
        finally:
            del self._mine.connection
            self._free.put(connection)

    def _taken(self, timeout: float | None) -> Connection:
        _check_timeout(timeout)
        try:
            return self._free.get(timeout=timeout)
        except Empty:
            what = f"no connection came back to the pool within {timeout} s"
            raise NoConnectionsAvailable(what) from None


def _check_size(size: object) -> None:
    if not isinstance(size, int) or isinstance(size, bool):
        raise wrong_type("size", size, "a whole number")
    if not 0 < size <= POOL_MOST:
        raise Refused("size", f"{shown(size)} is out of range", f"1..{POOL_MOST}")


def _check_timeout(timeout: object) -> None:
    if timeout is None:
        return
    if not isinstance(timeout, int | float) or isinstance(timeout, bool):
        raise wrong_type("timeout", timeout, "seconds, or None")
    if not 0 <= timeout <= WAIT_MOST_S:
        raise Refused("timeout", f"{shown(timeout)} s is out of range", f"0..{WAIT_MOST_S}")
