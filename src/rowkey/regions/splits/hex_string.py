"""Equal ranges of keys that begin with hexadecimal text."""

from rowkey.regions.range_splits import NumberStringSplit
from rowkey.regions.split_algorithm import SplitRequest, SplitVector


class HexStringSplit(NumberStringSplit):
    """Equal ranges of keys that begin with evenly spread hexadecimal digits in lower case.

    Keys in upper-case hex do not meet these splits: `A` sorts before `a`, so that every key from
    A to F falls into the region that starts at 9.

    Source: RegionSplitter.HexStringSplit; rows 00000000..FFFFFFFF unless first and last are given.

    >>> HexStringSplit().build_boundaries(SplitRequest(regions=3)).splits
    (b'55555555', b'aaaaaaaa')
    """

    name = "hex_string"
    base = 16
    first = "00000000"
    last = "FFFFFFFF"
    vectors = (
        SplitVector(SplitRequest(regions=1), ()),
        SplitVector(SplitRequest(regions=2), (b"80000000",)),
        SplitVector(SplitRequest(regions=5), (b"33333333", b"66666666", b"99999999", b"cccccccc")),
        SplitVector(SplitRequest(regions=3, first="a0", last="FF"), (b"c0", b"e0")),
        SplitVector(SplitRequest(regions=4, first="0", last="A"), (b"2", b"4", b"6")),
    )
