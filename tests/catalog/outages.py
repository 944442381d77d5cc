"""Outages of ZooKeeper and the time that calls take meanwhile.

An outage of a whole server is a context manager over the session's ZooKeeper and a TCP proxy in
front of it; tests of leases use the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from catalog.wires import TcpProxy

if TYPE_CHECKING:
    from catalog.zookeepers import ZooKeeper

T = TypeVar("T")

LATE_S = 0.5
"""A call may exceed its timeout by this much on an idle machine."""
TICK_S = 0.01


class ZooKeeperLink:
    """A ZooKeeper that is reached through a proxy, so that it can be killed, paused or cut off.

    Args:
        server: the ZooKeeper; it serves again when an outage ends.
    """

    def __init__(self, server: ZooKeeper) -> None:
        self.server = server
        self.wire = TcpProxy(server.port)

    def url(self, root: str, timeout: str) -> str:
        """Return the URL of a catalog that is reached through the proxy."""
        return f"zookeeper://{self.wire.hosts}{root}?timeout={timeout}"

    def outage(self, kind: str) -> AbstractContextManager[None]:
        """Return an outage as a context manager: `killed`, `paused` or `held`."""
        outages = {
            "killed": self.server.kill_temporarily,
            "paused": self.server.pause_temporarily,
            "held": self.wire.stall,
        }
        return outages[kind]()


@contextmanager
def link_zookeeper(server: ZooKeeper) -> Iterator[ZooKeeperLink]:
    """Yield a link to a ZooKeeper and close it afterwards."""
    way = ZooKeeperLink(server)
    with way.wire:
        yield way


class StallMeter:
    """Measures how late this machine wakes a waiting thread, which delays calls too."""

    def __init__(self) -> None:
        self.worst_s = 0.0
        self._over = Event()
        self._thread = Thread(target=self._tick, daemon=True)
        self._thread.start()

    def _tick(self) -> None:
        while not self._over.is_set():
            began = monotonic()
            self._over.wait(TICK_S)
            self.worst_s = max(self.worst_s, monotonic() - began - TICK_S)

    def stop(self) -> float:
        """Stop measuring and return the longest delay in seconds."""
        self._over.set()
        self._thread.join()
        return self.worst_s


def call_within(timeout_s: float, call: Callable[[], T]) -> T:
    """Return what a call returns or raise its error; fail if it exceeds its timeout."""
    stalls, began = StallMeter(), monotonic()
    try:
        return call()
    finally:
        took = monotonic() - began
        assert took <= timeout_s + LATE_S + stalls.stop()
