"""Checks of mutations before anything is changed, and their timestamps."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence

from rowkey.cells.cell import (
    CELL_OVERHEAD_BYTES,
    COLUMN_DELETES,
    KEY_LENGTH_BYTES,
    LATEST,
    TAGS_LENGTH_BYTES,
    Cell,
    CellType,
    RowCells,
)
from rowkey.cells.limits import MAX_CELL_BYTES, MAX_ROW_BYTES
from rowkey.errors import InvalidArgument
from rowkey.messages import format_value, suggest_name

MAX_TTL_MS = 2**62
"""Longest time to live of a cell, in ms: added to any time of day it stays within 63 bits."""

_TTL_TAG_BYTES = TAGS_LENGTH_BYTES + 2 + 1 + 8
"""Bytes a time to live adds: length of all tags, its own length, type and number. Source: Tag."""

_CHECKED_OVERHEAD_BYTES = CELL_OVERHEAD_BYTES + KEY_LENGTH_BYTES
"""Bytes beside the parts; HBase adds the 4 of the cell's own length before it compares.

Source: RSRpcServices.checkCellSizeLimit; PrivateCellUtil.estimatedSerializedSizeOf.
"""

_SURROGATE = re.compile("[\ud800-\udfff]")
_PUT = CellType.PUT
_DELETES = tuple(kind for kind in CellType if kind != CellType.PUT)


def check_row(row: bytes) -> None:
    """Raise unless a value can be a row key.

    Raises:
        InvalidArgument: it is not bytes, is empty, or is longer than 32,767 bytes.

    Source: HConstants.MAX_ROW_LENGTH.
    """
    _check_bytes("row", row)
    if not 1 <= len(row) <= MAX_ROW_BYTES:
        raise InvalidArgument(
            "row", f"the row key has {len(row):,} bytes", f"1..{MAX_ROW_BYTES:,} bytes"
        )


def _check_bytes(path: str, value: object) -> None:
    if not isinstance(value, bytes):
        raise InvalidArgument(
            path, f"{_format_brief(value)} is of the type {type(value).__name__}", "bytes"
        )


def check_families(names: Iterable[str], known_names: Collection[str]) -> None:
    """Raise unless all families are known.

    Raises:
        InvalidArgument: naming the first that is not, and those there are.
    """
    for name in names:
        if name not in known_names:
            what, remedy = f"the table has no column family {_format_brief(name)}", ""
            if isinstance(name, str):
                remedy = suggest_name(name, known_names)
            allowed = f"one of {', '.join(sorted(known_names))}" if known_names else ""
            raise InvalidArgument("family", what, allowed, remedy)


def check_family_name(name: object) -> None:
    """Raise unless a value can be the name of a column family.

    Raises:
        InvalidArgument: it is no text, is empty, or cannot be encoded as UTF-8.
    """
    if isinstance(name, str) and name and (name.isascii() or not _SURROGATE.search(name)):
        return
    what = f"{_format_brief(name)} is not a name of a column family"
    raise InvalidArgument("family", what, "a text that is not empty and can be encoded as UTF-8")


def _check_family(name: str, known_names: Collection[str] | None) -> None:
    """Raise unless a family is known, or has a name at all if only the server knows them."""
    if known_names is None:
        check_family_name(name)
    else:
        check_families([name], known_names)


def check_mutation(mutation: RowCells, families: Collection[str] | None = None) -> bool:
    """Raise unless a mutation can be applied; return whether a cell has the timestamp `LATEST`.

    Args:
        mutation: puts and deletes of one row.
        families: names of the table's families; None if only the server knows them.

    Raises:
        InvalidArgument: the row key, a family, a timestamp, a time to live or a value is not one
            that HBase stores; a cell is above `MAX_CELL_BYTES`; there is no cell.

    Cost: 0.4 µs a row of one cell.

    >>> from rowkey.cells import RowCells
    >>> check_mutation(RowCells(b"r", [Cell("d", b"q", -1, b"v")]), ["d"])
    Traceback (most recent call last):
    rowkey.errors.InvalidArgument: argument timestamp: -1 is out of range; expected 0..922337203...
    """
    try:
        return _check_cells(mutation, families)
    except (TypeError, ValueError) as problem:
        if isinstance(problem, InvalidArgument):
            raise
        what = f"{_format_brief(mutation)} is not a row key with its cells"
        raise InvalidArgument("cells", what, "RowCells(row, cells), where cells are Cell") from None


def _check_cells(mutation: RowCells, families: Collection[str] | None) -> bool:
    """Do what `check_mutation` does, for row keys with cells; other shapes raise anything."""
    row, cells = mutation
    # A call costs more than a comparison: functions are called only for what looks wrong.
    if type(row) is not bytes or not 0 < len(row) <= MAX_ROW_BYTES:
        check_row(row)
    if len(cells) == 0:
        raise InvalidArgument(
            "cells",
            "the mutation has no cells",
            "at least one cell",
            "To delete a row, add a DELETE_FAMILY cell for each family.",
        )
    has_latest = False
    for cell in cells:
        family, qualifier, timestamp, value, cell_type, ttl = cell
        is_known = (
            type(family) is str and family and family.isascii()
            if families is None
            else family in families
        )
        if not is_known:
            _check_family(family, families)
        if not (type(qualifier) is bytes is type(value)):
            _check_bytes("qualifier", qualifier)
            _check_bytes("value", value)
        if type(timestamp) is not int or not 0 <= timestamp < LATEST:
            check_timestamp(timestamp)
            has_latest |= timestamp == LATEST
        size = _CHECKED_OVERHEAD_BYTES + len(row) + len(family) + len(qualifier) + len(value)
        if ttl is not None:
            size += _TTL_TAG_BYTES
            _check_ttl(cell)
        if size > MAX_CELL_BYTES:
            raise InvalidArgument(
                f"column {family}:{repr(qualifier[:40])[2:-1]}",
                f"the cell has {size:,} bytes with its key",
                f"at most {MAX_CELL_BYTES:,} bytes",
                "Split the value into several cells.",
            )
        if cell_type is not _PUT and cell_type != _PUT:
            _check_delete(cell)
    return has_latest


def check_timestamp(timestamp: object) -> None:
    """Raise unless a value is a timestamp in ms, or `LATEST`.

    Raises:
        InvalidArgument: it is below 0 or above `LATEST`.
    """
    if not isinstance(timestamp, int) or not 0 <= timestamp <= LATEST:
        allowed = f"0..{LATEST - 1} in ms, or LATEST"
        raise InvalidArgument("timestamp", f"{_format_brief(timestamp)} is out of range", allowed)


def _check_ttl(cell: Cell) -> None:
    """Raise unless the time to live of a cell can be added to its timestamp."""
    ttl: object = cell.ttl_ms
    if not isinstance(ttl, int) or not 1 <= ttl <= MAX_TTL_MS:
        raise InvalidArgument("ttl_ms", f"{_format_brief(ttl)} is out of range", f"1..{MAX_TTL_MS}")
    if cell.timestamp != LATEST and cell.timestamp + ttl > LATEST:
        what = f"the cell would expire at {cell.timestamp:,} + {ttl:,} ms, which HBase cannot store"
        raise InvalidArgument("ttl_ms", what, f"a sum of at most {LATEST:,}")


def _check_delete(cell: Cell) -> None:
    """Raise unless a delete has no value, no time to live, and a qualifier only if it needs one."""
    if cell.cell_type not in _DELETES:
        raise InvalidArgument(
            "cell_type",
            f"{_format_brief(cell.cell_type)} is not a cell type",
            f"one of {', '.join(CellType.__members__)}",
        )
    if cell.value:
        raise InvalidArgument("value", "a delete has a value", "an empty value with a delete")
    if cell.ttl_ms is not None:
        raise InvalidArgument("ttl_ms", "a delete has a time to live", "None with a delete")
    if cell.qualifier and cell.cell_type in COLUMN_DELETES:
        name = CellType(cell.cell_type).name
        what = f"{name} deletes a family, but has the qualifier {_format_brief(cell.qualifier)}"
        raise InvalidArgument("qualifier", what, "an empty qualifier")


def assign_timestamps(
    cells: Sequence[Cell],
    now_ms: int,
    find_versions: Callable[[str, bytes, int], Sequence[int]],
    *,
    put_timestamp_ms: int | None = None,
) -> list[Cell]:
    """Return the cells of a mutation with every `LATEST` replaced by a timestamp.

    A `DELETE` takes the timestamp of the newest version that can be seen, the second such delete of
    a column that of the second newest; where there is none, it takes now, as all others do.

    Args:
        cells: of one row, in their order.
        find_versions: gives the timestamps of up to so many versions of a column, newest first, as
            a read of the row before the mutation sees them.
        put_timestamp_ms: what puts take instead of now: a check-and-mutate stamps them no earlier
            than the cell it has compared, so that they are seen.

    Source: HRegion.prepareDeleteTimestamps, updateDeleteLatestVersionTimestamp and
        checkAndMutateInternal (HBASE-14054).

    >>> hide = Cell("d", b"q", LATEST, cell_type=CellType.DELETE)
    >>> [cell.timestamp for cell in assign_timestamps([hide, hide], 9, lambda *_: [7])]
    [7, 9]
    """
    stamped = []
    delete_counts: dict[tuple[str, bytes], int] = {}
    for cell in cells:
        timestamp = cell.timestamp
        if timestamp == LATEST:
            timestamp = now_ms
            if cell.cell_type == CellType.PUT:
                timestamp = now_ms if put_timestamp_ms is None else put_timestamp_ms
            elif cell.cell_type == CellType.DELETE:
                column = (cell.family, cell.qualifier)
                delete_counts[column] = count = delete_counts.get(column, 0) + 1
                versions = find_versions(*column, count)
                timestamp = versions[count - 1] if len(versions) >= count else now_ms
        stamped.append(cell if timestamp == cell.timestamp else cell._replace(timestamp=timestamp))
    return stamped


def _format_brief(value: object) -> str:
    """Return a value as a message shows it, shortened if it is long."""
    if isinstance(value, bytes) and len(value) > 40:
        return f"{value[:40]!r}…"
    return format_value(value)
