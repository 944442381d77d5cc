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

MINUTE_S = 60
EVENT_INTERVAL_S = 0.25
"""Seconds between two looks at a step whose progress a browser follows."""


def describe_step(request: PortalRequest, step: TableStep) -> str:
    """Return a sentence about how far a step is, and how long the rest takes if that is known."""
    what, done, total = step.progress
    if not what:
        return request.translate("portal.phase.begin")
    phase = request.translate(f"portal.phase.{what.replace(' ', '_')}")
    count, left_s = f"{done:,}", step.remaining_s
    if not done and not total:
        return phase
    if what in ("wait", "prepare", "seconds"):
        return request.translate("portal.operations.waiting", done=done, total=total)
    if not total or done > total:
        return request.translate("portal.operations.progress_open", step=phase, done=count)
    values = {"step": phase, "done": count, "total": f"{total:,}", "percent": f"{done / total:.0%}"}
    if left_s is None:
        return request.translate("portal.operations.progress", **values)
    unit = "seconds" if left_s < 2 * MINUTE_S else "minutes"
    left = left_s if unit == "seconds" else left_s / MINUTE_S
    length = request.translate(f"portal.operations.{unit}", count=f"{left:,.0f}")
    return request.translate("portal.operations.progress_left", left=length, **values)


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
    last: dict[str, Any] = {}
    while not last.get("is_final"):
        step = request.portal.steps.find(table)
        event: dict[str, Any] = {"is_final": step is None or not step.is_running}
        if step is not None and step.is_running:
            what, done, total = step.progress
            event |= {"phase": what, "count": done, "total": total}
            event["text"] = describe_step(request, step)
        if event != last:
            yield f"data: {json.dumps(event)}\n\n"
            last = event
        await asyncio.sleep(EVENT_INTERVAL_S)
