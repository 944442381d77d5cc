"""Writing to one row: cells of several sorts, applied together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rowkey.hbase.messages.contract import Repeating, Request
from rowkey.hbase.messages.multi_answer import read_atomic
from rowkey.hbase.messages.mutations import atomic_action, check_cells, is_mixed, repeating
from rowkey.hbase.requests.mutate import Mutate
from rowkey.hbase.wire.proto import message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.cells import Cell
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class MutateRow(Request[None]):
    """Puts and deletes of one row, applied together or not at all.

    All of them get one timestamp where they have none: a delete hides a put of the same moment.

    Args:
        row: its key.
        cells: of any sorts, in the order in which they are to be applied.
        sync: whether they are on the disks before they are acknowledged.

    Raises:
        Refused: the row key is none, or there is no cell.
    """

    method: ClassVar[str] = "Multi"
    row: bytes
    cells: Sequence[Cell]
    sync: bool = False

    def __post_init__(self) -> None:
        check_cells(self.row, self.cells)

    @property
    def repeating(self) -> Repeating:
        return repeating(self.cells)

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        action, cells = atomic_action(region, self.row, self.cells, sync=self.sync)
        return message(1, action), cells

    def decode(self, response: Response) -> None:
        read_atomic(response.message)


def writing(row: bytes, cells: Sequence[Cell], *, sync: bool = False) -> Request[None]:
    """The request that writes cells to a row: the cheaper of the two that can.

    Raises:
        Refused: the row key is none, or there is no cell.
    """
    check_cells(row, cells)
    return MutateRow(row, cells, sync) if is_mixed(cells) else Mutate(row, cells, sync)
