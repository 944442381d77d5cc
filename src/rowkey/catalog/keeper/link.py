"""A client of kazoo that is quiet, ends without being waited for, and tells why it is cut off."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from random import Random
from threading import Condition, Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

import kazoo.protocol.connection
import kazoo.retry
from kazoo.client import KazooClient
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.protocol.states import Callback, KazooState
from kazoo.retry import KazooRetry

if TYPE_CHECKING:
    from collections.abc import Callable

LOG = logging.getLogger("rowkey.catalog.zookeeper")
LOG.addHandler(logging.NullHandler())  # who calls is told by errors
logging.getLogger("kazoo").addHandler(logging.NullHandler())

# kazoo spreads its pings and retries by chance, in threads of its own. The state of the module
# `random` is its users', who may have seeded it: kazoo gets one of its own.
for _module in (kazoo.retry, kazoo.protocol.connection):
    _module.random = Random()  # noqa: S311 - spreads retries, guards nothing

SESSION_S = 6.0
"""After two thirds of it a silent server is left for another one. Servers take 2 to 20 of their
ticks of 2 s. Source: ZooKeeper Administrator's Guide, minSessionTimeout."""
CONNECT_S = 2.0
"""The longest that one server may take to accept a connection."""
PAUSE_S, PAUSE_MOST_S = 0.1, 1.0
"""The first and the longest pause before all servers are tried again."""
RENEWED_S = 2 * SESSION_S
"""After so long without a connection another session is begun: the old one has ended by then. One
that goes on is refused for ever by servers that were set up anew, or restored from an old copy,
since it has seen changes that they have not. Source: ZooKeeperServer.processConnectRequest."""
END_S = 1.0
"""How long a session that ends is waited for; the rest of it ends by itself."""

_SAID = {
    "socket connection broken": "it closed the connection, as a server without a quorum does",
    "socket time-out during read": "it accepts connections, and answers nothing",
    "outstanding heartbeat ping not received": "it answers nothing",
    "timed out": "it does not accept connections",
}
"""What kazoo says of a connection, in our words."""


class Link:
    """One client of kazoo, with what it said last."""

    def __init__(self, hosts: str, connected: Callable[[Link], None]) -> None:
        self._connected = connected
        self._news = Condition()
        self.handler = _Handler(self._news)
        self.reasons = _Reasons(LOG, {})
        retry = KazooRetry(
            max_tries=-1,
            delay=PAUSE_S,
            max_delay=PAUSE_MOST_S,
            sleep_func=self.handler.sleep_func,
        )
        self.client = KazooClient(
            hosts,
            timeout=SESSION_S,
            handler=self.handler,
            connection_retry=retry,
            logger=self.reasons,
        )
        self._cut = monotonic()
        self.client.add_listener(self._hear)
        self.live = self.client.start_async()

    @property
    def is_over(self) -> bool:
        """Whether it will hardly be connected again: a thread has ended, or that is long ago."""
        cut_s = 0.0 if self.live.is_set() else monotonic() - self._cut
        return self.handler.ended.is_set() or cut_s > RENEWED_S

    def wait(self, seconds: float) -> bool:
        """Whether it is connected; that is waited for, unless it never will be again."""
        with self._news:
            self._news.wait_for(lambda: self.live.is_set() or self.handler.ended.is_set(), seconds)
        return bool(self.live.is_set())

    def _hear(self, state: str) -> None:
        """Called by the thread of the connection, which must not wait for itself."""
        if state != KazooState.CONNECTED:
            self._cut = monotonic()
        else:
            self.reasons.last = ""
            with self._news:
                self._news.notify_all()
            self.handler.dispatch_callback(Callback("session", self._connected, (self,)))

    def end(self, wait_s: float = END_S) -> None:
        """End it; kazoo waits for its threads without limit, so another thread waits for that."""

        def stop() -> None:
            with suppress(Exception):
                self.client.stop()
            with suppress(Exception):
                self.client.close()

        ending = Thread(target=stop, name="rowkey-catalog-end", daemon=True)
        with suppress(RuntimeError):  # the interpreter ends, and all threads with it
            ending.start()
            ending.join(wait_s)


class _Handler(SequentialThreadingHandler):  # type: ignore[misc]
    """Starts the threads of kazoo so that none of them prints why it ends."""

    def __init__(self, news: Condition) -> None:
        super().__init__()
        self._news = news
        self.ended = Event()

    def spawn(self, func: Callable[..., None], *args: Any, **kwargs: Any) -> Any:
        def run() -> None:
            try:
                func(*args, **kwargs)
            except Exception:
                LOG.exception("a session with ZooKeeper has ended")
            finally:
                with self._news:
                    self.ended.set()
                    self._news.notify_all()

        return super().spawn(run)

    def create_connection(self, address: Any, timeout: float | None = None, **words: Any) -> Any:
        bound = CONNECT_S if timeout is None else min(timeout, CONNECT_S)
        return super().create_connection(address, timeout=bound, **words)


class _Reasons(logging.LoggerAdapter):  # type: ignore[type-arg]
    """Keeps the last reason that kazoo gives for having no connection; it raises none."""

    last = ""

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        if level >= logging.WARNING:
            said = str(args[-1]) if args else str(sys.exc_info()[1] or "")
            if said:
                said = said.removeprefix("socket connection error: ")
                name = f"{args[0]}: " if len(args) > 1 else ""
                self.last = name + _SAID.get(said, said)
        super().log(level, msg, *args, **kwargs)
