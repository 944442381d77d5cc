"""The protocol of a portal's connections, which does not wait for ever for a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

    from uvicorn.protocols.http.h11_impl import RequestResponseCycle

MAX_IDLE_S = 15.0
"""Seconds after which a connection is closed if no request has begun meanwhile."""


class PortalProtocol(H11Protocol):
    """HTTP/1.1 that closes connections on which no whole head of a request comes in.

    Else few clients could open as many as there may be, and nobody else would be answered.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.loop.call_later(MAX_IDLE_S, self._close_if_idle, self.cycle)

    def _close_if_idle(self, last: RequestResponseCycle | None) -> None:
        """Close the connection if the last request is still the same, and is answered.

        A request of which only a part has come in is none.
        """
        if self.transport.is_closing():
            return
        is_answered = last is None or last.response_complete
        if is_answered and self.cycle is last:
            self.transport.close()
        else:
            self.loop.call_later(MAX_IDLE_S, self._close_if_idle, self.cycle)
