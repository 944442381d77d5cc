"""Blocks of cells as they are given to be written: checked, so that all of it can be encoded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.cells import (
    CELL_BYTES_MOST,
    OVERHEAD,
    ROW_BYTES_MOST,
    Kind,
    check_family_name,
)
from rowkey.errors import Refused, shown
from rowkey.hbase.wire.binary import (
    as_binary,
    as_piece,
    as_stamps,
    check_count,
    check_each,
    check_filled,
    even,
    lengths_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from rowkey.cells import CellBlock

REQUEST_BYTES_MOST = 256 << 20
"""Largest request, so largest row as well. Source: hbase.ipc.max.request.size."""

_FIXED = OVERHEAD + 4
"""Bytes of a cell beside its parts, its own length as well. Source: KeyValueCodec."""


def checked_rows(blocks: Sequence[CellBlock]) -> Any:
    """The rows that all blocks name.

    Raises:
        Refused: they name different rows, or a row key cannot be one.
    """
    given = blocks[0].rows
    rows = as_binary("rows", given)
    for block in blocks[1:]:
        if block.rows is not given and not as_binary("rows", block.rows).equals(rows):
            raise Refused("rows", "two blocks name different rows", "the same rows in each block")
    check_filled("rows", rows, "a row key")
    lengths = lengths_of(rows)
    fits = (lengths >= 1) & (lengths <= ROW_BYTES_MOST)
    check_each("rows", fits, lengths, f"1..{ROW_BYTES_MOST:,} bytes")
    return rows


@dataclass(frozen=True, slots=True)
class Column:
    """A block, checked; its rows are kept apart."""

    family: bytes
    qualifiers: Any
    values: Any
    stamps: Any

    def take(self, places: Any) -> Column:
        """The same of some rows, in their order."""
        qualifiers, stamps = self.qualifiers, self.stamps
        if not isinstance(qualifiers, bytes):
            qualifiers = qualifiers.take(places)
        if not isinstance(stamps, int):
            stamps = stamps[places.to_numpy()]
        return Column(self.family, qualifiers, self.values.take(places), stamps)

    def slice(self, start: int, stop: int) -> Column:
        """The same of the rows from one to another; nothing is copied."""
        qualifiers, stamps = self.qualifiers, self.stamps
        if not isinstance(qualifiers, bytes):
            qualifiers = qualifiers.slice(start, stop - start)
        if not isinstance(stamps, int):
            stamps = stamps[start:stop]
        return Column(self.family, qualifiers, self.values.slice(start, stop - start), stamps)

    def names(self) -> Any:
        """Bytes of family and qualifier: a number, or one for each row."""
        if isinstance(self.qualifiers, bytes):
            return len(self.family) + len(self.qualifiers)
        return len(self.family) + lengths_of(self.qualifiers)

    def valid(self) -> npt.NDArray[Any]:
        """Whether a row has a value."""
        holds: npt.NDArray[Any] = self.values.is_valid().to_numpy(zero_copy_only=False)
        return holds

    def middle(self) -> list[Any]:
        """What stands between row and value: length of the family, names, timestamp, type."""
        family = bytes([len(self.family)]) + self.family
        tail: Any
        if isinstance(self.stamps, int):
            tail = self.stamps.to_bytes(8, "big") + bytes([Kind.PUT])
        else:
            tail = _tails(self.stamps)
        pieces: list[Any] = [family, self.qualifiers, tail]
        # Neighbours that are the same in all rows are one piece: each piece costs some ns a row.
        if isinstance(self.qualifiers, bytes):
            pieces[:2] = [family + self.qualifiers]
            if isinstance(tail, bytes):
                pieces = [pieces[0] + tail]
        return pieces


def checked_column(block: CellBlock, count: int) -> Column:
    """A block without its rows.

    Raises:
        Refused: one of its columns has no line for each row, or is of another type.
    """
    _check_family(block.family)
    values = as_binary("values", block.values)
    check_count("values", values, count)
    qualifiers = block.qualifiers
    if not isinstance(qualifiers, bytes):
        qualifiers = as_binary("qualifiers", qualifiers)
        check_count("qualifiers", qualifiers, count)
        check_filled("qualifiers", qualifiers, "bytes")
    return Column(block.family.encode(), qualifiers, values, as_stamps(block.timestamps, count))


def _check_family(name: object) -> None:
    """Raise unless a family can have this name.

    Raises:
        Refused: it is no text, or not a name that HBase takes.
    """
    if not isinstance(name, str):
        raise Refused("family", f"{shown(name)} is a {type(name).__name__}", "text")
    for refusal in check_family_name(name):
        mistake = refusal.mistake
        raise Refused("family", mistake.what, mistake.allowed, mistake.remedy)


def checked_sizes(rows: Any, columns: Sequence[Column]) -> npt.NDArray[Any]:
    """Bytes of the cells of each row.

    Raises:
        Refused: a cell is larger than HBase stores, or a row than a request.
    """
    import numpy as np

    total = np.zeros(len(rows), np.int64)
    fixed = _FIXED + lengths_of(rows)
    for column in columns:
        sizes = fixed + column.names() + lengths_of(column.values)
        if column.values.null_count:
            sizes *= column.valid()
        allowed = f"a cell of at most {CELL_BYTES_MOST:,} bytes"
        check_each("rows", sizes <= CELL_BYTES_MOST, sizes, allowed)
        total += sizes
    # Half for the cells: the action of a row without a long key is smaller than its cells.
    allowed = f"cells of at most {REQUEST_BYTES_MOST // 2:,} bytes"
    check_each("rows", total <= REQUEST_BYTES_MOST // 2, total, allowed)
    return total


def _tails(stamps: npt.NDArray[Any]) -> Any:
    """What stands behind the qualifier: timestamp and type."""
    import numpy as np

    stamps = even(stamps)
    tails = np.empty((len(stamps), 9), np.uint8)
    tails[:, :8] = stamps.astype(">i8")[:, None].view(np.uint8)
    tails[:, 8] = Kind.PUT
    return as_piece(tails)
