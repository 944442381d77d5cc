"""Splits that cut a range of keys into equal parts."""

from __future__ import annotations

from rowkey.errors import InvalidArgument
from rowkey.regions.range_splits import MAX_ROW_LENGTH, NumberStringSplit, split_byte_range
from rowkey.regions.split_algorithm import SplitAlgorithm, SplitRequest, SplitVector
from rowkey.regions.string_binary import from_string_binary

FIRST_ROW = b""
LAST_ROW = b"\xff" * 8


class UniformSplit(SplitAlgorithm):
    r"""Equal ranges of keys that begin with evenly spread bytes, such as a digest.

    Source: RegionSplitter.UniformSplit; rows empty..FF x 8 unless first and last are given, as
    bytes or as the text HBase's shell reads. One region cannot be asked of it.

    >>> [split.hex() for split in UniformSplit().build_boundaries(SplitRequest(regions=3)).splits]
    ['5555555555555555', 'aaaaaaaaaaaaaaaa']
    """

    name = "uniform"
    required_fields = frozenset({"regions"})
    optional_fields = frozenset({"first", "last"})
    vectors = (
        SplitVector(SplitRequest(regions=2), (b"\x80" + bytes(7),)),
        SplitVector(SplitRequest(regions=3), (b"\x55" * 8, b"\xaa" * 8)),
        SplitVector(SplitRequest(regions=2, first=b"a", last=b"b"), (b"b",)),
        SplitVector(SplitRequest(regions=3, first="\\x00", last="\\x0A"), (b"\x03", b"\x06")),
    )

    def compute_splits(self, request: SplitRequest) -> list[bytes]:
        """Return the split keys at equal steps between the first and the last row."""
        assert request.regions is not None
        if request.regions == 1:
            what = (
                "1 region needs no split keys, and HBase computes splits only for 2 or more regions"
            )
            raise InvalidArgument(
                "regions", what, "2 or more", "Remove splits from the design to create one region."
            )
        first, last = (
            _parse_row("first", request.first, FIRST_ROW),
            _parse_row("last", request.last, LAST_ROW),
        )
        return self.split_range(first, last, request.regions)

    @staticmethod
    def split_range(
        start: bytes, stop: bytes, regions: int, *, inclusive: bool = False
    ) -> list[bytes]:
        """Return the split keys that divide the rows from start to stop into equal ranges.

        Args:
            start: the first row.
            stop: the last row; an empty one is FF x 8.
            regions: how many ranges.
            inclusive: whether both ends are returned too.

        Raises:
            InvalidArgument: the rows are in the wrong order, or fewer than 2 ranges are asked for.

        Source: RegionSplitter.UniformSplit.split(start, end, numSplits, inclusive).
        """
        stop = stop or LAST_ROW
        if start >= stop:
            raise InvalidArgument(
                "last", f"{stop!r} does not sort after first, {start!r}", "last > first"
            )
        keys = split_byte_range(start, stop, inclusive=True, count=regions - 1)
        return keys if inclusive else keys[1:-1]

    @staticmethod
    def find_middle(start: bytes, stop: bytes) -> bytes:
        """Return the row halfway between two rows.

        Raises:
            InvalidArgument: the rows are in the wrong order.

        Source: RegionSplitter.UniformSplit.split(start, end).
        """
        return split_byte_range(start, stop, inclusive=False, count=1)[1]


def _parse_row(argument: str, value: str | bytes | None, default: bytes) -> bytes:
    """Return a row as bytes; text is parsed as in HBase's shell."""
    if value is None:
        return default
    row = value if isinstance(value, bytes) else _parse_shell_row(argument, value)
    if not 0 < len(row) <= MAX_ROW_LENGTH and row != default:
        raise InvalidArgument(
            argument, f"the row key has {len(row):,} bytes", f"1 to {MAX_ROW_LENGTH} bytes"
        )
    return row


def _parse_shell_row(argument: str, text: str) -> bytes:
    """Parse a row as HBase's shell does, and name the argument in errors."""
    try:
        return from_string_binary(text)
    except InvalidArgument as refusal:
        mistake = refusal.mistake
        raise InvalidArgument(argument, mistake.problem, mistake.expected, mistake.remedy) from None


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
