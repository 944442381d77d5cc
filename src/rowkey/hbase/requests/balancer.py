"""The request that switches the balancer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.proto import Message, flag

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class SetBalancerRunning(Request[bool]):
    """Switches the balancer; the answer is whether it was on when this request came.

    Sent again after a lost answer, it is told what it did itself: who wants to know how it was asks
    before.

    Args:
        on: whether regions are moved so that servers have equally many.

    Source: Master.proto, SetBalancerRunningRequest {1:on, 2:synchronous}: when off, it returns
        after the moves that go on.
    """

    service = "MasterService"
    method = "SetBalancerRunning"
    slow: ClassVar[bool] = True
    on: bool

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return flag(1, self.on) + flag(2, True), b""

    def decode(self, response: Response) -> bool:
        return Message(response.message).flag(1)
