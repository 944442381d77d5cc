"""What is still stored after a major compaction: what no read can ever see again is dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.cells.cell import Kind
from rowkey.cells.visibility import EVER, Tombstones, oldest_living

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.cells.cell import Cell
    from rowkey.cells.families import Family


def survivors(cells: Sequence[Cell], family: Family, now_ms: int) -> list[Cell]:
    """The cells of one row and family that a major compaction keeps.

    Dropped are: cells whose time to live is over, except `min_versions` of each column; versions
    beyond the family's; deletes, and the puts they hide. With keep_deleted TRUE, deletes and hidden
    puts stay as long as their versions do; with TTL, until a delete's own time to live is over. A
    delete is no version; it goes with the puts above it.

    HBase also drops a kept delete that is older than every put of the same files, whatever their
    rows. That depends on how rows share files, so it is left out: such a delete stays. And it keeps
    one below surplus puts that the flush before dropped, as far as they were in memory. That
    depends on what was in memory, so it is left out too: such a delete goes.

    Args:
        cells: everything stored of the row and family, in the order of `in_order`.
        family: the family and its attributes.
        now_ms: the moment of the compaction.

    Returns:
        Some of them, in their order.

    Cost: about 0.4 µs a cell; nothing but a look where all are puts of different columns that live.

    Source: MajorCompactionScanQueryMatcher, DropDeletesCompactionScanQueryMatcher.tryDropDelete,
        CompactionScanQueryMatcher.trackDelete, ScanWildcardColumnTracker.

    >>> from rowkey.cells import Cell, Family, Kind
    >>> cells = [Cell("d", b"q", 2, kind=Kind.DELETE), Cell("d", b"q", 2), Cell("d", b"q", 1)]
    >>> [cell.timestamp for cell in survivors(cells, Family("d"), now_ms=9)]
    [1]
    """
    oldest = oldest_living(family, now_ms)
    gone_below = EVER if family.min_versions else oldest
    tombstones = Tombstones()
    kept = []
    column, count = None, 0
    for cell in cells:
        _, qualifier, timestamp, _, kind, ttl = cell
        if qualifier != column:
            column, count = qualifier, 0
            tombstones.enter_column()
        if timestamp < gone_below or (ttl is not None and timestamp + ttl < now_ms):
            continue
        if kind == Kind.PUT:
            if tombstones.covers(timestamp):
                continue
            count += 1
        elif not _keeps_delete(family, timestamp >= oldest):
            tombstones.add(timestamp, kind)
            continue
        if count <= family.versions and (count <= family.min_versions or timestamp >= oldest):
            kept.append(cell)
    return kept


def _keeps_delete(family: Family, lives: bool) -> bool:
    """Whether a delete and what it hides stay for reads of the past."""
    return family.keep_deleted == "TRUE" or (family.keep_deleted == "TTL" and lives)
