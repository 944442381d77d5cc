"""The requests that write one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import NoneType
from typing import ClassVar

from rowkey.cells import (
    COUNTER_BYTES,
    LATEST,
    Cell,
    RowCells,
    check_amount,
    check_comparison,
    check_row,
    check_timestamp,
)
from rowkey.hbase.argument_shapes import check_changes, check_column, check_instance
from rowkey.hbase.filters import BinaryComparator
from rowkey.hbase.messages.contract import Idempotence, Request
from rowkey.hbase.messages.multi_response import check_applied, parse_atomic_response
from rowkey.hbase.messages.mutations import (
    APPEND,
    DELETE,
    INCREMENT,
    check_cells,
    check_nonce,
    encode_atomic_action,
    encode_cells_mutation,
    encode_mutate_request,
    encode_mutation,
    get_idempotence,
    is_mixed,
    order_cells,
)
from rowkey.hbase.messages.reads import Result, parse_single_result
from rowkey.hbase.wire.cellblocks import encode_cells, encode_rows
from rowkey.hbase.wire.proto import (
    ProtoMessage,
    WireFormatError,
    encode_bytes,
    encode_message,
    encode_text,
    encode_uint,
)


@dataclass(frozen=True, slots=True)
class Mutate(Request[None]):
    """Apply either puts or deletes to one row atomically; `build_mutation` makes it.

    Args:
        row: the row key.
        cells: all puts or all deletes, with the same time to live; `check_mutation` passes.
        sync: whether they are on the disks before they are acknowledged.
    """

    method: ClassVar[str] = "Mutate"
    row: bytes
    cells: Sequence[Cell]
    sync: bool = False

    @property
    def idempotence(self) -> Idempotence:
        """Return whether the cells may be written twice; deleting a newest version may not."""
        return get_idempotence(self.cells)

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        param = encode_mutate_request(
            region, encode_cells_mutation(self.row, self.cells, sync=self.sync)
        )
        return param, encode_rows(((self.row, self.cells),))

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> None:
        """Return None: the answer acknowledges the write."""
        check_applied(answer.require_fields(2).get_bool(2))


@dataclass(frozen=True, slots=True)
class MutateRow(Request[None]):
    """Apply puts and deletes to one row atomically.

    Cells without a timestamp all get the same one, so a delete hides a put of the same request.

    Args:
        row: the row key.
        cells: cells of any type, in the order in which they are applied; `check_mutation` passes.
        sync: whether they are on the disks before they are acknowledged.
    """

    method: ClassVar[str] = "Multi"
    row: bytes
    cells: Sequence[Cell]
    sync: bool = False

    @property
    def idempotence(self) -> Idempotence:
        """Return whether the cells may be written twice; deleting a newest version may not."""
        return get_idempotence(self.cells)

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        action, cells = encode_atomic_action(region, self.row, self.cells, sync=self.sync)
        return encode_message(1, action), cells

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> None:
        """Raise the error in the answer, if there is one."""
        check_applied(parse_atomic_response(answer))


def build_mutation(row: bytes, cells: Sequence[Cell], *, sync: bool = False) -> Request[None]:
    """Return the cheapest request that writes these cells, which `check_mutation` passes."""
    return MutateRow(row, cells, sync) if is_mixed(cells) else Mutate(row, cells, sync)


@dataclass(frozen=True, slots=True)
class DeleteRow(Request[None]):
    """Delete all families of one row.

    Args:
        row: the row key.
        timestamp: cells up to it are deleted, in ms; `LATEST` for the server's current time.

    Raises:
        InvalidArgument: the row key or the timestamp is not valid.
    """

    method: ClassVar[str] = "Mutate"
    row: bytes
    timestamp: int = LATEST

    def __post_init__(self) -> None:
        check_row(self.row)
        check_timestamp(self.timestamp)

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_mutate_request(region, self._encode_mutation()), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> None:
        """Return None: the answer acknowledges the write."""
        check_applied(answer.require_fields(2).get_bool(2))

    def encode_action(self) -> tuple[bytes, bytes]:
        """Encode the request as an action of a batch: a protobuf field and a cell block."""
        return encode_message(2, self._encode_mutation()), b""

    def parse_outcome(self, result: Result, found: RowCells) -> None:
        """Return None: a result without an error acknowledges the delete."""

    def _encode_mutation(self) -> bytes:
        return encode_mutation(self.row, DELETE, 0, timestamp=self.timestamp)


@dataclass(frozen=True, slots=True)
class Append(Request[list[bytes]]):
    """Append to cells of one row; the answer is their new values in the order of the pieces.

    Args:
        row: the row key.
        pieces: family, qualifier and the bytes appended.
        nonce: number by which a server recognizes a repeated request; 0 for none.
        nonce_group: number of the client, which completes the nonce.
        sync: whether the change is on the disks before it is acknowledged.

    Raises:
        InvalidArgument: the row key or a piece is not valid, there is no column, or a column occurs
            twice.
    """

    method: ClassVar[str] = "Mutate"
    has_cells: ClassVar[bool] = True
    row: bytes
    pieces: Sequence[tuple[str, bytes, bytes]]
    nonce: int = 0
    nonce_group: int = 0
    sync: bool = False

    def __post_init__(self) -> None:
        check_row(self.row)
        check_changes("pieces", self.pieces, "bytes")
        for _, _, piece in self.pieces:
            check_instance("pieces", piece, bytes)
        check_nonce("nonce", self.nonce)
        check_nonce("nonce_group", self.nonce_group)

    @property
    def idempotence(self) -> Idempotence:
        """Return NONCE_PROTECTED for a request with a nonce, else NOT_IDEMPOTENT."""
        return Idempotence.NONCE_PROTECTED if self.nonce else Idempotence.NOT_IDEMPOTENT

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        mutation, cells = self._encode_mutation()
        return encode_mutate_request(region, mutation, nonce_group=self.nonce_group), cells

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> list[bytes]:
        return self.parse_outcome(*parse_single_result(answer, cells))

    def encode_action(self) -> tuple[bytes, bytes]:
        """Encode the request as an action of a batch: a protobuf field and a cell block."""
        mutation, cells = self._encode_mutation()
        return encode_message(2, mutation), cells

    def parse_outcome(self, result: Result, found: RowCells) -> list[bytes]:
        """Return the new values of the cells from the request's result in a batch.

        Raises:
            OverwrittenAnswer: the answer has the cells of another request.
            WireFormatError: a cell is missing.
        """
        del result
        return [cell.value for cell in self.order_new_cells(found)]

    def order_new_cells(self, found: RowCells) -> list[Cell]:
        """Return the new cells in the order of the pieces."""
        columns = [(family, qualifier) for family, qualifier, _ in self.pieces]
        return order_cells(self.row, columns, found)

    def _encode_mutation(self) -> tuple[bytes, bytes]:
        """Encode the protobuf MutationProto and the cell block of the appended bytes."""
        cells = [Cell(family, qualifier, LATEST, piece) for family, qualifier, piece in self.pieces]
        mutation = encode_mutation(self.row, APPEND, len(cells), nonce=self.nonce, sync=self.sync)
        return mutation, encode_cells(self.row, cells)


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
        mutation, cells = self._encode_mutation()
        return encode_mutate_request(region, mutation, nonce_group=self.nonce_group), cells

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> list[int]:
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
        """Return the cells of the counters, in the order of the amounts.

        Raises:
            WireFormatError: a cell is missing, or its value is not 8 bytes long.
        """
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


@dataclass(frozen=True, slots=True)
class NewCells(Request["list[Cell]"]):
    """Run an increment or an append; the answer is the new cells with their timestamps.

    Args:
        change: the increment or append.
    """

    method: ClassVar[str] = "Mutate"
    has_cells: ClassVar[bool] = True
    change: Increment | Append

    @property
    def idempotence(self) -> Idempotence:
        """Return the idempotence of the wrapped increment or append."""
        return self.change.idempotence

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return self.change.encode(region)

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> list[Cell]:
        return self.change.order_new_cells(parse_single_result(answer, cells)[1])


_MIRRORED_OPERATORS = {"<": 5, "<=": 4, "=": 2, "!=": 3, ">=": 1, ">": 0}
"""The number of each operator's mirror image, since a server compares *value OP cell*.

Source: CompareType of HBase.proto, LESS 0 to GREATER 5; HRegion.matches; tried on 2.6.4.
"""


@dataclass(frozen=True, slots=True)
class CheckAndMutate(Request[bool]):
    """Apply cells to a row if *cell OP value* is true; the answer is whether it was.

    Args:
        row: key of the row that is compared and written.
        family: family of the cell that is compared, in its newest version.
        qualifier: qualifier of the cell that is compared.
        operator: one of = != < <= > >=.
        value: compared bytewise. None and b"" stand for "absent or empty", for = and != only. With
            any other value an absent cell makes every operator false, != too.
        cells: puts and deletes, written in this order.
        sync: whether they are on the disks before they are acknowledged.

    Raises:
        InvalidArgument: the row key is not valid, there is no cell, or the operator does not fit
            the value.
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
        check_column(self.family, self.qualifier)
        check_instance("value", self.value, (bytes, NoneType))
        check_comparison(self.operator, self.value)

    @property
    def method(self) -> str:
        """Return "Multi" for cells of different types, else "Mutate"."""
        return "Multi" if is_mixed(self.cells) else "Mutate"

    @property
    def idempotence(self) -> Idempotence:
        """Return NOT_IDEMPOTENT: a repetition could compare with what the first one wrote."""
        return Idempotence.NOT_IDEMPOTENT

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        if is_mixed(self.cells):
            condition = self._encode_condition()
            action, cells = encode_atomic_action(
                region, self.row, self.cells, condition, sync=self.sync
            )
            return encode_message(1, action), cells
        mutation = encode_cells_mutation(self.row, self.cells, sync=self.sync)
        param = encode_mutate_request(region, mutation, condition=self._encode_condition())
        return param, encode_cells(self.row, self.cells)

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> bool:
        if is_mixed(self.cells):
            return parse_atomic_response(answer)
        return answer.require_fields(2).get_bool(2)

    def _encode_condition(self) -> bytes:
        """Encode the protobuf Condition that the cell must meet.

        Source: Client.proto of HBase 2.6: 1 row, 2 family, 3 qualifier, 4 compare_type,
            5 comparator.
        """
        comparator = BinaryComparator(self.value or b"")
        return b"".join(
            (
                encode_bytes(1, self.row),
                encode_text(2, self.family),
                encode_bytes(3, self.qualifier),
                encode_uint(4, _MIRRORED_OPERATORS[self.operator]),
                encode_message(5, comparator.encode()),
            )
        )
