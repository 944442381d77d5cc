"""Processes that fork with a table open do not hang, and lose no acknowledged row."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reliability.record import record
from table.forking import ARRANGEMENTS

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SCRIPT = Path(__file__).with_name("forking.py")


def run_forks(engine: str, place: Path | str, count: int, *arrangements: str) -> None:
    """Fork a number of times in each arrangement, all in another process."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), engine, str(place), str(count), *arrangements],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (0, "ok\n") == (done.returncode, done.stdout), done.stderr[-4000:]


def test_a_forked_child_cannot_use_an_inherited_table_on_disk(tmp_path: Path) -> None:
    """Children cannot use a table that they inherit, and can use tables that they open."""
    run_forks("rocks", tmp_path, 1, *ARRANGEMENTS)


def test_a_forked_child_cannot_use_an_inherited_table_in_memory(tmp_path: Path) -> None:
    """Children cannot use an inherited table in memory either."""
    arrangements = ["check_child_opening", *["check_pool"] * IS_LONG]
    run_forks("memory", tmp_path, 1, *arrangements)


def test_a_forked_child_cannot_use_an_inherited_table_on_a_cluster(hbase_url: str) -> None:
    """Children cannot use an inherited table of a cluster, and can use their own."""
    run_forks("hbase", hbase_url, 2, "check_child_on_cluster")


@pytest.mark.long
@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_a_hundred_forks_with_a_table_on_disk_have_the_same_results(
    arrangement: str, tmp_path: Path
) -> None:
    run_forks("rocks", tmp_path, 100, arrangement)
    record(f"forks {arrangement}", {"arrangement": arrangement, "forks": 100})
