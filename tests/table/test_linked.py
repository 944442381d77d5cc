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
from table.links import BUCKETS, Verdict, design, verdict_of

TESTS = Path(__file__).parents[1]
WRITERS = 4
MOST_KILLS = 200
"""A machine so slow that writers get nowhere between kills should say so."""


def started(place: Path, loop: int, width: int, wrap: int, client: int, dies: float) -> int:
    """Run one writer of a loop until it ends or dies; gives how it ended.

    Args:
        place: where the table and the notes lie.
        loop: the loop's number.
        width: nodes of a set.
        wrap: sets.
        client: the writer's number.
        dies: rows after which it kills itself; below 0, seconds after which it is killed.
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


def walked(place: Path) -> Verdict:
    """What a walk over the table finds."""
    with rowkey.open(design(), f"rocks:{place / 'data'}") as table:
        assert BUCKETS == len(table.regions())
        return verdict_of(table)


def whole(nodes: int) -> Verdict:
    """The verdict on so many nodes of which none is lost."""
    return Verdict(nodes, nodes, 0, 0, 0, 0, 0)


def test_no_link_is_broken_by_two_kills(tmp_path: Path) -> None:
    """Two writers die amid their sets; a third ends the lists, and every node is named once."""
    width, wrap = 500, 5
    ended = [started(tmp_path, 0, width, wrap, client, dies)
             for client, dies in enumerate((1_130, 870))]  # fmt: skip
    assert [-signal.SIGKILL] * 2 == ended
    amid = walked(tmp_path)
    assert (0, 0, 0, 0) == (amid.undefined, amid.repeated, amid.headless, amid.misplaced)
    assert 0 < amid.nodes < width * wrap
    assert 0 == started(tmp_path, 0, width, wrap, 2, 0)
    assert whole(width * wrap) == walked(tmp_path)


@pytest.mark.long
def test_no_link_is_broken_by_kills_at_any_time(tmp_path: Path) -> None:
    """A million nodes in four loops by four writers in turn, killed again and again."""
    width, wrap, loops = 10_000, 25, 4
    random, kills = Random(4), 0
    for loop in range(loops):
        for turn in count():
            seconds = random.uniform(2, 4)
            ended = started(tmp_path, loop, width, wrap, turn % WRITERS, -seconds)
            if ended == 0:
                break
            kills += 1
            assert kills < MOST_KILLS
        assert whole(width * wrap * (loop + 1)) == walked(tmp_path)
    assert kills >= loops
