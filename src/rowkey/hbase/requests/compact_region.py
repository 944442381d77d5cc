"""The request that merges a region's files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.names import region_specifier
from rowkey.hbase.wire.proto import flag, message

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class CompactRegion(Request[None]):
    """Merges a region's files; answered when that is planned, not when it is done.

    Args:
        major: whether all files are merged, which drops what is deleted.

    Source: Admin.proto, CompactRegionRequest {1:region, 2:major}.
    """

    service = "AdminService"
    method = "CompactRegion"
    slow: ClassVar[bool] = True
    major: bool = True

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return message(1, region_specifier(region)) + flag(2, self.major), b""

    def decode(self, response: Response) -> None:
        """Nothing is told."""
