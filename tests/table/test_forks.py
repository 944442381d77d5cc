"""Processes that fork with a table open: nothing hangs, and nothing that was told is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reliability.record import record
from table.forking import ARRANGEMENTS

SCRIPT = Path(__file__).with_name("forking.py")


def run(arrangement: str, engine: str, place: Path | str, count: int) -> None:
    """Fork as often as is asked, in a process of its own."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), arrangement, engine, str(place), str(count)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (0, "ok\n") == (done.returncode, done.stdout), done.stderr[-4000:]


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_forks_with_a_table_on_disk(arrangement: str, tmp_path: Path) -> None:
    """Children refuse what they inherit, at once, and what they open themselves works."""
    run(arrangement, "rocks", tmp_path, 2)


@pytest.mark.parametrize("arrangement", ["pool", "child_opens"])
def test_forks_with_a_table_in_memory(arrangement: str, tmp_path: Path) -> None:
    """The same of tables in the process: a child's would be other ones."""
    run(arrangement, "memory", tmp_path, 2)


def test_forks_with_a_table_on_a_cluster(hbase_url: str) -> None:
    """Children refuse a cluster's table that they inherit, and what they open works."""
    run("child_on_a_cluster", "hbase", hbase_url, 2)


@pytest.mark.long
@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_a_hundred_forks(arrangement: str, tmp_path: Path) -> None:
    """The same a hundred times."""
    run(arrangement, "rocks", tmp_path, 100)
    record(f"forks {arrangement}", {"arrangement": arrangement, "forks": 100})
