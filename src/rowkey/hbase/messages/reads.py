"""Gets and scans as messages, and their results."""

from __future__ import annotations

from typing import NamedTuple

from rowkey.cells import LATEST, Cell, CellType, RowCells
from rowkey.hbase.read_spec import READ_TYPES, ReadSpec, ScanSpec
from rowkey.hbase.wire.cellblocks import decode_rows
from rowkey.hbase.wire.proto import (
    ProtoMessage,
    WireFormatError,
    encode_bool,
    encode_bytes,
    encode_message,
    encode_text,
    encode_uint,
)
from rowkey.messages import pluralize

_RAW_ATTRIBUTE = encode_message(2, encode_text(1, "_raw_"), encode_bytes(2, b"\xff"))
"""The attribute that makes a scan raw. Source: Scan.RAW_ATTR; Bytes.toBytes(true) is ff."""


def encode_get(row: bytes, read: ReadSpec, *, existence_only: bool = False) -> bytes:
    r"""Encode the protobuf Get for a row.

    Args:
        row: its key.
        existence_only: whether the answer says only whether the row exists.

    Source: Client.proto of HBase 2.6: 1 row, 2 column, 4 filter, 5 time_range, 6 max_versions,
        7 cache_blocks, 8 store_limit, 9 store_offset, 10 existence_only.

    >>> from rowkey.hbase.read_spec import ReadSpec
    >>> encode_get(b"r", ReadSpec({"d": (b"q",)})).hex()
    '0a017212060a016412017130013801'
    """
    return b"".join(
        (
            encode_bytes(1, row),
            _encode_columns(2, read),
            encode_message(4, read.filter.encode()) if read.filter else b"",
            _encode_time_range(5, read),
            encode_uint(6, read.versions),
            encode_bool(7, read.cache_blocks),
            encode_uint(8, read.store_limit),
            encode_uint(9, read.store_offset or None),
            encode_bool(10, existence_only or None),
        )
    )


def encode_scan(
    scan: ScanSpec, max_result_bytes: int, *, mvcc: int | None = None, cursor: bool = False
) -> bytes:
    """Encode the protobuf Scan.

    It always says whether its ends are included, and how many bytes an answer may have.

    Args:
        scan: what to read; not `[k, k)`, which a server takes for `[k, k]`.
        max_result_bytes: limit of one answer, as the server counts bytes.
        mvcc: the read point of an earlier scanner of this region, or None.
        cursor: whether an answer without rows holds the last row it reached.

    Source: Client.proto of HBase 2.6: 1 column, 2 attribute, 3 start_row, 4 stop_row, 5 filter,
        6 time_range, 7 max_versions, 8 cache_blocks, 9 batch_size, 10 max_result_size,
        11 store_limit, 12 store_offset, 15 reversed, 20 mvcc_read_point, 21 include_start_row,
        22 include_stop_row, 23 readType, 24 need_cursor_result.
    """
    # Not `is_empty`: rows of hbase:meta have an order of their own.
    one_row = scan.start and scan.start == scan.stop
    assert not (one_row and scan.is_empty), "a server would give the row"
    read = scan.read
    return b"".join(
        (
            _encode_columns(1, read),
            _RAW_ATTRIBUTE if scan.raw else b"",
            encode_bytes(3, scan.start or None),
            encode_bytes(4, scan.stop or None),
            encode_message(5, read.filter.encode()) if read.filter else b"",
            _encode_time_range(6, read),
            encode_uint(7, read.versions),
            encode_bool(8, read.cache_blocks),
            encode_uint(9, scan.batch),
            encode_uint(10, max_result_bytes),
            encode_uint(11, read.store_limit),
            encode_uint(12, read.store_offset or None),
            encode_bool(15, scan.reverse or None),
            encode_uint(20, mvcc),
            encode_bool(21, scan.include_start),
            encode_bool(22, scan.include_stop),
            encode_uint(23, READ_TYPES.index(scan.read_type) or None),
            encode_bool(24, cursor or None),
        )
    )


def _encode_columns(number: int, read: ReadSpec) -> bytes:
    """Encode a protobuf field for each selected family: its name and its qualifiers."""
    return b"".join(
        encode_message(
            number, encode_text(1, family), *(encode_bytes(2, one) for one in qualifiers)
        )
        for family, qualifiers in (read.columns or {}).items()
    )


def _encode_time_range(number: int, read: ReadSpec) -> bytes:
    """Encode the time range of a read as a protobuf field; b"" for all times."""
    start, stop = read.time_range
    if (start, stop) == (0, LATEST):
        return b""
    return encode_message(number, encode_uint(1, start), encode_uint(2, stop))


class Result(NamedTuple):
    """The protobuf Result of one row: its cells, or how many cells of the cell block it has.

    Args:
        block_cell_count: how many cells of the cell block belong to it; None if it does not say.
        exists: whether the row exists, in the answer to an existence check; else None.
        cells: the cells in the message, and their row key; empty if they are in the cell block.
    """

    block_cell_count: int | None
    exists: bool | None
    cells: RowCells

    @property
    def has_cell_count(self) -> bool:
        """Whether it says how many cells it has, as the result of a read always does."""
        return self.block_cell_count is not None or bool(self.cells.cells)


NO_CELLS = RowCells(b"", ())
EMPTY_RESULT = Result(None, None, NO_CELLS)
"""The answer to a put."""

_CELL_TYPES = {int(cell_type): cell_type for cell_type in CellType}


def parse_result(message: bytes) -> Result:
    r"""Parse a protobuf Result.

    Raises:
        WireFormatError: it is malformed.

    Source: Client.proto of HBase 2.6: 1 cell, 2 associated_cell_count, 3 exists, 4 stale.

    >>> parse_result(b"\x10\x02\x20\x00").block_cell_count
    2
    """
    if not message:
        return EMPTY_RESULT
    # The answer to nearly every get: a count below 128, and "not stale".
    if len(message) == 4 and message[0] == 0x10 and message[1] < 128 and message[2] == 0x20:
        return Result(message[1], None, NO_CELLS)
    sent = ProtoMessage(message)
    return Result(
        sent.get_uint(2) if sent.has_field(2) else None,
        sent.get_bool(3) if sent.has_field(3) else None,
        _parse_row_cells(list(sent.iter_messages(1))),
    )


def _parse_row_cells(messages: list[ProtoMessage]) -> RowCells:
    """Parse the cells in a Result, which are all of one row.

    Raises:
        WireFormatError: the cells are of several rows.
    """
    rows = {one.get_bytes(1) for one in messages}
    if len(rows) > 1:
        raise WireFormatError(f"a result has cells of {len(rows):,} rows", "cells of one row")
    return RowCells(rows.pop(), [_parse_cell(one) for one in messages]) if rows else NO_CELLS


def _parse_cell(msg: ProtoMessage) -> Cell:
    """Parse a protobuf Cell.

    Raises:
        WireFormatError: the type of the cell is unknown.

    Source: Cell.proto of HBase 2.6: 1 row, 2 family, 3 qualifier, 4 timestamp, 5 cell_type,
        6 value.
    """
    cell_type = _CELL_TYPES.get(msg.get_uint(5, CellType.PUT))
    if cell_type is None:
        raise WireFormatError(f"a cell has the type {msg.get_uint(5)}", "one of 4, 8, 10, 12, 14")
    return Cell(msg.get_text(2), msg.get_bytes(3), msg.get_int64(4), msg.get_bytes(6), cell_type)


def parse_single_result(answer: ProtoMessage, cells: bytes | memoryview) -> tuple[Result, RowCells]:
    """Parse an answer with one Result; return it, and its row key and cells.

    Raises:
        WireFormatError: it has no Result, or other cells than it counts.
    """
    result = parse_result(answer.require_fields(1).get_bytes(1))
    (found,) = decode_rows(cells, [result.block_cell_count or 0])
    return result, found if found.cells else result.cells


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
