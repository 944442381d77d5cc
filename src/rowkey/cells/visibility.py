"""Which cells of a row a read sees: deletes, versions, time ranges and times to live.

Every engine that keeps cells itself asks here, so that there is one answer. Deletes are stored like
puts and hide what is not newer than they are, however late it came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.cells.cell import LATEST, Kind
from rowkey.cells.limits import FOREVER_S

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rowkey.cells.cell import Cell
    from rowkey.cells.families import Family

EVER = -(2**63)
"""Before every timestamp."""

_PUT, _DELETE, _COLUMN = Kind.PUT, Kind.DELETE, Kind.DELETE_COLUMN
_FAMILY, _FAMILY_VERSION = Kind.DELETE_FAMILY, Kind.DELETE_FAMILY_VERSION


def oldest_living(family: Family, now_ms: int) -> int:
    """The least timestamp, in ms, that the family's time to live has not ended at a moment.

    Source: StoreScanner: now - TTL; ScanWildcardColumnTracker.isExpired: below it.
    """
    return EVER if family.ttl_s >= FOREVER_S else now_ms - family.ttl_s * 1_000


class View:
    """What one read sees of a family: made once, asked for each row.

    Args:
        family: the family and its attributes.
        now_ms: the moment at which times to live are judged.
        versions: most versions of a column; never more than the family keeps, except raw.
        time_range: timestamps from the first, inclusive, to the second, exclusive, in ms.
        qualifiers: only these columns; None for all.
        between: only qualifiers from the first, inclusive, to the second, exclusive; an empty
            second is no end.
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
        between: tuple[bytes, bytes] = (b"", b""),
        raw: bool = False,
    ) -> None:
        self.now_ms, self.raw = now_ms, raw
        self.low, self.high = time_range
        self.versions = versions if raw else min(versions, family.versions)
        self.oldest = oldest_living(family, now_ms)
        self.floor = max(self.low, self.oldest)
        self.min_versions = family.min_versions
        self.sees_past = family.keep_deleted != "FALSE"
        self.qualifiers = None if qualifiers is None else frozenset(qualifiers)
        self.first, self.last = between
        self.all_columns = qualifiers is None and between == (b"", b"")
        self.is_plain = not raw and self.versions == 1 and not self.min_versions

    def sees(self, cells: Sequence[Cell]) -> list[Cell]:
        """The cells that the read gives of one row and family.

        Args:
            cells: everything stored of the row and family, in the order of `in_order`.

        Returns:
            Some of them, in their order.

        Cost: 0.1..0.3 µs a cell where all are puts without a time to live of their own and one
            version is wanted, about 0.5 µs a cell otherwise.

        >>> from rowkey.cells import Cell, Family, Kind
        >>> cells = [Cell("d", b"q", 2, kind=Kind.DELETE), Cell("d", b"q", 2), Cell("d", b"q", 1)]
        >>> [cell.timestamp for cell in View(Family("d"), now_ms=9).sees(cells)]
        [1]
        """
        if not self.is_plain:
            return self._everything(cells) if self.raw else self._undeleted(cells)
        low, high = self.floor, self.high
        found = []
        column = None
        for cell in cells:
            _, qualifier, timestamp, _, kind, ttl = cell
            if kind is not _PUT or ttl is not None:
                return self._undeleted(cells)
            if qualifier != column and low <= timestamp < high:
                column = qualifier
                found.append(cell)
        return found if self.all_columns else [cell for cell in found if self._wants(cell[1])]

    def _wants(self, qualifier: bytes) -> bool:
        if self.qualifiers is not None and qualifier not in self.qualifiers:
            return False
        return self.first <= qualifier and (not self.last or qualifier < self.last)

    def _everything(self, cells: Sequence[Cell]) -> list[Cell]:
        """Puts and deletes alike, as many versions of each column as asked.

        A delete is no version; it goes with the puts above it.
        """
        found = []
        column, count = None, 0
        for cell in cells:
            _, qualifier, timestamp, _, kind, ttl = cell
            if qualifier != column:
                column, count = qualifier, 0
            if ttl is not None and timestamp + ttl < self.now_ms:
                continue
            if not self.low <= timestamp < self.high or not self._wants(qualifier):
                continue
            count += kind == _PUT
            if count <= self.versions:
                found.append(cell)
        return found

    def _undeleted(self, cells: Sequence[Cell]) -> list[Cell]:
        """The puts that no delete hides, as many living versions of each column as asked."""
        low, high, oldest = self.low, self.high, self.oldest
        gone_below = EVER if self.min_versions else oldest
        tombstones = Tombstones()
        found = []
        column, count, done = None, 0, False
        for cell in cells:
            _, qualifier, timestamp, _, kind, ttl = cell
            if qualifier != column:
                column, count, done = qualifier, 0, False
                tombstones.enter_column()
            if timestamp < gone_below or (ttl is not None and timestamp + ttl < self.now_ms):
                continue
            if kind != _PUT:
                if low <= timestamp and (timestamp < high or not self.sees_past):
                    tombstones.add(timestamp, kind)
                continue
            if tombstones.covers(timestamp) or done or not low <= timestamp < high:
                continue
            count += 1
            if count > self.versions or not (self.all_columns or self._wants(qualifier)):
                done = True
            elif timestamp >= oldest:
                found.append(cell)
            else:
                # Named columns give one version more than min_versions: the tracker of named
                # columns looks whether it is done after it has taken a cell, the other one before.
                done = count >= self.min_versions
                if count <= self.min_versions or self.qualifiers is not None:
                    found.append(cell)
        return found


class Tombstones:
    """What the deletes seen so far hide, in one row and family and the column at hand."""

    __slots__ = ("column", "family", "family_versions", "version")

    def __init__(self) -> None:
        self.family = EVER
        self.family_versions: set[int] = set()
        self.enter_column()

    def enter_column(self) -> None:
        """Forget the deletes of the column before."""
        self.column = self.version = EVER

    def add(self, timestamp: int, kind: int) -> None:
        """Take note of a delete; cells come newest first, so the first of a kind reaches most."""
        if kind == _FAMILY:
            self.family = max(self.family, timestamp)
        elif kind == _COLUMN:
            self.column = max(self.column, timestamp)
        elif kind == _FAMILY_VERSION:
            self.family_versions.add(timestamp)
        elif kind == _DELETE:
            self.version = timestamp

    def covers(self, timestamp: int) -> bool:
        """Whether a put of this timestamp in the column at hand is hidden."""
        return (
            timestamp <= self.family
            or timestamp <= self.column
            or timestamp == self.version
            or timestamp in self.family_versions
        )
