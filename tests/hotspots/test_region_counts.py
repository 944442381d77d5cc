"""Counts by window and region: equal to a dictionary of them, in memory for what came alone."""

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
MOST_BYTES = 20_000_000
"""Bytes that 30,000 events may take: 31 GB is what a cell for each window and region would take."""


def count(events: list[tuple[int, int]], regions: int) -> RegionCounts:
    """The counts of some events."""
    windows, places = np.array(events).T
    return RegionCounts.from_events(windows, places, regions)


def listed(counts: RegionCounts) -> dict[tuple[int, int], int]:
    """The same as a mapping, for which they must ascend and none be listed twice."""
    windows = np.repeat(counts.windows, counts.entry_counts).tolist()
    cells = list(zip(windows, counts.regions.tolist(), strict=True))
    assert sorted(set(cells)) == cells
    assert counts.window_totals.sum() == counts.counts.sum()
    return dict(zip(cells, counts.counts.tolist(), strict=True))


@given(EVENTS, REGIONS)
def test_counts_are_those_of_a_dictionary(events: list[tuple[int, int]], regions: int) -> None:
    """Each window and region that has events, with how many."""
    assert Counter(events) == listed(count(events, regions))


@given(EVENTS, REGIONS, st.sampled_from((1, 6, 10, 600)))
def test_wider_windows_count_the_same_events(
    events: list[tuple[int, int]], regions: int, factor: int
) -> None:
    """Windows so many times as wide hold what their parts hold."""
    expected = Counter((window // factor, region) for window, region in events)
    assert expected == listed(count(events, regions).widen_windows(factor))


@given(st.lists(EVENTS, min_size=1, max_size=4), REGIONS)
def test_merged_counts_are_those_of_all(several: list[list[tuple[int, int]]], regions: int) -> None:
    """Whatever windows they share."""
    merged = RegionCounts.merge([count(events, regions) for events in several])
    assert Counter(one for events in several for one in events) == listed(merged)


@given(EVENTS, REGIONS, st.data())
def test_parts_of_the_windows_are_cut_out(
    events: list[tuple[int, int]], regions: int, data: st.DataObject
) -> None:
    """A stretch of them, none as well, and those that are marked."""
    counts = count(events, regions)
    start = data.draw(st.integers(0, len(counts)))
    stop = data.draw(st.integers(start, len(counts)))
    is_wanted = np.zeros(len(counts), np.bool_)
    is_wanted[start:stop] = True
    wanted = set(counts.windows[start:stop].tolist())
    expected = {cell: n for cell, n in listed(counts).items() if cell[0] in wanted}
    for part in (counts.slice_windows(start, stop), counts.select_windows(is_wanted)):
        windows = np.repeat(part.windows, part.entry_counts).tolist()
        cells = zip(windows, part.regions.tolist(), strict=True)
        assert expected == dict(zip(cells, part.counts.tolist(), strict=True))


@pytest.mark.parametrize("step", [1, 1_000])
def test_memory_is_for_what_came(step: int) -> None:
    """A second each and 100,000 regions: entries, and not a cell for each window and region."""
    windows = np.arange(30_000) * step
    places = np.arange(30_000) * 7_919 % 100_000
    tracemalloc.start()
    counts = RegionCounts.from_events(windows, places, 100_000)
    for factor in (10, 6, 10):
        counts = counts.widen_windows(factor)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 30_000 == counts.window_totals.sum()
    assert most < MOST_BYTES
