"""Beginning to scan one region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.messages.scan_answer import WE_CAN, ScanAnswer, read_scan
from rowkey.hbase.messages.wanted import scan_message
from rowkey.hbase.wire.names import region_specifier
from rowkey.hbase.wire.proto import flag, message, uint

if TYPE_CHECKING:
    from rowkey.hbase.reading import Scan
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class OpenScanner(Request[ScanAnswer]):
    """The first answer of a scanner of one region.

    Args:
        scan: what is wanted; not `[k, k)`. What lies outside the region is left out
            without a word. Its `limit`, `rows` and `bytes` are not looked at: those here count.
        rows: most rows of this answer; 0 to open only.
        bytes_most: of one answer, as the server counts them.
        limit: rows after which the scan is over, or None.
        close: whether the scanner is closed after this answer, whatever is left.
        mvcc: the read point of an earlier scanner of this region, or None.
        cursor: whether answers without rows say how far they came.

    Source: Client.proto of HBase 2.6, ScanRequest: 1 region, 2 scan, 4 number_of_rows,
        5 close_scanner, 11 limit_of_rows. An open has no next_call_seq.
    """

    method: ClassVar[str] = "Scan"
    scan: Scan
    rows: int
    bytes_most: int
    limit: int | None = None
    close: bool = False
    mvcc: int | None = None
    cursor: bool = False

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        wanted = scan_message(self.scan, self.bytes_most, mvcc=self.mvcc, cursor=self.cursor)
        param = b"".join(
            (
                message(1, region_specifier(region)),
                message(2, wanted),
                uint(4, self.rows),
                flag(5, self.close or None),
                WE_CAN,
                uint(11, self.limit),
            )
        )
        return param, b""

    def decode(self, response: Response) -> ScanAnswer:
        return read_scan(response)
