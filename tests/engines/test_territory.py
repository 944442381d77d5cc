from __future__ import annotations

import json
from bisect import bisect_right

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.engines import RegionCount, SplitLimits, Territory
from rowkey.errors import Refused

MIB = 2**20
keys = st.binary(min_size=1, max_size=3)
cuts = st.lists(keys, unique=True, max_size=5).map(sorted)


@given(cuts=cuts, rows=st.lists(keys, max_size=40))
def test_all_ways_to_count_agree(cuts: list[bytes], rows: list[bytes]) -> None:
    """One by one, in order and as an Arrow array, each row counts in the region that holds it."""
    expected = [0] * (len(cuts) + 1)
    for row in rows:
        expected[bisect_right(cuts, row)] += 1
    lands = [Territory(cuts) for _ in range(4)]
    lands[0].count_writes(rows)
    lands[1].count_writes(sorted(rows), ascending=True)
    lands[2].count_writes(rows, [1] * len(rows))
    lands[3].count_writes_array(pa.array(rows, pa.binary()), 1.0)
    assert [expected] * 4 == [[region.writes for region in land.regions()] for land in lands]
    assert expected == [lands[2].size(index) for index in range(len(expected))]
    assert expected == [lands[3].size(index) for index in range(len(expected))]
    for land in lands:
        land.count_reads(sorted(rows), ascending=True)
        land.count_reads_array(pa.array(rows, pa.binary()))
    doubled = [2 * count for count in expected]
    assert [doubled] * 4 == [[region.reads for region in land.regions()] for land in lands]


@given(cuts=cuts, rows=st.lists(keys, max_size=20), at=keys)
def test_a_split_keeps_the_sums(cuts: list[bytes], rows: list[bytes], at: bytes) -> None:
    """A split halves what was counted and loses none of it, and only where no region begins."""
    land = Territory(cuts)
    land.count_writes(rows, [3] * len(rows))
    land.count_reads(rows)
    if at in cuts:
        with pytest.raises(Refused, match="begins"):
            land.split(at)
        return
    land.split(at)
    assert tuple(sorted([*cuts, at])) == land.splits
    assert len(rows) == sum(region.writes for region in land.regions())
    assert len(rows) == sum(region.reads for region in land.regions())
    assert 3 * len(rows) == sum(land.size(index) for index in range(len(land)))


def test_a_territory_is_kept_as_json() -> None:
    """What is dumped and loaded counts on from where it was."""
    land = Territory([b"\0m", b"\xff"])
    land.count_writes([b"a", b"\xff"], [5, 7])
    land.count_reads([b"a"])
    again = Territory.load(json.loads(json.dumps(land.dump())))
    assert land.regions() == again.regions()
    assert land.dump() == again.dump()
    again.count_writes([b"\0"])
    assert RegionCount(b"", b"\0m", 1, 0) == again.regions()[0]


def test_a_region_is_overfull_above_its_limit() -> None:
    """The limit itself is not above it; a region of one row is let be until it doubles."""
    words = {"SPLIT_POLICY": "ConstantSizeRegionSplitPolicy", "MAX_FILESIZE": str(4 * MIB)}
    land = Territory([b"m"])
    land.count_writes([b"a", b"z"], [4 * MIB, MIB])
    assert [] == land.overfull(words)
    land.count_writes([b"a"], [1])
    assert [(b"", b"m")] == land.overfull(words)
    assert [] == land.overfull({**words, "SPLIT_POLICY": "DisabledRegionSplitPolicy"})
    land.postpone(b"")
    assert [] == land.overfull(words)
    land.count_writes([b"a"], [4 * MIB + 2])
    assert [(b"", b"m")] == land.overfull(words)
    land.resize([0, 5 * MIB])
    assert [(b"m", b"")] == land.overfull(words)


def test_limits_are_read_from_the_words_of_a_table() -> None:
    """A policy is named with or without its package; what is left out is HBase's default."""
    package = "org.apache.hadoop.hbase.regionserver."
    named = {"SPLIT_POLICY": f"{package}IncreasingToUpperBoundRegionSplitPolicy"}
    limits = SplitLimits.read({**named, "MEMSTORE_FLUSHSIZE": str(MIB)})
    assert [2 * MIB, 16 * MIB] == [limits.most(1), limits.most(2)]
    assert 256 * MIB == SplitLimits.read({}).most(1)


@pytest.mark.parametrize("given", ["", "-1", "1 GB", "9" * 30, "٣"])
def test_a_size_that_is_no_number_is_refused(given: str) -> None:
    """Anything but a few digits is refused by its name."""
    with pytest.raises(Refused, match="MAX_FILESIZE"):
        SplitLimits.read({"MAX_FILESIZE": given})
