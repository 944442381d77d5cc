"""The request that switches splits or merges of regions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.proto import Message, flag, uint

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


class Switch(IntEnum):
    """What can be switched. Source: Master.proto, MasterSwitchType."""

    SPLIT = 0
    """Whether regions may be divided."""
    MERGE = 1
    """Whether regions may be merged."""


@dataclass(frozen=True, slots=True)
class SetSplitOrMerge(Request[bool]):
    """Switches splits or merges, also those a client asks for.

    The answer is whether it was on when this request came; sent again after a lost answer, it is
    told what it did itself.

    Args:
        switch: which of the two.
        on: whether they are allowed.

    Source: Master.proto, SetSplitOrMergeEnabledRequest {1:enabled, 2:synchronous,
        3:switch_types*}, answered by {1:prev_value*}. HBase 2.6.4 waits for nothing, synchronous or
        not: MasterRpcServices.setSplitOrMergeEnabled.
    """

    service = "MasterService"
    method = "SetSplitOrMergeEnabled"
    switch: Switch
    on: bool

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return flag(1, self.on) + flag(2, True) + uint(3, self.switch), b""

    def decode(self, response: Response) -> bool:
        return any(Message(response.message).uints(1))
