"""Reads hbase:meta: each method makes one attempt, and its caller retries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from rowkey.cells import RowCells
from rowkey.hbase.connection import PendingCall, ServerConnections
from rowkey.hbase.errors import (
    HBaseError,
    MalformedAnswer,
    OperationTimedOut,
    ServerGone,
    ServerNotRunningYet,
    StaleLocationError,
)
from rowkey.hbase.locations.meta_rows import (
    STATE_FAMILY,
    MetaRow,
    build_end_key,
    build_first_key,
    build_key_above_holder,
    build_key_at_start,
    build_meta_scan,
    decode_whole_rows,
    parse_meta_row,
)
from rowkey.hbase.locations.region_location import RegionLocation
from rowkey.hbase.locations.single_flight import SingleFlight
from rowkey.hbase.messages.contract import Request
from rowkey.hbase.messages.scan_response import ScanResponse
from rowkey.hbase.read_spec import ReadSpec
from rowkey.hbase.registry import Registry
from rowkey.hbase.requests.get import Get
from rowkey.hbase.requests.scanners import OpenScanner
from rowkey.hbase.settings import Deadline, Settings
from rowkey.hbase.wire.names import META_REGION_NAME, META_TABLE
from rowkey.hbase.wire.proto import ProtoMessage, WireFormatError

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
