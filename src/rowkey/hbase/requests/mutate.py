"""Writing to one row: cells of one sort."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rowkey.hbase.messages.contract import Repeating, Request
from rowkey.hbase.messages.mutations import (
    check_cells,
    check_one_sort,
    mutate_request,
    repeating,
    written,
)
from rowkey.hbase.wire.cellblocks import encode_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.cells import Cell
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class Mutate(Request[None]):
    """Puts, or deletes, of one row, applied together or not at all.

    Args:
        row: its key.
        cells: all puts or all deletes, with one time to live.
        sync: whether they are on the disks before they are acknowledged.

    Raises:
        Refused: the row key is none, there is no cell, or they are of several sorts.
    """

    method: ClassVar[str] = "Mutate"
    row: bytes
    cells: Sequence[Cell]
    sync: bool = False

    def __post_init__(self) -> None:
        check_cells(self.row, self.cells)
        check_one_sort(self.cells)

    @property
    def repeating(self) -> Repeating:
        return repeating(self.cells)

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        param = mutate_request(region, written(self.row, self.cells, sync=self.sync))
        return param, encode_cells(self.row, self.cells)

    def decode(self, response: Response) -> None:
        """Nothing: an answer without an error says that it is done."""
