"""Equal ranges of keys that begin with evenly spread bytes."""

from rowkey.errors import Refused
from rowkey.regions.algorithm import CutRequest, SplitAlgorithm, Vector
from rowkey.regions.binary import from_binary
from rowkey.regions.ranges import ROW_MOST, bytes_split

FIRST = b""
LAST = b"\xff" * 8


class Uniform(SplitAlgorithm):
    r"""Equal ranges of keys that begin with evenly spread bytes, such as a digest.

    Source: RegionSplitter.UniformSplit; rows empty..FF x 8 unless first and last are given, as
    bytes or as the text HBase's shell reads. One region cannot be asked of it.

    >>> [split.hex() for split in Uniform().cut(CutRequest(regions=3)).splits]
    ['5555555555555555', 'aaaaaaaaaaaaaaaa']
    """

    name = "uniform"
    needs = frozenset({"regions"})
    takes = frozenset({"first", "last"})
    vectors = (
        Vector(CutRequest(regions=2), (b"\x80" + bytes(7),)),
        Vector(CutRequest(regions=3), (b"\x55" * 8, b"\xaa" * 8)),
        Vector(CutRequest(regions=2, first=b"a", last=b"b"), (b"b",)),
        Vector(CutRequest(regions=3, first="\\x00", last="\\x0A"), (b"\x03", b"\x06")),
    )

    def splits(self, request: CutRequest) -> list[bytes]:
        """The keys between `first` and `last`, as long as the longer of them or longer."""
        assert request.regions is not None
        if request.regions == 1:
            what = "1 region needs no split keys, and HBase refuses to compute none"
            raise Refused("regions", what, "2 or more", "Leave splits out.")
        first, last = _row("first", request.first, FIRST), _row("last", request.last, LAST)
        return self.between(first, last, request.regions)

    @staticmethod
    def between(start: bytes, stop: bytes, regions: int, *, inclusive: bool = False) -> list[bytes]:
        """The keys that cut the rows from start to stop into equal ranges.

        Args:
            start: the first row.
            stop: the last row; an empty one is FF x 8.
            regions: how many ranges.
            inclusive: whether both ends are returned too.

        Raises:
            Refused: the rows are in the wrong order, or fewer than 2 ranges are asked for.

        Source: RegionSplitter.UniformSplit.split(start, end, numSplits, inclusive).
        """
        stop = stop or LAST
        if start >= stop:
            raise Refused(
                "last", f"{stop!r} does not sort after {start!r}", "a row after the first"
            )
        keys = bytes_split(start, stop, inclusive=True, count=regions - 1)
        return keys if inclusive else keys[1:-1]

    @staticmethod
    def middle(start: bytes, stop: bytes) -> bytes:
        """The row half-way between two rows.

        Raises:
            Refused: the rows are in the wrong order.

        Source: RegionSplitter.UniformSplit.split(start, end).
        """
        return bytes_split(start, stop, inclusive=False, count=1)[1]


def _row(word: str, given: str | bytes | None, default: bytes) -> bytes:
    """The row that was given, from its text if it is one."""
    if given is None:
        return default
    row = given if isinstance(given, bytes) else _read(word, given)
    if not 0 < len(row) <= ROW_MOST and row != default:
        raise Refused(word, f"a row of {len(row):,} bytes", f"1..{ROW_MOST} bytes")
    return row


def _read(word: str, text: str) -> bytes:
    """The row that HBase's shell would read."""
    try:
        return from_binary(text)
    except Refused as refusal:
        mistake = refusal.mistake
        raise Refused(word, mistake.what, mistake.allowed, mistake.remedy) from None
