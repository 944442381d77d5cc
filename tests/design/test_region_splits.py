"""Split keys that follow from the key of a design."""

from __future__ import annotations

import pytest

from rowkey import Design
from rowkey.design import compute_regions, list_key_prefixes
from rowkey.errors import InvalidDesign

FIELDS = {"host": "text", "level": {"type": "choice", "of": ["a", "b"]}}


def build_design(key: str) -> Design:
    """Return a design with one region per value of the leading part."""
    return Design("t", key, fields=FIELDS, splits="per_bucket")


@pytest.mark.parametrize("key", ["[bucket(host, 1)][host]", "[salt(1)][host]"])
def test_a_single_bucket_gives_a_single_region(key: str) -> None:
    """A design with a single bucket or salt has a single region."""
    design = build_design(key)
    assert (b"\0",) == list_key_prefixes(design.key)
    assert 1 == len(compute_regions(design, {}).boundaries)


@pytest.mark.parametrize(
    ("key", "splits"),
    [
        ("[bucket(host, 3)][host]", (b"\1", b"\2")),
        ("[salt(2)][host]", (b"\1",)),
        ("[bucket(host, 1)][bucket(host, 2)][host]", (b"\0\1",)),
        ("['v1'][bucket(host, 2)][host]", (b"v1\1",)),
    ],
)
def test_each_bucket_begins_a_region(key: str, splits: tuple[bytes, ...]) -> None:
    """Each value of the first part with several values begins a region."""
    assert splits == compute_regions(build_design(key), {}).boundaries.splits


@pytest.mark.parametrize("key", ["[host]", "['v1'][host]"])
def test_per_bucket_splits_of_a_key_without_buckets_are_refused(key: str) -> None:
    """A key that begins with text, or a constant and text, has no buckets to split by."""
    with pytest.raises(InvalidDesign, match="Start the key with a bucket"):
        build_design(key)
