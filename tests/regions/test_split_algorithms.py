"""Every split algorithm keeps its golden vectors and the properties of its boundaries."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import InvalidArgument, InvalidDesign
from rowkey.regions import MAX_REGIONS, SPLIT_ALGORITHMS, SplitAlgorithm, SplitRequest, SplitVector

every_algorithm = pytest.mark.parametrize("kind", SPLIT_ALGORITHMS.values(), ids=SPLIT_ALGORITHMS)
vectors = [(name, vector) for name, kind in SPLIT_ALGORITHMS.items() for vector in kind.vectors]
TENTHS = ["19999999", "33333332", "4ccccccb", "66666664", "7ffffffd", "99999996", "b333332f",
          "ccccccc8", "e6666661"]  # fmt: skip
samples = st.lists(st.binary(max_size=4), min_size=1, max_size=60).map(sorted)


def choose_splits(name: str, request: SplitRequest) -> tuple[bytes, ...]:
    """Return the splits that one algorithm chooses."""
    return SPLIT_ALGORITHMS[name]().build_boundaries(request).splits


@pytest.mark.parametrize(("name", "vector"), vectors)
def test_each_split_algorithm_gives_its_documented_splits(name: str, vector: SplitVector) -> None:
    """Each algorithm gives the splits that its class documents."""
    assert vector.splits == choose_splits(name, vector.request)


@every_algorithm
def test_each_split_algorithm_has_vectors_and_a_source(kind: type[SplitAlgorithm]) -> None:
    """Each algorithm has vectors, a description, and a source."""
    assert kind.vectors
    assert "Source:" in (kind.__doc__ or "")


@every_algorithm
def test_a_split_algorithm_without_arguments_names_all_it_needs(kind: type[SplitAlgorithm]) -> None:
    """An empty request is refused with all that the algorithm needs, and a remedy."""
    with pytest.raises(InvalidDesign) as caught:
        kind().build_boundaries(SplitRequest())
    assert sorted(kind.required_fields) == [mistake.path for mistake in caught.value.mistakes]
    assert all(mistake.remedy for mistake in caught.value.mistakes)


@every_algorithm
def test_a_split_algorithm_refuses_an_argument_without_effect(kind: type[SplitAlgorithm]) -> None:
    request = SplitRequest(2, "00", "99", listed=[b"a"], prefixes=[b"a", b"b"], keys=[b"a", b"b"])
    in_vain = {"regions", "first", "last", "listed"} - kind.required_fields - kind.optional_fields
    with pytest.raises(InvalidDesign) as caught:
        kind().build_boundaries(request)
    assert sorted(in_vain) == sorted(mistake.path for mistake in caught.value.mistakes)


@pytest.mark.parametrize("regions", [0, -1, MAX_REGIONS + 1, 10**18])
def test_a_number_of_regions_that_takes_too_long_to_compute_is_refused(regions: int) -> None:
    """Numbers of regions that would take too long to compute are refused."""
    with pytest.raises(InvalidArgument):
        SplitRequest(regions=regions)


@pytest.mark.parametrize(
    ("name", "request_", "splits"),
    [
        ("hex_string", SplitRequest(16), [f"{i:x}0000000" for i in range(1, 16)]),
        ("hex_string", SplitRequest(10), TENTHS),
        ("hex_string", SplitRequest(3), ["55555555", "aaaaaaaa"]),
        ("hex_string", SplitRequest(11, "0", "A"), list("123456789a")),
        ("decimal_string", SplitRequest(3), ["33333333", "66666666"]),
    ],
)  # fmt: skip
def test_splits_of_text_keys_equal_those_of_the_tests_of_hbase(
    name: str, request_: SplitRequest, splits: list[str]
) -> None:
    """Splits equal those of RegionSplitter's own tests, and of its run on 2.6.4."""
    assert splits == [split.decode() for split in choose_splits(name, request_)]


def test_splits_of_byte_keys_equal_those_of_the_tests_of_hbase() -> None:
    """Splits equal those of HBase's own tests of UniformSplit."""
    sixteen = [bytes([16 * i]) + bytes(7) for i in range(1, 16)]
    assert sixteen == list(choose_splits("uniform", SplitRequest(16)))
    assert [b"\x80" + bytes(7)] == list(choose_splits("uniform", SplitRequest(2)))
    assert 11 == len(choose_splits("uniform", SplitRequest(12, "\\x00", "\\x0A")))


@pytest.mark.parametrize(
    ("name", "request_"),
    [("hex_string", SplitRequest(12, "0", "A")), ("hex_string", SplitRequest(2, "AA", "00")),
     ("hex_string", SplitRequest(2, "7", "7")), ("hex_string", SplitRequest(2, "g", "h")),
     ("hex_string", SplitRequest(2, "-1", "7")), ("hex_string", SplitRequest(2, "0" * 2_000, "1")),
     ("decimal_string", SplitRequest(2, "0", "A")), ("decimal_string", SplitRequest(2, "0", "")),
     ("uniform", SplitRequest(2, b"a", b"b" * 65)), ("hex_string", SplitRequest(2, "0", "1" * 65)),
     ("uniform", SplitRequest(1)), ("uniform", SplitRequest(2, b"b", b"a")),
     ("uniform", SplitRequest(2, b"a", b"a\0")), ("uniform", SplitRequest(2, "\\xff", "\\xFF")),
     ("sample", SplitRequest(2, keys=())), ("per_bucket", SplitRequest(prefixes=())),
     ("per_bucket", SplitRequest(prefixes=(b"a", b"ab"))),
     ("per_bucket", SplitRequest(prefixes=(b"a", b"a")))],
)  # fmt: skip
def test_split_requests_against_the_preconditions_are_refused(
    name: str, request_: SplitRequest
) -> None:
    """Requests against the preconditions are refused, and raise no other error."""
    with pytest.raises(InvalidArgument):
        choose_splits(name, request_)


@given(
    name=st.sampled_from(["hex_string", "decimal_string"]),
    first=st.integers(0, 10**9),
    span=st.integers(1, 10**9),
    regions=st.integers(1, 300),
)
def test_number_ranges_have_one_size_except_the_last(
    name: str, first: int, span: int, regions: int
) -> None:
    """All regions are of one size, except the last, which has the remainder too."""
    base = 16 if name == "hex_string" else 10
    form = "012x" if base == 16 else "d"
    written = format(first, form), format(first + span, form)
    if regions > span + 1:
        with pytest.raises(InvalidArgument):
            choose_splits(name, SplitRequest(regions, *written))
        return
    splits = choose_splits(name, SplitRequest(regions, *written))
    starts = [first, *(int(split, base) for split in splits)]
    sizes = [
        stop - start for start, stop in zip(starts, [*starts[1:], first + span + 1], strict=True)
    ]
    assert regions == len(sizes)
    assert {sizes[0]} == set(sizes[:-1] or sizes)
    assert 0 <= sizes[-1] - sizes[0] < regions
    assert {len(written[1])} >= set(map(len, splits))


@given(first=st.binary(max_size=3), last=st.binary(max_size=3), regions=st.integers(2, 600))
def test_uniform_splits_lie_between_their_ends(first: bytes, last: bytes, regions: int) -> None:
    """Uniform splits give the requested number of regions between the ends."""
    if first.ljust(3, b"\0") >= last.ljust(3, b"\0"):
        with pytest.raises(InvalidArgument):
            choose_splits("uniform", SplitRequest(regions, first, last))
        return
    splits = choose_splits("uniform", SplitRequest(regions, first, last))
    assert regions - 1 == len(splits)
    assert first < splits[0]
    assert splits[-1] <= last or splits[-1].startswith(last)


@given(keys=samples, regions=st.integers(1, 40))
def test_quantile_splits_give_no_region_more_than_its_share_of_the_sample(
    keys: list[bytes], regions: int
) -> None:
    """No region holds more distinct keys of the sample than its share, rounded up."""
    distinct = sorted(set(keys) - {b""})
    if not distinct:
        return
    splits = choose_splits("sample", SplitRequest(regions, keys=distinct))
    held = Counter(bisect_right(splits, key) for key in distinct)
    assert max(held.values()) <= -(-len(distinct) // regions)
    assert set(splits) <= set(distinct)


@given(keys=samples, regions=st.integers(1, 40))
def test_a_remark_says_that_a_sample_has_too_few_different_keys(
    keys: list[bytes], regions: int
) -> None:
    """A remark appears exactly if there are fewer regions than requested."""
    request = SplitRequest(regions, keys=keys)
    boundaries = SPLIT_ALGORITHMS["sample"]().build_boundaries(request)
    remarks = list(SPLIT_ALGORITHMS["sample"]().describe_regions(request, boundaries))
    assert (len(boundaries) < regions) == bool(remarks)


@given(buckets=st.integers(1, 40), regions=st.integers(1, 300))
def test_buckets_are_joined_or_split_evenly_into_regions(buckets: int, regions: int) -> None:
    """Buckets are joined or split evenly into the requested number of regions."""
    prefixes = [bytes([bucket]) for bucket in range(buckets)]
    splits = choose_splits("per_bucket", SplitRequest(regions, prefixes=prefixes))
    assert regions == len(splits) + 1
    edges = [0, *(split[0] for split in splits), buckets]
    if regions <= buckets:
        sizes = [after - before for before, after in pairwise(edges)]
    else:
        sizes = list(Counter(edges[:-1]).values())
        assert buckets == len(sizes)
    assert max(sizes) - min(sizes) <= 1


def test_a_list_of_bucket_values_need_not_be_sorted() -> None:
    assert (b"b", b"c") == choose_splits("per_bucket", SplitRequest(prefixes=[b"c", b"a", b"b"]))


def test_a_remark_says_that_buckets_are_split_unevenly() -> None:
    """A remark appears if values share a region or are split unevenly."""
    kind, prefixes = SPLIT_ALGORITHMS["per_bucket"](), [bytes([bucket]) for bucket in range(4)]
    told = {}
    for regions in (2, 4, 6, 8):
        request = SplitRequest(regions, prefixes=prefixes)
        told[regions] = len(list(kind.describe_regions(request, kind.build_boundaries(request))))
    assert {2: 1, 4: 0, 6: 1, 8: 0} == told
