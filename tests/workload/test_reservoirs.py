"""Reservoir samples keep each event with equal probability, and counters each distinct value."""

from __future__ import annotations

import os
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.workload import DistinctCounter, Reservoir

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SIZES = st.lists(st.integers(0, 60), min_size=1, max_size=12)


@cache
def build_rows(first: int, size: int) -> pa.RecordBatch:
    """Return events that hold their own number, and a text in a dictionary."""
    numbers = pa.array(range(first, first + size), pa.int64())
    texts = pa.array([f"t{n}" for n in range(first, first + size)], pa.string())
    return pa.RecordBatch.from_arrays([numbers, texts.dictionary_encode()], names=["n", "text"])


def offer_batches(reservoir: Reservoir, sizes: list[int]) -> None:
    """Offer events in batches of given sizes."""
    first = 0
    for size in sizes:
        reservoir.offer(build_rows(first, size))
        first += size


# Reservoir


@given(sizes=SIZES, capacity=st.integers(1, 50), seed=st.integers(0, 9))
def test_a_reservoir_keeps_events_in_order_of_arrival(
    sizes: list[int], capacity: int, seed: int
) -> None:
    """A reservoir has at most its capacity of events, each once, in order of arrival."""
    reservoir = Reservoir(capacity, seed)
    offer_batches(reservoir, sizes)
    numbers = reservoir.collect_positions().tolist()
    rows = reservoir.collect_rows()
    assert min(sum(sizes), capacity) == len(numbers) == rows.num_rows
    assert all(a < b for a, b in pairwise(numbers))
    if numbers:
        assert [{"n": n, "text": f"t{n}"} for n in numbers] == rows.to_pylist()
    assert (sum(sizes), sum(sizes) <= capacity) == (reservoir.event_count, reservoir.is_exact)


def test_every_event_is_equally_likely_to_be_kept_in_a_reservoir() -> None:
    """200 reservoirs keep equally many events of each twentieth of the stream."""
    kept = np.zeros(20)
    for seed in range(200):
        reservoir = Reservoir(100, seed)
        offer_batches(reservoir, [130, 7, 1, 400, 62, 1_000, 400])
        kept += np.bincount(reservoir.collect_positions() // 100, minlength=20)
    expected = 200 * 100 / 20
    assert 20_000 == kept.sum()
    # 19 degrees of freedom: 43.8 is passed once in a thousand.
    assert 43.8 > float(((kept - expected) ** 2 / expected).sum())


def test_neighbouring_events_are_kept_in_a_reservoir_independently() -> None:
    """Neighbouring events are kept together as often as chance predicts."""
    together = 0
    for seed in range(300):
        reservoir = Reservoir(100, seed)
        offer_batches(reservoir, [250] * 4)
        together += int((np.diff(reservoir.collect_positions()) == 1).sum())
    expected = 300 * 999 * (100 * 99) / (1_000 * 999)
    assert pytest.approx(expected, rel=0.06) == together


def test_a_reservoir_never_holds_more_than_twice_its_capacity() -> None:
    reservoir = Reservoir(1_000)
    for _ in range(40):
        offer_batches(reservoir, [700])
        held = sum(batch.num_rows for batch in reservoir._batches)
        assert 2_000 >= held


def test_the_same_seed_keeps_the_same_events_in_a_reservoir() -> None:
    kept = []
    for seed in (3, 3, 4):
        reservoir = Reservoir(50, seed)
        offer_batches(reservoir, [300, 300])
        kept.append(reservoir.collect_positions().tolist())
    assert kept[0] == kept[1] != kept[2]


# Distinct


def draw_fingerprints(chance: np.random.Generator, count: int) -> Any:
    """Return random fingerprints."""
    return chance.integers(0, 1 << 64, count, dtype=np.uint64)


@given(batches=st.lists(st.lists(st.integers(0, 40), max_size=60), max_size=8))
def test_a_distinct_counter_is_exact_up_to_its_capacity(batches: list[list[int]]) -> None:
    """Up to the capacity, a counter is as exact as a set."""
    pool = draw_fingerprints(np.random.default_rng(1), 41)
    counted = DistinctCounter(capacity=64)
    for some in batches:
        counted.add(pool[some] if some else pool[:0])
    seen = [thing for some in batches for thing in some]
    assert (len(set(seen)), len(seen) - len(set(seen)), len(seen), True) == (
        counted.distinct_count, counted.repeat_count, counted.event_count, counted.is_exact,
    )  # fmt: skip


@pytest.mark.parametrize("copies", [1, 3])
def test_a_distinct_counter_above_its_capacity_has_the_expected_error(copies: int) -> None:
    """Counters of capacity 1,024 have an error of 1.2 / 32 over forty streams."""
    errors = []
    for seed in range(40):
        pool = draw_fingerprints(np.random.default_rng(seed), 30_000)
        counted = DistinctCounter(capacity=1_024)
        for _ in range(copies):
            for first in range(0, len(pool), 7_000):
                counted.add(pool[first : first + 7_000])
        errors.append(counted.distinct_count / len(pool) - 1)
        assert not counted.is_exact
    # Values that never repeat are distinguished from repeated ones, so that their count is exact.
    assert (0.0 if copies == 1 else 1.2 / 32) * 1.3 >= float(np.std(errors))
    assert pytest.approx(0, abs=0.02) == float(np.mean(errors))


def test_the_count_of_a_million_distinct_values_is_within_the_stated_error() -> None:
    """The count of a million or more repeated values is within three times 0.2 %."""
    count = 3_000_000 if IS_LONG else 1_000_000
    pool = draw_fingerprints(np.random.default_rng(5), count)
    counted = DistinctCounter()
    for first in range(0, len(pool), 500_000):
        counted.add(pool[first : first + 500_000])
        counted.add(pool[first : first + 500_000])
    assert not counted.is_exact
    assert pytest.approx(count, rel=0.006) == counted.distinct_count


@pytest.mark.parametrize("parts", [2, 7, 64])
def test_merged_distinct_counters_equal_one_counter_of_the_stream(parts: int) -> None:
    chance = np.random.default_rng(parts)
    stream = chance.choice(draw_fingerprints(chance, 5_000), 8_000)
    whole, merged = DistinctCounter(capacity=300), DistinctCounter(capacity=300)
    whole.add(stream)
    for part in np.array_split(stream, parts):
        counted = DistinctCounter(capacity=300)
        for some in np.array_split(part, 3):
            counted.add(some)
        merged.merge(counted)
    assert (whole.row_counts, whole.sampling_level) == (merged.row_counts, merged.sampling_level)
    assert whole.sampling_level > 0


@pytest.mark.parametrize("capacity", [50, 5_000])
@pytest.mark.parametrize("parts", [2, 7, 64])
def test_merged_reservoirs_keep_the_rows_of_one_reservoir(parts: int, capacity: int) -> None:
    """Merged reservoirs of a stream's parts keep the rows of one reservoir."""
    rows = pa.record_batch({"n": list(range(2_000)), "t": ["x" * (n % 50) for n in range(2_000)]})
    whole, merged = Reservoir(capacity, 3), Reservoir(capacity, 3)
    whole.offer(rows)
    for part in np.array_split(np.arange(2_000), parts):
        reservoir = Reservoir(capacity, 3, first_event=int(part[0]))
        for some in np.array_split(part, 3):
            reservoir.offer(rows.slice(int(some[0]) if len(some) else 0, len(some)))
        merged.merge(reservoir)
    assert whole.collect_rows() == merged.collect_rows()
    assert whole.collect_positions().tolist() == merged.collect_positions().tolist()
    assert (whole.event_count, whole.is_exact) == (merged.event_count, merged.is_exact)


def test_merged_reservoirs_limited_by_bytes_keep_the_rows_of_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rowkey.workload.reservoir.MAX_HELD_BYTES", 10_000)
    rows = pa.record_batch({"t": ["x" * (n % 97) for n in range(2_000)]})
    whole, merged = Reservoir(1_000, 3), Reservoir(1_000, 3)
    for first in range(0, 2_000, 100):
        whole.offer(rows.slice(first, 100))
        part = Reservoir(1_000, 3, first_event=first)
        part.offer(rows.slice(first, 100))
        merged.merge(part)
    kept = whole.collect_rows()
    assert kept == merged.collect_rows()
    assert 9_900 < sum(map(len, kept.column("t").to_pylist())) <= 10_000


def test_a_reservoir_is_bounded_after_every_batch() -> None:
    """After every batch the kept and the buffered values are bounded."""
    counted = DistinctCounter(capacity=1_000)
    for seed in range(50):
        counted.add(draw_fingerprints(np.random.default_rng(seed), 900))
        assert 2_900 >= counted._pending_count
        assert 1_000 >= len(counted._fingerprints)
