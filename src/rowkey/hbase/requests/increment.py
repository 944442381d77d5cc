"""Add to counters of one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rowkey.cells import COUNTER_BYTES, LATEST, Cell, RowCells, check_amount, check_row
from rowkey.hbase.argument_shapes import check_changes
from rowkey.hbase.messages.contract import Idempotence, Request
from rowkey.hbase.messages.mutations import (
    INCREMENT,
    check_nonce,
    encode_mutate_request,
    encode_mutation,
    order_cells,
)
from rowkey.hbase.messages.results import Result, parse_single_result
from rowkey.hbase.wire.cellblocks import encode_cells
from rowkey.hbase.wire.proto import ProtoMessage, WireFormatError, encode_message


@dataclass(frozen=True, slots=True)
class Increment(Request[list[int]]):
    """Add to counters of one row; the answer is their new values in the order of the amounts.

    Args:
        row: the row key.
        amounts: family, qualifier and the number added: -2^63..2^63-1; sums wrap around.
        nonce: number by which a server recognizes a repeated request; 0 for none.
        nonce_group: number of the client, which completes the nonce.
        sync: whether the change is on the disks before it is acknowledged.

    Raises:
        InvalidArgument: the row key or an amount is not valid, there is no column, or a column
            occurs twice.
    """

    method: ClassVar[str] = "Mutate"
    has_cells: ClassVar[bool] = True
    row: bytes
    amounts: Sequence[tuple[str, bytes, int]]
    nonce: int = 0
    nonce_group: int = 0
    sync: bool = False

    def __post_init__(self) -> None:
        check_row(self.row)
        check_changes("amounts", self.amounts, "amount")
        for _, _, amount in self.amounts:
            check_amount(amount)
        check_nonce("nonce", self.nonce)
        check_nonce("nonce_group", self.nonce_group)

    @property
    def idempotence(self) -> Idempotence:
        """Return NONCE_PROTECTED for a request with a nonce, else NOT_IDEMPOTENT."""
        return Idempotence.NONCE_PROTECTED if self.nonce else Idempotence.NOT_IDEMPOTENT

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        """Encode the request as protobuf, and its cells as a cell block."""
        mutation, cells = self._encode_mutation()
        return encode_mutate_request(region, mutation, nonce_group=self.nonce_group), cells

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> list[int]:
        """Return the new values of the counters."""
        return self.parse_outcome(*parse_single_result(answer, cells))

    def encode_action(self) -> tuple[bytes, bytes]:
        """Encode the request as an action of a batch: a protobuf field and a cell block."""
        mutation, cells = self._encode_mutation()
        return encode_message(2, mutation), cells

    def parse_outcome(self, result: Result, found: RowCells) -> list[int]:
        """Return the new values of the counters from the request's result in a batch.

        Raises:
            OverwrittenAnswer: the answer has the cells of another request.
            WireFormatError: a counter is missing or is not 8 bytes long.
        """
        del result
        return [
            int.from_bytes(cell.value, "big", signed=True) for cell in self.order_new_cells(found)
        ]

    def order_new_cells(self, found: RowCells) -> list[Cell]:
        """Return the cells of the counters, in the order of the amounts."""
        columns = [(family, qualifier) for family, qualifier, _ in self.amounts]
        ordered = order_cells(self.row, columns, found)
        if any(len(cell.value) != COUNTER_BYTES for cell in ordered):
            raise WireFormatError("the new value of a counter is not 8 bytes long")
        return ordered

    def _encode_mutation(self) -> tuple[bytes, bytes]:
        """Encode the protobuf MutationProto and the cell block of the amounts."""
        cells = [
            Cell(family, qualifier, LATEST, amount.to_bytes(COUNTER_BYTES, "big", signed=True))
            for family, qualifier, amount in self.amounts
        ]
        mutation = encode_mutation(
            self.row, INCREMENT, len(cells), nonce=self.nonce, sync=self.sync
        )
        return mutation, encode_cells(self.row, cells)
