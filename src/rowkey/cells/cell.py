"""Cells, which are all that HBase stores: puts and deletes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

LATEST = 2**63 - 1
"""The timestamp that means "now, by the engine's clock". Source: HConstants.LATEST_TIMESTAMP."""


class CellType(IntEnum):
    """The type of a cell; at equal timestamps the higher number sorts first.

    Source: KeyValue.Type.
    """

    PUT = 4
    """Holds a value."""
    DELETE = 8
    """Hides the put of this column with this very timestamp."""
    DELETE_FAMILY_VERSION = 10
    """Hides the puts of every column of the family with this very timestamp."""
    DELETE_COLUMN = 12
    """Hides the puts of this column up to this timestamp."""
    DELETE_FAMILY = 14
    """Hides the puts of every column of the family up to this timestamp."""


COLUMN_DELETES = {
    CellType.DELETE_FAMILY: CellType.DELETE_COLUMN,
    CellType.DELETE_FAMILY_VERSION: CellType.DELETE,
}
"""The delete of one column that hides what a delete of its whole family hides there."""


class Cell(NamedTuple):
    """One cell of a row.

    Args:
        family: its column family.
        qualifier: may be empty; is, for deletes of a whole family.
        timestamp: milliseconds since 1970, 0..2^63-2, or `LATEST` in a mutation.
        value: empty for deletes.
        cell_type: what it does.
        ttl_ms: milliseconds after its timestamp at which it is gone, or None.

    >>> Cell("d", b"q", 7, b"v").cell_type.name
    'PUT'
    """

    family: str
    qualifier: bytes
    timestamp: int
    value: bytes = b""
    cell_type: CellType = CellType.PUT
    ttl_ms: int | None = None


class RowCells(NamedTuple):
    """Cells of one row, in HBase's order.

    A mutation is one as well: its cells are applied together or not at all, and count as one write.
    """

    row: bytes
    cells: Sequence[Cell]


@dataclass(frozen=True, slots=True)
class CellBlock:
    """Cells of many rows as columns, so that no Python object is needed for each cell.

    Args:
        rows: Arrow binary array of row keys, one for each row, in any order.
        family: the family of all its cells.
        qualifiers: one for all rows, or an Arrow binary array of one a row.
        values: Arrow binary array, one a row; null where the row has no such cell.
        timestamps: milliseconds for all rows, `LATEST`, or an int64 array of one a row.
    """

    rows: Any
    family: str
    qualifiers: Any
    values: Any
    timestamps: Any = LATEST


def build_sort_key(cell: Cell) -> tuple[str, bytes, int, int]:
    """Return the sort key of a cell in its row: family, qualifier, newest first, deletes first.

    Source: CellComparatorImpl; families of rowkey are ASCII, so their text sorts as their bytes.

    >>> cells = [Cell("d", b"q", 1, b"old"), Cell("d", b"q", 2, b"new")]
    >>> [cell.value for cell in sorted(cells, key=build_sort_key)]
    [b'new', b'old']
    """
    return cell.family, cell.qualifier, -cell.timestamp, -cell.cell_type
