"""Whether keys move as events come: runs and batches do, a busy value beside others does not."""

from __future__ import annotations

from itertools import repeat
from random import Random

import numpy as np
import pytest

from rowkey.hotspots.leading_parts import find_front

EVENTS = 20_000


def runs(*shares: float) -> list[int]:
    """Numbers that count up, each for a share of all events."""
    return [number for number, share in enumerate(shares) for _ in range(round(share * EVENTS))]


def beside(busy: int, share: float, others: int) -> list[int]:
    """One value for a share of the events, and others by chance between."""
    chance = Random(7)
    return [busy if chance.random() < share else chance.randrange(others) for _ in range(EVENTS)]


def ranks(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Their ranks, as `find_front` takes them."""
    return np.unique(np.array(values), return_inverse=True)[1]


@pytest.mark.parametrize(
    "values",
    [
        list(range(EVENTS)),
        runs(*repeat(0.01, 100)),
        runs(0.5, 0.2, 0.1, 0.1, 0.1),
        runs(0.55, 0.15, 0.1, 0.1, 0.1),
        runs(0.52, 0.24, 0.24),
        runs(0.1, 0.55, 0.35),
    ],
    ids=["ids", "batches", "half", "more", "three", "middle"],
)
@pytest.mark.parametrize("falls", [False, True])
def test_what_counts_up_moves(values: list[int], *, falls: bool) -> None:
    """Ids, batches and runs, however long one of them is: at any moment one place is written."""
    found = find_front(ranks([-value for value in values] if falls else values), has_times=False)
    assert found is not None
    assert ("fall" if falls else "rise") == found.direction


@pytest.mark.parametrize("share", [0.3, 0.6, 0.75])
def test_a_busy_value_stands(share: float) -> None:
    """Where others come beside it all the time, its keys stand where they are."""
    assert find_front(ranks(beside(9, share, 30)), has_times=False) is None


def test_a_busy_value_stands_though_others_change() -> None:
    """Also where other values come at the end than did at first."""
    first, last = beside(9, 0.7, 10)[: EVENTS * 4 // 5], beside(14, 0.6, 30)[: EVENTS // 5]
    assert find_front(ranks(first + last), has_times=False) is None
