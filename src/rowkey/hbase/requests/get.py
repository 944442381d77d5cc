"""Read one row: its cells, or only whether it has any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rowkey.cells import RowCells, check_row
from rowkey.hbase.argument_shapes import check_instance
from rowkey.hbase.messages.contract import Request
from rowkey.hbase.messages.read_messages import encode_get
from rowkey.hbase.messages.results import Result, parse_single_result
from rowkey.hbase.read_spec import ALL_COLUMNS, ReadSpec
from rowkey.hbase.wire.names import encode_region_specifier
from rowkey.hbase.wire.proto import ProtoMessage, WireFormatError, encode_message
from rowkey.messages import pluralize


@dataclass(frozen=True, slots=True)
class Get(Request[RowCells]):
    """Read the cells of one row; no cells if the row does not exist.

    Args:
        row: the row key.
        read: which cells are read.

    Raises:
        InvalidArgument: the row key is not valid.
    """

    method: ClassVar[str] = "Get"
    has_cells: ClassVar[bool] = True
    row: bytes
    read: ReadSpec = ALL_COLUMNS

    def __post_init__(self) -> None:
        check_row(self.row)
        check_instance("read", self.read, ReadSpec)

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        """Encode the request as protobuf; it has no cell block."""
        message = encode_message(2, encode_get(self.row, self.read))
        return encode_message(1, encode_region_specifier(region)) + message, b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> RowCells:
        """Return the cells of the row."""
        return self.parse_outcome(*parse_single_result(answer, cells))

    def encode_action(self) -> tuple[bytes, bytes]:
        """Encode the request as an action of a batch: a protobuf field and a cell block."""
        return encode_message(3, encode_get(self.row, self.read)), b""

    def parse_outcome(self, result: Result, found: RowCells) -> RowCells:
        """Return the cells of the row from the request's result in a batch.

        Raises:
            WireFormatError: it does not count its cells, or they are of another row.
        """
        if not result.has_cell_count:
            raise WireFormatError("the result of a get does not say how many cells it has")
        if found.cells and found.row != self.row:
            raise WireFormatError(f"a get has cells of the row {found.row!r}", f"{self.row!r}")
        return RowCells(self.row, found.cells or [])


@dataclass(frozen=True, slots=True)
class Exists(Request[bool]):
    """Ask whether a row has any of the selected cells.

    Args:
        row: the row key.
        read: which cells would be read.

    Raises:
        InvalidArgument: the row key is not valid.
    """

    method: ClassVar[str] = "Get"
    has_cells: ClassVar[bool] = True
    row: bytes
    read: ReadSpec = ALL_COLUMNS

    def __post_init__(self) -> None:
        check_row(self.row)
        check_instance("read", self.read, ReadSpec)

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        """Encode the request as protobuf; it has no cell block."""
        message = encode_message(2, encode_get(self.row, self.read, existence_only=True))
        return encode_message(1, encode_region_specifier(region)) + message, b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> bool:
        """Return whether the row has any of the selected cells."""
        return self.parse_outcome(*parse_single_result(answer, cells))

    def encode_action(self) -> tuple[bytes, bytes]:
        """Encode the request as an action of a batch: a protobuf field and a cell block."""
        return encode_message(3, encode_get(self.row, self.read, existence_only=True)), b""

    def parse_outcome(self, result: Result, found: RowCells) -> bool:
        """Return whether cells exist, from the request's result in a batch.

        Raises:
            WireFormatError: it does not say so, or it has cells.
        """
        if result.exists is None or found.cells:
            what = f"the result of an existence check has {pluralize(len(found.cells), 'cell')}"
            raise WireFormatError(what, "whether the row exists, and no cells")
        return result.exists
