"""The protocol of a portal's connections, which does not wait for ever for a request."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import RequestResponseCycle

    from rowkey.portal.server.listener import Connection, PortalListener


MAX_HEAD_S = 20.0
"""Seconds from a connection or an answer to the end of the head of the next request."""
MAX_SILENCE_S = 30.0
"""Seconds in which the next piece of a body must come in."""


class PortalProtocol(H11Protocol):
    """HTTP/1.1 that closes connections on which no request comes in, or not the rest of its body.

    Else few clients could open as many as there may be, and nobody else would be answered. The
    time for a head has an end that no further byte of it moves.

    Args:
        options: those of `H11Protocol`.
    """

    def __init__(self, listener: PortalListener, **options: Any) -> None:
        super().__init__(**options)
        self._listener = listener
        self._connection: Connection | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        number = transport.get_extra_info("socket").fileno()
        self._connection = self._listener.find_connection(number)
        self._start_timer(MAX_HEAD_S)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._note_progress()

    def on_response_complete(self) -> None:
        super().on_response_complete()  # a next request may have come in already
        if self._connection is not None:
            self._connection.wait_for_client()
        self._start_timer(MAX_HEAD_S)
        self._note_progress()

    def _note_progress(self) -> None:
        """Wait for the rest of a body, or for nothing, once the head of a request is there."""
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or cycle.response_complete:
            return
        if cycle.more_body:
            self._start_timer(MAX_SILENCE_S)
        else:
            self._stop_timer()
        if self._connection is not None:
            self._connection.wait_for_client()
            self._connection.is_waiting = cycle.more_body

    def _start_timer(self, time_s: float) -> None:
        """Close the connection after some seconds, unless the client does its part before."""
        self._stop_timer()
        self._timer = self.loop.call_later(time_s, self._close_late)

    def _stop_timer(self) -> None:
        """Let the client take its time, as it waits for the portal now."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close_late(self) -> None:
        """Close the connection of a client that was waited for."""
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and cycle.body and not cycle.response_complete:
            self._start_timer(MAX_SILENCE_S)  # the portal has not taken what came in
        else:
            self.transport.close()
