"""Rows of hbase:meta: how regions are found there, and what is written of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rowkey.cells import ROW_BYTES_MOST
from rowkey.hbase.locations.region import Region, region_id, within, within_below
from rowkey.hbase.reading import Read, Scan
from rowkey.hbase.requests.open_scanner import OpenScanner
from rowkey.hbase.wire.cellblocks import decode_rows
from rowkey.hbase.wire.names import Server, read_table_name
from rowkey.hbase.wire.proto import Malformed, Message

if TYPE_CHECKING:
    from rowkey.cells import RowCells
    from rowkey.hbase.messages.scan_answer import ScanAnswer

BYTES_MOST = 2 << 20
"""Of one answer, as HBase's own client asks. Source: hbase.client.scanner.max.result.size."""

REGIONS, STATES = "info", "table"
"""Families of hbase:meta. Source: HConstants.CATALOG_FAMILY, TABLE_FAMILY."""

_READ = Read({REGIONS: ()})

_ID_DIGITS_MOST = 19
"""Of a region's id. Source: RegionInfo.getRegionId is a Java long."""


def at_or_below(table: str, row: bytes) -> bytes:
    """A row of meta that stands behind the region that holds a row, and before the next one.

    A key too long for it is cut, which loses nothing: a region's name is a row of meta as well.

    Source: rows of meta compare by table, start key and id; ids are digits, and `:` comes after.
    """
    return b"%s,%s,:" % (table.encode(), _cut(table, row))


def at_start(table: str, row: bytes) -> bytes:
    """A row of meta that stands before all regions that start at a row or behind it."""
    return b"%s,%s," % (table.encode(), _cut(table, row))


def first_of(table: str) -> bytes:
    """Before all regions of a table; with one comma it would stand behind the first of them."""
    return b"%s,," % table.encode()


def behind_all(table: str) -> bytes:
    """Behind all regions of a table: no table's name has a space, and none sorts before one."""
    return b"%s ,," % table.encode()


def _cut(table: str, row: bytes) -> bytes:
    return row[: ROW_BYTES_MOST - len(table.encode()) - 3]


class MetaRow(NamedTuple):
    """What hbase:meta says of one region.

    Args:
        table: its table.
        name: its full name, the row's key.
        start: its first row key.
        stop: the first row key behind it, or b"".
        retired: it is no more: split, or offline.
        state: OPEN, OPENING, CLOSED, …
        server: the last one that had it, which may be dead; None if there never was one.
        seqnum: number of its opening there; -1 if none.
    """

    table: str
    name: bytes
    start: bytes
    stop: bytes
    retired: bool
    state: str
    server: Server | None
    seqnum: int

    def holds(self, row: bytes) -> bool:
        """Whether a row key is one of its own."""
        return within(row, self.start, self.stop)

    def holds_below(self, row: bytes) -> bool:
        """Whether it holds the greatest keys below a row; b"" is above all rows."""
        return within_below(row, self.start, self.stop)

    @property
    def region(self) -> Region | None:
        """The region if it can be asked now.

        Only OPEN will do: while it is opened anew, a dead server is still named.
        """
        if self.state != "OPEN" or self.server is None:
            return None
        return Region(self.table, self.name, self.start, self.stop, self.server, self.seqnum)


def meta_scan(
    start: bytes, stop: bytes, rows: int, *, reverse: bool = False, behind: bool = False
) -> OpenScanner:
    """Some rows of hbase:meta, by one RPC that leaves no scanner behind.

    Args:
        start: where it begins; the higher end in reverse.
        stop: where it ends, not included.
        rows: how many at most.
        reverse: whether it goes down.
        behind: whether it begins behind the start, not at it.

    Source: a scan of the default read type is cut after four blocks, some 32 rows; pread is not.
    """
    scan = Scan(
        start, stop, include_start=not behind, reverse=reverse, read=_READ, read_type="pread"
    )
    return OpenScanner(scan, rows, BYTES_MOST, limit=rows, close=True)


def whole_rows(answer: ScanAnswer) -> list[RowCells]:
    """The rows of an answer, without the one that would go on in the next."""
    rows = decode_rows(answer.cells, answer.counts)
    return rows[:-1] if answer.partials and answer.partials[-1] else rows


def meta_row(found: RowCells) -> MetaRow | None:
    """A region's row; None if it is none, or only a replica's.

    Raises:
        Malformed: the region or its server cannot be read.

    Source: HBase.proto, RegionInfo {1:region_id, 2:table_name, 3:start_key, 4:end_key, 5:offline,
    6:split, 7:replica_id}; CatalogFamilyFormat, a row without a state counts as OPEN.
    """
    cells = {cell.qualifier: cell.value for cell in found.cells}
    written = cells.get(b"regioninfo", b"")
    if not written.startswith(b"PBUF"):
        return None
    info = Message(written[4:])
    named = info.message(2)
    if named is None or info.uint(7):
        return None
    _require_id(found.row)
    return MetaRow(
        table=read_table_name(named),
        name=found.row,
        start=info.blob(3),
        stop=info.blob(4),
        retired=info.flag(5) or info.flag(6),
        state=cells.get(b"state", b"OPEN").decode("ascii", "replace"),
        server=_server(cells),
        seqnum=int.from_bytes(cells.get(b"seqnumDuringOpen", b"\xff"), "big", signed=True),
    )


def _require_id(name: bytes) -> None:
    """Refuse a name without the number that tells which of two regions is newer."""
    digits = region_id(name)
    if not digits.isdigit() or len(digits) > _ID_DIGITS_MOST:
        raise Malformed(f"{name!r} is no region's name")


def _server(cells: dict[bytes, bytes]) -> Server | None:
    """The server of a row: `host:port`, and its start code as 8 bytes."""
    address = cells.get(b"server", b"")
    if not address:
        return None
    server = Server.parse(address.decode("utf-8", "replace"))
    return server._replace(start_code=int.from_bytes(cells.get(b"serverstartcode", b""), "big"))
