"""Valid and invalid selections and ranges of reads."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.cells import LATEST
from rowkey.errors import InvalidArgument
from rowkey.hbase.filters import ColumnPrefixFilter, PageFilter
from rowkey.hbase.read_spec import ReadSpec, ScanSpec


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        ("columns", {"columns": {}}),
        ("columns", {"columns": {"": ()}}),
        ("columns", {"columns": {b"d": ()}}),
        ("columns.d", {"columns": {"d": b"ab"}}),
        ("columns.d", {"columns": {"d": ("a",)}}),
        ("time_range", {"time_range": (2, 1)}),
        ("time_range", {"time_range": (-1, 1)}),
        ("time_range", {"time_range": (0, LATEST + 1)}),
        ("time_range", {"time_range": (0, "1")}),
        ("versions", {"versions": 0}),
        ("versions", {"versions": True}),
        ("versions", {"versions": 2**31}),
        ("store_limit", {"store_limit": 0}),
        ("store_offset", {"store_offset": -1}),
        ("filter", {"filter": b"filter"}),
    ],
)
def test_an_invalid_read_is_refused_with_the_path_of_its_mistake(
    path: str, wrong: dict[str, Any]
) -> None:
    with pytest.raises(InvalidArgument, match=f"^argument {path}: "):
        ReadSpec(**wrong)


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        ("start", {"start": bytes(32_768)}),
        ("stop", {"stop": "b"}),
        ("limit", {"limit": 0}),
        ("batch", {"batch": -1}),
        ("answer_rows", {"answer_rows": 2**31}),
        ("answer_bytes", {"answer_bytes": 0}),
        ("read_type", {"read_type": "fast"}),
        ("raw", {"raw": True, "read": ReadSpec({"d": (b"a",)})}),
        ("batch", {"batch": 1, "read": ReadSpec(filter=PageFilter(1))}),
    ],
)
def test_an_invalid_scan_is_refused_with_the_path_of_its_mistake(
    path: str, wrong: dict[str, Any]
) -> None:
    with pytest.raises(InvalidArgument, match=f"^argument {path}: "):
        ScanSpec(**wrong)


def test_read_values_at_the_limits_are_valid() -> None:
    whole = ReadSpec({"d": ()}, (5, 5), 2**31 - 1, ColumnPrefixFilter(b""), 1, 0)
    assert whole == ScanSpec(read=whole, raw=True, batch=1, answer_bytes=1, stop=bytes(32_767)).read
    assert not whole.has_single_columns
    assert ReadSpec({"d": (), "e": (b"",)}).has_single_columns


_KEYS = st.binary(max_size=2)


@given(_KEYS, _KEYS, st.booleans(), st.booleans(), st.booleans())
def test_a_scan_is_empty_exactly_if_no_key_is_in_its_range(
    start: bytes, stop: bytes, include_start: bool, include_stop: bool, reverse: bool
) -> None:
    """A scan is empty exactly if none of many keys is in its range."""
    scan = ScanSpec(start, stop, include_start, include_stop, reverse)
    low, high = (stop, start) if reverse else (start, stop)
    low_in, high_in = (include_stop, include_start) if reverse else (include_start, include_stop)
    near = [key + more for key in (start, stop, b"") for more in (b"", b"\0", b"\0\0", b"\xff" * 3)]
    inside = [
        key
        for key in near
        if key
        and (not low or low < key or (low == key and low_in))
        and (not high or key < high or (high == key and high_in))
    ]
    # Between two keys there may be one that is none of those near, but then one of those is, too.
    assert scan.is_empty is (not inside)
