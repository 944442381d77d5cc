"""The requests that read rows: one by its key, or many by a scanner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rowkey.cells import RowCells, check_row
from rowkey.hbase.argument_shapes import check_instance
from rowkey.hbase.messages.contract import Idempotence, Request
from rowkey.hbase.messages.reads import (
    CLIENT_CAPABILITIES,
    Result,
    ScanResponse,
    encode_get,
    encode_scan,
    parse_scan_response,
    parse_single_result,
)
from rowkey.hbase.read_spec import ALL_COLUMNS, ReadSpec, ScanSpec
from rowkey.hbase.wire.names import encode_region_specifier
from rowkey.hbase.wire.proto import (
    ProtoMessage,
    WireFormatError,
    encode_bool,
    encode_message,
    encode_uint,
)
from rowkey.messages import pluralize


@dataclass(frozen=True, slots=True)
class Get(Request[RowCells]):
    """Read the cells of one row; no cells if the row does not exist.

    Args:
        row: the row key.

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
        message = encode_message(2, encode_get(self.row, self.read))
        return encode_message(1, encode_region_specifier(region)) + message, b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> RowCells:
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
        message = encode_message(2, encode_get(self.row, self.read, existence_only=True))
        return encode_message(1, encode_region_specifier(region)) + message, b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> bool:
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


@dataclass(frozen=True, slots=True)
class OpenScanner(Request[ScanResponse]):
    """Open a scanner of one region; the answer has its first rows.

    Args:
        scan: the range and the cells to read; not `[k, k)`. Rows outside the region are left out
            without an error. Its `limit`, `answer_rows` and `answer_bytes` are ignored; the
            arguments below count.
        rows: most rows of this answer; 0 only opens the scanner.
        max_result_bytes: most bytes of one answer, as the server counts them.
        limit: rows after which the scan ends, or None.
        close: whether the scanner is closed after this answer.
        mvcc: the read point of an earlier scanner of this region, or None.
        cursor: whether answers without rows contain the row key reached.

    Source: Client.proto of HBase 2.6, ScanRequest: 1 region, 2 scan, 4 number_of_rows,
        5 close_scanner, 11 limit_of_rows. An open has no next_call_seq.
    """

    method: ClassVar[str] = "Scan"
    has_cells: ClassVar[bool] = True
    scan: ScanSpec
    rows: int
    max_result_bytes: int
    limit: int | None = None
    close: bool = False
    mvcc: int | None = None
    cursor: bool = False

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        message = encode_scan(self.scan, self.max_result_bytes, mvcc=self.mvcc, cursor=self.cursor)
        param = b"".join(
            (
                encode_message(1, encode_region_specifier(region)),
                encode_message(2, message),
                encode_uint(4, self.rows),
                encode_bool(5, self.close or None),
                CLIENT_CAPABILITIES,
                encode_uint(11, self.limit),
            )
        )
        return param, b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> ScanResponse:
        return parse_scan_response(answer, cells, self.rows)


@dataclass(frozen=True, slots=True)
class NextRows(Request[ScanResponse]):
    """Fetch the next rows of a scanner.

    Args:
        scanner_id: the scanner's number on its server.
        seq: number of requests since it was opened, from 0; renewals count.
        rows: most rows of this answer.
        limit: rows after which the scan ends, counted from here; or None.
        close: whether the scanner is closed after this answer.

    Source: Client.proto of HBase 2.6, ScanRequest: 3 scanner_id, 4 number_of_rows,
        5 close_scanner, 6 next_call_seq, 11 limit_of_rows.
    """

    method: ClassVar[str] = "Scan"
    has_cells: ClassVar[bool] = True
    scanner_id: int
    seq: int
    rows: int
    limit: int | None = None
    close: bool = False

    @property
    def idempotence(self) -> Idempotence:
        """Return NOT_IDEMPOTENT: a repetition would return the rows after these."""
        return Idempotence.NOT_IDEMPOTENT

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        param = b"".join(
            (
                encode_uint(3, self.scanner_id),
                encode_uint(4, self.rows),
                encode_bool(5, self.close or None),
                encode_uint(6, self.seq),
                CLIENT_CAPABILITIES,
                encode_uint(11, self.limit),
            )
        )
        return param, b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> ScanResponse:
        return parse_scan_response(answer, cells, self.rows)


@dataclass(frozen=True, slots=True)
class RenewScanner(Request[ScanResponse]):
    """Renew the lease of a scanner; the answer has no rows.

    Args:
        scanner_id: the scanner's number on its server.
        seq: number of requests since it was opened, as for `NextRows`; this request counts too.

    Source: Client.proto of HBase 2.6, ScanRequest: 3 scanner_id, 4 number_of_rows,
        6 next_call_seq, 10 renew.
    """

    method: ClassVar[str] = "Scan"
    has_cells: ClassVar[bool] = True
    scanner_id: int
    seq: int

    @property
    def idempotence(self) -> Idempotence:
        """Return NOT_IDEMPOTENT: its sequence number can be used only once."""
        return Idempotence.NOT_IDEMPOTENT

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        param = encode_uint(3, self.scanner_id) + encode_uint(4, 0) + encode_uint(6, self.seq)
        return param + CLIENT_CAPABILITIES + encode_bool(10, True), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> ScanResponse:
        return parse_scan_response(answer, cells)


@dataclass(frozen=True, slots=True)
class CloseScanner(Request[ScanResponse]):
    """Close a scanner, also one that the server has closed already; the answer has no rows.

    Args:
        scanner_id: the scanner's number on its server.

    Source: Client.proto of HBase 2.6, ScanRequest: 3 scanner_id, 4 number_of_rows,
        5 close_scanner.
    """

    method: ClassVar[str] = "Scan"
    has_cells: ClassVar[bool] = True
    scanner_id: int

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_uint(3, self.scanner_id) + encode_uint(4, 0) + encode_bool(
            5, True
        ) + CLIENT_CAPABILITIES, b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> ScanResponse:
        return parse_scan_response(answer, cells)
