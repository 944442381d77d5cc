"""Reading one row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import RowCells, check_row
from rowkey.hbase.messages.contract import Request
from rowkey.hbase.messages.results import only_result
from rowkey.hbase.messages.wanted import get_message
from rowkey.hbase.reading import WHOLE, Read
from rowkey.hbase.wire.names import region_specifier
from rowkey.hbase.wire.proto import message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.cells import Cell
    from rowkey.hbase.messages.results import Result
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class Get(Request[RowCells]):
    """The cells of one row; none if there is no such row.

    Args:
        row: its key.
        read: what is wanted of it.

    Raises:
        Refused: the row key is none.
    """

    method: ClassVar[str] = "Get"
    row: bytes
    read: Read = WHOLE

    def __post_init__(self) -> None:
        check_row(self.row)

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        wanted = message(2, get_message(self.row, self.read))
        return message(1, region_specifier(region)) + wanted, b""

    def decode(self, response: Response) -> RowCells:
        return self.outcome(*only_result(response))

    def action(self) -> tuple[bytes, bytes]:
        """What it is in a batch: a field of the message `Action`, and cells."""
        return message(3, get_message(self.row, self.read)), b""

    def outcome(self, result: Result, cells: Sequence[Cell]) -> RowCells:
        """What a result says, its cells given."""
        return RowCells(self.row, cells)
