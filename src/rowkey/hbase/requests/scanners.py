"""Open a scanner, fetch its rows, renew its lease and close it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rowkey.hbase.messages.contract import Idempotence, Request
from rowkey.hbase.messages.read_messages import encode_scan
from rowkey.hbase.messages.scan_response import (
    CLIENT_CAPABILITIES,
    ScanResponse,
    parse_scan_response,
)
from rowkey.hbase.read_spec import ScanSpec
from rowkey.hbase.wire.names import encode_region_specifier
from rowkey.hbase.wire.proto import ProtoMessage, encode_bool, encode_message, encode_uint


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
        """Encode the request as protobuf; it has no cell block."""
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
        """Return the id of the scanner and its first rows."""
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
        """Encode the request as protobuf; it has no cell block."""
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
        """Return the next rows of the scanner."""
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
        """Encode the request as protobuf; it has no cell block."""
        param = encode_uint(3, self.scanner_id) + encode_uint(4, 0) + encode_uint(6, self.seq)
        return param + CLIENT_CAPABILITIES + encode_bool(10, True), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> ScanResponse:
        """Return the answer, which has no rows."""
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
        """Encode the request as protobuf; it has no cell block."""
        return encode_uint(3, self.scanner_id) + encode_uint(4, 0) + encode_bool(
            5, True
        ) + CLIENT_CAPABILITIES, b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> ScanResponse:
        """Return the answer, which has no rows."""
        return parse_scan_response(answer, cells)
