"""GetMetaRegionLocations: which servers have hbase:meta."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.names import Server
from rowkey.hbase.wire.proto import Message

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class GetMetaRegionLocations(Request["dict[int, Server]"]):
    """The servers of hbase:meta by the number of the replica; 0 is the one that is written.

    Empty on a master that is still starting, and always on region servers of 3.0.0-alpha-4.

    Source: Registry.proto, GetMetaRegionLocationsResponse {1:RegionLocation* {1:region_info,
    2:server_name}}; HBase.proto, RegionInfo {7:replica_id}; measured.
    """

    method: ClassVar[str] = "GetMetaRegionLocations"
    service: ClassVar[str] = "ClientMetaService"

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return b"", b""

    def decode(self, response: Response) -> dict[int, Server]:
        found = {}
        for location in Message(response.message).messages(1):
            region, server = location.message(1), location.message(2)
            if region and server:
                found[region.uint(7)] = Server.read(server)
        return found
