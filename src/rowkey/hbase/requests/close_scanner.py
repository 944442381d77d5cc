"""Giving a scanner up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.messages.scan_answer import WE_CAN, ScanAnswer, read_scan
from rowkey.hbase.wire.proto import flag, uint

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class CloseScanner(Request[ScanAnswer]):
    """An answer without rows; the server forgets the scanner. It may have done so before.

    Args:
        scanner_id: its number at its server.

    Source: Client.proto of HBase 2.6, ScanRequest: 3 scanner_id, 4 number_of_rows,
        5 close_scanner.
    """

    method: ClassVar[str] = "Scan"
    scanner_id: int

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return uint(3, self.scanner_id) + uint(4, 0) + flag(5, True) + WE_CAN, b""

    def decode(self, response: Response) -> ScanAnswer:
        return read_scan(response)
