"""The cache of the sorted regions of one table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.hbase.locations.region_map import RegionLocation, RegionMap
from rowkey.hbase.wire.names import ServerName, build_region_name

SERVER = ServerName("rs1", 16020, 7)
KEYS = st.binary(max_size=2)


def build_region(start: bytes, stop: bytes, number: int = 1, seqnum: int = 2) -> RegionLocation:
    """Return a region of the table t."""
    return RegionLocation("t", build_region_name("t", start, number), start, stop, SERVER, seqnum)


HALVES = RegionMap([build_region(b"", b"m"), build_region(b"m", b"")])


def test_a_newer_region_replaces_all_regions_it_overlaps() -> None:
    """A merged region replaces both of its parents."""
    merged = build_region(b"", b"", 2)
    assert (merged,) == HALVES.with_region(merged).regions


def test_an_older_region_and_the_newer_one_it_overlaps_are_both_dropped() -> None:
    """An older region and the newer one that it overlaps are dropped until the next lookup."""
    newer = RegionMap([build_region(b"", b"m", 5), build_region(b"m", b"", 1)])
    assert (build_region(b"m", b""),) == newer.with_region(build_region(b"a", b"b", 4)).regions


@pytest.mark.parametrize(("seqnum", "kept"), [(1, 2), (2, 2), (3, 3)])
def test_a_late_answer_does_not_restore_an_old_location(seqnum: int, kept: int) -> None:
    known = HALVES.with_region(build_region(b"m", b"", seqnum=seqnum)).find_region(b"z")
    assert known is not None
    assert kept == known.seqnum


@given(st.sets(KEYS.filter(bool), max_size=5), st.sets(st.integers(0, 5)), KEYS)
def test_binary_search_finds_the_region_of_a_row(
    splits: set[bytes], missing: set[int], row: bytes
) -> None:
    """Binary search finds what a linear search finds, in both directions and with gaps."""
    starts = [b"", *sorted(splits)]
    pairs = zip(starts, [*starts[1:], b""], strict=True)
    some = [build_region(*pair) for place, pair in enumerate(pairs) if place not in missing]
    known = RegionMap(some)
    want = [next((one for one in some if one.has_row(row)), None)]
    want.append(next((one for one in some if one.has_keys_below(row)), None))
    assert want == [known.find_region(row), known.find_region_below(row)]


@given(st.lists(st.tuples(KEYS, KEYS, st.integers(1, 9)), max_size=12))
def test_cached_regions_never_overlap(pieces: list[tuple[bytes, bytes, int]]) -> None:
    """After any insertions the regions are disjoint and sorted."""
    known = RegionMap()
    for start, stop, number in pieces:
        if not stop or start < stop:
            known = known.with_region(build_region(start, stop, number))
    pairs = zip(known.regions, known.regions[1:], strict=False)
    assert [] == [(one, other) for one, other in pairs if not one.stop or one.stop > other.start]


def test_the_region_id_is_parsed() -> None:
    """The region id is the text between the last comma and the hash, for any start key."""
    names = (
        build_region_name("t", b",9,.", 1_700),
        build_region_name("t", b"", 1_700, 1),
        b"hbase:meta,,1",
    )
    regions = (RegionLocation("t", name, b"", b"", SERVER, 1) for name in names)
    assert [1_700, 1_700, 1] == [one.region_id for one in regions]
