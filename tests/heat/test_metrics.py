"""The figures of skew: published vectors, chance alone by simulation, counts by hand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.heat import (
    EqualCounts,
    Matrix,
    Placements,
    RegionCounts,
    balancer_cost,
    effective,
    entropy,
    even_share,
    even_spread,
    gini,
    horticulture,
    peak_to_mean,
    variation,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

VECTORS: list[tuple[list[int], str]] = [
    ([1] * 8, "1.000 0 0 1 8 0 0"),
    ([8, *[0] * 7], "8.000 2.646 .875 0 1 1.000 1.000"),
    ([2, *[1] * 7], "1.778 .294 .097 .983 7.36 .277 .111"),
    ([4, 4, *[0] * 6], "4.000 1.732 .750 .333 2 .917 .655"),
    (list(range(1, 9)), "1.778 .509 .292 .931 6.35 .399 .192"),
    ([*[1] * 7, 0], "1.143 .378 .125 .936 7 .181 .143"),
]
"""Eight loads, then peak over mean, variation, Gini, entropy, effective number, Horticulture's
skew, HBase's balancer cost. Source: a table computed by a program of its own."""
METRICS = (peak_to_mean, variation, gini, entropy, effective, horticulture, balancer_cost)


@pytest.mark.parametrize(("loads", "printed"), VECTORS)
def test_published_vectors(loads: list[int], printed: str) -> None:
    """Every metric prints as the table does, digit for digit."""
    for metric, text in zip(METRICS, printed.split(), strict=True):
        digits = len(text.partition(".")[2])
        assert text.lstrip("0") or "0" == text
        assert float(text) == round(metric(loads), digits), metric.__name__


loads_of = st.lists(st.integers(0, 1_000), min_size=2, max_size=20).filter(any)


@given(loads_of, st.integers(1, 50))
def test_metrics_do_not_ask_how_much_only_how(loads: list[int], times: int) -> None:
    """Twice the load on every server is as uneven as before, in whatever order they stand."""
    for metric in METRICS:
        same = metric([load * times for load in sorted(loads, reverse=True)])
        assert pytest.approx(metric(loads), abs=1e-9) == same


BOUNDS: list[tuple[Callable[[Sequence[float]], float], bool]] = [
    (gini, True), (entropy, True), (horticulture, True), (balancer_cost, True),
    (peak_to_mean, False), (effective, False),
]  # fmt: skip


@given(loads_of)
def test_metrics_keep_to_their_ranges(loads: list[int]) -> None:
    """Shares lie between 0 and 1, peaks and effective numbers between 1 and the count."""
    for metric, is_share in BOUNDS:
        low, high = (0, 1) if is_share else (1, len(loads))
        assert low - 1e-9 <= metric(loads) <= high + 1e-9, metric.__name__


@pytest.mark.parametrize("metric", METRICS)
def test_no_load_at_all_is_even(metric: Callable[[Sequence[float]], float]) -> None:
    """Servers without any load are no cause for an alarm or for a division by zero."""
    even = metric([1, 1, 1])
    assert pytest.approx(even) == metric([0, 0, 0])


@pytest.mark.parametrize(
    ("events", "places", "tolerance"),
    [(35, 8, 0.02), (400, 8, 0.01), (1_600, 8, 0.005), (2_000, 16, 0.01), (6_400, 64, 0.01)],
)
def test_chance_alone_is_what_throwing_shows(events: int, places: int, tolerance: float) -> None:
    """The expected fullest place, and how it varies, against 20,000 seeded throws."""
    chance = np.random.default_rng(7)
    thrown = chance.multinomial(events, [1 / places] * places, size=20_000).max(axis=1)
    shares = thrown * places / events
    assert pytest.approx(shares.mean(), rel=tolerance) == float(even_share(events, places))
    assert pytest.approx(shares.std(), rel=10 * tolerance + 0.03) == float(
        even_spread(events, places)
    )


PUBLISHED = [(35, 1.722), (100, 1.415), (400, 1.207), (1_600, 1.102), (6_400, 1.050)]


@pytest.mark.parametrize(("events", "expected"), PUBLISHED)
def test_chance_alone_is_as_published(events: int, expected: float) -> None:
    """Eight servers under a balanced load, from 35 events on: within one percent of the table."""
    assert pytest.approx(expected, rel=0.01) == float(even_share(events, 8))


def test_chance_alone_at_the_ends() -> None:
    """One event is all on one place, one place is always even, and many events are even."""
    assert (8.0, 1.0) == (float(even_share(1, 8)), float(even_share(5, 1)))
    assert pytest.approx(1, abs=1e-3) == float(even_share(10**8, 8))
    assert 0.0 == float(even_spread(5, 1))


@given(
    st.lists(st.tuples(st.integers(-500, 5_000), st.integers(0, 2)), min_size=1, max_size=80),
    st.integers(2, 40),
)
def test_a_heat_map_keeps_every_operation(events: list[tuple[int, int]], columns: int) -> None:
    """However long the events last, columns stay few, and each event is in its own."""
    matrix = Matrix(3, columns)
    for second, region in events:
        matrix.add(RegionCounts.from_events(np.array([second]), np.array([region]), 3))
    first, dense = matrix.dense()
    assert len(dense) <= columns + 1
    assert len(events) == int(dense.sum())
    expected = np.zeros_like(dense)
    for second, region in events:
        expected[(second - first) // matrix.width_s, region] += 1
    assert expected.tolist() == dense.tolist()


def test_an_empty_heat_map_is_empty() -> None:
    """Without events there is no column."""
    first, dense = Matrix(4).dense()
    assert (0, (0, 4)) == (first, dense.shape)


@given(st.integers(1, 30), st.integers(1, 9), st.integers(0, 3))
def test_every_placement_holds_every_region_once(regions: int, servers: int, seed: int) -> None:
    """Loads by server sum to the loads by region, and no placement is uneven by more than one."""
    placements = Placements(regions, servers, seed)
    counts = np.random.default_rng(seed).integers(0, 100, (5, regions))
    counts[:, 0] += 1  # no window is empty
    cells = np.repeat(np.arange(counts.size), counts.ravel())
    listed = RegionCounts.from_events(cells // regions, cells % regions, regions)
    fullest = placements.fullest(listed)
    for table, count, loads in zip(
        placements.tables, placements.counts.tolist(), fullest, strict=True
    ):
        held = np.bincount(table, minlength=count)
        assert held.max() - held.min() <= 1
        by_hand = [max(sum(row[table == server]) for server in range(count)) for row in counts]
        assert by_hand == loads.tolist()
    assert counts.sum(axis=1).tolist() == placements.by_server(counts).sum(axis=1).tolist()


@given(st.integers(1, 400), st.integers(1, 60), st.integers(1, 50))
def test_windows_of_equal_counts_are_equal(events: int, windows: int, block: int) -> None:
    """Windows differ by at most one event, and each event is told its own."""
    counts = EqualCounts(events, 2, windows)
    for start in range(0, events, block):
        counts.add(np.zeros(min(block, events - start), np.int64))
    sizes = counts.counts.sum(axis=1)
    assert events == sizes.sum()
    assert sizes.max() - sizes.min() <= 1
    assert sizes.tolist() == np.bincount(counts.windows_of(np.arange(events))).tolist()


def test_variation_of_one_full_server_is_the_root_of_the_others() -> None:
    """With all load on one of n, the standard deviation is the mean times the root of n - 1."""
    assert math.isclose(variation([5, *[0] * 9]), 3)
