"""Equal ranges of keys that begin with hexadecimal text."""

from rowkey.regions.algorithm import CutRequest, Vector
from rowkey.regions.ranges import NumberStringSplit


class HexString(NumberStringSplit):
    """Equal ranges of keys that begin with evenly spread hexadecimal digits in lower case.

    Keys in upper-case hex do not meet these splits: `A` sorts before `a`, so that every key from
    A to F falls into the region that starts at 9.

    Source: RegionSplitter.HexStringSplit; rows 00000000..FFFFFFFF unless first and last are given.

    >>> HexString().cut(CutRequest(regions=3)).splits
    (b'55555555', b'aaaaaaaa')
    """

    name = "hex_string"
    base = 16
    first = "00000000"
    last = "FFFFFFFF"
    vectors = (
        Vector(CutRequest(regions=1), ()),
        Vector(CutRequest(regions=2), (b"80000000",)),
        Vector(CutRequest(regions=5), (b"33333333", b"66666666", b"99999999", b"cccccccc")),
        Vector(CutRequest(regions=3, first="a0", last="FF"), (b"c0", b"e0")),
        Vector(CutRequest(regions=4, first="0", last="A"), (b"2", b"4", b"6")),
    )
