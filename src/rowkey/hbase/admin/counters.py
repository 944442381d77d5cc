"""Read the request counters of regions from their servers or from the master."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from rowkey.boottime import read_boottime_s
from rowkey.hbase.admin.argument_checks import ArgumentChecks
from rowkey.hbase.admin.procedures import ProcedureRunner, poll_with_backoff
from rowkey.hbase.errors import HBaseError, InvalidRequest
from rowkey.hbase.locations import RegionLocation
from rowkey.hbase.requests.cluster import GetClusterStatus, StatusOption
from rowkey.hbase.requests.regions import GetRegionLoad, RegionLoad
from rowkey.hbase.retrying_caller import RetryingCaller
from rowkey.hbase.settings import Deadline
from rowkey.hbase.wire.names import ServerName, shorten_table_name


class HBaseRegionCounts(NamedTuple):
    """The request counters of a region since it was opened on its server.

    Args:
        start: its first row key; empty for the first region.
        stop: the row key after its last; empty for the last region.
        writes: mutations started, including those refused for an unknown family.
        reads: rows and partial rows returned, and scan steps that found none.
        server: its server, with the start code.
        load: all its counters and sizes.
        seqnum: sequence number of its opening; each opening has a greater one.

    Source: RegionLoad of ClusterStatus.proto; measured on HBase 2.6.4.
    """

    start: bytes
    stop: bytes
    writes: int
    reads: int
    server: ServerName
    load: RegionLoad
    seqnum: int = -1

    @property
    def counting_key(self) -> tuple[bytes, ServerName]:
        """Return region and server: counters of two readings are comparable if these are equal.

        A region that is opened on another server, or reopened after a crash, counts from 0. A
        region that moved away and back has the same key and another `seqnum`.
        """
        return self.load.name, self.server


SILENT_S, SILENT_LIMIT_S = 10.0, 0.05
"""Seconds for which a server that has not answered is waited for only so long, when open regions
are counted: the tables of a cluster are counted one after the other, and share its servers."""


class CounterAdmin(ProcedureRunner):
    """Read the request counters of regions."""

    def __init__(self, caller: RetryingCaller) -> None:
        super().__init__(caller)
        self._silent_until_s: dict[ServerName, float] = {}

    def get_counters(self, name: str, *, wait_s: float | None = None) -> list[HBaseRegionCounts]:
        """Return the current counters of each region of a table, in key order.

        Every acknowledged write is counted. Read replicas are left out.

        Args:
            wait_s: seconds to wait for regions that are being moved.

        Raises:
            TableNotFound: there is no such table.
            TableNotEnabled: it is disabled.
            OperationTimedOut: a region was not open on any server.

        Cost: one RPC of 1 ms for each region server, and a scan of hbase:meta.
        """
        ArgumentChecks().check_name(name).check_seconds(wait_s).raise_mistakes()
        deadline = self._build_deadline(wait_s)
        for _ in poll_with_backoff(
            name, "some regions of the table are not open on any server", deadline
        ):
            regions = self._caller.locator.list_regions(name, deadline)
            loads = chain.from_iterable(self._fetch_loads(name, regions, deadline))
            counts = list(_build_counts(regions, loads))
            if len(counts) == len(regions):
                return counts
        raise AssertionError("poll_with_backoff raises at the deadline")

    def count_open_regions(self, name: str, *, wait_s: float | None = None) -> tuple[int, int]:
        """Return how many regions of a table servers that answer have open, and how many there are.

        Nothing is waited for but the answers: a region that is being moved is not open. A server
        that did not answer the last count gets 50 ms for 10 s, also in counts of other tables.

        Args:
            name: the table; it may be disabled.
            wait_s: seconds for hbase:meta and all servers together.

        Raises:
            TableNotFound: there is no such table.
            OperationTimedOut: hbase:meta did not answer.

        Cost: one RPC of 1 ms for each region server, and a scan of hbase:meta.
        """
        ArgumentChecks().check_name(name).check_seconds(wait_s).raise_mistakes()
        deadline = self._build_deadline(wait_s)
        rows = self._caller.locator.list_region_rows(name, deadline)
        regions = [region for region in (row.open_region for row in rows) if region is not None]
        loads = chain.from_iterable(self._fetch_loads(name, regions, deadline, limits_silent=True))
        return len(list(_build_counts(regions, loads))), len(rows)

    def _fetch_loads(
        self,
        name: str,
        regions: Sequence[RegionLocation],
        deadline: Deadline,
        *,
        limits_silent: bool = False,
    ) -> Iterator[list[tuple[ServerName, RegionLoad]]]:
        """Yield the (server, region load) pairs of each server of these regions that answers.

        One that does not answer takes no more than its share of the time, or than `SILENT_LIMIT_S`
        with `limits_silent` if that server has not answered before.
        """
        request = GetRegionLoad(shorten_table_name(name))
        servers = list(dict.fromkeys(region.server for region in regions))
        for number, server in enumerate(servers):
            share_s = deadline.get_remaining_s() / (len(servers) - number)
            limit_s = min(self._caller.settings.call_timeout_s, share_s)
            is_silent = limits_silent and (
                self._silent_until_s.get(server, 0.0) > read_boottime_s()
            )
            if is_silent:
                limit_s = min(limit_s, SILENT_LIMIT_S)
            try:
                call_deadline = deadline.shorten_to(limit_s)
                loads = self._caller.call_server(server.address, request, call_deadline)
            except InvalidRequest:
                raise
            except HBaseError:
                if limits_silent and not is_silent:
                    self._silent_until_s[server] = read_boottime_s() + SILENT_S
                continue  # its regions are missing then, and the caller polls again
            self._silent_until_s.pop(server, None)
            yield [(server, load) for load in loads]

    def get_reported_counters(self, name: str) -> list[HBaseRegionCounts]:
        """Return the counters of each region of a table as last reported to the master.

        They are up to one report old (3 s by default). A region that has just moved has its old
        server or is missing.

        Raises:
            TableNotFound: there is no such table.
            TableNotEnabled: it is disabled.

        Cost: one RPC about all regions of the cluster, and a scan of hbase:meta.
        """
        ArgumentChecks().check_name(name).raise_mistakes()
        deadline = self._build_deadline(None)
        regions = self._caller.locator.list_regions(name, deadline)
        status = self._caller.call_master(GetClusterStatus((StatusOption.LIVE_SERVERS,)), deadline)
        loads = ((one.server, load) for one in status.server_loads for load in one.regions)
        return list(_build_counts(regions, loads))


def _build_counts(
    regions: Sequence[RegionLocation], loads: Iterable[tuple[ServerName, RegionLoad]]
) -> Iterator[HBaseRegionCounts]:
    """Yield the counters of each region in order; skip regions that no server reported."""
    by_name = {load.name: (server, load) for server, load in loads}
    for region in regions:
        if region.name in by_name:
            server, load = by_name[region.name]
            yield HBaseRegionCounts(
                region.start, region.stop, load.writes, load.reads, server, load, region.seqnum
            )
