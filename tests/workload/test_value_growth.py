"""How rows of a value grow is measured in a part, and agrees with the whole."""

from __future__ import annotations

import numpy as np
import pytest

from rowkey.workload import ValueGrowth

LENGTH = 8
"""Lengths of the recording that the whole has."""
COUNT = 200_000


def generate_users(chance: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return events of users who stay."""
    return chance.integers(0, 2_000, COUNT), chance.random(COUNT) * LENGTH


def generate_lives(
    chance: np.random.Generator, life: float, size: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return events of values that come, have some events, and go."""
    begins = chance.random(COUNT // size) * (LENGTH + life) - life
    values = np.repeat(np.arange(len(begins)), size)
    times = begins[values] + chance.random(len(values)) * life
    inside = (times >= 0) & (times < LENGTH)
    return values[inside], times[inside]


def measure_chance(values: np.ndarray) -> float:
    """Return how many of all pairs of events have the same value."""
    counts = np.bincount(values)
    return float((counts * (counts - 1)).sum()) / (len(values) * (len(values) - 1))


@pytest.mark.parametrize(
    ("life", "allowed"), [(None, 0.05), (0.01, 0.1), (0.2, 0.15), (0.6, 0.3), (3.0, 1.0)]
)
def test_an_eighth_of_the_time_predicts_how_often_values_repeat_in_all(
    life: float | None, allowed: float
) -> None:
    """An eighth of the time tells how often two events of all the time have the same value."""
    chance = np.random.default_rng(1)
    values, times = generate_users(chance) if life is None else generate_lives(chance, life, 10)
    first = times < 1
    found = ValueGrowth(values[first], times[first]).compare_windows(LENGTH, heavy=False)
    truth = measure_chance(values) / measure_chance(values[first])
    assert found.low * 0.95 <= truth <= found.high * 1.05
    assert max(found.value / truth, truth / found.value) <= 1 + allowed


def test_only_a_value_with_a_large_share_is_heavy() -> None:
    """A value with a tenth of the events is heavy, one with a hundredth is not."""
    values = np.concatenate([np.zeros(100), np.ones(10), np.arange(2, 892)]).astype(np.int64)
    growth = ValueGrowth(values, np.linspace(0, 1, 1_000, endpoint=False))
    assert [True, False, False] == growth.is_heavy[:3].tolist()


@pytest.mark.parametrize("share", [1.0, 0.2])
def test_a_sensor_that_writes_at_a_fixed_pace_is_not_heavy(share: float) -> None:
    """A sensor that writes as often as 300 others together does not become faster; a user may."""
    steps = np.concatenate([[60], np.full(300, 18_000)])
    sensors = np.repeat(np.arange(301), 120_000 // steps)
    numbers = np.concatenate([np.arange(120_000 // one) for one in steps.tolist()])
    seconds = numbers * steps[sensors] + sensors * 7 % 60
    chance = np.random.default_rng(5)
    kept = chance.random(len(sensors)) < share
    assert not ValueGrowth(sensors[kept], seconds[kept] / 120_000).is_heavy.any()
    seconds = chance.integers(0, 120_000, len(sensors))
    assert ValueGrowth(sensors[kept], seconds[kept] / 120_000).is_heavy[0]


def test_stations_of_equal_rates_are_not_heavy() -> None:
    """Twelve stations of equal rates have a twelfth each, which the others explain."""
    chance = np.random.default_rng(6)
    growth = ValueGrowth(chance.integers(0, 12, 5_000), np.sort(chance.random(5_000)))
    assert not growth.is_heavy.any()


def test_persistence_is_one_for_lasting_users_and_near_zero_for_sessions() -> None:
    """It is one for users who stay, and next to nothing for sessions."""
    chance = np.random.default_rng(2)
    found = []
    for values, times in (generate_users(chance), generate_lives(chance, 0.05, 5)):
        first = times < 1
        found.append(ValueGrowth(values[first], times[first]).measure_persistence())
    assert pytest.approx(1, abs=0.15) == found[0]
    assert found[1] < 0.05


@pytest.mark.parametrize("lost", [0.0, 0.1, 0.3])
def test_sensors_of_several_time_steps_count_as_lasting(lost: float) -> None:
    """Steps that do not fit into the recording are no sign that sensors go."""
    chance = np.random.default_rng(3)
    steps = chance.choice([60, 600, 1_200, 3_600], 1_000, p=[0.1, 0.4, 0.2, 0.3])
    sizes = 4 * 3_600 // steps
    sensors = np.repeat(np.arange(1_000), sizes)
    numbers = np.concatenate([np.arange(size) for size in sizes.tolist()])
    seconds = numbers * steps[sensors] + chance.integers(0, 60, 1_000)[sensors]
    first = (seconds < 3_600) & (chance.random(len(seconds)) >= lost)
    growth = ValueGrowth(sensors[first], seconds[first] / 3_600)
    assert 0.8 <= growth.compare_windows(4, heavy=False).value <= 1.2


def test_values_that_came_once_each_may_come_again() -> None:
    """That none of forty builds came twice within an hour does not say that none ever does."""
    values = np.repeat(np.arange(40), 50)
    times = (values + np.random.default_rng(6).random(len(values))) / 40
    found = ValueGrowth(values, times).compare_windows(48, heavy=False)
    assert found.value < 0.05
    assert found.high > 10 * found.value


def test_nights_without_events_do_not_raise_the_predicted_events_of_later_days() -> None:
    """Two nights with a day between them do not make later days fuller."""
    chance = np.random.default_rng(4)
    values = np.tile(np.repeat(np.arange(5_000), 3), 2)
    times = np.repeat([0, 24], 15_000) + chance.random(30_000) * 2
    found = ValueGrowth(values, times / 26).compare_windows(2, heavy=False)
    assert pytest.approx(1, abs=0.15) == found.value
