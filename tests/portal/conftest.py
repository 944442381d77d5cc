"""Jobs of the portals of these tests begin as forks of a process that has imported all modules."""

from __future__ import annotations

import shutil

import pytest

from command_server import CODE, find_command

JOB_CODE = """\
from rowkey.portal.jobs import process
process.limit_resources = lambda *_: None  # the modules of all commands are larger than a job
process.main()
"""


@pytest.fixture(autouse=True)
def _fork_jobs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start no Python, which imports for a second what most jobs use for a tenth of it.

    The tests of jobs themselves do start it, under its limits.
    """
    if request.path.name != "test_jobs.py":
        command = (shutil.which("env"), f"{CODE}={JOB_CODE}", find_command())
        monkeypatch.setattr("rowkey.portal.jobs.jobs.JOB_COMMAND", command)
