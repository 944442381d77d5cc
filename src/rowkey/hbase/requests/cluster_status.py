"""What the master says of the whole cluster, and the request that asks for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple, Self

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.requests.region_info import RegionInfo
from rowkey.hbase.requests.region_load import RegionLoad
from rowkey.hbase.wire.names import Server, read_table_name
from rowkey.hbase.wire.proto import Malformed, Message, uint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.hbase.wire.frames import Response


class Option(IntEnum):
    """What can be asked for; 13 and above mean different things in 2.x and 3.x.

    Source: ClusterStatus.proto, Option.
    """

    VERSION = 0
    """HBase's version."""
    CLUSTER_ID = 1
    """The cluster's own name."""
    LIVE_SERVERS = 2
    """Servers with the loads of all their regions."""
    DEAD_SERVERS = 3
    """Servers that were given up."""
    MASTER = 4
    """The active master."""
    BACKUP_MASTERS = 5
    """Those that wait."""
    MOVING = 7
    """Regions in transition."""
    BALANCER = 8
    """Whether the balancer is on."""
    SERVERS = 10
    """Live servers, only their names."""
    TABLES = 11
    """How many regions of each table are open."""


class RegionsOpen(NamedTuple):
    """How many regions of a table are open, replicas included.

    Args:
        open: those that are.
        total: all that are known.
    """

    open: int
    total: int


class ServerLoad(NamedTuple):
    """A live server, as it last reported.

    Args:
        server: the server.
        per_second: actions per second, over the last seconds.
        requests: RPCs since it started; a batch is one of them.
        heap_mb: memory in use.
        heap_mb_most: memory it may use.
        regions: its regions.
        since_ms: milliseconds since 1970 when the report begins.
        until_ms: and when it ends.
    """

    server: Server
    per_second: int
    requests: int
    heap_mb: int
    heap_mb_most: int
    regions: tuple[RegionLoad, ...]
    since_ms: int
    until_ms: int

    @classmethod
    def read(cls, sent: Message) -> Self:
        """The server that a protobuf LiveServerInfo {1:server, 2:server_load} tells of.

        Source: ClusterStatus.proto, ServerLoad.
        """
        name, load = sent.message(1), sent.message(2) or Message(b"")
        if name is None:
            raise Malformed("a server without a name", "a name")
        regions = tuple(RegionLoad.read(one) for one in load.messages(5))
        return cls(
            Server.read(name), load.uint(1), load.uint(2), load.uint(3), load.uint(4), regions,
            load.uint(7), load.uint(8),
        )  # fmt: skip


class Moving(NamedTuple):
    """A region in transition.

    Args:
        region: which.
        state: number of its state, as in ClusterStatus.proto, RegionState.State.
        since_ms: milliseconds since 1970 when it came into that state.
    """

    region: RegionInfo
    state: int
    since_ms: int

    @classmethod
    def read(cls, sent: Message) -> Self:
        """The region that a protobuf RegionInTransition {2:region_state{1, 2, 3}} tells of."""
        state = sent.message(2) or Message(b"")
        region = state.message(1)
        if region is None:
            raise Malformed("a region in transition without a name", "a region")
        return cls(RegionInfo.read(region), state.uint(2), state.uint(3))


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """What the master says of its cluster.

    A master that has just started knows of no server yet, and does not say so.

    Args:
        version: of HBase.
        cluster_id: the cluster's own name.
        master: the active master.
        backups: masters that wait.
        servers: live region servers.
        live: the same with their loads, up to one report old (3 s by default).
        dead: region servers that were given up.
        moving: regions in transition.
        balancer_on: whether the balancer is on.
        tables: how many regions of each table are open, as of now.
    """

    version: str = ""
    cluster_id: str = ""
    master: Server | None = None
    backups: tuple[Server, ...] = ()
    servers: tuple[Server, ...] = ()
    live: tuple[ServerLoad, ...] = ()
    dead: tuple[Server, ...] = ()
    moving: tuple[Moving, ...] = ()
    balancer_on: bool = False
    tables: Mapping[str, RegionsOpen] = field(default_factory=dict)

    @classmethod
    def read(cls, sent: Message) -> Self:
        """The status that a protobuf ClusterStatus tells."""
        version, cluster_id, master = sent.message(1), sent.message(5), sent.message(7)
        return cls(
            version=version.text(1) if version else "",
            cluster_id=cluster_id.text(1) if cluster_id else "",
            master=Server.read(master) if master else None,
            backups=_servers(sent, 8),
            servers=_servers(sent, 11),
            live=tuple(ServerLoad.read(one) for one in sent.messages(2)),
            dead=_servers(sent, 3),
            moving=tuple(Moving.read(one) for one in sent.messages(4)),
            balancer_on=sent.flag(9),
            tables=dict(_counted(one) for one in sent.messages(12)),
        )


def _servers(sent: Message, number: int) -> tuple[Server, ...]:
    return tuple(Server.read(one) for one in sent.messages(number))


def _counted(sent: Message) -> tuple[str, RegionsOpen]:
    """A table's name and its regions, of a TableRegionStatesCount {1:table_name, 2:{1:open, 5}}."""
    name, states = sent.message(1), sent.message(2) or Message(b"")
    if name is None:
        raise Malformed("regions of no table", "a table's name")
    return read_table_name(name), RegionsOpen(states.uint(1), states.uint(5))


@dataclass(frozen=True, slots=True)
class GetClusterStatus(Request[ClusterStatus]):
    """Asks the master for the state of its cluster.

    Args:
        options: what is wanted of it; the rest stays empty.

    Source: ClusterStatus.proto, GetClusterStatusRequest {1:options*}.
    """

    service = "MasterService"
    method = "GetClusterStatus"
    options: tuple[Option, ...] = tuple(Option)

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return b"".join(uint(1, option) for option in self.options), b""

    def decode(self, response: Response) -> ClusterStatus:
        told = Message(response.message).message(1)
        return ClusterStatus.read(told) if told else ClusterStatus()
