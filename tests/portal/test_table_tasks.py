"""Tasks on tables: few at once, and each ends in the audit log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import pytest

from portal.test_simulate import wait_until
from rowkey.errors import Conflict, Unavailable
from rowkey.portal.tables.table_tasks import (
    MAX_RUNNING,
    MAX_WAITING,
    TableTask,
    TableTasks,
    TaskFiles,
)
from rowkey.portal.tasks.task import TaskState
from rowkey.portal.users.audit import AuditLog
from rowkey.progress import Progress

if TYPE_CHECKING:
    from rowkey.portal.tables.table_tasks import TaskResult

DEADLINE_S = 30


class Gate:
    """Work that waits until it may end.

    Args:
        folder: where tasks and the audit log are stored.
    """

    def __init__(self, folder: Path) -> None:
        self.audit = AuditLog(folder / "audit.jsonl")
        self.tasks = TableTasks(self.audit, TaskFiles(folder / "steps"))
        self.is_open = Event()

    def work(self, task: TableTask) -> TaskResult:
        """Wait, and report."""
        task.report(Progress("rows", 1, 2, "rows"))
        assert self.is_open.wait(DEADLINE_S)
        task.report(Progress("rows", 2, 2, "rows"))
        return {"table": task.table}, ["done"]

    def start(self, number: int) -> TableTask:
        """Start a task on a table of its own."""
        return self.tasks.start(f"t{number}", "load", "ann", self.work)


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    """Yield work that may end at the end of the test."""
    one = Gate(tmp_path)
    yield one
    one.is_open.set()


def test_few_tasks_run_at_once(gate: Gate) -> None:
    """More wait for one of these to end, and with too many that wait, one is not begun."""
    tasks = [gate.start(number) for number in range(MAX_RUNNING + MAX_WAITING)]
    states = [TaskState.RUNNING] * MAX_RUNNING + [TaskState.WAITING] * MAX_WAITING
    assert states == [task.state for task in tasks]
    with pytest.raises(Unavailable, match="wait already"):
        gate.start(99)
    assert gate.tasks.find("t99") is None
    with pytest.raises(Conflict, match="load is under way"):
        gate.start(len(tasks) - 1)
    assert tasks[-1].build_document()["running"]
    gate.is_open.set()
    wait_until(lambda: not any(task.is_running for task in tasks))
    assert {TaskState.DONE} == {task.state for task in tasks}
    actions = [one["action"] for one in gate.audit.read_page(1_000)[0]]
    assert [len(tasks)] * 2 == [actions.count("load"), actions.count("end of load")]


def test_a_task_is_cancelled_while_it_waits(gate: Gate) -> None:
    """It ends at once and does nothing, and its end is stored and in the audit log."""
    tasks = [gate.start(number) for number in range(MAX_RUNNING + 1)]
    last = tasks[-1]
    assert last.state is TaskState.WAITING
    gate.tasks.cancel(last.table)
    wait_until(lambda: not last.is_running)
    assert (TaskState.CANCELLED, "", None) == (last.state, last.progress.phase, last.document)
    assert last.problem.startswith("load was cancelled")
    assert "end of load" == gate.audit.read_page(1)[0][0]["action"]
    assert [TaskState.RUNNING] * MAX_RUNNING == [task.state for task in tasks[:-1]]
