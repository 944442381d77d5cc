"""A portal that is killed at any change of the disk shows afterwards all that it has answered."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from reliability.shim import build_shim, run_with_shim

QUICK_STRIDE = 97
"""In the quick form, one of so many changes of the disk, others in each run of a process."""


def kill_portals(folder: Path, first: int, stride: int) -> list[dict[str, object]]:
    """Kill portals at some changes of the disk, and return what was found after each."""
    place = folder / "place"
    place.mkdir()
    module = Path(__file__).with_name("killed_portal.py")
    lines = run_with_shim(build_shim(folder), module, str(place), str(first), str(stride))
    return [json.loads(line) for line in lines]


def test_a_portal_killed_at_a_few_disk_writes_has_lost_nothing(tmp_path: Path) -> None:
    """At a few changes of the disk, another few in each process: all is there and readable."""
    kills = kill_portals(tmp_path, 1 + os.getpid() % QUICK_STRIDE, QUICK_STRIDE)
    assert len(kills) >= 3
    assert [] == [one for one in kills if one["problems"]]


@pytest.mark.long
def test_a_portal_killed_at_each_disk_write_has_lost_nothing(tmp_path: Path) -> None:
    """At every change of the disk: all that was answered is there and readable."""
    kills = kill_portals(tmp_path, 1, 1)
    assert len(kills) >= 300
    assert [] == [one for one in kills if one["problems"]]
