"""Cells, which are all that HBase stores: puts and deletes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

from rowkey.cells.limits import MAX_FAMILY_BYTES, MAX_JAVA_INT, MAX_ROW_BYTES
from rowkey.errors import InvalidArgument

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


KEY_LENGTH_BYTES = 4
VALUE_LENGTH_BYTES = 4
ROW_LENGTH_BYTES = 2
FAMILY_LENGTH_BYTES = 1
TIMESTAMP_BYTES = 8
TYPE_BYTES = 1
TAGS_LENGTH_BYTES = 2

CELL_OVERHEAD_BYTES = (
    KEY_LENGTH_BYTES
    + VALUE_LENGTH_BYTES
    + ROW_LENGTH_BYTES
    + FAMILY_LENGTH_BYTES
    + TIMESTAMP_BYTES
    + TYPE_BYTES
)
"""Bytes of every cell beside row, family, qualifier and value: 20. Source: KeyValue."""

_MAX_BYTES = {"row": MAX_ROW_BYTES, "family": MAX_FAMILY_BYTES, "tags": 32_767}


def compute_cell_bytes(row: int, family: int, qualifier: int, value: int, tags: int = 0) -> int:
    """Return the bytes of one cell as a KeyValue.

    Args:
        row: bytes of the row key, which every cell of the row repeats.
        family: bytes of the family's name.
        qualifier: bytes of the qualifier; 0 is allowed.
        value: bytes of the value.
        tags: bytes of all tags; their length field comes with the first.

    Raises:
        InvalidArgument: a length is negative or beyond what HBase stores.

    Source: KeyValue: 4 + 4 + 2 + row + 1 + family + qualifier + 8 + 1 + value (+ 2 + tags).

    >>> compute_cell_bytes(row=16, family=1, qualifier=4, value=8)
    49
    """
    lengths = {"row": row, "family": family, "qualifier": qualifier, "value": value, "tags": tags}
    for part, length in lengths.items():
        limit = _MAX_BYTES.get(part, MAX_JAVA_INT)
        if not 0 <= length <= limit:
            raise InvalidArgument(
                part, f"the length {length:,} is out of range", f"0..{limit:,} bytes"
            )
    return CELL_OVERHEAD_BYTES + sum(lengths.values()) + (TAGS_LENGTH_BYTES if tags else 0)


def compute_block_bytes(
    row: int,
    family: int,
    qualifier: int,
    value: int,
    tags: int = 0,
    *,
    sequence_id: int = 0,
    file_has_tags: bool = False,
) -> int:
    """Return the bytes of one cell in a data block of an HFile, unencoded and uncompressed.

    Args:
        row: bytes of the row key.
        family: bytes of the family's name.
        qualifier: bytes of the qualifier.
        value: bytes of the value.
        tags: bytes of all tags.
        sequence_id: the write's number, 0 once a major compaction has forgotten it.
        file_has_tags: whether any cell of the file has tags: then each has their length.

    Raises:
        InvalidArgument: a length is negative or beyond what HBase stores.

    Source: NoneEncoder: the KeyValue, tags' length if the file has tags, mvcc as a vlong.

    >>> compute_block_bytes(row=16, family=1, qualifier=4, value=8)
    50
    """
    bare_length = TAGS_LENGTH_BYTES if file_has_tags and not tags else 0
    return (
        compute_cell_bytes(row, family, qualifier, value, tags)
        + bare_length
        + compute_vlong_bytes(sequence_id)
    )


def compute_vlong_bytes(number: int) -> int:
    """Return the bytes of a number in Hadoop's variable-length form: 1 for -112..127, else 2..9.

    Raises:
        InvalidArgument: it does not fit in 8 bytes.

    Source: WritableUtils.writeVLong.

    >>> compute_vlong_bytes(0), compute_vlong_bytes(128), compute_vlong_bytes(2**63 - 1)
    (1, 2, 9)
    """
    if not -(2**63) <= number < 2**63:
        raise InvalidArgument("number", f"{number} does not fit in 8 bytes", "-2^63..2^63-1")
    if -112 <= number <= 127:
        return 1
    magnitude = number if number >= 0 else ~number
    return 1 + (magnitude.bit_length() + 7) // 8
