"""How far a step on a table is, as pages and server-sent events show it."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from starlette.responses import StreamingResponse

from rowkey.portal.error_pages import RefusedRequest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.responses import Response

    from rowkey.portal.requests import PortalRequest
    from rowkey.portal.table_steps import TableStep

EVENT_INTERVAL_S = 0.25
"""Seconds between two looks at a step whose progress a browser follows."""


def describe_step(request: PortalRequest, step: TableStep) -> str:
    """Return a sentence about how far a step is."""
    what, done, total = step.progress
    key = f"portal.load.phase_{what or 'begin'}"
    count = f"{done:,}" if not total or done > total else f"{done:,} / {total:,}"
    return request.translate(key, count=count)


def send_step_events(request: PortalRequest, table: str) -> Response:
    """Return the progress of the step of a table as server-sent events, until it has ended.

    Raises:
        RefusedRequest: the table has had no step.
    """
    if request.portal.steps.find(table) is None:
        raise RefusedRequest(404)
    return StreamingResponse(_iterate_events(request, table), media_type="text/event-stream")


async def _iterate_events(request: PortalRequest, table: str) -> AsyncIterator[str]:
    """Yield an event each time when the progress of a step has changed."""
    last = ""
    is_final = False
    while not is_final:
        step = request.portal.steps.find(table)
        is_final = step is None or not step.is_running
        event: dict[str, Any] = {"is_final": is_final}
        if step is not None and not is_final:
            _, done, total = step.progress
            event |= {"count": done, "total": total, "text": describe_step(request, step)}
        text = json.dumps(event)
        if text != last:
            yield f"data: {text}\n\n"
            last = text
        await asyncio.sleep(EVENT_INTERVAL_S)
