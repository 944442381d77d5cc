"""How far jobs and steps are, as pages, programs and server-sent events show it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rowkey.portal.jobs.jobs import JobProgress, JobState
from rowkey.portal.server.error_pages import RefusedRequest
from rowkey.portal.server.event_streams import send_progress
from rowkey.portal.server.requests import PortalRequest
from rowkey.portal.users.roles import Role

if TYPE_CHECKING:
    from starlette.responses import Response

    from rowkey.portal.tables.steps import TableStep


_PHASE_OF_KEY = re.compile(r"key (\d+): (.+)")


def find_progress(request: PortalRequest, job_id: str) -> JobProgress:
    """Return how far a job is; one of a portal that was stopped is cancelled."""
    job = request.portal.jobs.find(job_id)
    return JobProgress(JobState.CANCELLED) if job is None else job.progress


def describe_progress(request: PortalRequest, job_id: str, progress: JobProgress) -> str:
    """Return a sentence about the progress of a job."""
    if progress.state is not JobState.RUNNING or not progress.phase:
        job = request.portal.jobs.find(job_id)
        limits = (None if job is None else job.limits) or request.portal.jobs.limits
        return request.translate(
            f"portal.job.{progress.state}",
            seconds=f"{limits.time_s:g}",
            gigabytes=f"{limits.memory_bytes / (1 << 30):g}",
        )
    phase = progress.phase
    if of_key := _PHASE_OF_KEY.fullmatch(phase):
        number, phase = of_key.groups()
        sentence = _describe_phase(request, phase, progress)
        return request.translate("portal.job.key", number=number, sentence=sentence)
    return _describe_phase(request, phase, progress)


def _describe_phase(request: PortalRequest, phase: str, progress: JobProgress) -> str:
    """Return a sentence about one phase of a job."""
    return request.translate(
        f"portal.job.{phase.replace(' ', '_')}",
        count=f"{progress.count:,}",
        total=f"{progress.total:,}",
    )


def show_job(request: PortalRequest, job_id: str, progress: JobProgress, **values: Any) -> Response:
    """Show how far a job is that has no result yet.

    Args:
        request: the request.
        job_id: its id.
        progress: how far it was before its result was looked for, so that a result which was
            written meanwhile is shown next.
        values: `title` and `events` describe the job, `path` is that of its page, and `start`,
            `start_title` and `again` lead to the form.
    """
    return request.render(
        "job_progress.html",
        progress=progress,
        sentence=describe_progress(request, job_id, progress),
        can_write=request.can_act_as(Role.DESIGNER),
        **values,
    )


def send_job_events(request: PortalRequest, job_id: str) -> Response:
    """Return the progress of a job as server-sent events, until it has ended."""
    return send_progress(request, lambda: _describe_job_event(request, job_id))


def _describe_job_event(request: PortalRequest, job_id: str) -> dict[str, Any]:
    """Return the event that says how far a job is."""
    progress = find_progress(request, job_id)
    return {
        "is_final": progress.state.is_final,
        "count": progress.count,
        "total": progress.total,
        "text": describe_progress(request, job_id, progress),
    }


MINUTE_S = 60


def describe_step(request: PortalRequest, step: TableStep) -> str:
    """Return a sentence about how far a step is, and how long the rest takes if that is known."""
    now = step.progress
    what, done, total = now.phase, now.done, now.total
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
    return send_progress(request, lambda: _describe_step_event(request, table))


def _describe_step_event(request: PortalRequest, table: str) -> dict[str, Any]:
    """Return the event that says how far the step of a table is."""
    step = request.portal.steps.find(table)
    if step is None or not step.is_running:
        return {"is_final": True}
    now, text = step.progress, describe_step(request, step)
    return {
        "is_final": False,
        "phase": now.phase,
        "count": now.done,
        "total": now.total,
        "text": text,
    }
