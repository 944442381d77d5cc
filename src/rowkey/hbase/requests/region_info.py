"""The description of a region, and the request for its compaction state."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, Self

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.names import (
    build_region_name,
    encode_region_specifier,
    encode_table_name,
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
        """Encode the request as protobuf; it has no cell block."""
        return encode_message(1, encode_region_specifier(region)) + encode_bool(2, True), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> CompactionState:
        """Return the compaction state of the region."""
        answer.require_message(1)
        state = answer.require_fields(2).get_uint(2)
        try:
            return CompactionState(state)
        except ValueError:
            what = f"a region has the compaction state {state}"
            raise WireFormatError(what, "a state from 0 to 3") from None
