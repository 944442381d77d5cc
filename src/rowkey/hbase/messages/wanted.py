"""What a get and a scan have in common, as HBase's protocol writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.cells import LATEST
from rowkey.hbase.reading import READ_TYPES
from rowkey.hbase.wire.proto import blob, flag, message, text, uint

if TYPE_CHECKING:
    from rowkey.hbase.reading import Read, Scan

_RAW = message(2, text(1, "_raw_"), blob(2, b"\xff"))
"""The attribute that makes a scan raw. Source: Scan.RAW_ATTR; Bytes.toBytes(true) is ff."""


def get_message(row: bytes, read: Read, *, only_whether: bool = False) -> bytes:
    r"""The message `Get`.

    Args:
        row: its key.
        read: what is wanted of it.
        only_whether: whether the answer says no more than that there is something.

    Source: Client.proto of HBase 2.6: 1 row, 2 column, 4 filter, 5 time_range, 6 max_versions,
        7 cache_blocks, 8 store_limit, 9 store_offset, 10 existence_only.

    >>> from rowkey.hbase.reading import Read
    >>> get_message(b"r", Read({"d": (b"q",)})).hex()
    '0a017212060a016412017130013801'
    """
    return b"".join(
        (
            blob(1, row),
            _columns(2, read),
            message(4, read.filter.encode()) if read.filter else b"",
            _time_range(5, read),
            uint(6, read.versions),
            flag(7, read.cache_blocks),
            uint(8, read.store_limit),
            uint(9, read.store_offset or None),
            flag(10, only_whether or None),
        )
    )


def scan_message(
    scan: Scan, bytes_most: int, *, mvcc: int | None = None, cursor: bool = False
) -> bytes:
    """The message `Scan`.

    Whether its ends belong to it is always said, and how many bytes an answer may hold.

    Args:
        scan: what is wanted; not `[k, k)`, which a server takes for `[k, k]`.
        bytes_most: of one answer, as the server counts them.
        mvcc: the read point of an earlier scanner of this region, or None.
        cursor: whether an answer without rows says how far it came.

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
            _columns(1, read),
            _RAW if scan.raw else b"",
            blob(3, scan.start or None),
            blob(4, scan.stop or None),
            message(5, read.filter.encode()) if read.filter else b"",
            _time_range(6, read),
            uint(7, read.versions),
            flag(8, read.cache_blocks),
            uint(9, scan.batch),
            uint(10, bytes_most),
            uint(11, read.store_limit),
            uint(12, read.store_offset or None),
            flag(15, scan.reverse or None),
            uint(20, mvcc),
            flag(21, scan.include_start),
            flag(22, scan.include_stop),
            uint(23, READ_TYPES.index(scan.read_type) or None),
            flag(24, cursor or None),
        )
    )


def _columns(number: int, read: Read) -> bytes:
    """One field of each family: its name, and the qualifiers wanted of it."""
    return b"".join(
        message(number, text(1, family), *(blob(2, one) for one in qualifiers))
        for family, qualifiers in (read.columns or {}).items()
    )


def _time_range(number: int, read: Read) -> bytes:
    start, stop = read.time_range
    if (start, stop) == (0, LATEST):
        return b""
    return message(number, uint(1, start), uint(2, stop))
