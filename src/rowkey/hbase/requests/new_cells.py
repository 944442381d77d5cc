"""Run an increment or an append and return the new cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rowkey.cells import Cell
from rowkey.hbase.messages.contract import Idempotence, Request
from rowkey.hbase.messages.results import parse_single_result
from rowkey.hbase.requests.append import Append
from rowkey.hbase.requests.increment import Increment
from rowkey.hbase.wire.proto import ProtoMessage


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
        """Encode the wrapped increment or append."""
        return self.change.encode(region)

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> list[Cell]:
        """Return the new cells, in the order of the request."""
        return self.change.order_new_cells(parse_single_result(answer, cells)[1])
