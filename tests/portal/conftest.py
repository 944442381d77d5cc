"""Processes of tasks begin in these tests as forks of one that has imported all modules."""

from __future__ import annotations

import shutil

import pytest

from command_server import CODE, find_command

TASK_CODE = """\
from rowkey.portal.tasks import child_process
child_process.limit_resources = lambda *_: None  # modules of all commands are larger than a task
child_process.main()
"""


@pytest.fixture(autouse=True)
def _fork_tasks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start no Python, which imports for a second what most tasks use for a tenth of it.

    The tests of tasks themselves do start it, under its limits.
    """
    if request.path.name != "test_process_task.py":
        command = (shutil.which("env"), f"{CODE}={TASK_CODE}", find_command())
        monkeypatch.setattr("rowkey.portal.tasks.process_task.PROCESS_COMMAND", command)
