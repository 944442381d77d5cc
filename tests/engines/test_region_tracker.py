"""Regions that count reads and writes, and split when they have grown too large."""

from __future__ import annotations

from bisect import bisect_right

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.engines import RegionTracker, SplitLimits
from rowkey.errors import InvalidArgument

MIB = 2**20
row_keys = st.binary(min_size=1, max_size=3)
split_keys = st.lists(row_keys, unique=True, max_size=5).map(sorted)


def count_requests(tracker: RegionTracker) -> list[tuple[int, int]]:
    """Return the writes and reads of each region."""
    return [(region.writes, region.reads) for region in tracker.list_regions()]


@given(splits=split_keys, rows=st.lists(row_keys, max_size=40))
def test_writes_and_reads_count_in_the_region_of_their_row(
    splits: list[bytes], rows: list[bytes]
) -> None:
    """Writes, reads and reads of an Arrow array count in the region that holds the row."""
    expected = [0] * (len(splits) + 1)
    for row in rows:
        expected[bisect_right(splits, row)] += 1
    tracker = RegionTracker(splits)
    tracker.count_writes(rows, [1] * len(rows))
    tracker.count_reads(rows)
    assert [(count, count) for count in expected] == count_requests(tracker)
    tracker.count_array_reads(pa.array(rows, pa.binary()))
    assert [(count, 2 * count) for count in expected] == count_requests(tracker)


@given(splits=split_keys, rows=st.lists(row_keys, max_size=20), split_key=row_keys)
def test_a_split_halves_the_counts_of_a_region(
    splits: list[bytes], rows: list[bytes], split_key: bytes
) -> None:
    """A split divides the counts of a region in halves, and is refused where a region starts."""
    tracker = RegionTracker(splits)
    tracker.count_writes(rows, [3] * len(rows))
    tracker.count_reads(rows)
    if split_key in splits:
        with pytest.raises(InvalidArgument, match="starts"):
            tracker.split_region(split_key)
        return
    tracker.split_region(split_key)
    assert tuple(sorted([*splits, split_key])) == tracker.splits
    writes, reads = zip(*count_requests(tracker), strict=True)
    assert (len(rows), len(rows)) == (sum(writes), sum(reads))


def test_a_region_splits_above_its_size_limit() -> None:
    """A region splits above its limit, or is left alone until it doubles if it cannot be split."""
    attributes = {"SPLIT_POLICY": "ConstantSizeRegionSplitPolicy", "MAX_FILESIZE": str(4 * MIB)}
    disabled = {**attributes, "SPLIT_POLICY": "DisabledRegionSplitPolicy"}
    tracker = RegionTracker([b"m"])
    asked: list[tuple[bytes, bytes]] = []
    middles: list[bytes | None] = [None, b"d"]

    def find_middle(start: bytes, stop: bytes) -> bytes | None:
        asked.append((start, stop))
        return middles.pop(0)

    def split(attributes: dict[str, str]) -> list[tuple[bytes, bytes]]:
        asked.clear()
        is_split = tracker.split_overfull_regions(attributes, find_middle)
        assert is_split == (len(tracker) == 3)
        return asked.copy()

    tracker.count_writes([b"a", b"z"], [4 * MIB, MIB])
    assert [] == split(attributes)
    tracker.count_writes([b"a"], [1])
    assert [] == split(disabled)
    assert [(b"", b"m")] == split(attributes)
    assert [] == split(attributes)
    tracker.count_writes([b"a"], [4 * MIB + 2])
    assert [(b"", b"m")] == split(attributes)
    assert (b"d", b"m") == tracker.splits
    last = RegionTracker([b"m"])
    last.count_writes([b"z"], [5 * MIB])
    assert last.split_overfull_regions(attributes, lambda start, stop: b"x")
    assert (b"m", b"x") == last.splits


def test_split_limits_are_read_from_table_attributes() -> None:
    """A split policy may have its Java package, and missing attributes have defaults."""
    package = "org.apache.hadoop.hbase.regionserver."
    policy = {"SPLIT_POLICY": f"{package}IncreasingToUpperBoundRegionSplitPolicy"}
    limits = SplitLimits.from_attributes({**policy, "MEMSTORE_FLUSHSIZE": str(MIB)})
    assert [2 * MIB, 16 * MIB] == [limits.compute_max_bytes(1), limits.compute_max_bytes(2)]
    assert 256 * MIB == SplitLimits.from_attributes({}).compute_max_bytes(1)


def test_a_split_policy_that_is_not_simulated_is_refused_as_unknown() -> None:
    """HBase has more policies than rowkey, and a cluster may have its own."""
    with pytest.raises(InvalidArgument, match="is a split policy that rowkey does not know"):
        SplitLimits.from_attributes({"SPLIT_POLICY": "BusyRegionSplitPolicy"})


@pytest.mark.parametrize("text", ["", "-1", "1 GB", "9" * 30, "٣"])
def test_a_malformed_size_attribute_is_refused_by_name(text: str) -> None:
    """A size that is not a few digits is refused with the name of its attribute."""
    with pytest.raises(InvalidArgument, match="MAX_FILESIZE"):
        SplitLimits.from_attributes({"MAX_FILESIZE": text})
