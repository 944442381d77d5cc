"""Parses the message `Result`: the cells of one row, in the cell block or in the message."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rowkey.cells import Cell, CellType
from rowkey.hbase.errors import OverwrittenAnswer
from rowkey.hbase.wire.cellblocks import decode_rows
from rowkey.hbase.wire.proto import ProtoMessage, WireFormatError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.hbase.wire.frames import Response


class Result(NamedTuple):
    """The protobuf Result of one row: its cells, or how many cells of the cell block it has.

    Args:
        cell_count: how many cells of the cell block belong to it.
        exists: whether the row exists, in the answer to an existence check.
        cells: the cells in the message; empty if they are in the cell block.
    """

    cell_count: int
    exists: bool
    cells: Sequence[Cell]


EMPTY_RESULT = Result(0, False, ())
"""The answer to a put."""

_CELL_TYPES = {int(cell_type): cell_type for cell_type in CellType}


def parse_result(message: bytes) -> Result:
    r"""Parse a protobuf Result.

    Raises:
        WireFormatError: it is malformed.

    Source: Client.proto of HBase 2.6: 1 cell, 2 associated_cell_count, 3 exists, 4 stale.

    >>> parse_result(b"\x10\x02\x20\x00").cell_count
    2
    """
    if not message:
        return EMPTY_RESULT
    # The answer to nearly every get: a count below 128, and "not stale".
    if len(message) == 4 and message[0] == 0x10 and message[1] < 128 and message[2] == 0x20:
        return Result(message[1], False, ())
    sent = ProtoMessage(message)
    return Result(
        sent.get_uint(2), sent.get_bool(3), [_parse_cell(one) for one in sent.list_messages(1)]
    )


def _parse_cell(msg: ProtoMessage) -> Cell:
    """Parse a protobuf Cell.

    Source: Cell.proto of HBase 2.6: 1 row, 2 family, 3 qualifier, 4 timestamp, 5 cell_type,
        6 value.
    """
    cell_type = _CELL_TYPES.get(msg.get_uint(5, CellType.PUT))
    if cell_type is None:
        raise WireFormatError(f"a cell has the type {msg.get_uint(5)}", "one of 4, 8, 10, 12, 14")
    return Cell(msg.get_text(2), msg.get_bytes(3), msg.get_int64(4), msg.get_bytes(6), cell_type)


def parse_single_result(
    response: Response, row: bytes | None = None
) -> tuple[Result, Sequence[Cell]]:
    """Parse an answer with one Result; return it and its cells.

    Args:
        response: the answer.
        row: the row key of a changed row, whose cells the answer must have.

    Raises:
        OverwrittenAnswer: it has the cells of another row.
    """
    sent = ProtoMessage(response.message)
    result = parse_result(sent.get_bytes(1))
    if result.cells or not result.cell_count:
        return result, result.cells
    (found,) = decode_rows(bytes(response.cells), [result.cell_count])
    if row not in (None, found.row):
        raise OverwrittenAnswer.from_row(row)
    return result, found.cells
