"""The location of a region: the rows it holds, and its server."""

from __future__ import annotations

from dataclasses import dataclass

from rowkey.hbase.wire.names import ServerName


def is_in_range(row: bytes, start: bytes, stop: bytes) -> bool:
    """Return whether a row key is in a range; an empty stop means the end of the table."""
    return start <= row and (not stop or row < stop)


def has_range_below(row: bytes, start: bytes, stop: bytes) -> bool:
    """Return whether a range holds the row keys just below a row key; b"" means the end.

    >>> has_range_below(b"b", b"a", b"b"), has_range_below(b"a", b"a", b"b")
    (True, False)
    >>> has_range_below(b"", b"a", b"")
    True
    """
    if not row:
        return not stop
    return start < row and (not stop or row <= stop)


def parse_region_id(name: bytes) -> bytes:
    """Return the digits of the creation time in a region's full name.

    >>> parse_region_id(b"t,a,17.0123456789abcdef."), parse_region_id(b"t,a,17_0001")
    (b'17', b'17')
    >>> parse_region_id(b"t")
    b't'
    """
    return name.rpartition(b",")[2].partition(b".")[0].partition(b"_")[0]


@dataclass(frozen=True, slots=True)
class RegionLocation:
    """A region that is open on a server.

    Args:
        table: name of its table, without the namespace `default`.
        name: its full name, as requests have it.
        start: its first row key.
        stop: the first row key after it; empty for the last region.
        server: its server.
        seqnum: sequence number of its opening there; each opening has a greater one.
    """

    table: str
    name: bytes
    start: bytes
    stop: bytes
    server: ServerName
    seqnum: int

    def has_row(self, row: bytes) -> bool:
        """Return whether the region holds a row."""
        return is_in_range(row, self.start, self.stop)

    def has_keys_below(self, row: bytes) -> bool:
        """Return whether the region holds the row keys just below a row key; b"" means the end."""
        return has_range_below(row, self.start, self.stop)

    @property
    def region_id(self) -> int:
        """When the region was created, in ms since 1970; of two that overlap the greater is newer.

        Source: RegionInfo.createRegionName; a merge or split gives greater ids than its parents'.
        """
        return int(parse_region_id(self.name))
