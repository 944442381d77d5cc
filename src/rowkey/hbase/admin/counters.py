"""What the regions of a table have counted: asked of the region servers, or of the master."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from rowkey.hbase.admin.declared import Given
from rowkey.hbase.admin.procedures import Procedures, waiting
from rowkey.hbase.errors import AskedWrongly, HBaseError
from rowkey.hbase.requests.cluster_status import GetClusterStatus, Option
from rowkey.hbase.requests.region_load import GetRegionLoad
from rowkey.hbase.wire.names import short_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rowkey.hbase.locations import Region
    from rowkey.hbase.requests.region_load import RegionLoad
    from rowkey.hbase.settings import Deadline
    from rowkey.hbase.wire.names import Server


class RegionCount(NamedTuple):
    """A region and what it has counted since it was opened where it is.

    Args:
        start: its first row key; empty for the first region.
        stop: the first row key behind it; empty for the last region.
        writes: mutations begun, those refused for an unknown family included.
        reads: rows and pieces of rows returned, and each scan step that found none.
        server: where it is, with the server's start code.
        load: all that is known of it.
        seqnum: number of its opening there; each opening has a greater one.

    Source: RegionLoad of ClusterStatus.proto; measured on HBase 2.6.4.
    """

    start: bytes
    stop: bytes
    writes: int
    reads: int
    server: Server
    load: RegionLoad
    seqnum: int = -1

    @property
    def key(self) -> tuple[bytes, Server]:
        """What a difference of counts is taken by: the same key, and counts that do not fall.

        A region that is opened on another server, or anew after a crash, counts from 0. One that
        went away and came back in between has the same key and another `seqnum`.
        """
        return self.load.name, self.server


class Counters(Procedures):
    """What regions have counted."""

    def counters(self, name: str, *, wait_s: float | None = None) -> list[RegionCount]:
        """What each region of a table has counted, as of now, in the order of the regions.

        An acknowledged write is in it. Read replicas are left out.

        Args:
            name: the table.
            wait_s: seconds to wait for regions that are being moved.

        Raises:
            TableNotFound: there is no such table.
            TableNotEnabled: it is disabled.
            OutOfTime: some region was open nowhere all the while.

        Cost: one RPC of 1 ms for each region server, and a listing of hbase:meta.
        """
        Given().name(name).seconds(wait_s).refuse()
        deadline = self._deadline(wait_s)
        for _ in waiting(name, "some of its regions are on no server", deadline):
            regions = self._caller.locations.regions(name, deadline)
            loads = chain.from_iterable(self._loads(name, regions, deadline))
            counts = list(_counted(regions, loads))
            if len(counts) == len(regions):
                return counts
        raise AssertionError("waiting ends by an error")

    def _loads(
        self, name: str, regions: Sequence[Region], deadline: Deadline
    ) -> Iterator[list[tuple[Server, RegionLoad]]]:
        """What each server of these regions says; nothing of one that does not answer."""
        request = GetRegionLoad(short_table(name))
        for server in dict.fromkeys(region.server for region in regions):
            try:
                one_call = deadline.sooner(self._caller.settings.call_s)
                loads = self._caller.on_server(server.address, request, one_call)
            except AskedWrongly:
                raise
            except HBaseError:
                continue  # its regions are found missing, and looked for again
            yield [(server, load) for load in loads]

    def reported_counters(self, name: str) -> list[RegionCount]:
        """What each region of a table has counted, as the master last heard of it.

        Up to one report old, 3 s by default; a region that was just moved stands under its old
        server, or is missing.

        Raises:
            TableNotFound: there is no such table.
            TableNotEnabled: it is disabled.

        Cost: one RPC that tells of all regions of the cluster, and a listing of hbase:meta.
        """
        Given().name(name).refuse()
        deadline = self._deadline(None)
        regions = self._caller.locations.regions(name, deadline)
        status = self._caller.on_master(GetClusterStatus((Option.LIVE_SERVERS,)), deadline)
        loads = ((one.server, load) for one in status.live for load in one.regions)
        return list(_counted(regions, loads))


def _counted(
    regions: Sequence[Region], loads: Iterable[tuple[Server, RegionLoad]]
) -> Iterator[RegionCount]:
    """The counts of these regions, in their order; nothing of those that no server told of."""
    by_name = {load.name: (server, load) for server, load in loads}
    for region in regions:
        if region.name in by_name:
            server, load = by_name[region.name]
            yield RegionCount(
                region.start, region.stop, load.writes, load.reads, server, load, region.seqnum
            )
