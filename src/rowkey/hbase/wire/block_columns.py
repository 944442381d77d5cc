"""Columns of cells to write, validated so that all of them can be encoded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np
from rowkey.cells import (
    CELL_OVERHEAD_BYTES,
    MAX_CELL_BYTES,
    MAX_ROW_BYTES,
    CellBlock,
    CellType,
    find_family_name_mistakes,
)
from rowkey.errors import InvalidArgument
from rowkey.hbase.wire.arrow_columns import (
    check_all_valid,
    check_no_nulls,
    check_row_count,
    collapse_equal,
    compute_lengths,
    to_binary_array,
    to_piece,
    to_timestamps,
)
from rowkey.messages import format_value

if TYPE_CHECKING:
    import numpy.typing as npt

MAX_REQUEST_BYTES = 256 << 20
"""Largest request, and so the largest row. Source: hbase.ipc.max.request.size."""

_CELL_FIXED_BYTES = CELL_OVERHEAD_BYTES + 4
"""Bytes of a cell without its parts: lengths, timestamp and type. Source: KeyValueCodec."""


def validate_rows(blocks: Sequence[CellBlock]) -> Any:
    """Validate the row keys of some cell blocks, and return them as an Arrow array.

    Raises:
        InvalidArgument: the columns have different rows, or a row key is not valid.
    """
    first_rows = blocks[0].rows
    rows = to_binary_array("rows", first_rows)
    for number, block in enumerate(blocks[1:], 2):
        if block.rows is not first_rows and not to_binary_array("rows", block.rows).equals(rows):
            raise InvalidArgument(
                "rows",
                f"cell block {number} has other row keys than cell block 1",
                "the same row keys in each cell block",
            )
    check_no_nulls("rows", rows, "a row key")
    lengths = compute_lengths(rows)
    is_valid = (lengths >= 1) & (lengths <= MAX_ROW_BYTES)
    allowed = f"1 to {MAX_ROW_BYTES:,} bytes"
    check_all_valid("rows", is_valid, lengths, "the row key has {:,} bytes", allowed)
    return rows


@dataclass(frozen=True, slots=True)
class BlockColumn:
    """The cells of one validated cell block to write, without their row keys."""

    family: bytes
    qualifiers: Any
    values: Any
    timestamps: Any

    def take_rows(self, places: Any) -> BlockColumn:
        """Return the cells of the rows with these indexes, in their order."""
        qualifiers, stamps = self.qualifiers, self.timestamps
        if not isinstance(qualifiers, bytes):
            qualifiers = qualifiers.take(places)
        if not isinstance(stamps, int):
            stamps = stamps[places.to_numpy()]
        return BlockColumn(self.family, qualifiers, self.values.take(places), stamps)

    def slice_rows(self, start: int, stop: int) -> BlockColumn:
        """Return the cells of a range of rows, without a copy."""
        qualifiers, stamps = self.qualifiers, self.timestamps
        if not isinstance(qualifiers, bytes):
            qualifiers = qualifiers.slice(start, stop - start)
        if not isinstance(stamps, int):
            stamps = stamps[start:stop]
        return BlockColumn(self.family, qualifiers, self.values.slice(start, stop - start), stamps)

    def compute_name_bytes(self) -> Any:
        """Return the byte length of family plus qualifier: one number, or an array by row."""
        if isinstance(self.qualifiers, bytes):
            return len(self.family) + len(self.qualifiers)
        return len(self.family) + compute_lengths(self.qualifiers)

    def find_valid_rows(self) -> npt.NDArray[Any]:
        """Return for each row whether it has a value, as a boolean array."""
        holds: npt.NDArray[Any] = self.values.is_valid().to_numpy(zero_copy_only=False)
        return holds

    def build_middle(self) -> list[Any]:
        """Encode the bytes between row key and value: family length, names, timestamp, type."""
        family = bytes([len(self.family)]) + self.family
        tail: Any
        if isinstance(self.timestamps, int):
            tail = self.timestamps.to_bytes(8, "big") + bytes([CellType.PUT])
        else:
            tail = _encode_tails(self.timestamps)
        pieces: list[Any] = [family, self.qualifiers, tail]
        # Adjacent bytes that are equal in all rows are one piece: each piece costs some ns a row.
        if isinstance(self.qualifiers, bytes):
            pieces[:2] = [family + self.qualifiers]
            if isinstance(tail, bytes):
                pieces = [pieces[0] + tail]
        return pieces


def validate_column(block: CellBlock, count: int) -> BlockColumn:
    """Validate a cell block to write, and return its cells.

    Raises:
        InvalidArgument: one of its arrays has another length than the rows, or another type.
    """
    _check_family(block.family)
    values = to_binary_array("values", block.values)
    check_row_count("values", values, count)
    qualifiers = block.qualifiers
    if not isinstance(qualifiers, bytes):
        qualifiers = to_binary_array("qualifiers", qualifiers)
        check_row_count("qualifiers", qualifiers, count)
        check_no_nulls("qualifiers", qualifiers, "bytes")
    return BlockColumn(
        block.family.encode(), qualifiers, values, to_timestamps(block.timestamps, count)
    )


def _check_family(name: object) -> None:
    """Raise an error unless a column family can have this name.

    Raises:
        InvalidArgument: it is not a text, or not a name that HBase accepts.
    """
    if not isinstance(name, str):
        raise InvalidArgument(
            "family", f"{format_value(name)} has the type {type(name).__name__}", "text"
        )
    for refusal in find_family_name_mistakes(name):
        mistake = refusal.mistake
        raise InvalidArgument("family", mistake.problem, mistake.expected, mistake.remedy)


def compute_row_sizes(rows: Any, columns: Sequence[BlockColumn]) -> npt.NDArray[Any]:
    """Return the byte size of the encoded cells of each row.

    Raises:
        InvalidArgument: a cell is larger than HBase stores, or a row than a request.
    """
    total = np.zeros(len(rows), np.int64)
    fixed = _CELL_FIXED_BYTES + compute_lengths(rows)
    for column in columns:
        sizes = fixed + column.compute_name_bytes() + compute_lengths(column.values)
        if column.values.null_count:
            sizes *= column.find_valid_rows()
        allowed = f"at most {MAX_CELL_BYTES:,} bytes"
        is_valid = sizes <= MAX_CELL_BYTES
        check_all_valid("rows", is_valid, sizes, "a cell of the row has {:,} bytes", allowed)
        total += sizes
    # Half of a request is for cells: the action of a row is smaller, unless its key is long.
    allowed = f"at most {MAX_REQUEST_BYTES // 2:,} bytes"
    is_valid = total <= MAX_REQUEST_BYTES // 2
    check_all_valid("rows", is_valid, total, "the cells of the row have {:,} bytes", allowed)
    return total


def _encode_tails(timestamps: npt.NDArray[Any]) -> Any:
    """Encode the bytes after the qualifier: timestamp and type."""
    timestamps = collapse_equal(timestamps)
    tails = np.empty((len(timestamps), 9), np.uint8)
    tails[:, :8] = timestamps.astype(">i8")[:, None].view(np.uint8)
    tails[:, 8] = CellType.PUT
    return to_piece(tails)
