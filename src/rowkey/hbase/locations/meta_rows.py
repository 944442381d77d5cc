"""Rows of hbase:meta: the keys to find a region by, and what a row holds."""

from __future__ import annotations

from typing import NamedTuple

from rowkey.cells import MAX_ROW_BYTES, RowCells
from rowkey.hbase.locations.region_location import (
    RegionLocation,
    has_range_below,
    is_in_range,
    parse_region_id,
)
from rowkey.hbase.messages.scan_response import ScanResponse
from rowkey.hbase.read_spec import ReadSpec, ScanSpec
from rowkey.hbase.requests.scanners import OpenScanner
from rowkey.hbase.wire.cellblocks import decode_rows
from rowkey.hbase.wire.names import ServerName, build_meta_sort_key, parse_table_name
from rowkey.hbase.wire.proto import ProtoMessage, WireFormatError

MAX_ANSWER_BYTES = 2 << 20
"""Limit of one answer, as in HBase's own client. Source: hbase.client.scanner.max.result.size."""

REGION_FAMILY, STATE_FAMILY = "info", "table"
"""Families of hbase:meta. Source: HConstants.CATALOG_FAMILY, TABLE_FAMILY."""

_REGION_READ = ReadSpec({REGION_FAMILY: ()})

_MAX_ID_DIGITS = 19
"""Digits of a region's id. Source: RegionInfo.getRegionId is a Java long."""


def build_key_above_holder(table: str, row: bytes) -> bytes:
    """Return a row key of hbase:meta just after the row of the region that holds a row key.

    A key too long for it is truncated, which is safe: a region's name is a row key of meta too.

    Source: rows of meta compare by table, start key and id; ids are digits, and `:` comes after.
    """
    return b"%s,%s,:" % (table.encode(), _truncate_row(table, row))


def build_key_at_start(table: str, row: bytes) -> bytes:
    """Return a row key of hbase:meta before the rows of all regions from a start key on."""
    return b"%s,%s," % (table.encode(), _truncate_row(table, row))


def build_first_key(table: str) -> bytes:
    """Return a row key of hbase:meta before the rows of all regions of a table."""
    return b"%s,," % table.encode()


def build_end_key(table: str) -> bytes:
    """Return a row key of hbase:meta after the rows of all regions of a table."""
    return b"%s ,," % table.encode()


def _truncate_row(table: str, row: bytes) -> bytes:
    """Shorten a row key so that a key of hbase:meta with it is not too long."""
    return row[: MAX_ROW_BYTES - len(table.encode()) - 3]


class MetaRow(NamedTuple):
    """One row of hbase:meta: a region, its state and its server.

    Args:
        table: name of its table.
        name: its full name, the key of the row.
        start: its first row key.
        stop: the first row key after it, or b"".
        is_retired: whether it was split, or is offline.
        state: OPEN, OPENING, CLOSED, …
        server: the last server that had it, which may be dead; None if there was none.
        seqnum: sequence number of its opening there; -1 if none.
    """

    table: str
    name: bytes
    start: bytes
    stop: bytes
    is_retired: bool
    state: str
    server: ServerName | None
    seqnum: int

    def has_row(self, row: bytes) -> bool:
        """Return whether the region holds a row."""
        return is_in_range(row, self.start, self.stop)

    def has_keys_below(self, row: bytes) -> bool:
        """Return whether the region holds the row keys just below a row key; b"" means the end."""
        return has_range_below(row, self.start, self.stop)

    @property
    def open_region(self) -> RegionLocation | None:
        """The location of the region if it is open, or None.

        In all other states the row may still name a dead server.
        """
        if self.state != "OPEN" or self.server is None:
            return None
        return RegionLocation(
            self.table, self.name, self.start, self.stop, self.server, self.seqnum
        )


def build_meta_scan(start: bytes, stop: bytes, rows: int, *, reverse: bool = False) -> OpenScanner:
    """Build a scan of hbase:meta that is a single RPC and leaves no scanner open.

    Args:
        start: the first row key; the greatest one in reverse.
        stop: the end, not included.
        rows: the most rows to read.
        reverse: whether to read downwards.

    Source: a scan of the default read type ends after four blocks, about 32 rows; pread does not.
    """
    scan = ScanSpec(
        start,
        stop,
        reverse=reverse,
        read=_REGION_READ,
        read_type="pread",
    )
    return OpenScanner(scan, rows, MAX_ANSWER_BYTES, limit=rows, close=True)


def decode_whole_rows(scan: OpenScanner, answer: ScanResponse) -> list[RowCells]:
    """Decode the rows of a scan answer, without a last row that is not complete.

    Raises:
        WireFormatError: they are malformed, out of order, or outside of the range of the scan.
    """
    rows, spec = decode_rows(answer.cells, answer.counts), scan.scan
    # A key of a region has an id, so it equals neither end of a scan.
    keys = [build_meta_sort_key(row) for row in (spec.start, *(row.row for row in rows), spec.stop)]
    if rows and keys != sorted(set(keys), reverse=spec.reverse):
        allowed = f"each row once, in order, from {spec.start!r} to {spec.stop!r}"
        raise WireFormatError("rows are out of order, or of another table", allowed)
    return rows[:-1] if answer.partials and answer.partials[-1] else rows


def parse_meta_row(row: RowCells) -> MetaRow | None:
    """Parse a row of hbase:meta; return None for other rows than primary regions.

    Raises:
        WireFormatError: the region or its server cannot be decoded.

    Source: HBase.proto, RegionInfo {1:region_id, 2:table_name, 3:start_key, 4:end_key, 5:offline,
    6:split, 7:replica_id}; CatalogFamilyFormat, a row without a state counts as OPEN.
    """
    cells = {cell.qualifier: cell.value for cell in row.cells}
    value = cells.get(b"regioninfo", b"")
    if not value.startswith(b"PBUF"):
        return None
    info = ProtoMessage(value[4:])
    table_name = info.require_message(2)
    if info.get_uint(7):
        return None
    _check_region_id(row.row)
    return MetaRow(
        table=parse_table_name(table_name),
        name=row.row,
        start=info.get_bytes(3),
        stop=info.get_bytes(4),
        is_retired=info.get_bool(5) or info.get_bool(6),
        state=cells.get(b"state", b"OPEN").decode("ascii", "replace"),
        server=_parse_server(cells),
        seqnum=int.from_bytes(cells.get(b"seqnumDuringOpen", b"\xff"), "big", signed=True),
    )


def _check_region_id(name: bytes) -> None:
    """Raise an error for a region name without a numeric region id."""
    digits = parse_region_id(name)
    if not digits.isdigit() or len(digits) > _MAX_ID_DIGITS:
        raise WireFormatError(f"{name!r} is not the name of a region", "TABLE,START,ID.HASH.")


def _parse_server(cells: dict[bytes, bytes]) -> ServerName | None:
    """Return the server in the cells of a row of hbase:meta, or None."""
    address = cells.get(b"server", b"")
    if not address:
        return None
    server = ServerName.parse(address.decode("utf-8", "replace"))
    return server._replace(start_code=int.from_bytes(cells.get(b"serverstartcode", b""), "big"))
