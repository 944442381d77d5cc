"""The request that asks whether splits or merges are allowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.proto import Message, uint

if TYPE_CHECKING:
    from rowkey.hbase.requests.split_switch import Switch
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class IsSplitOrMergeEnabled(Request[bool]):
    """Asks whether splits, or merges, are allowed.

    Args:
        switch: which of the two.

    Source: Master.proto, IsSplitOrMergeEnabledRequest {1:switch_type}, answered by {1:enabled}.
    """

    service = "MasterService"
    method = "IsSplitOrMergeEnabled"
    switch: Switch

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return uint(1, self.switch), b""

    def decode(self, response: Response) -> bool:
        return Message(response.message).flag(1)
