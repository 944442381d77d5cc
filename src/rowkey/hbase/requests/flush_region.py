"""The request that writes what a region has in memory to files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.names import region_specifier
from rowkey.hbase.wire.proto import Message, message

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class FlushRegion(Request[bool]):
    """Writes what a region has in memory to files; answered when that is done.

    The answer is whether there was anything to write.

    Source: Admin.proto, FlushRegionRequest {1:region}, answered by {1:last_flush_time, 2:flushed}.
    """

    service = "AdminService"
    method = "FlushRegion"
    slow: ClassVar[bool] = True

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return message(1, region_specifier(region)), b""

    def decode(self, response: Response) -> bool:
        return Message(response.message).flag(2)
