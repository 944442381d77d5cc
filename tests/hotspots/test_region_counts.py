"""Counts by window and region equal those of a dictionary, in memory for occupied cells alone."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.hotspots import RegionCounts

EVENTS = st.lists(
    st.tuples(st.integers(-40, 40) | st.integers(-(10**9), 10**9), st.integers(0, 6)),
    min_size=1,
    max_size=60,
)
REGIONS = st.sampled_from((7, 100_000))
"""So few that a table of all cells is taken, and so many that entries are sorted."""
MAX_BYTES = 20_000_000
"""Bytes that 30,000 events may take: 31 GB is what a cell for each window and region would take."""


def count_events(events: list[tuple[int, int]], regions: int) -> RegionCounts:
    """Count (window, region) events."""
    windows, places = np.array(events).T
    return RegionCounts.from_events(windows, places, regions)


def to_mapping(counts: RegionCounts) -> dict[tuple[int, int], int]:
    """Return counts as a mapping, after checking that they ascend without repetition."""
    windows = np.repeat(counts.windows, counts.entry_counts).tolist()
    cells = list(zip(windows, counts.regions.tolist(), strict=True))
    assert sorted(set(cells)) == cells
    assert counts.window_totals.sum() == counts.counts.sum()
    return dict(zip(cells, counts.counts.tolist(), strict=True))


@given(EVENTS, REGIONS)
def test_region_counts_per_window_equal_those_of_a_dictionary(
    events: list[tuple[int, int]], regions: int
) -> None:
    """Each window and region with events has the count of a dictionary."""
    assert Counter(events) == to_mapping(count_events(events, regions))


@given(EVENTS, REGIONS, st.sampled_from((1, 6, 10, 600)))
def test_counts_of_wider_windows_are_sums_of_their_parts(
    events: list[tuple[int, int]], regions: int, factor: int
) -> None:
    """A window that is several times as wide has the sum of its parts."""
    expected = Counter((window // factor, region) for window, region in events)
    assert expected == to_mapping(count_events(events, regions).widen_windows(factor))


@given(st.lists(EVENTS, min_size=1, max_size=4), REGIONS)
def test_merged_region_counts_equal_the_counts_of_all_events(
    several: list[list[tuple[int, int]]], regions: int
) -> None:
    """Merged counts equal the counts of all events, whichever windows they share."""
    merged = RegionCounts.merge([count_events(events, regions) for events in several])
    assert Counter(one for events in several for one in events) == to_mapping(merged)


@given(EVENTS, REGIONS, st.data())
def test_a_range_of_windows_and_marked_windows_can_be_selected(
    events: list[tuple[int, int]], regions: int, data: st.DataObject
) -> None:
    """A range of windows, an empty range, and marked windows can be selected."""
    counts = count_events(events, regions)
    start = data.draw(st.integers(0, len(counts)))
    stop = data.draw(st.integers(start, len(counts)))
    is_wanted = np.zeros(len(counts), np.bool_)
    is_wanted[start:stop] = True
    wanted = set(counts.windows[start:stop].tolist())
    expected = {cell: n for cell, n in to_mapping(counts).items() if cell[0] in wanted}
    for part in (counts.slice_windows(start, stop), counts.select_windows(is_wanted)):
        windows = np.repeat(part.windows, part.entry_counts).tolist()
        cells = zip(windows, part.regions.tolist(), strict=True)
        assert expected == dict(zip(cells, part.counts.tolist(), strict=True))


@pytest.mark.parametrize("step", [1, 1_000])
def test_memory_of_region_counts_grows_with_the_occupied_cells(step: int) -> None:
    """Memory grows with the occupied cells, not with windows times 100,000 regions."""
    windows = np.arange(30_000) * step
    places = np.arange(30_000) * 7_919 % 100_000
    tracemalloc.start()
    counts = RegionCounts.from_events(windows, places, 100_000)
    for factor in (10, 6, 10):
        counts = counts.widen_windows(factor)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 30_000 == counts.window_totals.sum()
    assert most < MAX_BYTES
