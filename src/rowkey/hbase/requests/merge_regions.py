"""The request that merges two adjacent regions."""

from __future__ import annotations

from dataclasses import dataclass

from rowkey.hbase.messages.begins import Begins
from rowkey.hbase.wire.names import encoded_name, region_specifier
from rowkey.hbase.wire.proto import message


@dataclass(frozen=True, slots=True)
class MergeRegions(Begins):
    """Merges two adjacent regions.

    Args:
        first: full name of one region.
        second: full name of the other.
        nonce: see `Begins`.

    Source: Master.proto, MergeTableRegionsRequest {1:region*, 3:forcible, 4:nonce_group, 5:nonce};
        on 2.6.4 only encoded names are known.
    """

    method = "MergeTableRegions"
    first: bytes
    second: bytes

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return _encoded(self.first) + _encoded(self.second) + self.nonces(4), b""


def _encoded(name: bytes) -> bytes:
    return message(1, region_specifier(encoded_name(name).encode()))
