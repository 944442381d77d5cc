"""Write to a row if a comparison with one of its cells is true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import NoneType

from rowkey.cells import Cell, check_comparison
from rowkey.hbase.argument_shapes import check_column, check_instance
from rowkey.hbase.filters import BinaryComparator
from rowkey.hbase.messages.contract import Idempotence, Request
from rowkey.hbase.messages.multi_response import parse_atomic_response
from rowkey.hbase.messages.mutations import (
    check_cells,
    encode_atomic_action,
    encode_cells_mutation,
    encode_mutate_request,
    is_mixed,
)
from rowkey.hbase.wire.cellblocks import encode_cells
from rowkey.hbase.wire.proto import (
    ProtoMessage,
    encode_bytes,
    encode_message,
    encode_text,
    encode_uint,
)

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
        """Encode the request as protobuf, and its cells as a cell block."""
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
        """Return whether the comparison was true, so that the cells were applied."""
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
