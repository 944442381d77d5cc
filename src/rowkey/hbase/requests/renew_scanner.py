"""Keeping a scanner alive while its rows are being worked on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rowkey.hbase.messages.contract import Repeating, Request
from rowkey.hbase.messages.scan_answer import WE_CAN, ScanAnswer, read_scan
from rowkey.hbase.wire.proto import flag, uint

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class RenewScanner(Request[ScanAnswer]):
    """An answer without rows; the scanner's lease begins anew.

    Args:
        scanner_id: its number at its server.
        seq: as of `NextRows`; this request counts as well.

    Source: Client.proto of HBase 2.6, ScanRequest: 3 scanner_id, 4 number_of_rows,
        6 next_call_seq, 10 renew.
    """

    method: ClassVar[str] = "Scan"
    scanner_id: int
    seq: int

    @property
    def repeating(self) -> Repeating:
        """Its number is used up when it was sent."""
        return Repeating.COUNTS

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        said = uint(3, self.scanner_id) + uint(4, 0) + uint(6, self.seq)
        return said + WE_CAN + flag(10, True), b""

    def decode(self, response: Response) -> ScanAnswer:
        return read_scan(response)
