"""How far a step on a table is, as pages and server-sent events show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.portal.error_pages import RefusedRequest
from rowkey.portal.event_streams import send_progress
from rowkey.portal.requests import PortalRequest

if TYPE_CHECKING:
    from starlette.responses import Response

    from rowkey.portal.table_steps import TableStep

MINUTE_S = 60


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
    return send_progress(request, lambda: _describe_event(request, table))


def _describe_event(request: PortalRequest, table: str) -> dict[str, Any]:
    """Return the event that says how far the step of a table is."""
    step = request.portal.steps.find(table)
    if step is None or not step.is_running:
        return {"is_final": True}
    what, done, total = step.progress
    text = describe_step(request, step)
    return {"is_final": False, "phase": what, "count": done, "total": total, "text": text}
