from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from rowkey import Design
from rowkey.render.report.heat_map import group_by_prefix

KEY = Design(
    "logs",
    "[bucket(host, 16)][host][ts]",
    fields={"host": {"type": "text", "max_bytes": 20}, "ts": "timestamp_ms"},
).key


def encode(host: str, ts: int) -> bytes:
    """Return the row key of an event."""
    return KEY.encode({"host": host, "ts": ts})


@given(
    st.sets(
        st.builds(encode, st.text("abc", min_size=1, max_size=9), st.integers(0, 9)), max_size=12
    )
)
def test_groups_of_regions_begin_with_the_same_bucket(splits: set[bytes]) -> None:
    """Groups follow each other, each of one bucket, or of one host where all have one bucket."""
    starts = [b"", *sorted(splits)]
    found = group_by_prefix(KEY, starts)
    steps = [new - old for old, new in pairwise([0, *found.groups, len(found.prefixes) - 1])]
    assert {0} <= set(steps) <= {0, 1}
    for start, group in zip(starts, found.groups, strict=True):
        assert not start or start.startswith(found.prefixes[group])
    buckets = {start[:1] for start in splits}
    if len(buckets) > 1:
        named = [prefix for prefix in found.prefixes if prefix]
        assert sorted(buckets) == named


def test_keys_before_the_first_split_are_in_the_first_bucket() -> None:
    """All keys before the first split of bucket 0 have this bucket, too."""
    starts = [b"", b"\0b", b"\0c", b"\1", b"\1d"]
    found = group_by_prefix(KEY, starts)
    assert ([0, 0, 0, 1, 1], [b"\0", b"\1"]) == (found.groups, found.prefixes)
    assert [0, 1, 1] == group_by_prefix(KEY, [b"", b"\1", b"\1a"]).groups


def test_regions_of_one_bucket_are_grouped_by_further_key_parts() -> None:
    """Where all regions begin with one value, the next parts are taken."""
    splits = sorted(encode(host, ts) for host in ("a", "aa") for ts in (1, 2))
    same = [one for one in splits if one[0] == splits[0][0]]
    found = group_by_prefix(KEY, [b"", *same])
    assert same[0].startswith(found.prefixes[1])
    assert found.groups[1] == found.groups[2]
