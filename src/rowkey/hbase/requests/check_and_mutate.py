"""Writing to a row if one of its cells is as expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.cells import check_comparison
from rowkey.hbase.filters import BinaryComparator
from rowkey.hbase.messages.contract import Repeating, Request
from rowkey.hbase.messages.multi_answer import read_atomic
from rowkey.hbase.messages.mutations import (
    atomic_action,
    check_cells,
    is_mixed,
    mutate_request,
    written,
)
from rowkey.hbase.wire.cellblocks import encode_cells
from rowkey.hbase.wire.proto import Message, blob, message, text, uint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.cells import Cell
    from rowkey.hbase.wire.frames import Response

_MIRRORED = {"<": 5, "<=": 4, "=": 2, "!=": 3, ">=": 1, ">": 0}
"""Each operator and the number of its mirror: a server compares *given value OP cell*.

Source: CompareType of HBase.proto, LESS 0 to GREATER 5; HRegion.matches; tried on 2.6.4.
"""


@dataclass(frozen=True, slots=True)
class CheckAndMutate(Request[bool]):
    """Whether *cell OP value* was true; then the cells were written, all together.

    Args:
        row: key of the row that is looked at and written.
        family: of the cell that is compared; its newest version is.
        qualifier: its column.
        operator: one of = != < <= > >=.
        value: compared bytewise. None and b"" stand for "absent or empty": = and != only. With any
            other value an absent cell makes every operator false, != as well.
        cells: what is then written, in this order: puts and deletes.
        sync: whether that is on the disks before it is acknowledged.

    Raises:
        Refused: the row key is none, there is no cell, or the cell cannot be compared like this.
    """

    row: bytes
    family: str
    qualifier: bytes
    operator: str
    value: bytes | None
    cells: Sequence[Cell]
    sync: bool = False

    def __post_init__(self) -> None:
        check_cells(self.row, self.cells)
        check_comparison(self.operator, self.value)

    @property
    def method(self) -> str:
        return "Multi" if is_mixed(self.cells) else "Mutate"

    @property
    def repeating(self) -> Repeating:
        """Asked again, it may find what it has written itself."""
        return Repeating.COUNTS

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        if is_mixed(self.cells):
            condition = self._condition()
            action, cells = atomic_action(region, self.row, self.cells, condition, sync=self.sync)
            return message(1, action), cells
        mutation = written(self.row, self.cells, sync=self.sync)
        param = mutate_request(region, mutation, condition=self._condition())
        return param, encode_cells(self.row, self.cells)

    def decode(self, response: Response) -> bool:
        if is_mixed(self.cells):
            return read_atomic(response.message)
        return Message(response.message).flag(2)

    def _condition(self) -> bytes:
        """The message `Condition`.

        Source: Client.proto of HBase 2.6: 1 row, 2 family, 3 qualifier, 4 compare_type,
            5 comparator.
        """
        comparator = BinaryComparator(self.value or b"")
        return b"".join(
            (
                blob(1, self.row),
                text(2, self.family),
                blob(3, self.qualifier),
                uint(4, _MIRRORED[self.operator]),
                message(5, comparator.encode()),
            )
        )
