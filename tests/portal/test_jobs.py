from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rowkey.errors import Unavailable
from rowkey.portal.jobs.jobs import MAX_RUNNING, MAX_WAITING, Job, JobLimits, JobQueue, JobState

DEADLINE_S = 30.0


@pytest.fixture
def make_queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., JobQueue]]:
    """Yield what returns a queue whose processes find the functions of the tests."""
    tests = str(Path(__file__).parent.parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")]))
    queues: list[JobQueue] = []

    def make(**limits: Any) -> JobQueue:
        queues.append(JobQueue(JobLimits(**limits)))
        return queues[-1]

    yield make
    for queue in queues:
        queue.close()


def build_job(folder: Path, job_id: str, function: str, **arguments: Any) -> Job:
    """Return a job that calls a function of the tests."""
    return Job(job_id, f"portal.job_functions:{function}", arguments, folder / f"{job_id}.json")


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    end_s = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end_s, "it never holds"
        time.sleep(0.01)


def run(queue: JobQueue, job: Job) -> Job:
    """Run a job to its end."""
    queue.submit(job)
    wait_until(lambda: job.progress.state.is_final and job.process is None)
    return job


def test_the_result_of_a_job_is_in_its_file_whatever_the_job_prints(
    tmp_path: Path, make_queue: Callable[..., JobQueue]
) -> None:
    """The document of a function is in the result file, whatever the function prints."""
    job = run(make_queue(), build_job(tmp_path, "a", "add", one=2, other=3))
    assert JobState.DONE is job.progress.state
    assert {"sum": 5} == json.loads(job.result_file.read_text("utf-8"))
    assert [job.result_file] == list(tmp_path.iterdir())


def test_a_job_imports_no_pandas(tmp_path: Path, make_queue: Callable[..., JobQueue]) -> None:
    """A job starts without pandas, which takes longer to import than many jobs to run."""
    job = run(make_queue(), build_job(tmp_path, "a", "import_pandas"))
    assert {"length": 1, "has_pandas": False} == json.loads(job.result_file.read_text("utf-8"))


def test_a_package_error_in_a_job_is_shown_and_another_is_a_defect(
    tmp_path: Path, make_queue: Callable[..., JobQueue]
) -> None:
    """An error of the package is a refusal with its text; any other is a defect without one."""
    queue = make_queue()
    refused = run(queue, build_job(tmp_path, "a", "refuse")).progress
    assert (JobState.REFUSED, True) == (refused.state, "ProgressWriter refuses" in refused.problem)
    broken = run(queue, build_job(tmp_path, "b", "fail")).progress
    assert (JobState.BROKEN, "") == (broken.state, broken.problem)
    assert [] == list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="only Linux counts all memory")
def test_a_job_that_needs_more_than_1_gb_ends(
    tmp_path: Path, make_queue: Callable[..., JobQueue]
) -> None:
    """A job that needs more than 1 GB ends, and one that needs less does not."""
    queue = make_queue()
    assert 1 << 30 == queue.limits.memory_bytes
    large = run(queue, build_job(tmp_path, "a", "allocate", size_bytes=(1 << 30) + 1))
    assert JobState.TOO_LARGE is large.progress.state
    small = run(queue, build_job(tmp_path, "b", "allocate", size_bytes=1 << 20))
    assert JobState.DONE is small.progress.state


def test_a_job_that_takes_longer_than_its_limit_ends(
    tmp_path: Path, make_queue: Callable[..., JobQueue]
) -> None:
    assert 60.0 == JobLimits().time_s
    sleeping = build_job(tmp_path, "a", "sleep", started_file=str(tmp_path / "started"))
    assert JobState.TOO_LONG is run(make_queue(time_s=0.5), sleeping).progress.state
    assert not sleeping.result_file.exists()


def test_a_killed_job_leaves_no_temporary_files(
    tmp_path: Path, make_queue: Callable[..., JobQueue]
) -> None:
    """What a job has put aside, such as uploaded events, does not fill the disk."""
    queue, started = make_queue(), tmp_path / "started"
    job = build_job(tmp_path, "a", "sleep", started_file=str(started))
    queue.submit(job)
    wait_until(started.exists)
    assert 1 == len(list(tmp_path.rglob("rows")))
    queue.cancel(job.id)
    wait_until(lambda: job.process is None)
    assert [started] == list(tmp_path.iterdir())


def test_at_most_two_jobs_run_at_once(tmp_path: Path, make_queue: Callable[..., JobQueue]) -> None:
    """A third job waits until one of two is cancelled; with too many that wait, one is refused."""
    queue = make_queue()
    jobs = [
        build_job(tmp_path, str(number), "sleep", started_file=str(tmp_path / f"started{number}"))
        for number in range(MAX_RUNNING + MAX_WAITING)
    ]
    for job in jobs:
        queue.submit(job)
    with pytest.raises(Unavailable, match="wait already"):
        queue.submit(build_job(tmp_path, "last", "fail"))
    states = [job.progress.state for job in jobs]
    assert [JobState.RUNNING] * 2 + [JobState.WAITING] * MAX_WAITING == states
    wait_until(lambda: all((tmp_path / f"started{one}").exists() for one in range(2)))
    wait_until(lambda: jobs[0].progress.phase == "sleeping")
    assert not (tmp_path / "started2").exists()
    process = jobs[0].process
    assert process is not None
    for job in jobs[3:]:
        queue.cancel(job.id)
    queue.cancel(jobs[0].id)
    wait_until((tmp_path / "started2").exists)
    assert -9 == process.returncode
    assert JobState.CANCELLED is jobs[0].progress.state


def test_stopping_the_portal_ends_its_jobs(
    tmp_path: Path, make_queue: Callable[..., JobQueue]
) -> None:
    """When the portal stops, so do its jobs, and no job starts."""
    queue = make_queue()
    job = build_job(tmp_path, "a", "sleep", started_file=str(tmp_path / "started"))
    queue.submit(job)
    wait_until((tmp_path / "started").exists)
    queue.close()
    wait_until(lambda: job.process is None)
    assert JobState.CANCELLED is job.progress.state
    with pytest.raises(Unavailable):
        queue.submit(build_job(tmp_path, "b", "fail"))


def test_a_job_whose_process_dies_at_its_start_is_reported_as_broken(
    tmp_path: Path, make_queue: Callable[..., JobQueue], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job whose process dies before it reads its call is broken, and its thread is not."""

    def start_dead_process(_: Path) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(["true"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.wait()
        return process

    monkeypatch.setattr("rowkey.portal.jobs.jobs._start_process", start_dead_process)
    job = run(make_queue(), build_job(tmp_path, "a", "add", one=1, other=2))
    assert JobState.BROKEN is job.progress.state
