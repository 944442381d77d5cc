"""The request that asks whether the balancer is on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.proto import Message

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class IsBalancerEnabled(Request[bool]):
    """Asks whether the balancer is on.

    Source: Master.proto, IsBalancerEnabledRequest {}, answered by {1:enabled}.
    """

    service = "MasterService"
    method = "IsBalancerEnabled"

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return b"", b""

    def decode(self, response: Response) -> bool:
        return Message(response.message).flag(1)
