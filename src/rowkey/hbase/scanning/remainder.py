"""What of a range of rows is still to be read, and which region is to be asked for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rowkey.hbase.errors import NotServingRegion

if TYPE_CHECKING:
    from rowkey.hbase.locations import Locations, Region
    from rowkey.hbase.reading import Scan
    from rowkey.hbase.settings import Deadline

META = "hbase:meta"
"""Source: CellComparatorImpl.MetaCellComparator: rows compare by table, start key and id."""


class Remainder:
    """The rest of a scan: its start moves towards its stop, upwards or downwards.

    Args:
        scan: the whole of it.
        table: whose rows; those of hbase:meta do not sort as bytes.
    """

    def __init__(self, scan: Scan, table: str = "") -> None:
        self._sorts = table != META
        self.scan = scan
        """The same scan from where it goes on."""
        self.is_over = self._is_empty()
        """Whether no row can be left."""

    @property
    def is_one_row(self) -> bool:
        """Whether at most one row key lies in it."""
        scan = self.scan
        if not scan.start or not scan.include_start:
            return False
        if scan.include_stop:
            return scan.start == scan.stop
        return not scan.reverse and scan.stop == scan.start + b"\0"

    def go_behind(self, row: bytes) -> None:
        """Go on with the row that comes next after this one."""
        self._go(row, include=False)

    def go_to(self, row: bytes) -> None:
        """Go on with this row, or with the next one if it is not there."""
        self._go(row, include=True)

    def skip_to(self, row: bytes) -> None:
        """Go on with this row, but never back."""
        start = self.scan.start
        if not start or (row < start if self.scan.reverse else row > start):
            self.go_to(row)

    def leave(self, region: Region) -> None:
        """Go on behind a region that has been read to its end.

        The rows of a region lie within the bounds that its name had when it was made: a region that
        splits or merges gets other names (`Scanner` says why that is enough).
        """
        if self.scan.reverse:
            self.is_over = not region.start
            if not self.is_over:
                self.go_behind(region.start)
        else:
            self.is_over = not region.stop
            if not self.is_over:
                self.go_to(region.stop)

    def _go(self, row: bytes, *, include: bool) -> None:
        self.scan = replace(self.scan, start=row, include_start=include)
        self.is_over = self._is_empty()

    def _is_empty(self) -> bool:
        """Whether no row can lie in it, so that it must not be sent.

        Equal ends are equal in any order; of others only the server of hbase:meta knows.
        """
        return self.scan.is_empty and (self._sorts or self.scan.start == self.scan.stop)

    def locate(self, locations: Locations, table: str, deadline: Deadline) -> Region:
        """The region in which it goes on.

        Raises:
            NotServingRegion: the one that was found does not reach there; it has been forgotten.
        """
        start, reverse = self.scan.start, self.scan.reverse
        if reverse and not (start and self.scan.include_start):
            region = locations.locate_before(table, start, deadline)
            fits = region.holds_below(start)
        else:
            region = locations.locate(table, start, deadline)
            fits = region.holds(start)
        if fits:
            return region
        locations.forget(region)
        raise NotServingRegion(
            table, f"region {region.start!r}..{region.stop!r} was found for row {start!r}"
        )
