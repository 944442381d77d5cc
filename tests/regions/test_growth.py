"""Simulated growth equals a key-by-key simulation, and shows the effect of moving fronts."""

from __future__ import annotations

import os
from bisect import bisect_right, insort
from time import process_time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import InvalidArgument
from rowkey.regions import RegionGrowth, SplitPolicy, compute_split_threshold, simulate_growth

MIB = 2**20
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
LENGTH = 500 if IS_LONG else 300
"""Keys of a long run."""
KEYS = 100_000
FILE = 1_000 * MIB


def grow_key_by_key(
    ranks: list[int], starts: list[int], servers: int, policy: SplitPolicy, file: int, flush: int
) -> tuple[list[int], list[int]]:
    """Return starts and key counts of regions after each key arrived one after the other."""
    starts = list(starts)
    held: list[list[int]] = [[] for _ in range(len(starts) + 1)]
    retry = [0] * len(held)
    for rank in ranks:
        region = bisect_right(starts, rank)
        keys = held[region]
        insort(keys, rank)
        here = len([other for other in range(len(held)) if other % servers == region % servers])
        limit = compute_split_threshold(policy, here, file, flush)
        if limit is None or len(keys) * MIB <= limit or len(keys) <= retry[region]:
            continue
        middle = keys[len(keys) // 2]
        if middle in {keys[0], keys[-1]}:
            retry[region] = 2 * len(keys)
            continue
        starts.insert(region, middle)
        cut = keys.index(middle)
        held[region : region + 1] = [keys[:cut], keys[cut:]]
        retry[region : region + 1] = [0, 0]
    return starts, [len(keys) for keys in held]


@given(
    ranks=st.lists(st.integers(0, 30), max_size=120),
    starts=st.lists(st.integers(0, 30), max_size=4).map(sorted),
    servers=st.integers(1, 4),
    policy=st.sampled_from(SplitPolicy),
    sizes=st.tuples(st.integers(2, 12), st.integers(1, 4)),
)
def test_chunks_of_keys_grow_regions_as_single_keys_do(
    ranks: list[int], starts: list[int], servers: int, policy: SplitPolicy, sizes: tuple[int, int]
) -> None:
    """Keys in chunks grow regions as single keys do."""
    file, flush = (size * MIB for size in sizes)
    expected = grow_key_by_key(ranks, starts, servers, policy, file, flush)
    grown = simulate_growth(
        np.array(ranks, np.int64), MIB, boundaries=starts, servers=servers, policy=policy,
        max_file_size=file, flush_size=flush,
    )  # fmt: skip
    keys = [size // MIB for size in grown.sizes_bytes]
    assert expected == (list(grown.boundaries), keys)
    assert len(ranks) == sum(keys)
    assert grown.region_count == len(starts) + len(grown.splits) + 1
    assert sorted(grown.boundaries) == list(grown.boundaries)
    assert len(set(grown.boundaries)) == len(set(starts)) + len(grown.splits)


@pytest.mark.parametrize("policy", SplitPolicy)
@pytest.mark.parametrize("servers", [1, pytest.param(2, marks=pytest.mark.long), 5])
@pytest.mark.parametrize("shape", ["rising", "random", "few", "fronts"])
@pytest.mark.parametrize("sizes", [(24, 3), (4, 8)])
def test_chunks_of_keys_grow_regions_as_single_keys_do_in_long_runs(
    policy: SplitPolicy, servers: int, shape: str, sizes: tuple[int, int]
) -> None:
    """Long runs of four shapes agree, with thresholds that rise, or fall for small files."""
    drawn = np.random.default_rng(servers).integers(0, 10_000, LENGTH)
    ranks = {
        "rising": np.arange(LENGTH),
        "random": drawn,
        "few": drawn % 7,
        "fronts": drawn % 4 * 1_000 + np.arange(LENGTH),
    }[shape]
    file, flush = (size * MIB for size in sizes)
    expected = grow_key_by_key(ranks.tolist(), [], servers, policy, file, flush)
    after = simulate_growth(
        ranks, MIB, servers=servers, policy=policy, max_file_size=file, flush_size=flush
    )
    assert expected == (list(after.boundaries), [size // MIB for size in after.sizes_bytes])


def grow_table(ranks: Any, **more: Any) -> RegionGrowth:
    """Return a table of files of 1,000 keys after some keys arrived."""
    more = {"policy": SplitPolicy.CONSTANT_SIZE, "max_file_size": FILE, **more}
    return simulate_growth(ranks, MIB, **more)


def test_rising_keys_leave_regions_half_full() -> None:
    """Rising keys split the last region only, and leave the others half full."""
    after = grow_table(np.arange(KEYS))
    assert 0.5 == pytest.approx(after.mean_fill, abs=0.01)
    assert {501 * MIB, 500 * MIB} >= set(after.sizes_bytes[:-1])
    assert 0.9 == pytest.approx(after.idle_share, abs=0.01)
    assert [split.rank for split in after.splits] == sorted(split.rank for split in after.splits)


def test_random_keys_fill_all_regions() -> None:
    """Random keys write to all regions, which split together and are fuller."""
    after = grow_table(np.random.default_rng(3).permutation(KEYS))
    assert after.mean_fill > 0.65
    assert 0 == after.idle_share
    assert max(after.sizes_bytes) <= FILE


def test_rising_keys_in_16_buckets_are_written_to_16_regions() -> None:
    """With 16 buckets of rising keys, 16 regions are written, and all others are half full."""
    buckets = np.arange(KEYS) % 16 * KEYS + np.arange(KEYS)
    after = grow_table(
        buckets, boundaries=[KEYS * bucket for bucket in range(1, 16)], recent_share=0.001
    )
    assert 16 == round((1 - after.idle_share) * after.region_count)
    assert 0.55 > after.mean_fill > 0.5


def test_a_region_of_one_row_grows_without_a_split() -> None:
    """A region of one row grows beyond its threshold without a split."""
    after = grow_table(np.zeros(5_000, np.int64))
    assert (1, 5.0, ()) == (after.region_count, after.mean_fill, after.splits)


def test_no_region_splits_under_the_disabled_policy() -> None:
    """Without a split policy all bytes stay in their regions."""
    after = grow_table(np.arange(5_000), policy=SplitPolicy.DISABLED, boundaries=[1_000])
    assert (1_000 * MIB, 4_000 * MIB) == after.sizes_bytes


def test_the_default_policy_splits_a_small_table_early() -> None:
    """The default policy splits early while a server has one region of the table."""
    keys = np.random.default_rng(4).permutation(8_000)
    early = simulate_growth(keys, MIB, servers=8)
    assert early.region_count > 8
    assert 1 == simulate_growth(keys, MIB, servers=8, policy=SplitPolicy.CONSTANT_SIZE).region_count
    assert (256 + 1) * MIB == early.splits[0].size_bytes


def test_the_same_keys_give_the_same_regions() -> None:
    """The same keys always give the same regions."""
    keys = np.random.default_rng(5).integers(0, 1_000, 20_000)
    assert grow_table(keys, servers=3) == grow_table(keys, servers=3)


def test_a_table_without_keys_keeps_its_empty_regions() -> None:
    """A table without keys has its regions, empty and not written."""
    after = grow_table(np.array([], np.int64), boundaries=[5])
    assert ((0, 0), 0.0, 1.0) == (after.sizes_bytes, after.mean_fill, after.idle_share)


@pytest.mark.parametrize(
    "wrong",
    [
        {"boundaries": [6, 5]},
        {"servers": 0},
        {"recent_share": 0},
        {"recent_share": 1.5},
        {"max_file_size": 1},
    ],
)
def test_a_growth_argument_out_of_range_is_refused(wrong: dict[str, Any]) -> None:
    """A number out of its range is refused."""
    with pytest.raises(InvalidArgument):
        grow_table(np.arange(10), **wrong)


def test_too_many_keys_or_bytes_for_growth_are_refused() -> None:
    with pytest.raises(InvalidArgument):
        simulate_growth(np.zeros(2_000_001, np.int8), 1)
    with pytest.raises(InvalidArgument):
        simulate_growth(np.arange(3), 0)


MANY_KEYS = 1_000_000 if IS_LONG else 300_000
MAX_SLOWDOWN = 20
"""Times as long as none 1,400 splits of `MANY_KEYS` may take: 2 to 3 are measured, and 130 to
400 where each of them looks at every key that has arrived."""


def test_the_time_of_a_split_depends_only_on_the_keys_of_its_region() -> None:
    """The time of a split depends on its region's keys, not on all keys that arrived."""
    keys = np.random.default_rng(1).permutation(MANY_KEYS)
    took = []
    for policy in (SplitPolicy.DISABLED, SplitPolicy.CONSTANT_SIZE):
        start = process_time()
        after = simulate_growth(keys, MIB, policy=policy, max_file_size=MANY_KEYS // 1_000 * MIB)
        took.append(process_time() - start)
    assert after.region_count > 1_000
    assert took[1] < MAX_SLOWDOWN * took[0]
