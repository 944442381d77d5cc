"""Server-sent events: how far long work is, until it has ended."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Any

from starlette.responses import StreamingResponse

if TYPE_CHECKING:
    from starlette.responses import Response

    from rowkey.portal.server.requests import PortalRequest


EVENT_INTERVAL_S = 0.25
"""Seconds between two looks at what a browser follows."""


def build_event_response(events: AsyncIterator[str]) -> Response:
    """Return events as a response."""
    return StreamingResponse(events, media_type="text/event-stream")


async def iterate_progress(
    request: PortalRequest, describe: Callable[[], Mapping[str, Any]]
) -> AsyncIterator[str]:
    """Yield how far long work is as server-sent events, one after each change.

    Args:
        request: the request; nothing is yielded any more once it is not followed.
        describe: returns the document of an event; the stream ends with one that `is_final`.
    """
    last: Mapping[str, Any] = {}
    while not last.get("is_final") and is_followed(request):
        event = describe()
        if event != last:
            yield f"data: {json.dumps(event)}\n\n"
            last = event
        await asyncio.sleep(EVENT_INTERVAL_S)


def is_followed(request: PortalRequest) -> bool:
    """Return whether a stream goes on: the user is logged in, and the portal is not stopped."""
    return not request.portal.is_stopping.is_set() and request.find_session() is not None
