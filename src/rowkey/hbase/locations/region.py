"""A region as a client needs it: which rows it holds, and where to send what concerns them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rowkey.hbase.wire.names import Server


def within(row: bytes, start: bytes, stop: bytes) -> bool:
    """Whether a row key lies in a range; an empty stop is above all rows."""
    return start <= row and (not stop or row < stop)


def within_below(row: bytes, start: bytes, stop: bytes) -> bool:
    """Whether the greatest keys below a row lie in a range; b"" is above all rows.

    >>> within_below(b"b", b"a", b"b"), within_below(b"a", b"a", b"b"), within_below(b"", b"a", b"")
    (True, False, True)
    """
    if not row:
        return not stop
    return start < row and (not stop or row <= stop)


def region_id(name: bytes) -> bytes:
    """The digits of a region's name that tell when it was made; none if it is no name.

    >>> region_id(b"t,a,17.0123456789abcdef."), region_id(b"t,a,17_0001"), region_id(b"t")
    (b'17', b'17', b't')
    """
    return name.rpartition(b",")[2].partition(b".")[0].partition(b"_")[0]


@dataclass(frozen=True, slots=True)
class Region:
    """A region that is open on a server.

    Args:
        table: its table, without the namespace `default`.
        name: its full name, as requests have it.
        start: its first row key.
        stop: the first row key behind it; empty for the last one.
        server: where it is.
        seqnum: number of its opening there; each opening has a greater one.
    """

    table: str
    name: bytes
    start: bytes
    stop: bytes
    server: Server
    seqnum: int

    def holds(self, row: bytes) -> bool:
        """Whether a row key is one of its own."""
        return within(row, self.start, self.stop)

    def holds_below(self, row: bytes) -> bool:
        """Whether it holds the greatest keys below a row; b"" is above all rows."""
        return within_below(row, self.start, self.stop)

    @property
    def region_id(self) -> int:
        """Milliseconds since 1970 when it was made; of two that overlap the greater is the newer.

        Source: RegionInfo.createRegionName; merged and split regions get a greater id than theirs.
        """
        return int(region_id(self.name))
