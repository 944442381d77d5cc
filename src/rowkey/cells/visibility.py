"""The cells of a row that a read shows: deletes, versions, time ranges and times to live.

All embedded engines use this module, so that they agree. Deletes are stored like puts and hide
cells that are not newer, even those written later.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from rowkey.cells.cell import LATEST, Cell, CellType
from rowkey.cells.limits import FOREVER_S

if TYPE_CHECKING:
    from rowkey.cells.families import Family

MIN_TIMESTAMP_MS = -(2**63)
"""Before every timestamp."""

_PUT, _DELETE, _COLUMN = CellType.PUT, CellType.DELETE, CellType.DELETE_COLUMN
_FAMILY, _FAMILY_VERSION = CellType.DELETE_FAMILY, CellType.DELETE_FAMILY_VERSION


def compute_oldest_live_ms(family: Family, now_ms: int) -> int:
    """Return the lowest timestamp, in ms, that a family's time to live has not expired yet.

    Source: StoreScanner: now - TTL; ScanWildcardColumnTracker.isExpired: below it.
    """
    return MIN_TIMESTAMP_MS if family.ttl_s >= FOREVER_S else now_ms - family.ttl_s * 1_000


class FamilyView:
    """A read's view of one family, built once and applied to each row.

    Args:
        family: the family and its attributes.
        now_ms: the moment at which times to live are judged.
        versions: most versions of a column; never more than the family keeps, except raw.
        time_range: timestamps from the first, inclusive, to the second, exclusive, in ms.
        qualifiers: only these columns; None for all.
        qualifier_range: only qualifiers from the first, inclusive, to the second, exclusive; an
            empty second is no end.
        raw: deletes and what they hide as well; the family's time to live and versions then bear
            on nothing, a cell's own time to live still does.

    Source: NormalUserScanQueryMatcher and RawScanQueryMatcher with ScanDeleteTracker; columns by
        ScanWildcardColumnTracker, or by ExplicitColumnTracker if qualifiers are named.
    """

    def __init__(
        self,
        family: Family,
        now_ms: int,
        *,
        versions: int = 1,
        time_range: tuple[int, int] = (0, LATEST),
        qualifiers: Collection[bytes] | None = None,
        qualifier_range: tuple[bytes, bytes] = (b"", b""),
        raw: bool = False,
    ) -> None:
        self.now_ms, self.raw = now_ms, raw
        self.start_ms, self.stop_ms = time_range
        self.versions = versions if raw else min(versions, family.versions)
        self.oldest_live_ms = compute_oldest_live_ms(family, now_ms)
        self.oldest_visible_ms = max(self.start_ms, self.oldest_live_ms)
        self.min_versions = family.min_versions
        self.has_kept_deletes = family.keep_deleted != "FALSE"
        self.qualifiers = None if qualifiers is None else frozenset(qualifiers)
        self.start_qualifier, self.stop_qualifier = qualifier_range
        self.has_all_columns = qualifiers is None and qualifier_range == (b"", b"")
        self.is_plain = not raw and self.versions == 1 and not self.min_versions

    def select_visible(self, cells: Sequence[Cell]) -> list[Cell]:
        """Return the visible cells of one row and family.

        Args:
            cells: everything stored of the row and family, in the order of `build_sort_key`.

        Returns:
            Some of them, in their order.

        Cost: 0.1..0.3 µs a cell where all are puts without a time to live of their own and one
            version is wanted, about 0.5 µs a cell otherwise.

        >>> from rowkey.cells import Cell, CellType, Family
        >>> delete = Cell("d", b"q", 2, cell_type=CellType.DELETE)
        >>> cells = [delete, Cell("d", b"q", 2), Cell("d", b"q", 1)]
        >>> [cell.timestamp for cell in FamilyView(Family("d"), now_ms=9).select_visible(cells)]
        [1]
        """
        if not self.is_plain:
            return self._select_raw(cells) if self.raw else self._select_undeleted(cells)
        low, high = self.oldest_visible_ms, self.stop_ms
        visible_cells = []
        column = None
        for cell in cells:
            _, qualifier, timestamp, _, cell_type, ttl = cell
            if cell_type is not _PUT or ttl is not None:
                return self._select_undeleted(cells)
            if qualifier != column and low <= timestamp < high:
                column = qualifier
                visible_cells.append(cell)
        return (
            visible_cells
            if self.has_all_columns
            else [cell for cell in visible_cells if self._is_wanted(cell[1])]
        )

    def _is_wanted(self, qualifier: bytes) -> bool:
        if self.qualifiers is not None and qualifier not in self.qualifiers:
            return False
        return self.start_qualifier <= qualifier and (
            not self.stop_qualifier or qualifier < self.stop_qualifier
        )

    def _select_raw(self, cells: Sequence[Cell]) -> list[Cell]:
        """Return puts and deletes, up to the requested versions of each column.

        A delete is no version; it is returned if the puts above it are.
        """
        selected_cells = []
        column, count = None, 0
        for cell in cells:
            _, qualifier, timestamp, _, cell_type, ttl = cell
            if qualifier != column:
                column, count = qualifier, 0
            if ttl is not None and timestamp + ttl < self.now_ms:
                continue
            if not self.start_ms <= timestamp < self.stop_ms or not self._is_wanted(qualifier):
                continue
            count += cell_type == _PUT
            if count <= self.versions:
                selected_cells.append(cell)
        return selected_cells

    def _select_undeleted(self, cells: Sequence[Cell]) -> list[Cell]:
        """Return the puts that no delete hides, up to the requested versions of each column."""
        low, high, oldest = self.start_ms, self.stop_ms, self.oldest_live_ms
        gone_below = MIN_TIMESTAMP_MS if self.min_versions else oldest
        tombstones = Tombstones()
        selected_cells = []
        column, count, is_column_done = None, 0, False
        for cell in cells:
            _, qualifier, timestamp, _, cell_type, ttl = cell
            if qualifier != column:
                column, count, is_column_done = qualifier, 0, False
                tombstones.enter_column()
            if timestamp < gone_below or (ttl is not None and timestamp + ttl < self.now_ms):
                continue
            if cell_type != _PUT:
                if low <= timestamp and (timestamp < high or not self.has_kept_deletes):
                    tombstones.add_delete(timestamp, cell_type)
                continue
            if tombstones.is_hidden(timestamp) or is_column_done or not low <= timestamp < high:
                continue
            count += 1
            if count > self.versions or not (self.has_all_columns or self._is_wanted(qualifier)):
                is_column_done = True
            elif timestamp >= oldest:
                selected_cells.append(cell)
            else:
                # A read of named columns gives one version more than min_versions: HBase's tracker
                # of named columns checks whether a column is done after taking a cell, the tracker
                # of all columns before.
                is_column_done = count >= self.min_versions
                if count <= self.min_versions or self.qualifiers is not None:
                    selected_cells.append(cell)
        return selected_cells


class Tombstones:
    """Tracks which cells the deletes of one row and family hide, newest cell first."""

    __slots__ = ("column_ms", "family_ms", "family_version_ms", "version_ms")

    def __init__(self) -> None:
        self.family_ms = MIN_TIMESTAMP_MS
        self.family_version_ms: set[int] = set()
        self.enter_column()

    def enter_column(self) -> None:
        """Forget the deletes of the column before."""
        self.column_ms = self.version_ms = MIN_TIMESTAMP_MS

    def add_delete(self, timestamp: int, cell_type: int) -> None:
        """Add a delete; cells come newest first, so the first delete of a type hides the most."""
        if cell_type == _FAMILY:
            self.family_ms = max(self.family_ms, timestamp)
        elif cell_type == _COLUMN:
            self.column_ms = max(self.column_ms, timestamp)
        elif cell_type == _FAMILY_VERSION:
            self.family_version_ms.add(timestamp)
        elif cell_type == _DELETE:
            self.version_ms = timestamp

    def is_hidden(self, timestamp: int) -> bool:
        """Return whether a put of the current column with this timestamp is hidden."""
        return (
            timestamp <= self.family_ms
            or timestamp <= self.column_ms
            or timestamp == self.version_ms
            or timestamp in self.family_version_ms
        )
