"""What a server says of one row: the message `Result`, its cells beside it or inside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rowkey.cells import Cell, Kind
from rowkey.hbase.wire.cellblocks import decode_rows
from rowkey.hbase.wire.proto import Malformed, Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.hbase.wire.frames import Response


class Result(NamedTuple):
    """One result.

    Args:
        size: how many cells of the cell block are its.
        exists: whether there is something, if that was asked.
        cells: those that came inside the message; none if they are in the cell block.
    """

    size: int
    exists: bool
    cells: Sequence[Cell]


NOTHING = Result(0, False, ())
"""What a put answers."""

_KINDS = {int(kind): kind for kind in Kind}


def read_result(message: bytes) -> Result:
    r"""The result that a message holds.

    Raises:
        Malformed: it holds none.

    Source: Client.proto of HBase 2.6: 1 cell, 2 associated_cell_count, 3 exists, 4 stale.

    >>> read_result(b"\x10\x02\x20\x00").size
    2
    """
    if not message:
        return NOTHING
    # What nearly every get is answered with: a count below 128, and "not stale".
    if len(message) == 4 and message[0] == 0x10 and message[1] < 128 and message[2] == 0x20:
        return Result(message[1], False, ())
    sent = Message(message)
    return Result(sent.uint(2), sent.flag(3), [_cell(one) for one in sent.messages(1)])


def _cell(sent: Message) -> Cell:
    """A cell inside a message.

    Source: Cell.proto of HBase 2.6: 1 row, 2 family, 3 qualifier, 4 timestamp, 5 cell_type,
        6 value.
    """
    kind = _KINDS.get(sent.uint(5, Kind.PUT))
    if kind is None:
        raise Malformed(f"a cell of type {sent.uint(5)}", "4, 8, 10, 12 or 14")
    return Cell(sent.text(2), sent.blob(3), sent.int64(4), sent.blob(6), kind)


def only_result(response: Response) -> tuple[Result, Sequence[Cell]]:
    """The one result of an answer, in its field 1, and its cells, wherever they are."""
    sent = Message(response.message)
    result = read_result(sent.blob(1))
    if result.cells or not result.size:
        return result, result.cells
    return result, decode_rows(bytes(response.cells), [result.size])[0].cells
