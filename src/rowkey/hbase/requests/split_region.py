"""The request that divides a region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.hbase.messages.begins import Begins
from rowkey.hbase.wire.proto import blob, message

if TYPE_CHECKING:
    from rowkey.hbase.requests.region_info import RegionInfo


@dataclass(frozen=True, slots=True)
class SplitRegion(Begins):
    """Divides a region at a row key.

    Args:
        split: the region.
        at: the row key with which the second half begins.
        nonce: see `Begins`.

    Source: Master.proto, SplitTableRegionRequest {1:region_info, 2:split_row, 3:nonce_group,
        4:nonce}.
    """

    method = "SplitRegion"
    split: RegionInfo
    at: bytes

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return message(1, self.split.encode()) + blob(2, self.at) + self.nonces(3), b""
