"""The master's requests on the cluster: its servers and its switches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import ClassVar, NamedTuple, Self

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.requests.regions import RegionInfo, RegionLoad
from rowkey.hbase.wire.names import ServerName, parse_table_name
from rowkey.hbase.wire.proto import ProtoMessage, encode_bool, encode_uint


class StatusOption(IntEnum):
    """A part of the status; numbers above 12 have different meanings in 2.x and 3.x.

    Source: ClusterStatus.proto, Option.
    """

    VERSION = 0
    """HBase's version."""
    CLUSTER_ID = 1
    """The id of the cluster."""
    LIVE_SERVERS = 2
    """Servers with the loads of all their regions."""
    DEAD_SERVERS = 3
    """Servers that are considered dead."""
    MASTER = 4
    """The active master."""
    BACKUP_MASTERS = 5
    """Masters on standby."""
    REGIONS_IN_TRANSITION = 7
    """Regions in transition."""
    BALANCER = 8
    """Whether the balancer is on."""
    SERVERS = 10
    """Live servers, only their names."""
    TABLES = 11
    """How many regions of each table are open."""


class OpenRegionCount(NamedTuple):
    """How many regions of a table are open, replicas included.

    Args:
        open: regions that are open.
        total: all regions.
    """

    open: int
    total: int


class ServerLoad(NamedTuple):
    """A live server, as it last reported.

    Args:
        requests_per_second: actions per second, over the last seconds.
        request_count: RPCs since it started; a batch is one of them.
        heap_mb: memory in use.
        max_heap_mb: memory it may use.
        report_start_ms: milliseconds since 1970 when the report begins.
        report_end_ms: milliseconds since 1970 when the report ends.
    """

    server: ServerName
    requests_per_second: int
    request_count: int
    heap_mb: int
    max_heap_mb: int
    regions: tuple[RegionLoad, ...]
    report_start_ms: int
    report_end_ms: int

    @classmethod
    def from_message(cls, msg: ProtoMessage) -> Self:
        """Convert a protobuf LiveServerInfo {1:server, 2:server_load}.

        Source: ClusterStatus.proto, ServerLoad.
        """
        name, load = msg.require_message(1), msg.require_message(2)
        regions = tuple(RegionLoad.from_message(one) for one in load.iter_messages(5))
        return cls(
            ServerName.from_message(name), load.get_uint(1), load.get_uint(2), load.get_uint(3),
            load.get_uint(4), regions, load.get_uint(7), load.get_uint(8),
        )  # fmt: skip


class RegionInTransition(NamedTuple):
    """A region in transition.

    Args:
        state: number of its state in ClusterStatus.proto, RegionState.State.
        since_ms: milliseconds since 1970 when it entered that state.
    """

    region: RegionInfo
    state: int
    since_ms: int

    @classmethod
    def from_message(cls, msg: ProtoMessage) -> Self:
        """Convert a protobuf RegionInTransition {2:region_state{1, 2, 3}}."""
        state = msg.require_message(2).require_fields(2)
        region = state.require_message(1)
        return cls(RegionInfo.from_message(region), state.get_uint(2), state.get_uint(3))


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """The status of a cluster as its master reports it.

    A master that has just started knows no server yet and reports none.

    Args:
        version: HBase's version.
        master: the active master.
        backup_masters: masters on standby.
        servers: live region servers.
        server_loads: live region servers with their loads, up to one report old (3 s by default).
        dead_servers: region servers that are considered dead.
        is_balancer_on: whether the balancer is on.
        tables: how many regions of each table are open.
    """

    version: str = ""
    cluster_id: str = ""
    master: ServerName | None = None
    backup_masters: tuple[ServerName, ...] = ()
    servers: tuple[ServerName, ...] = ()
    server_loads: tuple[ServerLoad, ...] = ()
    dead_servers: tuple[ServerName, ...] = ()
    regions_in_transition: tuple[RegionInTransition, ...] = ()
    is_balancer_on: bool = False
    tables: Mapping[str, OpenRegionCount] = field(default_factory=dict)

    @classmethod
    def from_message(cls, msg: ProtoMessage) -> Self:
        """Convert a protobuf ClusterStatus."""
        version, cluster_id, master = msg.get_message(1), msg.get_message(5), msg.get_message(7)
        return cls(
            version=version.require_fields(1).get_text(1) if version else "",
            cluster_id=cluster_id.require_fields(1).get_text(1) if cluster_id else "",
            master=ServerName.from_message(master) if master else None,
            backup_masters=_parse_servers(msg, 8),
            servers=_parse_servers(msg, 11),
            server_loads=tuple(ServerLoad.from_message(one) for one in msg.iter_messages(2)),
            dead_servers=_parse_servers(msg, 3),
            regions_in_transition=tuple(
                RegionInTransition.from_message(one) for one in msg.iter_messages(4)
            ),
            is_balancer_on=msg.get_bool(9),
            tables=dict(_parse_table_regions(one) for one in msg.iter_messages(12)),
        )


def _parse_servers(msg: ProtoMessage, number: int) -> tuple[ServerName, ...]:
    """Convert a repeated protobuf field of servers."""
    return tuple(ServerName.from_message(one) for one in msg.iter_messages(number))


def _parse_table_regions(msg: ProtoMessage) -> tuple[str, OpenRegionCount]:
    """Convert a protobuf TableRegionStatesCount to a table name and its region counts."""
    name, states = msg.require_message(1), msg.require_message(2).require_fields(1, 5)
    return parse_table_name(name), OpenRegionCount(states.get_uint(1), states.get_uint(5))


@dataclass(frozen=True, slots=True)
class GetClusterStatus(Request[ClusterStatus]):
    """Ask the master for the status of its cluster.

    Args:
        options: the parts to return; the others stay empty.

    Source: ClusterStatus.proto, GetClusterStatusRequest {1:options*}.
    """

    service = "MasterService"
    method = "GetClusterStatus"
    options: tuple[StatusOption, ...] = tuple(StatusOption)

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return b"".join(encode_uint(1, option) for option in self.options), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> ClusterStatus:
        return ClusterStatus.from_message(answer.require_message(1))


@dataclass(frozen=True, slots=True)
class SetBalancerRunning(Request[bool]):
    """Switch the balancer; the answer is whether it was on when the request arrived.

    A repetition after a lost answer returns the state that the first request set, so ask
    `IsBalancerEnabled` before switching to learn the previous state.

    Args:
        enabled: whether regions are moved so that servers have equally many.

    Source: Master.proto, SetBalancerRunningRequest {1:on, 2:synchronous}: switched off, it returns
        after the moves in progress.
    """

    service = "MasterService"
    method = "SetBalancerRunning"
    is_slow: ClassVar[bool] = True
    enabled: bool

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_bool(1, self.enabled) + encode_bool(2, True), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> bool:
        return answer.require_fields(1).get_bool(1)


@dataclass(frozen=True, slots=True)
class IsBalancerEnabled(Request[bool]):
    """Ask whether the balancer is on.

    Source: Master.proto, IsBalancerEnabledRequest {}, answered by {1:enabled}.
    """

    service = "MasterService"
    method = "IsBalancerEnabled"

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return b"", b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> bool:
        return answer.require_fields(1).get_bool(1)


class MasterSwitch(IntEnum):
    """A switch of the master. Source: Master.proto, MasterSwitchType."""

    SPLIT = 0
    """Whether regions may be split."""
    MERGE = 1
    """Whether regions may be merged."""


@dataclass(frozen=True, slots=True)
class SetSplitOrMerge(Request[bool]):
    """Allow or forbid splits or merges, including those that a client requests.

    The answer is the state when the request arrived; for a repetition after a lost answer that is
    the state set by the first request.

    Args:
        switch: splits or merges.
        enabled: whether they are allowed.

    Source: Master.proto, SetSplitOrMergeEnabledRequest {1:enabled, 2:synchronous,
        3:switch_types*}, answered by {1:prev_value*}. HBase 2.6.4 waits for nothing, synchronous or
        not: MasterRpcServices.setSplitOrMergeEnabled.
    """

    service = "MasterService"
    method = "SetSplitOrMergeEnabled"
    switch: MasterSwitch
    enabled: bool

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_bool(1, self.enabled) + encode_bool(2, True) + encode_uint(
            3, self.switch
        ), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> bool:
        return any(answer.require_fields(1).list_uints(1))


@dataclass(frozen=True, slots=True)
class IsSplitOrMergeEnabled(Request[bool]):
    """Ask whether splits, or merges, are allowed.

    Args:
        switch: splits or merges.

    Source: Master.proto, IsSplitOrMergeEnabledRequest {1:switch_type}, answered by {1:enabled}.
    """

    service = "MasterService"
    method = "IsSplitOrMergeEnabled"
    switch: MasterSwitch

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_uint(1, self.switch), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> bool:
        return answer.require_fields(1).get_bool(1)
