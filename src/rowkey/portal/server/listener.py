"""The socket that accepts a portal's connections, and what each of its clients may take of them."""

from __future__ import annotations

import asyncio
import socket
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from rowkey.portal.users.login_throttle import find_network

MAX_CONNECTIONS = 256
"""Connections with a request that are answered; those beyond get the status 503."""
MAX_SHARED = 224
"""Connections beyond which one of the client with the most is closed for one of another client."""
MAX_WAITING = 128
"""Connections on which a request is waited for: TLS handshakes, heads, bodies, or nothing yet."""
MAX_ACCEPTS = 32
"""Connections that are accepted before those that are to be closed get the time for it."""


@dataclass(slots=True)
class Connection:
    """A connection to the portal.

    Args:
        client: who has opened it: an address, or a network.
        since_s: since when the client is waited for, or has been answered.
        is_waiting: whether the client is waited for.
    """

    socket: socket.socket
    client: str
    since_s: float = field(default_factory=time.monotonic)
    is_waiting: bool = True

    def wait_for_client(self) -> None:
        """Note that the client is waited for from now on."""
        self.is_waiting, self.since_s = True, time.monotonic()

    def cut(self) -> None:
        """End the connection; its transport sees that, and closes the socket."""
        with suppress(OSError):  # the client has ended it
            self.socket.shutdown(socket.SHUT_RDWR)


class PortalListener(socket.socket):
    """A listening socket that closes connections of those who have most, to let others in."""

    def __init__(self, family: int) -> None:
        super().__init__(family, socket.SOCK_STREAM)
        self.proxy_address = ""
        """The address of a proxy, which many people share: its connections are never closed."""
        self._connections: dict[int, Connection] = {}
        self._n_accepted = 0

    def accept(self) -> tuple[socket.socket, Any]:
        """Return a new connection and its address, as the event loop asks for it.

        Raises:
            BlockingIOError: there is none; or those that were cut have to be closed first.
        """
        if self._n_accepted == MAX_ACCEPTS:
            raise BlockingIOError
        accepted, address = super().accept()
        if self._n_accepted == 0:
            asyncio.get_running_loop().call_soon(self._begin_round)
        self._n_accepted += 1
        if address[0] != self.proxy_address:
            client = find_network(address[0])
            self._make_room(client)
            self._connections[accepted.fileno()] = Connection(accepted, client)
        return accepted, address

    def find_connection(self, number: int) -> Connection | None:
        """Return the connection of a file descriptor; None if it is not counted."""
        return self._connections.get(number)

    def _begin_round(self) -> None:
        """Accept connections again; those that were cut before have been closed meanwhile."""
        self._n_accepted = 0

    def _make_room(self, client: str) -> None:
        """Cut a connection if there are too many for one more of a client."""
        closed = [number for number, one in self._connections.items() if one.socket.fileno() < 0]
        for number in closed:
            del self._connections[number]
        waiting = [one for one in self._connections.values() if one.is_waiting]
        if len(waiting) >= MAX_WAITING:
            candidates = waiting
        elif len(self._connections) >= MAX_SHARED:
            candidates = list(self._connections.values())
        else:
            return
        counts = Counter(one.client for one in candidates)
        greediest = max(counts, key=counts.__getitem__)
        if candidates is not waiting and greediest == client:
            return
        oldest = min(
            (one for one in candidates if one.client == greediest),
            key=lambda one: (not one.is_waiting, one.since_s),
        )
        oldest.cut()
        del self._connections[oldest.socket.fileno()]
