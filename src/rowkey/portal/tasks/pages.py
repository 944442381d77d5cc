"""How far tasks are, as pages, programs and server-sent events show it."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.portal.server.error_pages import RefusedRequest
from rowkey.portal.server.event_streams import build_event_response, iterate_progress
from rowkey.portal.server.requests import PortalRequest
from rowkey.portal.tasks.process_task import ProcessTask, TaskLimits
from rowkey.portal.tasks.results import RequestT, TaskResults
from rowkey.portal.tasks.task import Task, TaskState
from rowkey.portal.users.roles import Role

if TYPE_CHECKING:
    from starlette.responses import Response

MINUTE_S = 60


def read_request(request: PortalRequest, store: TaskResults[RequestT]) -> tuple[str, RequestT]:
    """Return the id in the path, and what was wanted.

    Raises:
        RefusedRequest: there is no such request.
    """
    task_id = request.path_values["id"]
    wanted = store.read_request(task_id)
    if wanted is None:
        raise RefusedRequest(404)
    return task_id, wanted


def find_task(request: PortalRequest, task_id: str) -> ProcessTask:
    """Return a task as it is now; one of a portal that was stopped is cancelled."""
    task = request.portal.tasks.find(task_id)
    if task is None:
        task = ProcessTask("", {}, Path(), task_id=task_id)
        task.cancel()
    return copy(task)


def describe_task(request: PortalRequest, task: Task) -> str:
    """Return a sentence about how far a task is, and how long the rest takes if that is known."""
    now = task.progress
    if task.state is not TaskState.RUNNING or not now.phase:
        limits = task.limits if isinstance(task, ProcessTask) else TaskLimits()
        return request.translate(
            f"portal.job.{task.state}",
            seconds=f"{limits.time_s:g}",
            gigabytes=f"{limits.memory_bytes / (1 << 30):g}",
        )
    phase = request.translate(f"portal.phase.{now.phase.replace(' ', '_')}")
    count, left_s = f"{now.done:,}", task.remaining_s
    if not now.done and not now.total:
        return phase
    if now.phase in ("wait", "prepare", "seconds"):
        return request.translate("portal.operations.waiting", done=now.done, total=now.total)
    if now.share is None:
        return request.translate("portal.operations.progress_open", step=phase, done=count)
    total, percent = f"{now.total:,}", f"{now.share:.0%}"
    values = {"step": phase, "done": count, "total": total, "percent": percent}
    if left_s is None:
        return request.translate("portal.operations.progress", **values)
    unit = "seconds" if left_s < 2 * MINUTE_S else "minutes"
    left = left_s if unit == "seconds" else left_s / MINUTE_S
    length = request.translate(f"portal.operations.{unit}", count=f"{left:,.0f}")
    return request.translate("portal.operations.progress_left", left=length, **values)


def show_task(request: PortalRequest, task: ProcessTask, **values: Any) -> Response:
    """Show how far a task is that has no result yet.

    Args:
        task: the task as it was before its result was looked for, so that a result which was
            written meanwhile is shown next.
        values: `title` and `events` describe the task, `path` is that of its page, and `start`,
            `start_title` and `again` lead to the form.
    """
    return request.render(
        "task.html",
        task=task,
        sentence=describe_task(request, task),
        can_write=request.can_act_as(Role.DESIGNER),
        **values,
    )


def send_task_events(request: PortalRequest, find: Callable[[], Task | None]) -> Response:
    """Return the progress of a task as server-sent events, until it has ended.

    Raises:
        RefusedRequest: there is no such task.
    """
    if find() is None:
        raise RefusedRequest(404)

    def describe() -> dict[str, Any]:
        task = copy(find())
        if task is None:
            return {"is_final": True}
        return {
            "is_final": task.state.is_final,
            "phase": task.progress.phase,
            "count": task.progress.done,
            "total": task.progress.total,
            "text": describe_task(request, task),
        }

    return build_event_response(iterate_progress(request, describe))
