"""The requests on regions: to move, split and merge them, and what they hold."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, NamedTuple, Self

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.messages.schema import ProcedureRequest
from rowkey.hbase.wire.names import (
    ServerName,
    build_region_name,
    encode_region_specifier,
    encode_table_name,
    extract_encoded_name,
    parse_table_name,
)
from rowkey.hbase.wire.proto import (
    ProtoMessage,
    WireFormatError,
    encode_bool,
    encode_bytes,
    encode_message,
    encode_uint,
)


@dataclass(frozen=True, slots=True)
class SplitRegion(ProcedureRequest):
    """Split a region at a row key.

    Args:
        split_key: the first row key of the second half.
        nonce: see `ProcedureRequest`.

    Source: Master.proto, SplitTableRegionRequest {1:region_info, 2:split_row, 3:nonce_group,
        4:nonce}.
    """

    method = "SplitRegion"
    region_info: RegionInfo
    split_key: bytes

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
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
        return encode_message(1, encode_region_specifier(region)), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> bool:
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
        return encode_message(1, encode_region_specifier(region)) + encode_bool(2, self.major), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> None:
        """Return None: the answer says only that it is done."""


class RegionInfo(NamedTuple):
    """A region as HBase describes it on the wire.

    Args:
        table: its table's name.
        start: its first row key; empty for the first region.
        stop: the row key after its last; empty for the last region.
        region_id: milliseconds since 1970 when it was created.
        replica: 0 for the primary.
        is_offline: whether it was split.

    Source: HBase.proto, RegionInfo {1:region_id, 2:table_name, 3:start_key, 4:end_key, 5:offline,
        6:split, 7:replica_id}.
    """

    table: str
    start: bytes
    stop: bytes
    region_id: int
    replica: int = 0
    is_offline: bool = False

    @property
    def name(self) -> bytes:
        """Return the full name of the region."""
        return build_region_name(self.table, self.start, self.region_id, self.replica)

    @classmethod
    def from_message(cls, msg: ProtoMessage) -> Self:
        """Convert a protobuf RegionInfo.

        Raises:
            WireFormatError: the message has no id or no table.
        """
        msg.require_fields(1)
        return cls(
            parse_table_name(msg.require_message(2)), msg.get_bytes(3), msg.get_bytes(4),
            msg.get_uint(1), msg.get_uint(7), msg.get_bool(5) or msg.get_bool(6),
        )  # fmt: skip

    @classmethod
    def from_name(cls, name: bytes, stop: bytes) -> Self:
        """Parse the full name of a region; the stop key is not in it.

        Raises:
            WireFormatError: it is not the name of a region.

        >>> RegionInfo.from_name(b"t,a,b,17.0123456789abcdef0123456789abcdef.", b"x").start
        b'a,b'
        """
        table, _, rest = name.partition(b",")
        start, comma, tail = rest.rpartition(b",")
        region_id, _, replica = tail.partition(b".")[0].partition(b"_")
        if not comma or not region_id.isdigit():
            raise _build_name_error(name)
        try:
            return cls(table.decode(), start, stop, int(region_id), int(replica or b"0", 16))
        except ValueError:
            raise _build_name_error(name) from None

    def encode(self) -> bytes:
        """Encode the region as a protobuf RegionInfo; the inverse of `from_message`."""
        name = encode_message(2, encode_table_name(self.table))
        ends = encode_bytes(3, self.start) + encode_bytes(4, self.stop)
        states = encode_bool(5, self.is_offline) + encode_bool(6, self.is_offline)
        return encode_uint(1, self.region_id) + name + ends + states + encode_uint(7, self.replica)


def _build_name_error(name: bytes) -> WireFormatError:
    """Return the error for bytes that are not the full name of a region."""
    return WireFormatError(f"{name!r} is not the name of a region", "TABLE,START,ID.HASH.")


class CompactionState(IntEnum):
    """The compaction that runs in a region. Source: Admin.proto, CompactionState."""

    NONE = 0
    """No compaction."""
    MINOR = 1
    """A compaction of some files."""
    MAJOR = 2
    """A compaction of all files."""
    MAJOR_AND_MINOR = 3
    """Both, in different families of the region."""


@dataclass(frozen=True, slots=True)
class GetRegionInfo(Request[CompactionState]):
    """Ask a region server whether it is compacting a region.

    Source: Admin.proto, GetRegionInfoRequest {1:region, 2:compaction_state}, answered by
        {1:region_info, 2:compaction_state}.
    """

    service = "AdminService"
    method = "GetRegionInfo"

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_message(1, encode_region_specifier(region)) + encode_bool(2, True), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> CompactionState:
        answer.require_message(1)
        state = answer.require_fields(2).get_uint(2)
        try:
            return CompactionState(state)
        except ValueError:
            what = f"a region has the compaction state {state}"
            raise WireFormatError(what, "a state from 0 to 3") from None


class RegionLoad(NamedTuple):
    """The counters of a region since it was opened on its server, and its size.

    Args:
        name: full name of the region.
        reads: rows and partial rows returned, from `read_requests_count`.
        writes: mutations started, from `write_requests_count`.
        filtered_rows: rows read that returned no cell.
        store_count: number of families.
        file_count: number of store files.
        files_mb: size of these files, in whole MB.
        memory_mb: size of the memstore, in whole MB.
        locality: fraction of the files that is stored on the server itself, 0..1.

    Source: ClusterStatus.proto, RegionLoad.
    """

    name: bytes
    reads: int = 0
    writes: int = 0
    filtered_rows: int = 0
    store_count: int = 0
    file_count: int = 0
    files_mb: int = 0
    memory_mb: int = 0
    locality: float = 0.0

    @classmethod
    def from_message(cls, msg: ProtoMessage) -> Self:
        """Convert a protobuf RegionLoad.

        Raises:
            WireFormatError: the message names no region.
        """
        region = msg.require_message(1)
        if not region.get_bytes(2):
            raise WireFormatError("a region load has no region name")
        return cls(
            region.get_bytes(2), msg.get_uint(8), msg.get_uint(9), msg.get_uint(19),
            msg.get_uint(2), msg.get_uint(3), msg.get_uint(5), msg.get_uint(6), msg.get_float(16),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class GetRegionLoad(Request[list[RegionLoad]]):
    """Ask a region server for the current counters of its regions of one table.

    Args:
        table: the table's name; None for all tables.

    Source: Admin.proto, GetRegionLoadRequest {1:table_name}; on 2.6.4 an acknowledged write is in
        the very next answer, and an unknown table is an empty list.
    """

    service = "AdminService"
    method = "GetRegionLoad"
    table: str | None = None

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return b"" if self.table is None else encode_message(1, encode_table_name(self.table)), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> list[RegionLoad]:
        return [RegionLoad.from_message(one) for one in answer.iter_messages(1)]
