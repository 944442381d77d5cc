"""What a scanner answers, and what each of its requests says of us."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rowkey.hbase.wire.proto import Malformed, Message, flag

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response

WE_CAN = flag(7, True) + flag(8, True)
"""That we understand pieces of rows, and answers without rows.

Source: ScanRequest of Client.proto, 7 client_handles_partials, 8 client_handles_heartbeats; without
both a slow scan ends in ScannerResetException.
"""


class ScanAnswer(NamedTuple):
    """One answer.

    Args:
        scanner_id: number of the scanner at its server; None if it is not said.
        more_results: whether the scan goes on, perhaps in another region; None if the server does
            not know the scanner any more: open another behind the last row.
        more_in_region: whether this region has more; None if it is not said.
        heartbeat: whether it comes early, to show that the server is alive.
        counts: cells of each result.
        partials: of each, whether the row goes on in the next.
        cells: the cells, one after the other.
        cursor_row: how far an answer without rows came, or None.
        ttl_ms: after which a scanner that is not asked is closed; None if it is not said.
        mvcc: the read point; None if it is not said.
    """

    scanner_id: int | None
    more_results: bool | None
    more_in_region: bool | None
    heartbeat: bool
    counts: list[int]
    partials: list[bool]
    cells: bytes | memoryview
    cursor_row: bytes | None
    ttl_ms: int | None
    mvcc: int | None


def read_scan(response: Response) -> ScanAnswer:
    """The answer that a response holds.

    Raises:
        Malformed: it holds none, or its cells came inside the message.

    Source: Client.proto of HBase 2.6, ScanResponse: 1 cells_per_result, 2 scanner_id,
        3 more_results, 4 ttl, 5 results, 7 partial_flag_per_result, 8 more_results_in_region,
        9 heartbeat_message, 11 mvcc_read_point, 12 cursor.
    """
    sent = Message(response.message)
    if sent.has(5):
        raise Malformed("cells inside the message", "a cell block, as the header asks for")
    counts = sent.uints(1)
    partials = list(map(bool, sent.uints(7)))
    if len(partials) < len(counts):
        partials += [False] * (len(counts) - len(partials))
    cursor = sent.message(12)
    return ScanAnswer(
        scanner_id=sent.uint(2) if sent.has(2) else None,
        more_results=sent.flag(3) if sent.has(3) else None,
        more_in_region=sent.flag(8) if sent.has(8) else None,
        heartbeat=sent.flag(9),
        counts=counts,
        partials=partials,
        cells=response.cells,
        cursor_row=cursor.blob(1) if cursor else None,
        ttl_ms=sent.uint(4) if sent.has(4) else None,
        mvcc=sent.uint(11) if sent.has(11) else None,
    )
