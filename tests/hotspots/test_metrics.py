"""The skew of even load agrees with published figures, simulations, and counts by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.hotspots import (
    EqualCountWindows,
    LoadMap,
    Placements,
    RegionCounts,
    compute_even_deviation,
    compute_even_skew,
)


@pytest.mark.parametrize(
    ("events", "places", "tolerance"),
    [(35, 8, 0.02), (400, 8, 0.01), (1_600, 8, 0.005), (2_000, 16, 0.01), (6_400, 64, 0.01)],
)
def test_the_expected_skew_by_chance_agrees_with_seeded_throws(
    events: int, places: int, tolerance: float
) -> None:
    """The expected fullest place and its deviation agree with 20,000 seeded throws."""
    chance = np.random.default_rng(7)
    thrown = chance.multinomial(events, [1 / places] * places, size=20_000).max(axis=1)
    shares = thrown * places / events
    assert pytest.approx(shares.mean(), rel=tolerance) == float(compute_even_skew(events, places))
    assert pytest.approx(shares.std(), rel=10 * tolerance + 0.03) == float(
        compute_even_deviation(events, places)
    )


PUBLISHED = [(35, 1.722), (100, 1.415), (400, 1.207), (1_600, 1.102), (6_400, 1.050)]


@pytest.mark.parametrize(("events", "expected"), PUBLISHED)
def test_the_expected_skew_by_chance_agrees_with_the_published_table(
    events: int, expected: float
) -> None:
    """From 35 events on 8 servers on, the expected skew is within 1 % of the published table."""
    assert pytest.approx(expected, rel=0.01) == float(compute_even_skew(events, 8))


def test_the_expected_skew_by_chance_is_right_for_one_event_and_for_very_many() -> None:
    """One event fills one place, a single place is even, and very many events are even."""
    assert (8.0, 1.0) == (float(compute_even_skew(1, 8)), float(compute_even_skew(5, 1)))
    assert pytest.approx(1, abs=1e-3) == float(compute_even_skew(10**8, 8))
    assert 0.0 == float(compute_even_deviation(5, 1))


@given(
    st.lists(st.tuples(st.integers(-500, 5_000), st.integers(0, 2)), min_size=1, max_size=80),
    st.integers(2, 40),
)
def test_a_load_map_counts_each_event_in_its_column(
    events: list[tuple[int, int]], columns: int
) -> None:
    """A heat map of any duration has few columns, and counts each event in its own column."""
    matrix = LoadMap(3, columns)
    for second, region in events:
        matrix.add(RegionCounts.from_events(np.array([second]), np.array([region]), 3))
    first, dense = matrix.to_dense()
    assert len(dense) <= columns + 1
    assert len(events) == int(dense.sum())
    expected = np.zeros_like(dense)
    for second, region in events:
        expected[(second - first) // matrix.width_s, region] += 1
    assert expected.tolist() == dense.tolist()
    grouped = matrix.sum_groups(np.array([1, 0, 1]), 4)
    assert first == grouped[0]
    sums = np.stack([dense[:, 1], dense[:, 0] + dense[:, 2]], axis=1)
    assert [[*row, 0, 0] for row in sums.tolist()] == grouped[1].tolist()


def test_a_load_map_without_events_has_no_column() -> None:
    """A heat map without events has no column."""
    first, dense = LoadMap(4).to_dense()
    assert (0, (0, 4)) == (first, dense.shape)


@given(st.integers(1, 30), st.integers(1, 9), st.integers(0, 3))
def test_every_placement_has_each_region_on_one_server(
    regions: int, servers: int, seed: int
) -> None:
    """Loads by server add up to the loads by region, and region counts differ by at most one."""
    placements = Placements(regions, servers, seed)
    counts = np.random.default_rng(seed).integers(0, 100, (5, regions))
    counts[:, 0] += 1  # no window is empty
    cells = np.repeat(np.arange(counts.size), counts.ravel())
    listed = RegionCounts.from_events(cells // regions, cells % regions, regions)
    fullest = placements.compute_fullest_loads(listed)
    for table, count, loads in zip(
        placements.assignments, placements.server_counts.tolist(), fullest, strict=True
    ):
        held = np.bincount(table, minlength=count)
        assert held.max() - held.min() <= 1
        by_hand = [max(sum(row[table == server]) for server in range(count)) for row in counts]
        assert by_hand == loads.tolist()
    assert counts.sum(axis=1).tolist() == placements.sum_by_server(counts).sum(axis=1).tolist()


@given(st.integers(1, 400), st.integers(1, 60), st.integers(1, 50))
def test_windows_of_equal_counts_differ_by_one_event_at_most(
    events: int, windows: int, block: int
) -> None:
    counts = EqualCountWindows(events, 2, windows)
    for start in range(0, events, block):
        counts.add(np.zeros(min(block, events - start), np.int64))
    sizes = counts.counts.sum(axis=1)
    assert events == sizes.sum()
    assert sizes.max() - sizes.min() <= 1
    assert sizes.tolist() == np.bincount(counts.assign_windows(np.arange(events))).tolist()
