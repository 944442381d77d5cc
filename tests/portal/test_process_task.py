from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rowkey.errors import Unavailable
from rowkey.portal.tasks.process_task import MAX_RUNNING, MAX_WAITING, ProcessTask, TaskLimits
from rowkey.portal.tasks.task import TaskState
from rowkey.portal.tasks.task_queue import TaskQueue
from rowkey.stored_messages import load_document

DEADLINE_S = 30.0
Queue = TaskQueue[ProcessTask]


@pytest.fixture
def make_queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Queue]]:
    """Yield what returns a queue whose processes find the functions of the tests."""
    tests = str(Path(__file__).parent.parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")]))
    queues: list[Queue] = []

    def make() -> Queue:
        queues.append(TaskQueue(MAX_RUNNING, MAX_WAITING))
        return queues[-1]

    yield make
    for queue in queues:
        queue.close()


def build_task(folder: Path, task_id: str, function: str, **arguments: Any) -> ProcessTask:
    """Return a task that calls a function of the tests."""
    name, path = f"portal.task_functions:{function}", folder / f"{task_id}.json"
    return ProcessTask(name, arguments, path, task_id=task_id)


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    end_s = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end_s, "it never holds"
        time.sleep(0.01)


def run(queue: Queue, task: ProcessTask) -> ProcessTask:
    """Run a task to its end."""
    queue.submit(task)
    wait_until(lambda: task.state.is_final and task.process is None)
    return task


def test_the_result_of_a_task_is_in_its_file_whatever_the_task_prints(
    tmp_path: Path, make_queue: Callable[[], Queue]
) -> None:
    """The document of a function is in the result file, whatever the function prints."""
    task = run(make_queue(), build_task(tmp_path, "a", "add", one=2, other=3))
    assert TaskState.DONE is task.state
    assert {"sum": 5} == load_document(task.result_file.read_bytes())
    assert [task.result_file] == list(tmp_path.iterdir())


def test_a_task_imports_no_pandas(tmp_path: Path, make_queue: Callable[[], Queue]) -> None:
    """A task starts without pandas, which takes longer to import than many tasks to run."""
    task = run(make_queue(), build_task(tmp_path, "a", "import_pandas"))
    found = load_document(task.result_file.read_bytes())
    assert {"length": 1, "has_pandas": False} == found


def test_a_package_error_in_a_task_is_shown_and_another_is_a_defect(
    tmp_path: Path, make_queue: Callable[[], Queue]
) -> None:
    """An error of the package is a refusal with its text; any other is a defect without one."""
    queue = make_queue()
    refused = run(queue, build_task(tmp_path, "a", "refuse"))
    assert (TaskState.REFUSED, True) == (refused.state, "ProgressWriter refuses" in refused.problem)
    broken = run(queue, build_task(tmp_path, "b", "fail"))
    assert (TaskState.BROKEN, "") == (broken.state, broken.problem)
    assert [] == list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="only Linux counts all memory")
def test_a_task_that_needs_more_than_1_gb_ends(
    tmp_path: Path, make_queue: Callable[[], Queue]
) -> None:
    """A task that needs more than 1 GB ends, and one that needs less does not."""
    queue = make_queue()
    assert 1 << 30 == TaskLimits().memory_bytes
    large = run(queue, build_task(tmp_path, "a", "allocate", size_bytes=(1 << 30) + 1))
    assert TaskState.TOO_LARGE is large.state
    small = run(queue, build_task(tmp_path, "b", "allocate", size_bytes=1 << 20))
    assert TaskState.DONE is small.state


def test_a_task_that_takes_longer_than_its_limit_ends(
    tmp_path: Path, make_queue: Callable[[], Queue]
) -> None:
    """A task that takes longer than its limit ends, by default after a minute."""
    assert 60.0 == TaskLimits().time_s
    sleeping = build_task(tmp_path, "a", "sleep", started_file=str(tmp_path / "started"))
    sleeping.limits = TaskLimits(time_s=0.5)
    assert TaskState.TOO_LONG is run(make_queue(), sleeping).state
    assert not sleeping.result_file.exists()


def test_a_killed_task_leaves_no_temporary_files(
    tmp_path: Path, make_queue: Callable[[], Queue]
) -> None:
    """What a task has put aside, such as uploaded events, does not fill the disk."""
    queue, started = make_queue(), tmp_path / "started"
    task = build_task(tmp_path, "a", "sleep", started_file=str(started))
    queue.submit(task)
    wait_until(started.exists)
    assert 1 == len(list(tmp_path.rglob("rows")))
    queue.cancel(task.id)
    wait_until(lambda: task.process is None)
    assert [started] == list(tmp_path.iterdir())


def test_at_most_two_tasks_run_at_once(tmp_path: Path, make_queue: Callable[[], Queue]) -> None:
    """A third task waits until one of two is cancelled; with too many that wait, one is refused."""
    queue = make_queue()
    tasks = [
        build_task(tmp_path, str(number), "sleep", started_file=str(tmp_path / f"started{number}"))
        for number in range(MAX_RUNNING + MAX_WAITING)
    ]
    for task in tasks:
        queue.submit(task)
    with pytest.raises(Unavailable, match="wait already"):
        queue.submit(build_task(tmp_path, "last", "fail"))
    states = [task.state for task in tasks]
    assert [TaskState.RUNNING] * 2 + [TaskState.WAITING] * MAX_WAITING == states
    wait_until(lambda: all((tmp_path / f"started{one}").exists() for one in range(2)))
    wait_until(lambda: tasks[0].progress.phase == "sleeping")
    assert not (tmp_path / "started2").exists()
    process = tasks[0].process
    assert process is not None
    for task in tasks[3:]:
        queue.cancel(task.id)
    queue.cancel(tasks[0].id)
    wait_until((tmp_path / "started2").exists)
    assert -9 == process.returncode
    assert TaskState.CANCELLED is tasks[0].state


def test_stopping_the_portal_ends_its_tasks(
    tmp_path: Path, make_queue: Callable[[], Queue]
) -> None:
    """When the portal stops, so do its tasks, and no task starts."""
    queue = make_queue()
    task = build_task(tmp_path, "a", "sleep", started_file=str(tmp_path / "started"))
    queue.submit(task)
    wait_until((tmp_path / "started").exists)
    queue.close()
    wait_until(lambda: task.process is None)
    assert TaskState.CANCELLED is task.state
    with pytest.raises(Unavailable):
        queue.submit(build_task(tmp_path, "b", "fail"))


def test_a_task_whose_process_dies_at_its_start_is_reported_as_broken(
    tmp_path: Path, make_queue: Callable[[], Queue], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task whose process dies before it reads its call is broken, and its thread is not."""

    def start_dead_process(_: Path) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(["true"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.wait()
        return process

    monkeypatch.setattr("rowkey.portal.tasks.process_task._start_process", start_dead_process)
    task = run(make_queue(), build_task(tmp_path, "a", "add", one=1, other=2))
    assert TaskState.BROKEN is task.state
