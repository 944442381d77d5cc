"""Appending to cells of one row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import LATEST, Cell, check_row
from rowkey.errors import Refused, shown
from rowkey.hbase.messages.contract import Repeating, Request
from rowkey.hbase.messages.mutations import (
    APPEND,
    cells_in_order,
    check_columns,
    check_nonce,
    mutate_request,
    mutation_message,
)
from rowkey.hbase.messages.results import only_result
from rowkey.hbase.wire.cellblocks import encode_cells
from rowkey.hbase.wire.proto import message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.hbase.messages.results import Result
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class Append(Request[list[bytes]]):
    """The new values of cells of a row, in the order of the pieces.

    Args:
        row: its key.
        pieces: family, qualifier and what is appended.
        nonce: number by which a server knows it when it comes again; 0 for none.
        nonce_group: number of the client, beside the nonce.
        sync: whether it is on the disks before it is acknowledged.

    Raises:
        Refused: the row key or a piece is none, there is no column, or one is named twice.
    """

    method: ClassVar[str] = "Mutate"
    row: bytes
    pieces: Sequence[tuple[str, bytes, bytes]]
    nonce: int = 0
    nonce_group: int = 0
    sync: bool = False

    def __post_init__(self) -> None:
        check_row(self.row)
        check_columns([(family, qualifier) for family, qualifier, _ in self.pieces])
        for _, _, piece in self.pieces:
            if not isinstance(piece, bytes):
                raise Refused("piece", f"{shown(piece)} is a {type(piece).__name__}", "bytes")
        check_nonce("nonce", self.nonce)
        check_nonce("nonce_group", self.nonce_group)

    @property
    def repeating(self) -> Repeating:
        return Repeating.GUARDED if self.nonce else Repeating.COUNTS

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        mutation, cells = self._mutation()
        return mutate_request(region, mutation, nonce_group=self.nonce_group), cells

    def decode(self, response: Response) -> list[bytes]:
        return self.outcome(*only_result(response))

    def action(self) -> tuple[bytes, bytes]:
        """What it is in a batch: a field of the message `Action`, and cells."""
        mutation, cells = self._mutation()
        return message(2, mutation), cells

    def outcome(self, result: Result, cells: Sequence[Cell]) -> list[bytes]:
        """Return the values that a result tells.

        Raises:
            Malformed: a cell is not among them.
        """
        del result
        return [cell.value for cell in self.new_cells(cells)]

    def new_cells(self, cells: Sequence[Cell]) -> list[Cell]:
        """Return the new cells, in the order of the pieces; as `outcome`."""
        columns = [(family, qualifier) for family, qualifier, _ in self.pieces]
        return cells_in_order(columns, cells)

    def _mutation(self) -> tuple[bytes, bytes]:
        sent = [Cell(family, qualifier, LATEST, piece) for family, qualifier, piece in self.pieces]
        mutation = mutation_message(self.row, APPEND, len(sent), nonce=self.nonce, sync=self.sync)
        return mutation, encode_cells(self.row, sent)
