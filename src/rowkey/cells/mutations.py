"""What may be written, checked before anything changes, and when it is said to have happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.cells.cell import LATEST, Cell, Kind
from rowkey.cells.footprint import KEY_LENGTH, OVERHEAD, TAGS_LENGTH
from rowkey.cells.limits import CELL_BYTES_MOST, ROW_BYTES_MOST
from rowkey.errors import Refused, did_you_mean, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from rowkey.cells.cell import RowCells

TTL_MS_MOST = 2**62
"""Longest time to live of a cell, in ms: added to any time of day it stays within 63 bits."""

_TTL_TAG = TAGS_LENGTH + 2 + 1 + 8
"""Bytes a time to live adds: length of all tags, its own length, type and number. Source: Tag."""

_FIXED = OVERHEAD + KEY_LENGTH
"""Bytes beside the parts; HBase adds the 4 of the cell's own length before it compares.

Source: RSRpcServices.checkCellSizeLimit; PrivateCellUtil.estimatedSerializedSizeOf.
"""

_PUT = Kind.PUT
_OF_FAMILY = (Kind.DELETE_FAMILY, Kind.DELETE_FAMILY_VERSION)
_DELETES = tuple(kind for kind in Kind if kind != Kind.PUT)


def check_row(row: bytes) -> None:
    """Raise unless this can be a row key.

    Raises:
        Refused: it is not bytes, is empty, or is longer than 32,767 bytes.

    Source: HConstants.MAX_ROW_LENGTH.
    """
    _check_bytes("row", row)
    if not 1 <= len(row) <= ROW_BYTES_MOST:
        raise Refused("row", f"the key is {len(row):,} bytes long", f"1..{ROW_BYTES_MOST:,} bytes")


def _check_bytes(path: str, given: object) -> None:
    """Raise unless this is bytes."""
    if not isinstance(given, bytes):
        raise Refused(path, f"{_brief(given)} is a {type(given).__name__}", "bytes")


def check_families(names: Iterable[str], known: Collection[str]) -> None:
    """Raise unless all families are known.

    Raises:
        Refused: naming the first that is not, and those there are.
    """
    for name in names:
        if name not in known:
            what, remedy = f"there is no family {_brief(name)}", ""
            if isinstance(name, str):
                remedy = did_you_mean(name, known)
            raise Refused("family", what, ", ".join(sorted(known)), remedy)


def check_mutation(mutation: RowCells, families: Collection[str]) -> None:
    """Raise unless a mutation can be applied, whatever its row holds.

    Args:
        mutation: puts and deletes of one row.
        families: names of the table's families.

    Raises:
        Refused: the row key, a family, a timestamp, a time to live or a value is none that HBase
            stores; a cell is above `CELL_BYTES_MOST`; there is no cell.

    Cost: 0.4 µs a row of one cell.

    >>> from rowkey.cells import RowCells
    >>> check_mutation(RowCells(b"r", [Cell("d", b"q", -1, b"v")]), ["d"])
    Traceback (most recent call last):
    rowkey.errors.Refused: timestamp: -1 is out of range; expected 0..9223372036854775806, or L...
    """
    row, cells = mutation
    # Calls cost more than what they check: they are made for what looks wrong.
    if type(row) is not bytes or not 0 < len(row) <= ROW_BYTES_MOST:
        check_row(row)
    if not cells:
        raise Refused("cells", "there is none", "1 or more", "Delete a row family by family.")
    for cell in cells:
        family, qualifier, timestamp, value, kind, ttl = cell
        if family not in families:
            check_families([family], families)
        if not (type(qualifier) is bytes is type(value)):
            _check_bytes("qualifier", qualifier)
            _check_bytes("value", value)
        if type(timestamp) is not int or timestamp != LATEST:
            check_timestamp(timestamp)
        size = _FIXED + len(row) + len(family) + len(qualifier) + len(value)
        if ttl is not None:
            size += _TTL_TAG
            _check_ttl(cell)
        if size > CELL_BYTES_MOST:
            raise Refused("cell", f"it takes {size:,} bytes", f"at most {CELL_BYTES_MOST:,} bytes")
        if kind is not _PUT and kind != _PUT:
            _check_delete(cell)


def check_timestamp(timestamp: object) -> None:
    """Raise unless this is a moment in ms, or `LATEST`.

    Raises:
        Refused: it is below 0 or above `LATEST`.
    """
    if not isinstance(timestamp, int) or not 0 <= timestamp <= LATEST:
        allowed = f"0..{LATEST - 1}, or LATEST"
        raise Refused("timestamp", f"{_brief(timestamp)} is out of range", allowed)


def _check_ttl(cell: Cell) -> None:
    """Raise unless the time to live of a cell can be added to its timestamp."""
    ttl: object = cell.ttl_ms
    if not isinstance(ttl, int) or not 1 <= ttl <= TTL_MS_MOST:
        raise Refused("ttl_ms", f"{_brief(ttl)} is out of range", f"1..{TTL_MS_MOST}")
    if cell.timestamp != LATEST and cell.timestamp + ttl > LATEST:
        what = f"{cell.timestamp} + {ttl} is beyond 63 bits"
        raise Refused("ttl_ms", what, "an end that a timestamp can name")


def _check_delete(cell: Cell) -> None:
    """Raise unless a delete says no more than a delete can."""
    if cell.kind not in _DELETES:
        raise Refused("kind", f"{_brief(cell.kind)} is unknown", ", ".join(Kind.__members__))
    if cell.value:
        raise Refused("value", "a delete holds one", "none with a delete")
    if cell.ttl_ms is not None:
        raise Refused("ttl_ms", "a delete has one", "none with a delete")
    if cell.qualifier and cell.kind in _OF_FAMILY:
        what = f"{Kind(cell.kind).name} names the column {_brief(cell.qualifier)}"
        raise Refused("qualifier", what, "none: it is about a whole family")


def stamped(
    cells: Sequence[Cell],
    now_ms: int,
    newest: Callable[[str, bytes, int], Sequence[int]],
    *,
    puts_ms: int | None = None,
) -> list[Cell]:
    """The cells of a mutation with every `LATEST` replaced by a moment.

    A `DELETE` takes the timestamp of the newest version that can be seen, the second such delete of
    a column that of the second newest; where there is none, it takes now, as all others do.

    Args:
        cells: of one row, in their order.
        now_ms: now.
        newest: gives the timestamps of up to so many versions of a column, newest first, as a read
            of the row before the mutation sees them.
        puts_ms: what puts take instead of now: a check-and-mutate stamps them no earlier than the
            cell it has compared, so that they are seen.

    Source: HRegion.prepareDeleteTimestamps, updateDeleteLatestVersionTimestamp and
        checkAndMutateInternal (HBASE-14054).

    >>> hide = Cell("d", b"q", LATEST, kind=Kind.DELETE)
    >>> [cell.timestamp for cell in stamped([hide, hide], 9, lambda *_: [7])]
    [7, 9]
    """
    found = []
    asked: dict[tuple[str, bytes], int] = {}
    for cell in cells:
        timestamp = cell.timestamp
        if timestamp == LATEST:
            timestamp = now_ms
            if cell.kind == Kind.PUT:
                timestamp = now_ms if puts_ms is None else puts_ms
            elif cell.kind == Kind.DELETE:
                column = (cell.family, cell.qualifier)
                asked[column] = count = asked.get(column, 0) + 1
                versions = newest(*column, count)
                timestamp = versions[count - 1] if len(versions) >= count else now_ms
        found.append(cell if timestamp == cell.timestamp else cell._replace(timestamp=timestamp))
    return found


def _brief(value: object) -> str:
    """A value as a message shows it, cut where it is long."""
    if isinstance(value, bytes) and len(value) > 40:
        return f"{value[:40]!r}…"
    return shown(value)
