"""Equal ranges of keys that begin with decimal text."""

from rowkey.regions.range_splits import NumberStringSplit
from rowkey.regions.split_algorithm import SplitRequest, SplitVector


class DecimalStringSplit(NumberStringSplit):
    """Equal ranges of keys that begin with evenly spread decimal digits.

    Source: RegionSplitter.DecimalStringSplit; rows 00000000..99999999 unless first and last are
    given.

    >>> DecimalStringSplit().build_boundaries(SplitRequest(regions=3)).splits
    (b'33333333', b'66666666')
    """

    name = "decimal_string"
    base = 10
    first = "00000000"
    last = "99999999"
    vectors = (
        SplitVector(SplitRequest(regions=1), ()),
        SplitVector(SplitRequest(regions=2), (b"50000000",)),
        SplitVector(SplitRequest(regions=4, first="00", last="99"), (b"25", b"50", b"75")),
    )
