from __future__ import annotations

import os
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path
from random import Random

import pytest

import rowkey
from table.links import BUCKETS, Lists, ListVerdict, build_design, continue_lists, verify_lists

TESTS = Path(__file__).parents[1]
WRITERS = 4
MAX_KILLS = 200
"""A machine so slow that writers get nowhere between kills should say so."""


def run_writer(place: Path, loop: int, width: int, wrap: int, client: int, dies: float) -> int:
    """Run one writer of a loop until it ends or dies, and return its exit code.

    Args:
        place: the directory of the table and the notes.
        loop: the loop's number.
        width: the number of nodes of a set.
        wrap: the number of sets.
        client: the writer's number.
        dies: rows after which the writer kills itself; below 0, seconds until it is killed.
    """
    numbers = map(str, (loop, width, wrap, client, max(int(dies), 0)))
    writer = subprocess.Popen(
        [sys.executable, "-m", "table.links", str(place), *numbers],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        said = writer.communicate(timeout=-dies if dies < 0 else 300)[0]
    except subprocess.TimeoutExpired:
        writer.kill()
        said = writer.communicate()[0]
    assert writer.returncode in (0, -signal.SIGKILL), said
    return writer.returncode


def walk_table(place: Path) -> ListVerdict:
    """Return the verdict of a walk over the table."""
    with rowkey.open(build_design(), f"rocks:{place / 'data'}") as table:
        assert BUCKETS == len(table.regions())
        return verify_lists(table)


def build_intact_verdict(nodes: int) -> ListVerdict:
    """Return the verdict on a number of nodes of which none is lost."""
    return ListVerdict(nodes, nodes, 0, 0, 0, 0, 0)


def test_linked_lists_are_whole_after_two_writers_died(tmp_path: Path) -> None:
    """After two writers died, a third one ends the lists, and every node is named once."""
    width, wrap = 500, 5
    ended = [run_writer(tmp_path, 0, width, wrap, client, dies)
             for client, dies in enumerate((1_130, 870))]  # fmt: skip
    assert [-signal.SIGKILL] * 2 == ended
    amid = walk_table(tmp_path)
    assert (0, 0, 0, 0) == (amid.undefined, amid.repeated, amid.headless, amid.misplaced)
    assert 0 < amid.nodes < width * wrap
    continue_lists(tmp_path, Lists(0, width, wrap), client=2, dies=0)
    assert build_intact_verdict(width * wrap) == walk_table(tmp_path)


@pytest.mark.long
def test_linked_lists_are_whole_although_writers_are_killed_again_and_again(tmp_path: Path) -> None:
    """200,000 nodes of writers that are killed again and again have no broken link."""
    width, wrap, loops = 10_000, 5, 4
    random, kills = Random(4), 0
    for loop in range(loops):
        for turn in count():
            seconds = random.uniform(2, 4)
            ended = run_writer(tmp_path, loop, width, wrap, turn % WRITERS, -seconds)
            if ended == 0:
                break
            kills += 1
            assert kills < MAX_KILLS
        assert build_intact_verdict(width * wrap * (loop + 1)) == walk_table(tmp_path)
    assert kills >= loops
