"""Region counters of an admin become rates by name, server and opening of a region."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rowkey.cells import Family
from rowkey.engines import open_engine
from rowkey.engines.backends.hbase import HBaseEngine
from rowkey.hbase import TableDescriptor
from rowkey.hbase.admin import HBaseRegionCounts
from rowkey.hbase.requests.cluster import ClusterStatus
from rowkey.hbase.requests.regions import RegionLoad
from rowkey.hbase.wire.names import ServerName
from rowkey.observe import CounterSnapshot, compute_interval

RS1, RS2 = ServerName("rs1", 16020, 1), ServerName("rs2", 16020, 1)


def build_region(
    start: bytes, stop: bytes, writes: int, server: ServerName, seqnum: int
) -> HBaseRegionCounts:
    """Return the counters of a region."""
    load = RegionLoad(b"t,%s,1.x." % start, 0, writes)
    return HBaseRegionCounts(start, stop, writes, 0, server, load, seqnum)


class Admin:
    """A fake admin that returns prepared counters, snapshot by snapshot."""

    def __init__(self, looks: Sequence[Sequence[HBaseRegionCounts]]) -> None:
        self.looks = iter(looks)
        self.waited: list[float | None] = []

    def get_counters(
        self, _name: str, *, wait_s: float | None = None
    ) -> Sequence[HBaseRegionCounts]:
        """Return the next counters."""
        self.waited.append(wait_s)
        return next(self.looks)

    def get_cluster_status(self, *, wait_s: float | None = None) -> ClusterStatus:
        """Return two live servers."""
        self.waited.append(wait_s)
        return ClusterStatus(servers=(RS2, RS1))

    def describe_table(self, name: str) -> TableDescriptor:
        """Return a table with a family attribute that no design can express."""
        return TableDescriptor(name, (Family("d"),), {}, {"d": {"TTL": "soon"}})


class Client:
    """A fake client with such an admin."""

    def __init__(self, admin: Admin) -> None:
        self.admin = admin

    def table(self, name: str) -> str:
        """Return nothing, since no rows are read or written."""
        return name

    def close(self) -> None:
        """Do nothing."""


def build_engine(*looks: Sequence[HBaseRegionCounts]) -> HBaseEngine:
    """Return an engine whose admin returns these counters."""
    client: Any = Client(Admin(looks))
    return HBaseEngine(client, "hbase://nowhere", sync=False)


def test_a_region_that_moved_away_and_back_counts_from_0() -> None:
    """A region that moved away and back counts from 0, despite its old name and server."""
    stays, leaves = build_region(b"", b"g", 5, RS1, 2), build_region(b"g", b"", 7, RS2, 2)
    later = [replace_count(stays, 9), replace_count(leaves, 8)._replace(seqnum=9)]
    with build_engine([stays, leaves], later) as engine:
        store = engine.open_table("t")
        counts = [
            CounterSnapshot.from_regions(at, store.list_open_regions(1.5), engine.list_servers(0.5))
            for at in (0.0, 2.0)
        ]
        client: Any = engine.client
        assert [1.5, 0.5, 1.5, 0.5] == client.admin.waited
    found = compute_interval(*counts)
    assert [(4, ""), (None, "reopened")] == [(one.writes, one.reason) for one in found.regions]
    assert ("rs1,16020,1", "rs2,16020,1") == found.servers
    assert {"rs1,16020,1": 4, "rs2,16020,1": 0} == found.sum_by_server("writes")


def replace_count(one: HBaseRegionCounts, writes: int) -> HBaseRegionCounts:
    """Return the region with another count."""
    return one._replace(writes=writes, load=one.load._replace(writes=writes))


def test_a_restarted_server_is_another_one_by_its_start_code() -> None:
    """A restarted server is another one by its start code, although its port is the same."""
    before, after = (
        build_region(b"", b"", 5, RS1, 2),
        build_region(b"", b"", 6, RS1._replace(start_code=2), 3),
    )
    with build_engine([before], [after]) as engine:
        store = engine.open_table("t")
        first, then = (
            CounterSnapshot.from_regions(at, store.list_open_regions(), []) for at in (0.0, 1.0)
        )
    assert ["moved here from rs1,16020,1"] == [
        one.reason for one in compute_interval(first, then).regions
    ]


def test_family_attributes_that_no_design_can_express_are_returned() -> None:
    """Family attributes that no design can express are returned; memory and RocksDB have none."""
    with build_engine() as engine:
        assert {"d": {"TTL": "soon"}} == engine.open_table("t").unmodeled_attributes
    with open_engine("memory:") as ours:
        assert [""] == ours.list_servers()


def test_servers_are_taken_from_regions_if_the_master_lists_none() -> None:
    """If the master lists no server, the servers are those of the regions."""
    with build_engine([build_region(b"", b"", 5, RS1, 2)]) as engine:
        counted = CounterSnapshot.from_regions(0.0, engine.open_table("t").list_open_regions(), [])
    assert ("rs1,16020,1",) == counted.servers
