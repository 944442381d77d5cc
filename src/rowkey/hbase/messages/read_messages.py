"""Encodes a get or a scan in HBase's protocol."""

from __future__ import annotations

from rowkey.cells import LATEST
from rowkey.hbase.read_spec import READ_TYPES, ReadSpec, ScanSpec
from rowkey.hbase.wire.proto import (
    encode_bool,
    encode_bytes,
    encode_message,
    encode_text,
    encode_uint,
)

_RAW_ATTRIBUTE = encode_message(2, encode_text(1, "_raw_"), encode_bytes(2, b"\xff"))
"""The attribute that makes a scan raw. Source: Scan.RAW_ATTR; Bytes.toBytes(true) is ff."""


def encode_get(row: bytes, read: ReadSpec, *, existence_only: bool = False) -> bytes:
    r"""Encode the protobuf Get for a row.

    Args:
        row: its key.
        read: what to read of the row.
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
