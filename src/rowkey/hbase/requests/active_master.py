"""GetActiveMaster: which server is the master now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.names import Server
from rowkey.hbase.wire.proto import Message

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class GetActiveMaster(Request["Server | None"]):
    """The active master as the server that is asked knows it, or None.

    A dead one is named until its ZooKeeper session is over.

    Source: Registry.proto, GetActiveMasterResponse {1:server_name}; measured on 2.6.4.
    """

    method: ClassVar[str] = "GetActiveMaster"
    service: ClassVar[str] = "ClientMetaService"

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return b"", b""

    def decode(self, response: Response) -> Server | None:
        named = Message(response.message).message(1)
        return Server.read(named) if named else None
