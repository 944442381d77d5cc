"""The cells that a major compaction keeps: it drops those that no read can show again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rowkey.cells.cell import Cell, CellType
from rowkey.cells.visibility import MIN_TIMESTAMP_MS, Tombstones, compute_oldest_live_ms
from rowkey.errors import InvalidArgument
from rowkey.messages import format_value

if TYPE_CHECKING:
    from rowkey.cells.families import Family


PURGE_DELAY_ATTRIBUTE = "hbase.hstore.time.to.purge.deletes"
"""The table attribute with the ms for which major compactions keep delete markers."""

_MAX_LONG = 2**63 - 1


def parse_purge_delay_ms(attributes: Mapping[str, str]) -> int:
    """Return the milliseconds for which major compactions keep the delete markers of a table.

    Args:
        attributes: the table's attributes; without `PURGE_DELAY_ATTRIBUTE` it is 0.

    Raises:
        InvalidArgument: the attribute is not a number. HBase would not open the table's regions.

    Source: HStore: conf.getLong("hbase.hstore.time.to.purge.deletes", 0), at least 0.

    >>> parse_purge_delay_ms({PURGE_DELAY_ATTRIBUTE: "60000"})
    60000
    """
    text = attributes.get(PURGE_DELAY_ATTRIBUTE, "0")
    if not text.isascii() or not text.isdigit() or int(text[:20]) > _MAX_LONG:
        what = f"{format_value(text[:40])} is not a number of milliseconds"
        raise InvalidArgument(PURGE_DELAY_ATTRIBUTE, what, f"digits only, up to {_MAX_LONG}")
    return int(text)


def select_kept_cells(
    cells: Sequence[Cell], family: Family, now_ms: int, purge_delay_ms: int = 0
) -> list[Cell]:
    """Return the cells of one row and family that a major compaction keeps.

    Dropped are: cells whose time to live is over, except `min_versions` of each column; versions
    beyond the family's; deletes, and the puts they hide. With keep_deleted TRUE, deletes and hidden
    puts stay as long as their versions do; with TTL, until a delete's own time to live is over. A
    delete is no version; it goes with the puts above it. A delete that is not older than the
    purge delay stays in any case, and hides puts that come later; what it hides now is dropped as
    without the delay.

    HBase differs in two cases. It also drops a kept delete that is older than every put of the same
    files, in any row; here such a delete stays, because how rows share files is not known. And it
    keeps a delete below surplus puts that the previous flush dropped from memory; here such a
    delete goes, because what was in memory is not known.

    Args:
        cells: everything stored of the row and family, in the order of `build_sort_key`.
        family: the family and its attributes.
        now_ms: the moment of the compaction.
        purge_delay_ms: see `parse_purge_delay_ms`; 0 for none.

    Returns:
        Some of them, in their order.

    Cost: about 0.4 µs a cell.

    Source: MajorCompactionScanQueryMatcher, DropDeletesCompactionScanQueryMatcher.tryDropDelete,
        CompactionScanQueryMatcher.trackDelete, ScanWildcardColumnTracker.

    >>> from rowkey.cells import Cell, CellType, Family
    >>> delete = Cell("d", b"q", 2, cell_type=CellType.DELETE)
    >>> cells = [delete, Cell("d", b"q", 2), Cell("d", b"q", 1)]
    >>> [cell.timestamp for cell in select_kept_cells(cells, Family("d"), now_ms=9)]
    [1]
    """
    oldest = compute_oldest_live_ms(family, now_ms)
    gone_below = MIN_TIMESTAMP_MS if family.min_versions else oldest
    tombstones = Tombstones()
    kept_cells = []
    column, count = None, 0
    for cell in cells:
        _, qualifier, timestamp, _, cell_type, ttl = cell
        if qualifier != column:
            column, count = qualifier, 0
            tombstones.enter_column()
        if timestamp < gone_below or (ttl is not None and timestamp + ttl < now_ms):
            continue
        if cell_type == CellType.PUT:
            if tombstones.is_hidden(timestamp):
                continue
            count += 1
        else:
            is_kept = _is_delete_kept(family, timestamp >= oldest)
            if not is_kept:
                tombstones.add_delete(timestamp, cell_type)
            if 0 < purge_delay_ms >= now_ms - timestamp:
                kept_cells.append(cell)
                continue
            if not is_kept:
                continue
        if count <= family.versions and (count <= family.min_versions or timestamp >= oldest):
            kept_cells.append(cell)
    return kept_cells


def _is_delete_kept(family: Family, is_alive: bool) -> bool:
    """Return whether a delete and the cells it hides stay for reads of the past."""
    return family.keep_deleted == "TRUE" or (family.keep_deleted == "TTL" and is_alive)
