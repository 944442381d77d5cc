"""The request that asks a region server which regions it has open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.requests.region_info import RegionInfo
from rowkey.hbase.wire.proto import Message

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class GetOnlineRegions(Request[list[RegionInfo]]):
    """Asks a region server which regions it has open, those of hbase:meta included.

    Source: Admin.proto, GetOnlineRegionResponse {1:region_info*}.
    """

    service = "AdminService"
    method = "GetOnlineRegion"

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return b"", b""

    def decode(self, response: Response) -> list[RegionInfo]:
        return [RegionInfo.read(one) for one in Message(response.message).messages(1)]
