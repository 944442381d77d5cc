"""Batches of keys are located in regions as bisect locates each of them."""

from __future__ import annotations

from bisect import bisect_right
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rowkey.errors import InvalidArgument
from rowkey.regions import Boundaries, locate_fixed_keys, locate_key_array, locate_keys

# Bytes at both ends of the order and two neighbours, in runs that cross words of eight bytes.
pieces = st.sampled_from(
    [b"\0", b"\xff", b"a", b"b", b"\0" * 7, b"\xff" * 8, b"aaaaaaaa", b"a" * 15]
)
rows = st.lists(pieces, max_size=5).map(b"".join)
split_sets = st.sets(rows.filter(bool), max_size=24).map(sorted)


def build_layouts(keys: list[bytes], slack: int = 0) -> tuple[Any, Any]:
    """Return the keys in every Arrow layout, with unused bytes before and after them."""
    data = np.frombuffer(b"\xee" * slack + b"".join(keys) + b"\xee" * slack, np.uint8)
    return data, np.cumsum([slack, *map(len, keys)])


def list_nearby_keys(splits: list[bytes]) -> list[bytes]:
    """Return keys at, just before and just after the splits."""
    return [
        key for split in splits for key in (split, split + b"\0", split[:-1], split[:-1] + b"\xff")
    ]


@given(splits=split_sets, drawn=st.lists(rows, max_size=20), slack=st.integers(0, 9))
@example(splits=[b"a\0"], drawn=[b"a", b"a\0", b"a\0\0"], slack=0)
@example(splits=[b"\xff" * 8, b"\xff" * 9], drawn=[b"\xff" * 8], slack=8)
def test_keys_in_every_arrow_layout_are_located_as_by_bisect(
    splits: list[bytes], drawn: list[bytes], slack: int
) -> None:
    keys = [b"", *drawn, *list_nearby_keys(splits)]
    boundaries = Boundaries(splits)
    expected = [bisect_right(splits, key) for key in keys]
    data, offsets = build_layouts(keys, slack)
    assert expected == locate_keys(boundaries, data, offsets.astype(np.int32)).tolist()
    assert expected == locate_keys(boundaries, data, offsets.astype(np.int64)).tolist()
    for kind in (pa.binary(), pa.large_binary()):
        array = pa.array([b"before", *keys], kind)[1:]
        assert expected == locate_key_array(boundaries, array).tolist()


@given(splits=split_sets, drawn=st.lists(rows, max_size=10), width=st.integers(1, 20))
def test_keys_of_one_width_are_located_as_by_bisect(
    splits: list[bytes], drawn: list[bytes], width: int
) -> None:
    """Keys in a matrix, a strided matrix and a fixed-size array are located as by bisect."""
    keys = [key.ljust(width, b"\0")[:width] for key in [*drawn, *list_nearby_keys(splits)]]
    expected = [bisect_right(splits, key) for key in keys]
    boundaries = Boundaries(splits)
    matrix = np.frombuffer(b"".join(keys), np.uint8).reshape(len(keys), width)
    assert expected == locate_fixed_keys(boundaries, matrix).tolist()
    assert expected == locate_fixed_keys(boundaries, np.repeat(matrix, 2, axis=0)[::2]).tolist()
    array = pa.array([b"x" * width, *keys], pa.binary(width))[1:]
    assert expected == locate_key_array(boundaries, array).tolist()


def draw_keys(random: Random, alphabet: bytes, longest: int, count: int) -> list[bytes]:
    """Return random keys."""
    return [bytes(random.choices(alphabet, k=random.randrange(longest + 1))) for _ in range(count)]


@pytest.mark.parametrize(
    ("alphabet", "longest", "splits"),
    [(bytes(range(256)), 1, 200), (bytes(range(256)), 2, 1_000), (bytes(range(256)), 12, 1_000),
     (b"\0a", 8, 300), (b"\0\xff", 40, 900), (b"0123456789abcdef", 10, 1_000)],
)  # fmt: skip
def test_keys_in_several_blocks_are_located_as_by_bisect(
    alphabet: bytes, longest: int, splits: int
) -> None:
    """Keys in several blocks, some of which end early, are located with many splits."""
    random = Random(7)
    cut = sorted(set(draw_keys(random, alphabet, longest, splits)) - {b""})
    keys = draw_keys(random, alphabet, longest + 8, 40_000)
    expected = [bisect_right(cut, key) for key in keys]
    assert expected == locate_keys(Boundaries(cut), *build_layouts(keys)).tolist()


def test_split_keys_with_long_common_prefixes_are_distinguished() -> None:
    """Splits that differ only after hundreds of equal bytes are distinguished."""
    random = Random(8)
    lead = b"tenant-001|" * 40
    cut = sorted(
        {lead[: random.choice([17, 100, 440])] + key for key in draw_keys(random, b"ab", 6, 80)}
    )
    keys = [
        lead[: random.choice([16, 17, 99, 440])] + key
        for key in draw_keys(random, b"abt", 9, 5_000)
    ]
    keys += list_nearby_keys(cut)
    expected = [bisect_right(cut, key) for key in keys]
    assert expected == locate_keys(Boundaries(cut), *build_layouts(keys)).tolist()


def test_without_splits_every_key_is_in_the_only_region() -> None:
    """A table without splits holds every key in its only region."""
    assert [0, 0, 0] == locate_keys(
        Boundaries(), *build_layouts([b"", b"a", b"\xff" * 20])
    ).tolist()


def test_no_keys_give_no_regions_in_every_layout() -> None:
    boundaries = Boundaries([b"a"])
    assert [] == locate_keys(boundaries, *build_layouts([])).tolist()
    assert [] == locate_fixed_keys(boundaries, np.empty((0, 4), np.uint8)).tolist()
    assert [] == locate_key_array(boundaries, pa.array([], pa.binary())).tolist()


def test_empty_keys_are_in_the_first_region() -> None:
    """Empty keys are in the first region, in every layout."""
    boundaries = Boundaries([b"\0"])
    assert [0, 0] == locate_keys(boundaries, *build_layouts([b"", b""])).tolist()
    assert [0, 0] == locate_fixed_keys(boundaries, np.empty((2, 0), np.uint8)).tolist()
    assert [0, 0] == locate_key_array(boundaries, pa.array([b"", b""])).tolist()


@pytest.mark.parametrize(
    ("data", "offsets"),
    [(np.zeros(4, np.uint8), np.array([0, 5])), (np.zeros(4, np.uint8), np.array([-1, 4])),
     (np.zeros(4, np.uint8), np.array([0, 3, 1, 4])), (np.zeros(4, np.int8), np.array([0, 4])),
     (np.zeros(4, np.uint8), np.array([], int)), (np.zeros(4, np.uint8), np.array([0.0, 4.0]))],
)  # fmt: skip
def test_invalid_offsets_of_keys_are_refused(data: Any, offsets: Any) -> None:
    """Offsets that fall or point outside the data, and other types, are refused by name."""
    with pytest.raises(InvalidArgument):
        locate_keys(Boundaries([b"a\0"]), data, offsets)


def test_nulls_and_text_are_refused_as_keys_to_locate() -> None:
    """Nulls, text and matrices of numbers are refused by name."""
    boundaries = Boundaries([b"a"])
    for array in (pa.array([b"a", None]), pa.array(["a"])):
        with pytest.raises(InvalidArgument):
            locate_key_array(boundaries, array)
    with pytest.raises(InvalidArgument):
        locate_fixed_keys(boundaries, np.zeros((2, 2), np.int64))
