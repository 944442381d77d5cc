"""Ranges of bytes are divided into equal steps as HBase and arithmetic do."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import InvalidArgument
from rowkey.regions import SPLIT_ALGORITHMS, SplitRequest, split_byte_range, split_prefix
from rowkey.regions.splits.even import DecimalStringSplit, HexStringSplit, UniformSplit

ends = st.lists(st.sampled_from([0, 1, 97, 255]), max_size=4).map(bytes)


@pytest.mark.parametrize(
    ("start", "stop", "inclusive", "count", "keys"),
    [("61", "62", False, 3, "6100 6140 6180 61c0 6200"), ("61", "62", True, 1, "61 62 62"),
     ("616161", "616162", False, 1, "61616100 61616180 61616200"), ("", "20", False, 1, " 10 20")],
)  # fmt: skip
def test_bytes_split_pads_its_ends_as_hbase_does(
    start: str, stop: str, inclusive: bool, count: int, keys: str
) -> None:
    """Bytes.split of 2.6.4 pads, adds a byte where needed, and returns padded ends."""
    split = split_byte_range(
        bytes.fromhex(start), bytes.fromhex(stop), inclusive=inclusive, count=count
    )
    assert keys.split(" ") == [key.hex() for key in split]


@given(start=ends, stop=ends, inclusive=st.booleans(), count=st.integers(-1, 300))
def test_a_byte_range_is_split_at_equal_steps(
    start: bytes, stop: bytes, inclusive: bool, count: int
) -> None:
    """A byte range gives the requested number of keys, ascending at equal steps."""
    if start.ljust(4, b"\0") >= stop.ljust(4, b"\0") or count < 1:
        with pytest.raises(InvalidArgument):
            split_byte_range(start, stop, inclusive=inclusive, count=count)
        return
    keys = split_byte_range(start, stop, inclusive=inclusive, count=count)
    assert count + 2 == len(keys)
    width = len(keys[1])
    numbers = [int.from_bytes(key.ljust(width, b"\0"), "big") for key in keys]
    steps = [after - before for before, after in pairwise(numbers)]
    assert {steps[0]} == set(steps[:-1])
    assert steps[0] > 0
    assert steps[-1] >= 0 if inclusive else steps[-1] > 0


@given(prefix=st.binary(max_size=3), count=st.integers(1, 2_000))
def test_split_keys_below_a_prefix_are_distinct_and_ascending(prefix: bytes, count: int) -> None:
    """The split keys below a prefix are distinct, ascending, and one fewer than parts."""
    keys = split_prefix(prefix, count)
    assert count - 1 == len(keys)
    assert sorted(set(keys)) == keys
    assert all(key.startswith(prefix) and key != prefix for key in keys)


def test_a_range_of_rows_is_split_as_by_region_splitter() -> None:
    """A range of rows is split as by RegionSplitter, with and without its ends."""
    assert [b"10000000", b"20000000"] == HexStringSplit().split_range(b"00000000", b"30000000", 3)
    assert [b"00000033", b"00000066"] == DecimalStringSplit().split_range(b"00", b"99", 3)
    both = DecimalStringSplit().split_range(b"", b"99", 2, inclusive=True, width=2)
    assert [b"00", b"50", b"99"] == both
    assert [b"\x10", b"\x20"] == UniformSplit.split_range(b"\x00", b"\x30", 3)
    assert [b"a", b"b", b"b"] == UniformSplit.split_range(b"a", b"b", 2, inclusive=True)
    assert [b"\x80" + bytes(7)] == UniformSplit.split_range(b"", b"", 2)


def test_the_middle_of_a_region_is_that_of_region_splitter() -> None:
    """The midpoint of a region is that of RegionSplitter."""
    assert b"7fffffff" == HexStringSplit().find_middle(b"", b"ffffffff")
    assert b"00000015" == DecimalStringSplit().find_middle(b"10", b"20")
    assert bytes.fromhex("61616180") == UniformSplit.find_middle(b"aaa", b"aab")
    assert bytes.fromhex("ef" + "ff" * 7) == UniformSplit.find_middle(
        bytes.fromhex("df" + "ff" * 7), b"\xff" * 8
    )


def test_rows_in_the_wrong_order_are_refused_as_a_range() -> None:
    """Rows in the wrong order, malformed rows and a last row of 0 are refused."""
    for start, stop in ((b"5", b"5"), (b"9", b"1"), (b"x", b"9")):
        with pytest.raises(InvalidArgument):
            DecimalStringSplit().split_range(start, stop, 2)
    for stop in (b"", b"0"):
        with pytest.raises(InvalidArgument, match="stop: the stop row is empty or 0"):
            DecimalStringSplit().find_middle(b"", stop)
    with pytest.raises(InvalidArgument):
        UniformSplit.split_range(b"b", b"a", 2)


def test_split_keys_are_as_long_as_the_given_last_row() -> None:
    """Keys are as long as the last row, and in lower case."""
    kind = SPLIT_ALGORITHMS["hex_string"]
    assert (b"05", b"0a") == kind().build_boundaries(SplitRequest(3, "0", "0F")).splits
    assert (b"0007f",) == kind().build_boundaries(SplitRequest(2, b"0", b"000FE")).splits
