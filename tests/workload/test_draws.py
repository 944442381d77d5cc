"""The frequencies of drawn values agree with theory, by a chi-square test at fixed seeds."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.design import Design
from rowkey.errors import InvalidArgument
from rowkey.workload import ARRIVAL_MODES, DISTRIBUTIONS, WorkloadGenerator
from rowkey.workload.distributions.zipf import (
    MAX_TABLE_VALUES,
    compute_harmonic,
    draw_by_rejection,
    draw_zipf_ranks,
)

COUNT = 400_000 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 100_000
WORDS: dict[str, dict[str, Any]] = {
    "hotspot": {"values": 0.1, "events": 0.75},
    "zipf": {"theta": 1.1},
    "latest": {"every": 5},
}


def draw_values(kind: str, distinct: int, count: int = COUNT, seed: int = 1, first: int = 0) -> Any:
    """Return values of a draw with the options above."""
    draw = DISTRIBUTIONS[kind](WORDS.get(kind, {}))
    return draw.draw_indexes(np.random.default_rng(seed), first, count, distinct)


def count_draws(kind: str, distinct: int) -> Any:
    """Return how often each value is drawn."""
    return np.bincount(draw_values(kind, distinct), minlength=distinct)


def compute_deviation(found: Any, shares: Any) -> float:
    """Return how far frequencies are from shares, in standard deviations of chi-square."""
    expected = shares * found.sum()
    degrees = len(found) - 1
    return float((((found - expected) ** 2 / expected).sum() - degrees) / np.sqrt(2 * degrees))


@pytest.mark.parametrize("distinct", [2, 50, 1_000])
def test_uniform_values_are_equally_frequent(distinct: int) -> None:
    """Every value of a uniform draw has the same share."""
    assert 4 > compute_deviation(count_draws("uniform", distinct), np.full(distinct, 1 / distinct))


@pytest.mark.parametrize("theta", [0.5, 0.99, 1.0, 1.2, 3.0])
@pytest.mark.parametrize("draw", [draw_zipf_ranks, draw_by_rejection])
def test_zipf_ranks_follow_their_law(draw: Any, theta: float) -> None:
    """The k-th rank of a Zipf draw has a share of 1 / k^theta, with and without the table."""
    found = np.bincount(draw(np.random.default_rng(2), COUNT, 400, theta), minlength=400)
    shares = np.arange(1, 401) ** -theta
    shares /= shares.sum()
    known = np.flatnonzero(shares * COUNT >= 10)
    tail = 1 - shares[known].sum()
    if tail * COUNT >= 10:
        shares = np.append(shares[known], tail)
        found = np.append(found[known], found.sum() - found[known].sum())
    else:
        shares, found = shares[known] / shares[known].sum(), found[known]
    assert 4 > compute_deviation(found, shares)


def test_ten_million_zipf_values_follow_their_law() -> None:
    """The heaviest of ten million Zipf values have the shares of the harmonic sum."""
    distinct = 10_000_000
    assert distinct > MAX_TABLE_VALUES
    ranks = draw_zipf_ranks(np.random.default_rng(3), COUNT, distinct, 0.99)
    shares = np.arange(1, 30) ** -0.99 / compute_harmonic(distinct, 0.99)
    found = np.bincount(np.minimum(ranks, 29), minlength=30)
    assert 4 > compute_deviation(found, np.append(shares, 1 - shares.sum()))
    assert 0 <= ranks.min()
    assert distinct > ranks.max()


@pytest.mark.parametrize(("distinct", "theta"), [(10, 0.5), (1_000, 1.0), (2_000_000, 0.99)])
def test_the_harmonic_sum_equals_its_terms(distinct: int, theta: float) -> None:
    """The harmonic sum equals its terms, and its integral for many terms."""
    assert pytest.approx(
        sum(k**-theta for k in range(1, distinct + 1)), rel=1e-9
    ) == compute_harmonic(distinct, theta)


def test_a_hotspot_draw_gives_its_values_the_declared_share() -> None:
    """A tenth of the values takes three quarters of the events, all equally."""
    found = np.sort(count_draws("hotspot", 200))[::-1]
    shares = np.append(np.full(20, 0.75 / 20), np.full(180, 0.25 / 180))
    assert 4 > compute_deviation(found[:20], np.full(20, 1 / 20))
    assert 4 > compute_deviation(found[20:], np.full(180, 1 / 180))
    assert pytest.approx(shares[:20].sum(), abs=0.004) == found[:20].sum() / COUNT


@pytest.mark.parametrize("kind", ["zipf", "hotspot"])
def test_the_heaviest_values_are_spread_over_the_range(kind: str) -> None:
    """The heaviest values are spread over all thirds of the values."""
    heavy = np.argsort(-count_draws(kind, 300))[:30]
    assert {0, 1, 2} == set((heavy // 100).tolist())


def test_a_sequence_begins_again_after_its_last_value() -> None:
    """A sequence takes its values in order from any event on, and begins again after the last."""
    assert [5, 6, 0, 1, 2, 3, 4, 5] == draw_values("sequential", 7, 8, first=5).tolist()


def compute_ages(values: Any, first: int, distinct: int, every: int = 5) -> tuple[Any, Any]:
    """Return how many values are newer than each event's, and how many exist at each event."""
    newest = np.arange(first, first + len(values)) // every
    return (newest - values) % distinct, np.minimum(newest + 1, distinct)


def compute_ranks(ages: Any, populations: Any, theta: float) -> Any:
    """Return the position of each age in its own distribution, as a number of 0 to 1.

    If the k-th newest of n has a share of 1 / k^theta, these numbers are uniform for every n.
    """
    shares = np.arange(1, populations.max() + 1, dtype=np.float64) ** -theta
    sums = np.concatenate([[0.0], np.cumsum(shares)])
    within = np.random.default_rng(9).random(len(ages)) * shares[ages]
    return (sums[ages] + within) / sums[populations]


@pytest.mark.parametrize("theta", [0.5, 0.99, 1.0, 2.5])
@pytest.mark.parametrize(
    ("first", "count", "distinct"),
    [(0, COUNT, 10**9), (0, 200, 10**9), (COUNT, COUNT, 10**9), (0, COUNT, 1_000),
     (0, COUNT, 20), (7, 9_000, 1_000), (4_990, COUNT, 1_000), (0, COUNT, 1)],
)  # fmt: skip
def test_the_newest_values_are_the_most_frequent_of_a_latest_draw(
    theta: float, first: int, count: int, distinct: int
) -> None:
    """The k-th newest value has a share of 1 / k^theta of the values of its event's time."""
    draw = DISTRIBUTIONS["latest"]({"every": 5, "theta": theta})
    values = draw.draw_indexes(np.random.default_rng(4), first, count, distinct)
    ages, populations = compute_ages(values, first, distinct)
    assert (ages < populations).all()
    bins = min(200, count // 20)
    spots = (compute_ranks(ages, populations, theta) * bins).astype(int)
    found = np.bincount(np.minimum(spots, bins - 1), minlength=bins)
    assert 4 > compute_deviation(found, np.full(bins, 1 / bins))


def test_the_oldest_number_is_reused_once_all_were_used() -> None:
    """Once every number was used, the oldest number is used as the newest value."""
    values = draw_values("latest", 100, COUNT)
    newest = np.arange(COUNT) // 5 % 100
    assert pytest.approx(1 / compute_harmonic(100, 0.99), abs=0.005) == (values == newest).mean()
    busiest = np.bincount(values[COUNT // 2 :], minlength=100).max() / (COUNT // 2)
    assert pytest.approx(0.01, rel=0.1) == busiest


@pytest.mark.parametrize(("count", "distinct"), [(3, 50), (2_000, 10**6), (500, 100), (740, 100)])
def test_the_first_value_is_predicted_as_the_heaviest_of_a_short_run(
    count: int, distinct: int
) -> None:
    """In a short run the share of the first value is predicted as the largest."""
    draw = DISTRIBUTIONS["latest"]({"every": 5})
    chance = np.random.default_rng(6)
    runs = [(draw.draw_indexes(chance, 0, count, distinct) == 0).mean() for _ in range(400)]
    told = draw.compute_heaviest_share(distinct, count)
    assert pytest.approx(told, abs=1e-12 + 5 * np.std(runs) / 20) == np.mean(runs)


@pytest.mark.parametrize("kind", sorted(DISTRIBUTIONS))
@pytest.mark.parametrize("distinct", [1, 2, 30, 500])
def test_the_predicted_share_of_the_most_frequent_value_equals_a_count(
    kind: str, distinct: int
) -> None:
    """The predicted share of the most frequent value is what a count finds."""
    draw = DISTRIBUTIONS[kind](WORDS.get(kind, {}))
    found = count_draws(kind, distinct).max() / COUNT
    for told in (
        draw.compute_heaviest_share(distinct),
        draw.compute_heaviest_share(distinct, COUNT),
    ):
        assert pytest.approx(told, abs=5 * np.sqrt(told / COUNT)) == found


@pytest.mark.parametrize("kind", sorted(DISTRIBUTIONS))
@given(
    distinct=st.one_of(st.integers(1, 50), st.sampled_from([1 << 17, (1 << 17) + 1, 1 << 40])),
    first=st.integers(0, 10**10),
    count=st.integers(0, 200),
    seed=st.integers(0, 3),
)
def test_a_draw_gives_the_requested_number_of_values_below_distinct(
    kind: str, distinct: int, first: int, count: int, seed: int
) -> None:
    """A draw gives the requested number of values below `distinct`, the same for one seed."""
    found = draw_values(kind, distinct, count, seed, first)
    assert count == len(found)
    assert all(0 <= value < distinct for value in found.tolist())
    assert found.tolist() == draw_values(kind, distinct, count, seed, first).tolist()


@pytest.mark.parametrize(
    "kind", sorted(name for name, one in DISTRIBUTIONS.items() if one.is_ascending)
)
def test_an_ascending_draw_gives_no_lower_value(kind: str) -> None:
    """An ascending draw gives no value below the one before, except when it starts again."""
    steps = np.diff(draw_values(kind, 1_000, 5_000).astype(np.int64))
    assert {-999} >= set(steps[steps < 0].tolist())


@pytest.mark.parametrize(
    ("kind", "options"),
    [("zipf", {"theta": 0}), ("zipf", {"theta": "1"}), ("hotspot", {"values": 1.0}),
     ("hotspot", {"events": True}), ("latest", {"theta": 9}), ("latest", {"every": 0}),
     ("latest", {"every": 2.5}), ("uniform", {"theta": 1})],
)  # fmt: skip
def test_a_draw_option_out_of_range_is_refused(kind: str, options: dict[str, Any]) -> None:
    """An option out of its range, or of another draw, is refused."""
    with pytest.raises(InvalidArgument):
        DISTRIBUTIONS[kind](options)


@pytest.mark.parametrize("arrival", ARRIVAL_MODES)
def test_each_arrival_implies_exactly_one_draw(arrival: str) -> None:
    """Exactly one draw is the default of each arrival."""
    assert 1 == sum(arrival in kind.default_arrivals for kind in DISTRIBUTIONS.values())


@pytest.mark.parametrize("kind", DISTRIBUTIONS)
def test_a_unique_64_bit_field_can_take_every_value_of_its_type(kind: str) -> None:
    """A unique field of 64 bits has as many values as its type."""
    fields = {"id": {"type": "u64", "unique": True, "draw": kind}}
    design = Design("t", "[id]", fields=fields, writes={"rate": "100/s", "for": "1s"})
    batches = WorkloadGenerator(design.writes, design.fields).generate_events()
    drawn = [value for batch in batches for value in batch.rows["id"].to_pylist()]
    assert 100 == len(drawn)
    assert all(0 <= value < 2**64 for value in drawn)
