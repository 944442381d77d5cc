"""Thresholds of the split policies agree with HBase's formulas."""

from __future__ import annotations

import pytest

from rowkey.errors import InvalidArgument
from rowkey.regions import (
    DEFAULT_POLICY,
    FLUSH_SIZE,
    MAX_FILE_SIZE,
    SplitPolicy,
    compute_split_threshold,
)

MIB, GIB = 2**20, 2**30


def list_thresholds(policy: SplitPolicy, *regions: int) -> list[int | None]:
    """Return the thresholds for numbers of regions on a server, with HBase's sizes."""
    return [compute_split_threshold(policy, here) for here in regions]


def test_the_default_policy_splits_the_only_region_of_a_server_at_256_mb() -> None:
    """SteppingSplitPolicy splits a table's only region on a server at 256 MB, others at 10 GB."""
    assert SplitPolicy.STEPPING is DEFAULT_POLICY
    assert (10 * GIB, 128 * MIB) == (MAX_FILE_SIZE, FLUSH_SIZE)
    assert [10 * GIB, 256 * MIB, 10 * GIB, 10 * GIB] == list_thresholds(
        DEFAULT_POLICY, 0, 1, 2, 101
    )


def test_the_cubic_policy_splits_at_256_mb_then_2_gb_then_the_file_size() -> None:
    """Thresholds are 256 MB, 2 GB, 6.75 GB, then the file size, as above 100 regions."""
    expected = [10 * GIB, 256 * MIB, 2 * GIB, 27 * 256 * MIB, 10 * GIB, 10 * GIB, 10 * GIB]
    assert expected == list_thresholds(SplitPolicy.INCREASING, 0, 1, 2, 3, 4, 100, 101)


def test_the_cubic_policy_uses_the_file_size_above_100_regions() -> None:
    """Above 100 regions the file size is the threshold, although no cube would reach it."""
    policy = SplitPolicy.INCREASING
    assert [2**21 * 10**6, 2**60] == [
        compute_split_threshold(policy, here, 2**60, 2**20) for here in (100, 101)
    ]


def test_the_constant_policy_splits_at_one_size_and_the_disabled_policy_never() -> None:
    """The constant policy has one size for all regions, and the disabled one has none."""
    assert [10 * GIB] * 3 == list_thresholds(SplitPolicy.CONSTANT_SIZE, 0, 1, 9)
    assert [None] * 3 == list_thresholds(SplitPolicy.DISABLED, 0, 1, 9)


def test_a_small_max_filesize_does_not_lower_the_first_split_size() -> None:
    """A small MAX_FILESIZE does not lower the first threshold of the default policy."""
    assert 256 * MIB == compute_split_threshold(SplitPolicy.STEPPING, 1, 2 * MIB)
    assert 2 * MIB == compute_split_threshold(SplitPolicy.INCREASING, 1, 2 * MIB)


@pytest.mark.parametrize("sizes", [(-1, GIB, GIB), (1, 2 * MIB - 1, GIB), (1, GIB, MIB - 1)])
def test_sizes_that_hbase_refuses_are_refused(sizes: tuple[int, int, int]) -> None:
    """File and flush sizes that are too small, and negative numbers, are refused."""
    with pytest.raises(InvalidArgument):
        compute_split_threshold(SplitPolicy.STEPPING, *sizes)
