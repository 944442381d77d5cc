"""Rising values, runs and batches are a front; a busy value among others is not."""

from __future__ import annotations

from itertools import repeat
from random import Random

import numpy as np
import pytest

from rowkey.hotspots.leading_parts import find_front

EVENTS = 20_000


def make_runs(*shares: float) -> list[int]:
    """Return rising numbers, each repeated for its share of all events."""
    return [number for number, share in enumerate(shares) for _ in range(round(share * EVENTS))]


def mix_with_other_values(busy: int, share: float, others: int) -> list[int]:
    """Return one busy value for a share of the events, and random values for the others."""
    chance = Random(7)
    return [busy if chance.random() < share else chance.randrange(others) for _ in range(EVENTS)]


def rank_values(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the ranks of values, which `find_front` takes."""
    return np.unique(np.array(values), return_inverse=True)[1]


@pytest.mark.parametrize(
    "values",
    [
        list(range(EVENTS)),
        make_runs(*repeat(0.01, 100)),
        make_runs(0.5, 0.2, 0.1, 0.1, 0.1),
        make_runs(0.55, 0.15, 0.1, 0.1, 0.1),
        make_runs(0.52, 0.24, 0.24),
        make_runs(0.1, 0.55, 0.35),
    ],
    ids=["ids", "batches", "half", "more", "three", "middle"],
)
@pytest.mark.parametrize("falls", [False, True])
def test_ids_batches_and_runs_that_rise_are_a_front(values: list[int], *, falls: bool) -> None:
    """Ids, batches and runs of any length are a front."""
    found = find_front(
        rank_values([-value for value in values] if falls else values), has_times=False
    )
    assert found is not None
    assert ("fall" if falls else "rise") == found.direction


@pytest.mark.parametrize("share", [0.3, 0.6, 0.75])
def test_a_busy_value_among_random_others_is_no_front(share: float) -> None:
    assert find_front(rank_values(mix_with_other_values(9, share, 30)), has_times=False) is None


def test_a_busy_value_is_no_front_although_other_values_change() -> None:
    """A busy value is not a front either if the other values change over time."""
    first, last = (
        mix_with_other_values(9, 0.7, 10)[: EVENTS * 4 // 5],
        mix_with_other_values(14, 0.6, 30)[: EVENTS // 5],
    )
    assert find_front(rank_values(first + last), has_times=False) is None


@pytest.mark.parametrize("quiet_share", [0.04, 0.1, 0.3])
def test_a_value_that_becomes_busy_is_no_front(quiet_share: float) -> None:
    """A value that nearly all events have, but for a time in which it has fewer, does not move."""
    quiet = int(quiet_share * EVENTS)
    chance = Random(7)
    values = [0 if chance.random() < (0.25 if n < quiet else 0.97) else 1 for n in range(EVENTS)]
    for ordered in (values, values[::-1], [-one for one in values]):
        assert find_front(rank_values(ordered), has_times=False) is None
