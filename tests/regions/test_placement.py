"""Placements of regions are even and depend on the seed alone."""

from __future__ import annotations

from collections import Counter
from math import gcd

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import InvalidArgument
from rowkey.regions import compute_server_imbalance, draw_balanced_placements, place_round_robin

counts = st.integers(0, 200)
servers = st.integers(1, 40)


@given(regions=counts, servers=servers, start=st.integers(0, 100))
def test_round_robin_places_regions_on_servers_in_turn(
    regions: int, servers: int, start: int
) -> None:
    """Region i is placed i servers after the first one, modulo the number of servers."""
    expected = [(start + region) % servers for region in range(regions)]
    assert expected == place_round_robin(regions, servers, start).tolist()


@given(regions=counts, servers=servers, count=st.integers(0, 5), seed=st.integers(0, 2**32))
def test_balanced_placements_give_each_server_the_mean_number_of_regions(
    regions: int, servers: int, count: int, seed: int
) -> None:
    """Every server holds the mean number of regions, rounded down or up."""
    placements = draw_balanced_placements(regions, servers, count, seed)
    assert (count, regions) == placements.shape
    for placement in placements:
        held = np.bincount(placement, minlength=servers)
        assert servers == len(held)
        assert {regions // servers, -(-regions // servers)} >= set(held.tolist())


def test_the_same_seed_gives_the_same_placements() -> None:
    """Placements depend on the seed and on nothing else."""
    one, same, other = (draw_balanced_placements(20, 8, 10, seed).tolist() for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_every_order_of_regions_occurs_among_balanced_placements() -> None:
    """Every order occurs, and every server is sometimes one that holds more."""
    placements = draw_balanced_placements(3, 2, 600, seed=5)
    seen = Counter(map(tuple, placements.tolist()))
    assert 6 == len(seen)
    assert min(seen.values()) > 60


@pytest.mark.parametrize(
    ("regions", "servers", "bound"),
    [(10, 8, 1.6), (100, 8, 1.04), (100, 30, 1.2), (16, 10, 1.25), (64, 8, 1.0), (1, 8, 8.0)],
)
def test_the_least_skew_by_whole_regions_has_the_documented_values(
    regions: int, servers: int, bound: float
) -> None:
    """The bound of the skew has the documented values."""
    assert bound == pytest.approx(compute_server_imbalance(regions, servers))


@given(regions=st.integers(1, 200), servers=servers)
def test_the_least_skew_by_whole_regions_is_reached_by_round_robin(
    regions: int, servers: int
) -> None:
    """The bound is the busiest server's share in a round robin, and 1 only for multiples."""
    held = np.bincount(place_round_robin(regions, servers), minlength=servers)
    assert held.max() / held.mean() == pytest.approx(compute_server_imbalance(regions, servers))
    assert (gcd(regions, servers) == servers) == (compute_server_imbalance(regions, servers) == 1)


def test_a_placement_without_servers_is_refused() -> None:
    """A placement without servers, and a bound without regions, are refused."""
    with pytest.raises(InvalidArgument):
        place_round_robin(3, 0)
    with pytest.raises(InvalidArgument):
        draw_balanced_placements(-1, 3, 1, 0)
    with pytest.raises(InvalidArgument):
        draw_balanced_placements(1, 3, -1, 0)
    with pytest.raises(InvalidArgument):
        compute_server_imbalance(0, 3)
