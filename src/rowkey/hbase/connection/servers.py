"""The connections of a client: one for each server and service, opened when first needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Event, Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from rowkey import forks
from rowkey.hbase.connection.connection import Connection
from rowkey.hbase.connection.handshake import shown_address
from rowkey.hbase.errors import (
    AskedWrongly,
    CallTimedOut,
    ConnectionLost,
    HBaseError,
    ServerGone,
)

if TYPE_CHECKING:
    from rowkey.hbase.settings import Deadline, Settings

_REMEMBERED_S: Final = 600.0
"""Seconds after which a dead address is forgotten: in a cloud they come and do not come back."""


@dataclass(slots=True)
class _Opening:
    """A connection that one caller opens while others wait for it."""

    over: Event = field(default_factory=Event)
    opened: Connection | None = None
    error: HBaseError | None = None


@dataclass(slots=True)
class _Dead:
    """An address that did not accept: when it may be tried again, and by whom it is."""

    error: ServerGone
    pause_s: float
    until: float
    probed: bool = False


class Servers:
    """One connection for each server and service, opened once however many threads want it.

    Args:
        settings: limits; `pause_s` and `pause_most_s` are those between probes of a dead server.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._open: dict[tuple[tuple[str, int], str], Connection] = {}
        self._closed = False
        self._forget_all()
        forks.register(self)

    def _forget_all(self) -> None:
        self._lock = Lock()
        self._openings: dict[tuple[tuple[str, int], str], _Opening] = {}
        self._dead: dict[tuple[str, int], _Dead] = {}

    def connection(self, address: tuple[str, int], service: str, deadline: Deadline) -> Connection:
        """The connection to a service, opened if there is none that works.

        A server that did not accept is tried by one caller at a time, after a pause that grows;
        the others get its last error at once.

        Raises:
            ServerGone: the server does not accept, or did not when it was last tried.
            AskedWrongly: these servers were closed.
        """
        key = (address, service)
        ready = self._open.get(key)
        if ready is not None:
            ready.look()
            if ready.broken is None:
                return ready
        own = _Opening()
        try:
            opening = self._join(key, own)
            if opening is own:
                return self._establish(key, own, deadline)
        except BaseException as problem:
            if self._openings.get(key) is own:
                self._failed(key, own, problem)
            raise
        if not opening.over.wait(deadline.left()):
            place = shown_address(address)
            raise ConnectionLost(place, "is still being connected to", server=place)
        if opening.opened is None:
            assert opening.error is not None
            raise opening.error.again()
        return opening.opened

    def ready(self, address: tuple[str, int], service: str) -> Connection:
        """The connection to a service if there is one that works; nothing is waited for.

        Raises:
            ConnectionLost: there is none.
        """
        found = self._open.get((address, service))
        if found is None or found.broken is not None:
            place = shown_address(address)
            raise ConnectionLost(place, "there is no connection to it", server=place)
        return found

    def _join(self, key: tuple[tuple[str, int], str], own: _Opening) -> _Opening:
        """The opening of a connection: the caller's own if nobody opens it yet."""
        with self._lock:
            if self._closed:
                raise AskedWrongly("client", "it is closed", "an open client")
            ready = self._open.get(key)
            if ready is not None and ready.broken is None:
                return _done(ready)
            dead = self._dead.get(key[0])
            if dead is not None and (dead.probed or monotonic() < dead.until):
                raise dead.error.again()
            opening = self._openings.get(key)
            if opening is not None:
                return opening
            self._openings[key] = own
            if dead is not None:
                dead.probed = True
            return own

    def _establish(
        self, key: tuple[tuple[str, int], str], opening: _Opening, deadline: Deadline
    ) -> Connection:
        address, service = key
        opened = Connection.open(address, service, self._settings, deadline)
        with self._lock:
            if self._closed:
                opening.error = AskedWrongly("client", "it was closed", "an open client")
            else:
                opening.opened = self._open[key] = opened
                self._sweep()
            opening.over.set()
            self._dead.pop(address, None)
            self._openings.pop(key, None)
        if opening.error is not None:
            opened.close()
            raise opening.error.again()
        return opened

    def _failed(
        self, key: tuple[tuple[str, int], str], opening: _Opening, problem: BaseException
    ) -> None:
        """Let those who wait know, and nobody try again before a pause is over."""
        now, address = monotonic(), key[0]
        place = shown_address(address)
        interrupted = ConnectionLost(place, "connecting to it was interrupted", server=place)
        error = problem if isinstance(problem, ServerGone) else interrupted
        with self._lock:
            self._openings.pop(key, None)
            before = self._dead.get(address)
            pause = self._settings.pause_s
            if before is not None:
                pause = min(self._settings.pause_most_s, 2 * before.pause_s)
            self._dead = {
                one: dead for one, dead in self._dead.items() if now - dead.until < _REMEMBERED_S
            }
            self._dead[address] = _Dead(error, pause, now + pause)
            opening.error = error
            opening.over.set()

    def _sweep(self) -> None:
        """Forget broken connections, those to servers that nobody asks any more; locked."""
        broken = [key for key, one in self._open.items() if one.broken is not None]
        for key in broken:
            del self._open[key]

    def drop(self, address: tuple[str, int], error: HBaseError | None = None) -> None:
        """Close the connections to a server.

        Args:
            address: the server's.
            error: why; connections opened after it was made are kept, as they are newer than what
                is known of the server. A call that timed out closes them only if it was waited
                for as long as one may take, and so has cut its own. None: all are closed.
        """
        with self._lock:
            found = [
                (key, one)
                for key, one in self._open.items()
                if key[0] == address and (error is None or one.opened_at <= error.at)
            ]
            if isinstance(error, CallTimedOut) and not any(one.broken for _, one in found):
                return
            for key, _ in found:
                del self._open[key]
        for _, one in found:
            why = f"the connection was dropped, because {error.mistake.what}" if error else ""
            lost = ConnectionLost(one.place, why, server=one.place) if error else None
            one.close(lost)

    def close(self) -> None:
        """Close all connections, and open none any more."""
        with self._lock:
            self._closed = True
            found = list(self._open.values())
            self._open.clear()
        for one in found:
            one.close()

    def dump(self) -> dict[str, Any]:
        """What the connections are doing, as JSON takes it."""
        now = monotonic()
        with self._lock:
            found, dead = list(self._open.values()), dict(self._dead)
            openings = [f"{shown_address(address)} {name}" for address, name in self._openings]
        return {
            "connections": [one.dump() for one in found],
            "opening": openings,
            "dead": {
                shown_address(address): {
                    "error": str(one.error),
                    "tried_again_in_s": round(max(0.0, one.until - now), 3),
                    "probed": one.probed,
                }
                for address, one in dead.items()
            },
        }

    def reset_in_child(self) -> None:
        """In a forked child: let go of the sockets, which are the parent's."""
        inherited = list(self._open.values())
        self._open = {}
        self._forget_all()
        for one in inherited:
            one.abandon()


def _done(ready: Connection) -> _Opening:
    opening = _Opening(opened=ready)
    opening.over.set()
    return opening
