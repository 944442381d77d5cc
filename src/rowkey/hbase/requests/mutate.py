"""Write to one row: puts and deletes that are applied together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rowkey.cells import LATEST, Cell, RowCells, check_row, check_timestamp
from rowkey.hbase.messages.contract import Idempotence, Request
from rowkey.hbase.messages.multi_response import check_applied, parse_atomic_response
from rowkey.hbase.messages.mutations import (
    DELETE,
    encode_atomic_action,
    encode_cells_mutation,
    encode_mutate_request,
    encode_mutation,
    get_idempotence,
    is_mixed,
)
from rowkey.hbase.messages.results import Result
from rowkey.hbase.wire.cellblocks import encode_rows
from rowkey.hbase.wire.proto import ProtoMessage, encode_message


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
        """Encode the request as protobuf, and its cells as a cell block."""
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
        """Encode the request as protobuf, and its cells as a cell block."""
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
        """Encode the request as protobuf; it has no cell block."""
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
        """Encode the protobuf MutationProto that deletes the row."""
        return encode_mutation(self.row, DELETE, 0, timestamp=self.timestamp)
