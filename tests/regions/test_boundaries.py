"""Boundaries ascend, divide all keys into regions, and name mistakes in split keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import InvalidDesign
from rowkey.regions import MAX_SPLIT_BYTES, Boundaries, compute_prefix_stop

rows = st.lists(st.sampled_from([0, 97, 255]), max_size=5).map(bytes)
split_sets = st.sets(rows.filter(bool), max_size=12).map(sorted)


@given(splits=split_sets, key=rows)
def test_every_key_is_in_exactly_one_region(splits: list[bytes], key: bytes) -> None:
    """Regions are half-open, and every key is in exactly one of them."""
    boundaries = Boundaries(splits)
    holding = [
        index
        for index, (start, stop) in enumerate(boundaries.regions)
        if start <= key and (key < stop or not stop)
    ]
    assert [boundaries.locate_key(key)] == holding


@given(splits=split_sets)
def test_each_region_stops_where_the_next_one_starts(splits: list[bytes]) -> None:
    """Each region stops where the next one starts, and the ends are open."""
    boundaries = Boundaries(splits)
    starts, stops = zip(*boundaries.regions, strict=True)
    assert ((b"", *splits), (*splits, b"")) == (starts, stops)
    assert len(splits) + 1 == len(boundaries)
    assert max(map(len, splits), default=0) == boundaries.longest_split_bytes


@given(splits=split_sets, other=split_sets)
def test_boundaries_with_equal_keys_are_equal(splits: list[bytes], other: list[bytes]) -> None:
    """Equal keys make equal boundaries with equal hashes."""
    assert (splits == other) == (Boundaries(splits) == Boundaries(other))
    assert hash(Boundaries(splits)) == hash(Boundaries(tuple(splits)))


@given(st.lists(rows, max_size=8))
def test_split_keys_that_do_not_ascend_are_refused(splits: list[bytes]) -> None:
    """Split keys that are empty, repeated or not ascending are refused."""
    good = splits == sorted(set(splits)) and b"" not in splits
    try:
        Boundaries(splits)
    except InvalidDesign:
        assert not good
    else:
        assert good


def test_all_mistakes_in_split_keys_are_reported_with_their_position() -> None:
    """Every empty, repeated, unsorted or overlong split key is reported with its position."""
    splits = [b"m", b"", b"m", b"a", b"z" * (MAX_SPLIT_BYTES + 1), b"{"]
    with pytest.raises(InvalidDesign) as caught:
        Boundaries(splits)
    places = [mistake.path for mistake in caught.value.mistakes]
    assert ["splits[1]", "splits[2]", "splits[3]", "splits[4]"] == places


def test_the_repr_of_boundaries_shows_only_the_first_keys() -> None:
    """The representation of boundaries shows only the first keys."""
    assert "Boundaries([b'a', b'b'])" == repr(Boundaries([b"a", b"b"]))
    assert len(repr(Boundaries(bytes([65 + i]) for i in range(50)))) < 60


@given(prefix=rows, key=rows)
def test_a_key_has_a_prefix_exactly_if_it_is_below_the_next_prefix(
    prefix: bytes, key: bytes
) -> None:
    """A key has a prefix exactly if it is at least the prefix and below the next prefix."""
    after = compute_prefix_stop(prefix)
    assert key.startswith(prefix) == (prefix <= key and (after is None or key < after))


def test_the_next_prefix_drops_trailing_ff_and_raises_the_last_byte() -> None:
    """The next prefix drops trailing FF and raises the last byte; FF alone has none."""
    prefixes = [b"a", b"a\xff", b"a\xff\xff", b"\x00", b"", b"\xff\xff", b"uid1~", b"\xfe\xff"]
    expected = [b"b", b"b", b"b", b"\x01", None, None, b"uid1\x7f", b"\xff"]
    assert expected == [compute_prefix_stop(prefix) for prefix in prefixes]
