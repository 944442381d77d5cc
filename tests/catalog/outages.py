"""ZooKeeper out of reach in each way that it can be, and how long a call takes then.

The outages of a whole server are context managers over the session's ZooKeeper and a wire to it;
whatever keeps leases on a catalog is tried through the same ones.
"""

from __future__ import annotations

from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from catalog.wires import Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from catalog.zookeepers import ZooKeeper

T = TypeVar("T")

LATE_S = 0.5
"""By so much a call may take longer than its time-out, on a machine that has time for it."""
TICK_S = 0.01


class Way:
    """A ZooKeeper behind a wire, so that it can be killed, paused and cut off.

    Args:
        server: the ZooKeeper; it serves again when an outage ends.
    """

    def __init__(self, server: ZooKeeper) -> None:
        self.server = server
        self.wire = Wire(server.port)

    def url(self, root: str, timeout: str) -> str:
        """A catalog at the end of the wire."""
        return f"zookeeper://{self.wire.hosts}{root}?timeout={timeout}"

    def outage(self, kind: str) -> AbstractContextManager[None]:
        """An outage: `killed`, `paused` or `held`, when connections are made and nothing passes."""
        outages = {
            "killed": self.server.killed,
            "paused": self.server.paused,
            "held": self.wire.held,
        }
        return outages[kind]()


@contextmanager
def way_to(server: ZooKeeper) -> Iterator[Way]:
    """A way to a ZooKeeper, ended with the block."""
    way = Way(server)
    with way.wire:
        yield way


class Stalls:
    """How late a thread that only waits is woken: what the machine owes to every call."""

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
        """The worst of it, in seconds."""
        self._over.set()
        self._thread.join()
        return self.worst_s


def within(timeout_s: float, call: Callable[[], T]) -> T:
    """What a call gives or raises, which it must do within its time-out."""
    stalls, began = Stalls(), monotonic()
    try:
        return call()
    finally:
        took = monotonic() - began
        assert took <= timeout_s + LATE_S + stalls.stop()
