"""Reads of HBase's table of regions, and what its rows say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple, TypeVar

from rowkey.cells import MAX_ROW_BYTES, RowCells
from rowkey.hbase.connection import PendingCall, ServerConnections
from rowkey.hbase.errors import (
    HBaseError,
    MalformedAnswer,
    OperationTimedOut,
    ServerGone,
    ServerNotRunningYet,
    StaleLocationError,
)
from rowkey.hbase.locations.region_map import (
    RegionLocation,
    has_range_below,
    is_in_range,
    parse_region_id,
)
from rowkey.hbase.locations.single_flight import SingleFlight
from rowkey.hbase.messages.contract import Request
from rowkey.hbase.messages.reads import ScanResponse
from rowkey.hbase.read_spec import ReadSpec, ScanSpec
from rowkey.hbase.registry import Registry
from rowkey.hbase.requests.row_reads import Get, OpenScanner
from rowkey.hbase.settings import Deadline, Settings
from rowkey.hbase.wire.cellblocks import decode_rows
from rowkey.hbase.wire.names import (
    META_REGION_NAME,
    META_TABLE,
    ServerName,
    build_meta_sort_key,
    parse_table_name,
)
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
    address = cells.get(b"server", b"")
    if not address:
        return None
    server = ServerName.parse(address.decode("utf-8", "replace"))
    return server._replace(start_code=int.from_bytes(cells.get(b"serverstartcode", b""), "big"))


A = TypeVar("A")

PREFETCH_REGIONS = 10
"""Regions after the one that is looked up that are read with it.

Source: hbase.client.locate.prefetch.limit, AsyncNonMetaRegionLocator.
"""

REVERSE_LOOKUP_ROWS = 3
"""Rows of a reversed lookup: parents of split regions stay among the others for minutes."""

LISTING_PAGE_ROWS = 1_000
"""Rows of one answer when all regions are listed, about 660 B each."""


@contextmanager
def _convert_malformed() -> Iterator[None]:
    """Convert a decoding error of hbase:meta to `MalformedAnswer`.

    Raises:
        MalformedAnswer: it cannot be decoded.
    """
    try:
        yield
    except WireFormatError as problem:
        raise MalformedAnswer.from_wire_error(META_TABLE, problem) from problem


class MetaTable:
    """Reads the regions and states of tables from hbase:meta, and caches its location.

    Args:
        registry: finds the server of hbase:meta.
        connections: the connections to servers.
        settings: `call_timeout_s` is the most that one attempt may take.
    """

    def __init__(
        self, registry: Registry, connections: ServerConnections, settings: Settings
    ) -> None:
        self._registry, self._connections, self._settings = registry, connections, settings
        self._cached_region: RegionLocation | None = None
        self._lookups: SingleFlight[RegionLocation] = SingleFlight(META_TABLE)

    @property
    def cached_region(self) -> RegionLocation | None:
        """The region of hbase:meta if its location is cached, or None."""
        return self._cached_region

    def locate_meta_region(self, deadline: Deadline) -> RegionLocation:
        """Return the region of hbase:meta, from the cache or from the registry.

        Raises:
            RegistryUnavailable: the registry did not answer.
        """
        return self._cached_region or self._lookups.run_once(
            META_TABLE, lambda: self._fetch_meta_region(deadline), deadline
        )

    def _fetch_meta_region(self, deadline: Deadline) -> RegionLocation:
        """Read the location of hbase:meta from the registry, and cache it."""
        server = self._registry.get_meta_server(deadline.shorten_to(self._settings.call_timeout_s))
        self._registry.learn_servers([server])
        region = RegionLocation(META_TABLE, META_REGION_NAME, b"", b"", server, -1)
        self._cached_region = region
        return region

    def forget_region(self, region: RegionLocation) -> None:
        """Drop a location of hbase:meta from the cache, unless a newer one is cached."""
        if self._cached_region == region:
            self._cached_region = None

    def forget_server(self, address: tuple[str, int]) -> None:
        """Drop the location of hbase:meta from the cache if it is on that server."""
        region = self._cached_region
        if region is not None and region.server.address == address:
            self.forget_region(region)

    @_convert_malformed()
    def find_regions_around(self, table: str, row: bytes, deadline: Deadline) -> list[MetaRow]:
        """Read from hbase:meta the region that holds a row, then some regions after it.

        Cost: two scans sent at once, 1 ms to 2 ms.
        """
        down = build_meta_scan(
            build_key_above_holder(table, row),
            build_first_key(table),
            REVERSE_LOOKUP_ROWS,
            reverse=True,
        )
        ahead = build_meta_scan(
            build_key_at_start(table, row), build_end_key(table), PREFETCH_REGIONS
        )
        first, others = self._send_requests([down, ahead], deadline)
        rows = self._find_live_regions(table, down, first, deadline)
        return rows + _parse_live_regions(table, decode_whole_rows(ahead, others))

    @_convert_malformed()
    def find_regions_below(self, table: str, row: bytes, deadline: Deadline) -> list[MetaRow]:
        """Read from hbase:meta the region just below a row key, then some regions before it.

        Cost: one scan.
        """
        start = build_key_at_start(table, row) if row else build_end_key(table)
        scan = build_meta_scan(
            start, build_first_key(table), REVERSE_LOOKUP_ROWS + PREFETCH_REGIONS, reverse=True
        )
        (answer,) = self._send_requests([scan], deadline)
        return self._find_live_regions(table, scan, answer, deadline)

    def _find_live_regions(
        self, table: str, scan: OpenScanner, answer: ScanResponse, deadline: Deadline
    ) -> list[MetaRow]:
        """Return the regions of an answer that are not split; scan on if there are none."""
        while True:
            rows = decode_whole_rows(scan, answer)
            regions = _parse_live_regions(table, rows)
            if regions or answer.more_in_region is False:
                return regions
            scan = _continue_scan(scan, rows, deadline)
            (answer,) = self._send_requests([scan], deadline)

    @_convert_malformed()
    def list_regions(self, table: str, deadline: Deadline) -> list[MetaRow]:
        """Read all regions of a table from hbase:meta in key order, without split or offline ones.

        Cost: one scan for 1,000 regions.
        """
        scan = build_meta_scan(build_first_key(table), build_end_key(table), LISTING_PAGE_ROWS)
        regions: list[MetaRow] = []
        while True:
            (answer,) = self._send_requests([scan], deadline)
            rows = decode_whole_rows(scan, answer)
            regions += _parse_live_regions(table, rows)
            if answer.more_in_region is False:
                return regions
            scan = _continue_scan(scan, rows, deadline)

    @_convert_malformed()
    def get_table_state(self, table: str, deadline: Deadline) -> int | None:
        """Read the state of a table from hbase:meta, as HBase's number; None for no such table.

        It is 0 for enabled, 1 for disabled, 2 for disabling, and 3 for enabling.

        Source: HBase.proto, TableState {1:state}, in `table:state` of the row named as the table.
        """
        get = Get(table.encode(), ReadSpec({STATE_FAMILY: (b"state",)}))
        (row,) = self._send_requests([get], deadline)
        return ProtoMessage(row.cells[0].value).require_fields(1).get_uint(1) if row.cells else None

    def _send_requests(self, requests: Sequence[Request[A]], deadline: Deadline) -> list[A]:
        """Send requests to the server of hbase:meta together, once; return their answers.

        The location of hbase:meta may be looked up by another thread until the deadline; its
        server may take no longer than one call.

        Raises:
            HBaseError: the error of the first request that failed; a location that it shows to be
                wrong is dropped from the cache.
        """
        region = self.locate_meta_region(deadline)
        until = deadline.shorten_to(self._settings.call_timeout_s)
        calls: list[PendingCall] = []
        try:
            for one in requests:
                connection = self._connections.get_connection(
                    region.server.address, one.service, until
                )
                param, cells = one.encode(region.name)
                calls.append(connection.send(one.method, param, cells, deadline=until))
            answers_until = deadline.shorten_to(self._settings.call_timeout_s)
            answers = [call.result(answers_until) for call in calls]
        except HBaseError as error:
            for call in calls:
                call.cancel()
            self._invalidate_on_error(error, region)
            raise
        return [one.decode(answer) for one, answer in zip(requests, answers, strict=True)]

    def _invalidate_on_error(self, error: HBaseError, region: RegionLocation) -> None:
        """Drop the cached location of hbase:meta if an error shows that it is wrong."""
        if isinstance(error, StaleLocationError | ServerGone | ServerNotRunningYet):
            self.forget_region(region)
        if isinstance(error, ServerGone | ServerNotRunningYet):
            self._connections.drop_connections(region.server.address, error)


def _parse_live_regions(table: str, rows: Sequence[RowCells]) -> list[MetaRow]:
    """Parse rows of hbase:meta; return the regions of a table, without split or offline ones."""
    regions = (parse_meta_row(row) for row in rows)
    return [row for row in regions if row and not row.is_retired and row.table == table]


def _continue_scan(scan: OpenScanner, rows: Sequence[RowCells], deadline: Deadline) -> OpenScanner:
    """Return the scan that continues after the last row of an answer.

    An answer without rows before the end is a heartbeat: the server is still reading.

    Raises:
        OperationTimedOut: the deadline has passed.
    """
    if deadline.is_expired:
        raise OperationTimedOut(META_TABLE, "the scan of the region list was not finished in time")
    if not rows:
        return scan
    return replace(scan, scan=replace(scan.scan, start=rows[-1].row, include_start=False))
