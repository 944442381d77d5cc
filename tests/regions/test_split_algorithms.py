"""Every split algorithm: its golden vectors, and what its boundaries promise."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import DeclarationError, Refused
from rowkey.regions import MOST_REGIONS, SPLITS, CutRequest, SplitAlgorithm, Vector

every_algorithm = pytest.mark.parametrize("kind", SPLITS.values(), ids=SPLITS)
vectors = [(name, vector) for name, kind in SPLITS.items() for vector in kind.vectors]
TENTHS = ["19999999", "33333332", "4ccccccb", "66666664", "7ffffffd", "99999996", "b333332f",
          "ccccccc8", "e6666661"]  # fmt: skip
samples = st.lists(st.binary(max_size=4), min_size=1, max_size=60).map(sorted)


def cut(name: str, request: CutRequest) -> tuple[bytes, ...]:
    """The splits that one algorithm chooses."""
    return SPLITS[name]().cut(request).splits


@pytest.mark.parametrize(("name", "vector"), vectors)
def test_golden_vectors(name: str, vector: Vector) -> None:
    """Each algorithm gives the splits that its class promises."""
    assert vector.splits == cut(name, vector.request)


@every_algorithm
def test_each_algorithm_explains_itself(kind: type[SplitAlgorithm]) -> None:
    """Each has vectors, a sentence, and a source."""
    assert kind.vectors
    assert "Source:" in (kind.__doc__ or "")


@every_algorithm
def test_each_algorithm_says_what_it_lacks(kind: type[SplitAlgorithm]) -> None:
    """An empty request names all that the algorithm needs, with a remedy."""
    with pytest.raises(DeclarationError) as caught:
        kind().cut(CutRequest())
    assert sorted(kind.needs) == [mistake.path for mistake in caught.value.mistakes]
    assert all(mistake.remedy for mistake in caught.value.mistakes)


@every_algorithm
def test_each_algorithm_refuses_arguments_it_does_not_take(kind: type[SplitAlgorithm]) -> None:
    """An argument that would be without effect is a mistake."""
    request = CutRequest(2, "00", "99", listed=[b"a"], prefixes=[b"a", b"b"], keys=[b"a", b"b"])
    in_vain = {"regions", "first", "last", "listed"} - kind.needs - kind.takes
    with pytest.raises(DeclarationError) as caught:
        kind().cut(request)
    assert sorted(in_vain) == sorted(mistake.path for mistake in caught.value.mistakes)


@pytest.mark.parametrize("regions", [0, -1, MOST_REGIONS + 1, 10**18])
def test_numbers_of_regions_beyond_reason_are_refused(regions: int) -> None:
    """No file makes us compute splits for ever."""
    with pytest.raises(Refused):
        CutRequest(regions=regions)


@pytest.mark.parametrize(
    ("name", "request_", "splits"),
    [
        ("hex_string", CutRequest(16), [f"{i:x}0000000" for i in range(1, 16)]),
        ("hex_string", CutRequest(10), TENTHS),
        ("hex_string", CutRequest(3), ["55555555", "aaaaaaaa"]),
        ("hex_string", CutRequest(11, "0", "A"), list("123456789a")),
        ("decimal_string", CutRequest(3), ["33333333", "66666666"]),
    ],
)  # fmt: skip
def test_text_vectors_of_hbase(name: str, request_: CutRequest, splits: list[str]) -> None:
    """What RegionSplitter's own tests, and its run on 2.6.4, give."""
    assert splits == [split.decode() for split in cut(name, request_)]


def test_byte_vectors_of_hbase() -> None:
    """UniformSplit of HBase's own tests."""
    sixteen = [bytes([16 * i]) + bytes(7) for i in range(1, 16)]
    assert sixteen == list(cut("uniform", CutRequest(16)))
    assert [b"\x80" + bytes(7)] == list(cut("uniform", CutRequest(2)))
    assert 11 == len(cut("uniform", CutRequest(12, "\\x00", "\\x0A")))


@pytest.mark.parametrize(
    ("name", "request_"),
    [("hex_string", CutRequest(12, "0", "A")), ("hex_string", CutRequest(2, "AA", "00")),
     ("hex_string", CutRequest(2, "7", "7")), ("hex_string", CutRequest(2, "g", "h")),
     ("hex_string", CutRequest(2, "-1", "7")), ("hex_string", CutRequest(2, "0" * 2_000, "1")),
     ("decimal_string", CutRequest(2, "0", "A")), ("decimal_string", CutRequest(2, "0", "")),
     ("uniform", CutRequest(2, b"a", b"b" * 65)), ("hex_string", CutRequest(2, "0", "1" * 65)),
     ("uniform", CutRequest(1)), ("uniform", CutRequest(2, b"b", b"a")),
     ("uniform", CutRequest(2, b"a", b"a\0")), ("uniform", CutRequest(2, "\\xff", "\\xFF")),
     ("sample", CutRequest(2, keys=())), ("per_bucket", CutRequest(prefixes=())),
     ("per_bucket", CutRequest(prefixes=(b"a", b"ab"))),
     ("per_bucket", CutRequest(prefixes=(b"a", b"a")))],
)  # fmt: skip
def test_requests_that_cannot_be_cut_are_refused(name: str, request_: CutRequest) -> None:
    """HBase's preconditions, and ours, are refusals and never another error."""
    with pytest.raises(Refused):
        cut(name, request_)


@given(
    name=st.sampled_from(["hex_string", "decimal_string"]),
    first=st.integers(0, 10**9),
    span=st.integers(1, 10**9),
    regions=st.integers(1, 300),
)
def test_number_ranges_are_equal_but_the_last(
    name: str, first: int, span: int, regions: int
) -> None:
    """All regions but the last are of one size; the last has what is left over besides."""
    base = 16 if name == "hex_string" else 10
    form = "012x" if base == 16 else "d"
    written = format(first, form), format(first + span, form)
    if regions > span + 1:
        with pytest.raises(Refused):
            cut(name, CutRequest(regions, *written))
        return
    splits = cut(name, CutRequest(regions, *written))
    starts = [first, *(int(split, base) for split in splits)]
    sizes = [
        stop - start for start, stop in zip(starts, [*starts[1:], first + span + 1], strict=True)
    ]
    assert regions == len(sizes)
    assert {sizes[0]} == set(sizes[:-1] or sizes)
    assert 0 <= sizes[-1] - sizes[0] < regions
    assert {len(written[1])} >= set(map(len, splits))


@given(first=st.binary(max_size=3), last=st.binary(max_size=3), regions=st.integers(2, 600))
def test_uniform_ranges_lie_between_their_ends(first: bytes, last: bytes, regions: int) -> None:
    """The asked number of regions, between the ends."""
    if first.ljust(3, b"\0") >= last.ljust(3, b"\0"):
        with pytest.raises(Refused):
            cut("uniform", CutRequest(regions, first, last))
        return
    splits = cut("uniform", CutRequest(regions, first, last))
    assert regions - 1 == len(splits)
    assert first < splits[0]
    assert splits[-1] <= last or splits[-1].startswith(last)


@given(keys=samples, regions=st.integers(1, 40))
def test_quantiles_spread_the_sample(keys: list[bytes], regions: int) -> None:
    """No region holds more of a sample of different keys than its share, rounded up."""
    distinct = sorted(set(keys) - {b""})
    if not distinct:
        return
    splits = cut("sample", CutRequest(regions, keys=distinct))
    held = Counter(bisect_right(splits, key) for key in distinct)
    assert max(held.values()) <= -(-len(distinct) // regions)
    assert set(splits) <= set(distinct)


@given(keys=samples, regions=st.integers(1, 40))
def test_too_few_different_keys_are_told(keys: list[bytes], regions: int) -> None:
    """Fewer regions than asked for come with a sentence, and only they do."""
    request = CutRequest(regions, keys=keys)
    boundaries = SPLITS["sample"]().cut(request)
    remarks = list(SPLITS["sample"]().remarks(request, boundaries))
    assert (len(boundaries) < regions) == bool(remarks)


@given(buckets=st.integers(1, 40), regions=st.integers(1, 300))
def test_buckets_are_grouped_or_cut_evenly(buckets: int, regions: int) -> None:
    """As many regions as asked; each holds whole buckets or a part of one, evenly many."""
    prefixes = [bytes([bucket]) for bucket in range(buckets)]
    splits = cut("per_bucket", CutRequest(regions, prefixes=prefixes))
    assert regions == len(splits) + 1
    edges = [0, *(split[0] for split in splits), buckets]
    if regions <= buckets:
        sizes = [after - before for before, after in pairwise(edges)]
    else:
        sizes = list(Counter(edges[:-1]).values())
        assert buckets == len(sizes)
    assert max(sizes) - min(sizes) <= 1


def test_buckets_come_in_any_order() -> None:
    """A list of values need not be sorted."""
    assert (b"b", b"c") == cut("per_bucket", CutRequest(prefixes=[b"c", b"a", b"b"]))


@given(keys=samples, parts=st.integers(1, 6))
def test_buckets_are_cut_at_their_own_quantiles(keys: list[bytes], parts: int) -> None:
    """With a sample, every split is a bucket or a key of the sample."""
    prefixes = [b"\0", b"a", b"\xff"]
    rows = sorted(prefix + key for prefix in prefixes for key in keys)
    request = CutRequest(3 * parts, prefixes=prefixes, keys=rows)
    boundaries = SPLITS["per_bucket"]().cut(request)
    assert set(boundaries.splits) <= {*rows, *prefixes}
    told = " ".join(SPLITS["per_bucket"]().remarks(request, boundaries))
    assert (len(boundaries) < 3 * parts) == ("asked for" in told)


def test_uneven_buckets_are_told() -> None:
    """Values that share a region, and values that get one more, are said."""
    kind, prefixes = SPLITS["per_bucket"](), [bytes([bucket]) for bucket in range(4)]
    told = {}
    for regions in (2, 4, 6, 8):
        request = CutRequest(regions, prefixes=prefixes)
        told[regions] = len(list(kind.remarks(request, kind.cut(request))))
    assert {2: 1, 4: 0, 6: 1, 8: 0} == told
