"""How far a job is, as pages, programs and server-sent events show it."""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING

from starlette.responses import StreamingResponse

from rowkey.portal.jobs import JobProgress, JobState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.responses import Response

    from rowkey.portal.requests import PortalRequest

EVENT_INTERVAL_S = 0.25
"""Seconds between two looks at a job whose progress a browser follows."""
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


def send_job_events(request: PortalRequest, job_id: str) -> Response:
    """Return the progress of a job as server-sent events, until it has ended."""
    return StreamingResponse(_iterate_events(request, job_id), media_type="text/event-stream")


async def _iterate_events(request: PortalRequest, job_id: str) -> AsyncIterator[str]:
    """Yield an event each time when the progress of a job has changed."""
    last = None
    while last is None or not last.state.is_final:
        progress = find_progress(request, job_id)
        if progress != last:
            event = {
                "is_final": progress.state.is_final,
                "count": progress.count,
                "total": progress.total,
                "text": describe_progress(request, job_id, progress),
            }
            yield f"data: {json.dumps(event)}\n\n"
            last = progress
        await asyncio.sleep(EVENT_INTERVAL_S)
