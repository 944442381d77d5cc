"""GetMasters: the active master and those that would take its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.names import Server
from rowkey.hbase.wire.proto import Message

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class GetMasters(Request["list[tuple[Server, bool]]"]):
    """Every master and whether it is the active one, in no order.

    Source: Registry.proto, GetMastersResponse {1:entries* {1:server_name, 2:is_active}}.
    """

    method: ClassVar[str] = "GetMasters"
    service: ClassVar[str] = "ClientMetaService"

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return b"", b""

    def decode(self, response: Response) -> list[tuple[Server, bool]]:
        entries = Message(response.message).messages(1)
        named = ((one.message(1), one.flag(2)) for one in entries)
        return [(Server.read(server), active) for server, active in named if server]
