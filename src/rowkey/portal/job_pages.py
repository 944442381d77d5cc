"""How far a job is, as pages, programs and server-sent events show it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rowkey.portal.event_streams import send_progress
from rowkey.portal.jobs import JobProgress, JobState
from rowkey.portal.roles import Role

if TYPE_CHECKING:
    from starlette.responses import Response

    from rowkey.portal.requests import PortalRequest

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
    return send_progress(request, lambda: _describe_event(request, job_id))


def _describe_event(request: PortalRequest, job_id: str) -> dict[str, Any]:
    """Return the event that says how far a job is."""
    progress = find_progress(request, job_id)
    return {
        "is_final": progress.state.is_final,
        "count": progress.count,
        "total": progress.total,
        "text": describe_progress(request, job_id, progress),
    }
