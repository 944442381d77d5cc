"""Ask any server of a cluster for its masters, the location of hbase:meta and the cluster id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.names import ServerName
from rowkey.hbase.wire.proto import ProtoMessage


@dataclass(frozen=True, slots=True)
class GetClusterId(Request[str]):
    """Ask for the id of the cluster; empty if the server does not know it yet.

    Source: Registry.proto, GetClusterIdResponse {1:cluster_id}.
    """

    method: ClassVar[str] = "GetClusterId"
    service: ClassVar[str] = "ClientMetaService"

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return b"", b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> str:
        return answer.get_text(1)


@dataclass(frozen=True, slots=True)
class GetActiveMaster(Request["ServerName | None"]):
    """Ask a server for the active master it knows, or None.

    A dead master is returned until its ZooKeeper session expires.

    Source: Registry.proto, GetActiveMasterResponse {1:server_name}; measured on 2.6.4.
    """

    method: ClassVar[str] = "GetActiveMaster"
    service: ClassVar[str] = "ClientMetaService"

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return b"", b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> ServerName | None:
        named = answer.get_message(1)
        return ServerName.from_message(named) if named else None


@dataclass(frozen=True, slots=True)
class GetMasters(Request["list[tuple[ServerName, bool]]"]):
    """Ask for all masters, in no order, and whether each is the active one.

    Source: Registry.proto, GetMastersResponse {1:entries* {1:server_name, 2:is_active}}.
    """

    method: ClassVar[str] = "GetMasters"
    service: ClassVar[str] = "ClientMetaService"

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return b"", b""

    def parse_answer(
        self, answer: ProtoMessage, cells: bytes | memoryview
    ) -> list[tuple[ServerName, bool]]:
        entries = answer.iter_messages(1)
        named = ((one.require_message(1), one.require_fields(2).get_bool(2)) for one in entries)
        return [(ServerName.from_message(server), active) for server, active in named]


@dataclass(frozen=True, slots=True)
class GetBootstrapNodes(Request["list[ServerName]"]):
    """Ask for some region servers, in no order; a server knows none in its first minutes.

    Source: Registry.proto, GetBootstrapNodesResponse {1:server_name*}; measured on 2.6.4.
    """

    method: ClassVar[str] = "GetBootstrapNodes"
    service: ClassVar[str] = "ClientMetaService"

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return b"", b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> list[ServerName]:
        return [ServerName.from_message(one) for one in answer.iter_messages(1)]


@dataclass(frozen=True, slots=True)
class GetMetaRegionLocations(Request["dict[int, ServerName]"]):
    """Ask for the servers of hbase:meta by replica number; 0 is the primary.

    The answer is empty from a starting master, and always from region servers of 3.0.0-alpha-4.

    Source: Registry.proto, GetMetaRegionLocationsResponse {1:RegionLocation* {1:region_info,
    2:server_name}}; HBase.proto, RegionInfo {7:replica_id}; measured.
    """

    method: ClassVar[str] = "GetMetaRegionLocations"
    service: ClassVar[str] = "ClientMetaService"

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return b"", b""

    def parse_answer(
        self, answer: ProtoMessage, cells: bytes | memoryview
    ) -> dict[int, ServerName]:
        servers = {}
        for location in answer.iter_messages(1):
            region, server = location.require_message(1), location.get_message(2)
            if server:
                servers[region.get_uint(7)] = ServerName.from_message(server)
        return servers
