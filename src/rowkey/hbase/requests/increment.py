"""Adding to counters of one row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import COUNTER_BYTES, LATEST, Cell, check_amount, check_row
from rowkey.hbase.messages.contract import Repeating, Request
from rowkey.hbase.messages.mutations import (
    INCREMENT,
    cells_in_order,
    check_columns,
    check_nonce,
    mutate_request,
    mutation_message,
)
from rowkey.hbase.messages.results import only_result
from rowkey.hbase.wire.cellblocks import encode_cells
from rowkey.hbase.wire.proto import Malformed, message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.hbase.messages.results import Result
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class Increment(Request[list[int]]):
    """The new values of counters of a row, in the order of the amounts.

    Args:
        row: its key.
        amounts: family, qualifier and what is added: -2^63..2^63-1; a sum wraps at the ends.
        nonce: number by which a server knows it when it comes again; 0 for none.
        nonce_group: number of the client, beside the nonce.
        sync: whether it is on the disks before it is acknowledged.

    Raises:
        Refused: the row key or an amount is none, there is no column, or one is named twice.
    """

    method: ClassVar[str] = "Mutate"
    row: bytes
    amounts: Sequence[tuple[str, bytes, int]]
    nonce: int = 0
    nonce_group: int = 0
    sync: bool = False

    def __post_init__(self) -> None:
        check_row(self.row)
        check_columns([(family, qualifier) for family, qualifier, _ in self.amounts])
        for _, _, amount in self.amounts:
            check_amount(amount)
        check_nonce("nonce", self.nonce)
        check_nonce("nonce_group", self.nonce_group)

    @property
    def repeating(self) -> Repeating:
        return Repeating.GUARDED if self.nonce else Repeating.COUNTS

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        mutation, cells = self._mutation()
        return mutate_request(region, mutation, nonce_group=self.nonce_group), cells

    def decode(self, response: Response) -> list[int]:
        return self.outcome(*only_result(response))

    def action(self) -> tuple[bytes, bytes]:
        """What it is in a batch: a field of the message `Action`, and cells."""
        mutation, cells = self._mutation()
        return message(2, mutation), cells

    def outcome(self, result: Result, cells: Sequence[Cell]) -> list[int]:
        """Return the counters that a result tells.

        Raises:
            Malformed: a counter is not among them, or is none.
        """
        del result
        return [int.from_bytes(cell.value, "big", signed=True) for cell in self.new_cells(cells)]

    def new_cells(self, cells: Sequence[Cell]) -> list[Cell]:
        """Return the counters as cells, in the order of the amounts; as `outcome`."""
        columns = [(family, qualifier) for family, qualifier, _ in self.amounts]
        found = cells_in_order(columns, cells)
        if any(len(cell.value) != COUNTER_BYTES for cell in found):
            raise Malformed("a counter of other than 8 bytes")
        return found

    def _mutation(self) -> tuple[bytes, bytes]:
        sent = [
            Cell(family, qualifier, LATEST, amount.to_bytes(COUNTER_BYTES, "big", signed=True))
            for family, qualifier, amount in self.amounts
        ]
        mutation = mutation_message(
            self.row, INCREMENT, len(sent), nonce=self.nonce, sync=self.sync
        )
        return mutation, encode_cells(self.row, sent)
