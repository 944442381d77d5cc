"""The protocol of a portal's connections, which does not wait for ever for a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

    from uvicorn.protocols.http.h11_impl import RequestResponseCycle

MAX_IDLE_S = 30.0
"""Seconds after which a connection is closed if meanwhile no request has begun or come in further.
"""


class PortalProtocol(H11Protocol):
    """HTTP/1.1 that closes connections on which no request comes in, or not the rest of its body.

    Else few clients could open as many as there may be, and nobody else would be answered.
    """

    _has_received = False

    def data_received(self, data: bytes) -> None:
        self._has_received = True
        super().data_received(data)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.loop.call_later(MAX_IDLE_S, self._close_if_idle, self.cycle)

    def _close_if_idle(self, last: RequestResponseCycle | None) -> None:
        """Close the connection if the client is waited for since the last call.

        A request of which only a part of its head has come in is none.

        Args:
            last: the request at the last call; None before the first one.
        """
        if self.transport.is_closing():
            return
        is_answered = last is None or last.response_complete
        is_silent = not self._has_received and last is not None and last.more_body and not last.body
        if self.cycle is last and (is_answered or is_silent):
            self.transport.close()
            return
        self._has_received = False
        self.loop.call_later(MAX_IDLE_S, self._close_if_idle, self.cycle)
