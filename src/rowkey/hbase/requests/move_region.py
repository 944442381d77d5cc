"""The request that moves a region to another server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.names import encoded_name, region_specifier
from rowkey.hbase.wire.proto import message

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response
    from rowkey.hbase.wire.names import Server


@dataclass(frozen=True, slots=True)
class MoveRegion(Request[None]):
    """Moves a region; answered when it is open elsewhere.

    Args:
        name: full name of the region.
        server: where to. An unknown server is not an error to HBase: the region goes somewhere.
            None lets HBase choose, and so choose again if the request is sent again.

    Source: Master.proto, MoveRegionRequest {1:region, 2:dest_server_name}; on 2.6.4 only the
        encoded name is known. HMaster.move: a region that is on that server already stays there.
    """

    service = "MasterService"
    method = "MoveRegion"
    slow: ClassVar[bool] = True
    name: bytes
    server: Server | None = None

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        specifier = message(1, region_specifier(encoded_name(self.name).encode()))
        return specifier + (message(2, self.server.encode()) if self.server else b""), b""

    def decode(self, response: Response) -> None:
        """Nothing is told."""
