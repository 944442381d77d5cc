"""Long work of the portal in child processes: few at once, bounded in time and memory."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from secrets import token_hex
from threading import Lock, Thread, Timer
from typing import Any

from rowkey.errors import Unavailable

MAX_RUNNING, MAX_WAITING = 2, 8
"""Jobs that run at once, and that wait for one of these to end."""
MAX_REMEMBERED = 200
"""Jobs that have ended and are remembered; their results are files, which stay."""
# With -P, no module of the current folder replaces one of Python.
JOB_COMMAND = (sys.executable, "-P", "-m", "rowkey.portal.jobs.process")
"""What starts the process of a job."""
JOB_ID_BYTES = 16
"""Random bytes of a job's id: nobody meets one by chance."""


class JobState(StrEnum):
    """Where a job stands; the last six do not change any more."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    REFUSED = "refused"
    CANCELLED = "cancelled"
    TOO_LONG = "too_long"
    TOO_LARGE = "too_large"
    BROKEN = "broken"

    @property
    def is_final(self) -> bool:
        """Whether the job has ended."""
        return self not in (JobState.WAITING, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class JobLimits:
    """What one job may use.

    Args:
        time_s: seconds from the start of its process to its end.
        memory_bytes: bytes of memory that its process may ask for. Only Linux counts all of it.
    """

    time_s: float = 60.0
    memory_bytes: int = 1 << 30


@dataclass(frozen=True, slots=True)
class JobProgress:
    """How far a job is.

    Args:
        state: where it stands.
        phase: what it does, such as `reading`; empty before the first report.
        count: how many units of the phase are done.
        total: of how many; 0 if that is unknown.
        problem: why it was refused, in English; empty otherwise.
    """

    state: JobState = JobState.WAITING
    phase: str = ""
    count: int = 0
    total: int = 0
    problem: str = ""


@dataclass(slots=True, eq=False)
class Job:
    """A call of a function in a process of its own.

    Args:
        id: its name, in hexadecimal digits.
        function: the function, as `package.module:name`. It takes the arguments and a function that
            reports progress, and returns a JSON document.
        arguments: JSON values by name.
        result_file: where the document is written.
        limits: what it may use; as all jobs of its queue if None.
        progress: how far it is; replaced as a whole, so that any thread may read it.
    """

    id: str
    function: str
    arguments: Mapping[str, Any]
    result_file: Path
    limits: JobLimits | None = None
    progress: JobProgress = field(default_factory=JobProgress)
    process: subprocess.Popen[bytes] | None = None

    @property
    def temporary_folder(self) -> Path:
        """Where its process puts temporary files; removed when that ends, in whatever way."""
        return self.result_file.with_suffix(".tmp")

    def end(self, state: JobState, problem: str = "") -> None:
        """Note how the job has ended; only the first call counts."""
        if not self.progress.state.is_final:
            self.progress = JobProgress(state, problem=problem)


def create_job_id() -> str:
    """Return a new random id of a job."""
    return token_hex(JOB_ID_BYTES)


class JobQueue:
    """Runs jobs in the order in which they are submitted, at most two at once.

    Args:
        limits: what each may use that has no limits of its own.
    """

    def __init__(self, limits: JobLimits | None = None) -> None:
        self.limits = limits or JobLimits()
        self._lock = Lock()
        self._jobs: dict[str, Job] = {}
        self._is_closed = False

    def submit(self, job: Job) -> None:
        """Start a job, or let it wait until fewer than two run.

        Raises:
            Unavailable: too many wait already, or the portal is being stopped.
        """
        with self._lock:
            waiting = self._list_jobs(JobState.WAITING)
            if len(waiting) >= MAX_WAITING or self._is_closed:
                what = f"{len(waiting)} jobs wait already"
                remedy = "Wait until one has ended, or cancel one."
                raise Unavailable("job", what, f"at most {MAX_WAITING}", remedy)
            self._jobs[job.id] = job
            for one in [one for one in self._jobs.values() if one.progress.state.is_final][
                :-MAX_REMEMBERED
            ]:
                del self._jobs[one.id]
            self._start_waiting()

    def find(self, job_id: str) -> Job | None:
        """Return a job of this process; None if it is unknown or forgotten."""
        with self._lock:
            return self._jobs.get(job_id)

    def cancel(self, job_id: str) -> None:
        """End a job at once; nothing happens if it has ended or is unknown."""
        with self._lock:
            if job := self._jobs.get(job_id):
                self._stop(job, JobState.CANCELLED)

    def close(self) -> None:
        """End all jobs, and accept no more."""
        with self._lock:
            self._is_closed = True
            for job in self._jobs.values():
                self._stop(job, JobState.CANCELLED)

    def _list_jobs(self, state: JobState) -> list[Job]:
        """Return the jobs in a state, in the order of their submission."""
        return [job for job in self._jobs.values() if job.progress.state is state]

    def _start_waiting(self) -> None:
        """Start jobs that wait, as far as few enough run; the lock is held."""
        # A job that was cancelled counts until its process has ended.
        n_running = sum(job.process is not None for job in self._jobs.values())
        for job in self._list_jobs(JobState.WAITING)[: max(MAX_RUNNING - n_running, 0)]:
            try:
                job.process = _start_process(job.temporary_folder)
            except OSError as problem:
                job.end(JobState.BROKEN, str(problem.strerror))
                continue
            job.progress = JobProgress(JobState.RUNNING)
            Thread(target=self._follow, args=(job, job.process), daemon=True).start()

    def _follow(self, job: Job, process: subprocess.Popen[bytes]) -> None:
        """Read the reports of a job until its process has ended, and start the next one."""
        timer = Timer((job.limits or self.limits).time_s, self._stop_late, (job,))
        timer.daemon = True
        timer.start()
        try:
            self._send_call(job, process)
            assert process.stdout is not None, "it is a pipe"
            for line in process.stdout:
                self._note_report(job, json.loads(line))
        except (OSError, ValueError):  # the process has ended, perhaps within a line
            pass
        finally:
            timer.cancel()
            _kill(process)
            process.wait()
            shutil.rmtree(job.temporary_folder, ignore_errors=True)
            with self._lock:
                job.end(JobState.BROKEN)
                job.process = None
                if not self._is_closed:
                    self._start_waiting()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with suppress(OSError):  # a call that a killed process did not read
                        stream.close()

    def _send_call(self, job: Job, process: subprocess.Popen[bytes]) -> None:
        """Tell a process what to do; its standard input stays open as long as the portal runs."""
        limits = job.limits or self.limits
        call = {
            "function": job.function,
            "arguments": job.arguments,
            "result_file": str(job.result_file),
            "memory_bytes": limits.memory_bytes,
            "time_s": limits.time_s,
        }
        assert process.stdin is not None, "it is a pipe"
        process.stdin.write(json.dumps(call).encode() + b"\n")
        process.stdin.flush()

    def _note_report(self, job: Job, report: Mapping[str, Any]) -> None:
        """Note a report of a process, unless its job has ended."""
        with self._lock:
            if job.progress.state.is_final:
                return
            job.progress = JobProgress(
                JobState(report["state"]),
                report.get("phase", ""),
                report.get("count", 0),
                report.get("total", 0),
                report.get("problem", ""),
            )

    def _stop_late(self, job: Job) -> None:
        """End a job that takes too long."""
        with self._lock:
            self._stop(job, JobState.TOO_LONG)

    @staticmethod
    def _stop(job: Job, state: JobState) -> None:
        """End a job, with its process if it has one."""
        job.end(state)
        if job.process is not None:
            _kill(job.process)


def _start_process(temporary_folder: Path) -> subprocess.Popen[bytes]:
    """Return a new process that waits for a call; it heads a process group of its own.

    Args:
        temporary_folder: where it puts temporary files; it is created.
    """
    temporary_folder.mkdir(exist_ok=True)
    return subprocess.Popen(  # noqa: S603 - this interpreter, with fixed arguments
        JOB_COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(temporary_folder)},
        start_new_session=True,
    )


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that was not waited for yet, with the processes that it has started."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
