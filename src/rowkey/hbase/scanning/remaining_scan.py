"""The part of a scan that is still to be read, and the region that holds its next row."""

from __future__ import annotations

from dataclasses import replace

from rowkey.hbase.errors import NotServingRegion
from rowkey.hbase.locations import RegionLocation, RegionLocator
from rowkey.hbase.read_spec import ScanSpec
from rowkey.hbase.settings import Deadline
from rowkey.hbase.wire.names import META_TABLE


class RemainingScan:
    """The rows of a scan that are still to be read; the start moves towards the stop.

    Args:
        scan: the whole scan.
        table: the table's name; rows of hbase:meta do not sort as bytes.
    """

    def __init__(self, scan: ScanSpec, table: str = "") -> None:
        # Rows of hbase:meta compare by table, start key and id. Source: MetaCellComparator.
        self._is_bytewise = table != META_TABLE
        self.scan = scan
        """The scan from its next row on."""
        self.is_over = self._is_empty()
        """Whether no row is left."""

    @property
    def is_one_row(self) -> bool:
        """Whether at most one row is left."""
        scan = self.scan
        if not scan.start or not scan.include_start:
            return False
        if scan.include_stop:
            return scan.start == scan.stop
        return not scan.reverse and scan.stop == scan.start + b"\0"

    def continue_after(self, row: bytes) -> None:
        """Continue the scan with the row after this one."""
        self._set_start(row, include_start=False)

    def continue_at(self, row: bytes) -> None:
        """Continue the scan with this row, or the next one if it does not exist."""
        self._set_start(row, include_start=True)

    def skip_forward(self, row: bytes) -> None:
        """Continue the scan with this row, unless it is beyond the row already."""
        start = self.scan.start
        if not start or (row < start if self.scan.reverse else row > start):
            self.continue_at(row)

    def leave_region(self, region: RegionLocation) -> None:
        """Continue the scan after a region that has been read to its end.

        A region's name has the same bounds for ever: a split or merge makes other names (the module
        `scanner` says why that is enough).
        """
        if self.scan.reverse:
            self.is_over = not region.start
            if not self.is_over:
                self.continue_after(region.start)
        else:
            self.is_over = not region.stop
            if not self.is_over:
                self.continue_at(region.stop)

    def _set_start(self, row: bytes, *, include_start: bool) -> None:
        self.scan = replace(self.scan, start=row, include_start=include_start)
        self.is_over = self._is_empty()

    def _is_empty(self) -> bool:
        """Return whether no row is left, so that no request may be sent.

        Only the server of hbase:meta can compare different rows of hbase:meta.
        """
        return self.scan.is_empty and (self._is_bytewise or self.scan.start == self.scan.stop)

    def locate_region(
        self, locator: RegionLocator, table: str, deadline: Deadline
    ) -> RegionLocation:
        """Return the region in which the scan continues.

        Raises:
            NotServingRegion: the cached region does not hold the next row; it is marked as stale.
        """
        start, reverse = self.scan.start, self.scan.reverse
        if reverse and not (start and self.scan.include_start):
            region = locator.locate_region_before(table, start, deadline)
            has_next_row = region.has_keys_below(start)
        else:
            region = locator.locate_region(table, start, deadline)
            has_next_row = region.has_row(start)
        if has_next_row:
            return region
        locator.forget_region(region)
        what = f"the cached region {region.start!r}..{region.stop!r} does not hold row {start!r}"
        raise NotServingRegion(table, what)
