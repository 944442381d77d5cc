"""Split, merge, move, flush and compact regions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.messages.procedure_request import ProcedureRequest
from rowkey.hbase.requests.region_info import RegionInfo
from rowkey.hbase.wire.names import ServerName, encode_region_specifier, extract_encoded_name
from rowkey.hbase.wire.proto import ProtoMessage, encode_bool, encode_bytes, encode_message


@dataclass(frozen=True, slots=True)
class SplitRegion(ProcedureRequest):
    """Split a region at a row key.

    Args:
        region_info: the region.
        split_key: the first row key of the second half.
        nonce: see `ProcedureRequest`.

    Source: Master.proto, SplitTableRegionRequest {1:region_info, 2:split_row, 3:nonce_group,
        4:nonce}.
    """

    method = "SplitRegion"
    region_info: RegionInfo
    split_key: bytes

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        """Encode the request as protobuf; it has no cell block."""
        return encode_message(1, self.region_info.encode()) + encode_bytes(
            2, self.split_key
        ) + self.encode_nonce(3), b""


@dataclass(frozen=True, slots=True)
class MergeRegions(ProcedureRequest):
    """Merges two adjacent regions.

    Args:
        first: full name of one region.
        second: full name of the other.
        nonce: see `ProcedureRequest`.

    Source: Master.proto, MergeTableRegionsRequest {1:region*, 3:forcible, 4:nonce_group, 5:nonce};
        on 2.6.4 only encoded names are known.
    """

    method = "MergeTableRegions"
    first: bytes
    second: bytes

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        """Encode the request as protobuf; it has no cell block."""
        return _encode_region(self.first) + _encode_region(self.second) + self.encode_nonce(4), b""


def _encode_region(name: bytes) -> bytes:
    """Encode the RegionSpecifier of a region by its encoded name."""
    return encode_message(1, encode_region_specifier(extract_encoded_name(name).encode()))


@dataclass(frozen=True, slots=True)
class MoveRegion(Request[None]):
    """Move a region; answered when it is open on the other server.

    Args:
        name: full name of the region.
        server: the target. HBase does not reject an unknown server, but chooses another one. None
            lets HBase choose, again for each repetition of the request.

    Source: Master.proto, MoveRegionRequest {1:region, 2:dest_server_name}; on 2.6.4 only the
        encoded name is known. HMaster.move: a region that is on that server already stays there.
    """

    service = "MasterService"
    method = "MoveRegion"
    is_slow: ClassVar[bool] = True
    name: bytes
    server: ServerName | None = None

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        """Encode the request as protobuf; it has no cell block."""
        server = encode_message(2, self.server.encode()) if self.server else b""
        return _encode_region(self.name) + server, b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> None:
        """Return None: the answer says only that it is done."""


@dataclass(frozen=True, slots=True)
class FlushRegion(Request[bool]):
    """Flush the memstore of a region to files; answered when that is done.

    The answer is whether there was anything to flush.

    Source: Admin.proto, FlushRegionRequest {1:region}, answered by {1:last_flush_time, 2:flushed}.
    """

    service = "AdminService"
    method = "FlushRegion"
    is_slow: ClassVar[bool] = True

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        """Encode the request as protobuf; it has no cell block."""
        return encode_message(1, encode_region_specifier(region)), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> bool:
        """Return whether the region was flushed."""
        return answer.require_fields(2).get_bool(2)


@dataclass(frozen=True, slots=True)
class CompactRegion(Request[None]):
    """Schedule a compaction of a region; answered before the compaction is done.

    Args:
        major: whether all files are merged, which removes deleted cells.

    Source: Admin.proto, CompactRegionRequest {1:region, 2:major}.
    """

    service = "AdminService"
    method = "CompactRegion"
    is_slow: ClassVar[bool] = True
    major: bool = True

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        """Encode the request as protobuf; it has no cell block."""
        return encode_message(1, encode_region_specifier(region)) + encode_bool(2, self.major), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> None:
        """Return None: the answer says only that it is done."""
