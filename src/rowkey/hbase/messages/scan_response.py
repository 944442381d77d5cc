"""Parses the answers of a scanner."""

from __future__ import annotations

from typing import NamedTuple

from rowkey.hbase.wire.proto import ProtoMessage, WireFormatError, encode_bool
from rowkey.messages import pluralize

CLIENT_CAPABILITIES = encode_bool(7, True) + encode_bool(8, True)
"""The client accepts partial rows, and answers without rows.

Source: ScanRequest of Client.proto, 7 client_handles_partials, 8 client_handles_heartbeats; without
both a slow scan ends in ScannerResetException.
"""


class ScanResponse(NamedTuple):
    """The answer of a server to a request of a scanner: rows, and whether more follow.

    Args:
        scanner_id: id of the scanner at its server, or None.
        more_results: whether the scan continues, perhaps in another region; None if the server does
            not know the scanner any more: open another one after the last row.
        more_in_region: whether this region has more rows, or None.
        heartbeat: whether it came early, to show that the server is alive.
        counts: how many cells each result has.
        partials: of each result, whether its row continues in the next one.
        cells: the cell block.
        cursor_row: the last row that an answer without rows reached, or None.
        ttl_ms: the lease of the scanner, or None.
        mvcc: the read point, or None.
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


def parse_scan_response(
    message: ProtoMessage, cells: bytes | memoryview, max_results: int = 0
) -> ScanResponse:
    """Parse the answer of a server to a request of a scanner.

    Args:
        message: its message.
        cells: its cell block.
        max_results: the most rows, or pieces of rows, that were requested.

    Raises:
        WireFormatError: it is malformed, has more rows, or its cells are in the message.

    Source: Client.proto of HBase 2.6, ScanResponse: 1 cells_per_result, 2 scanner_id,
        3 more_results, 4 ttl, 5 results, 7 partial_flag_per_result, 8 more_results_in_region,
        9 heartbeat_message, 11 mvcc_read_point, 12 cursor.
    """
    if message.has_field(5):
        what = "the scan answer has cells inside the protobuf message"
        raise WireFormatError(what, "cells in a cell block")
    counts = message.list_uints(1)
    if len(counts) > max_results:
        what = f"the scan answer has {pluralize(len(counts), 'row')}"
        raise WireFormatError(what, f"at most {max_results:,}, as requested")
    if cells and not counts:
        raise WireFormatError(f"{len(cells):,} bytes of cells belong to no row")
    partials = list(map(bool, message.list_uints(7)))
    if len(partials) < len(counts):
        partials += [False] * (len(counts) - len(partials))
    cursor = message.get_message(12)
    return ScanResponse(
        scanner_id=message.get_uint(2) if message.has_field(2) else None,
        more_results=message.get_bool(3) if message.has_field(3) else None,
        more_in_region=message.get_bool(8) if message.has_field(8) else None,
        heartbeat=message.get_bool(9),
        counts=counts,
        partials=partials,
        cells=cells,
        cursor_row=cursor.get_bytes(1) if cursor else None,
        ttl_ms=message.get_uint(4) if message.has_field(4) else None,
        mvcc=message.get_uint(11) if message.has_field(11) else None,
    )
