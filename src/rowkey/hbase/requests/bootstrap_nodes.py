"""GetBootstrapNodes: other servers that answer what a registry is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.names import Server
from rowkey.hbase.wire.proto import Message

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class GetBootstrapNodes(Request["list[Server]"]):
    """Some region servers, in no order; none in the first minutes of a region server.

    Source: Registry.proto, GetBootstrapNodesResponse {1:server_name*}; measured on 2.6.4.
    """

    method: ClassVar[str] = "GetBootstrapNodes"
    service: ClassVar[str] = "ClientMetaService"

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return b"", b""

    def decode(self, response: Response) -> list[Server]:
        return [Server.read(one) for one in Message(response.message).messages(1)]
