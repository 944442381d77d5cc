"""GetClusterId: which cluster a server belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.proto import Message

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class GetClusterId(Request[str]):
    """The id that the cluster was given when it was made; empty if the server has none yet.

    Source: Registry.proto, GetClusterIdResponse {1:cluster_id}.
    """

    method: ClassVar[str] = "GetClusterId"
    service: ClassVar[str] = "ClientMetaService"

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return b"", b""

    def decode(self, response: Response) -> str:
        return Message(response.message).text(1)
