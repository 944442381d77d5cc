"""Equal ranges of keys that begin with decimal text."""

from rowkey.regions.algorithm import CutRequest, Vector
from rowkey.regions.ranges import NumberStringSplit


class DecimalString(NumberStringSplit):
    """Equal ranges of keys that begin with evenly spread decimal digits.

    Source: RegionSplitter.DecimalStringSplit; rows 00000000..99999999 unless first and last are
    given.

    >>> DecimalString().cut(CutRequest(regions=3)).splits
    (b'33333333', b'66666666')
    """

    name = "decimal_string"
    base = 10
    first = "00000000"
    last = "99999999"
    vectors = (
        Vector(CutRequest(regions=1), ()),
        Vector(CutRequest(regions=2), (b"50000000",)),
        Vector(CutRequest(regions=4, first="00", last="99"), (b"25", b"50", b"75")),
    )
