"""Going on with a scanner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rowkey.hbase.messages.contract import Repeating, Request
from rowkey.hbase.messages.scan_answer import WE_CAN, ScanAnswer, read_scan
from rowkey.hbase.wire.proto import flag, uint

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class NextRows(Request[ScanAnswer]):
    """The next answer of a scanner.

    Args:
        scanner_id: its number at its server.
        seq: how many requests it had since it was opened, from 0; renewals count.
        rows: most rows of this answer.
        limit: rows after which the scan is over, counted from here; or None.
        close: whether the scanner is closed after this answer, whatever is left.

    Source: Client.proto of HBase 2.6, ScanRequest: 3 scanner_id, 4 number_of_rows,
        5 close_scanner, 6 next_call_seq, 11 limit_of_rows.
    """

    method: ClassVar[str] = "Scan"
    scanner_id: int
    seq: int
    rows: int
    limit: int | None = None
    close: bool = False

    @property
    def repeating(self) -> Repeating:
        """Sent again it would give the rows behind."""
        return Repeating.COUNTS

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        param = b"".join(
            (
                uint(3, self.scanner_id),
                uint(4, self.rows),
                flag(5, self.close or None),
                uint(6, self.seq),
                WE_CAN,
                uint(11, self.limit),
            )
        )
        return param, b""

    def decode(self, response: Response) -> ScanAnswer:
        return read_scan(response)
