"""Deleting one row, whatever families it has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import LATEST, check_row, check_timestamp
from rowkey.hbase.messages.contract import Request
from rowkey.hbase.messages.mutations import DELETE, mutate_request, mutation_message
from rowkey.hbase.wire.proto import message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.cells import Cell
    from rowkey.hbase.messages.results import Result
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class DeleteRow(Request[None]):
    """A delete of all families of a row.

    Args:
        row: its key.
        timestamp: up to which its cells are deleted, in ms; `LATEST` for now.

    Raises:
        Refused: the row key or the timestamp is none.
    """

    method: ClassVar[str] = "Mutate"
    row: bytes
    timestamp: int = LATEST

    def __post_init__(self) -> None:
        check_row(self.row)
        check_timestamp(self.timestamp)

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return mutate_request(region, self._mutation()), b""

    def decode(self, response: Response) -> None:
        """Nothing: an answer without an error says that it is done."""

    def action(self) -> tuple[bytes, bytes]:
        """What it is in a batch: a field of the message `Action`, and cells."""
        return message(2, self._mutation()), b""

    def outcome(self, result: Result, cells: Sequence[Cell]) -> None:
        """Nothing: a result says that it is done."""

    def _mutation(self) -> bytes:
        return mutation_message(self.row, DELETE, 0, timestamp=self.timestamp)
