"""Parses the message `Result`: the cells of one row, in the cell block or in the message."""

from __future__ import annotations

from typing import NamedTuple

from rowkey.cells import Cell, CellType, RowCells
from rowkey.hbase.wire.cellblocks import decode_rows
from rowkey.hbase.wire.proto import ProtoMessage, WireFormatError


class Result(NamedTuple):
    """The protobuf Result of one row: its cells, or how many cells of the cell block it has.

    Args:
        block_cell_count: how many cells of the cell block belong to it; None if it does not say.
        exists: whether the row exists, in the answer to an existence check; else None.
        cells: the cells in the message, and their row key; empty if they are in the cell block.
    """

    block_cell_count: int | None
    exists: bool | None
    cells: RowCells

    @property
    def has_cell_count(self) -> bool:
        """Whether it says how many cells it has, as the result of a read always does."""
        return self.block_cell_count is not None or bool(self.cells.cells)


NO_CELLS = RowCells(b"", ())
EMPTY_RESULT = Result(None, None, NO_CELLS)
"""The answer to a put."""

_CELL_TYPES = {int(cell_type): cell_type for cell_type in CellType}


def parse_result(message: bytes) -> Result:
    r"""Parse a protobuf Result.

    Raises:
        WireFormatError: it is malformed.

    Source: Client.proto of HBase 2.6: 1 cell, 2 associated_cell_count, 3 exists, 4 stale.

    >>> parse_result(b"\x10\x02\x20\x00").block_cell_count
    2
    """
    if not message:
        return EMPTY_RESULT
    # The answer to nearly every get: a count below 128, and "not stale".
    if len(message) == 4 and message[0] == 0x10 and message[1] < 128 and message[2] == 0x20:
        return Result(message[1], None, NO_CELLS)
    sent = ProtoMessage(message)
    return Result(
        sent.get_uint(2) if sent.has_field(2) else None,
        sent.get_bool(3) if sent.has_field(3) else None,
        _parse_row_cells(list(sent.iter_messages(1))),
    )


def _parse_row_cells(messages: list[ProtoMessage]) -> RowCells:
    """Parse the cells in a Result, which are all of one row."""
    rows = {one.get_bytes(1) for one in messages}
    if len(rows) > 1:
        raise WireFormatError(f"a result has cells of {len(rows):,} rows", "cells of one row")
    return RowCells(rows.pop(), [_parse_cell(one) for one in messages]) if rows else NO_CELLS


def _parse_cell(msg: ProtoMessage) -> Cell:
    """Parse a protobuf Cell.

    Source: Cell.proto of HBase 2.6: 1 row, 2 family, 3 qualifier, 4 timestamp, 5 cell_type,
        6 value.
    """
    cell_type = _CELL_TYPES.get(msg.get_uint(5, CellType.PUT))
    if cell_type is None:
        raise WireFormatError(f"a cell has the type {msg.get_uint(5)}", "one of 4, 8, 10, 12, 14")
    return Cell(msg.get_text(2), msg.get_bytes(3), msg.get_int64(4), msg.get_bytes(6), cell_type)


def parse_single_result(answer: ProtoMessage, cells: bytes | memoryview) -> tuple[Result, RowCells]:
    """Parse an answer with one Result; return it, and its row key and cells.

    Raises:
        WireFormatError: it has no Result, or other cells than it counts.
    """
    result = parse_result(answer.require_fields(1).get_bytes(1))
    (found,) = decode_rows(cells, [result.block_cell_count or 0])
    return result, found if found.cells else result.cells
