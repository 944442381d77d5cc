"""What HBase says of a region, and the request that asks a region server for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple, Self

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.names import read_table_name, region_name, region_specifier, table_name
from rowkey.hbase.wire.proto import Malformed, Message, blob, flag, message, uint

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


class RegionInfo(NamedTuple):
    """A region as HBase describes it.

    Args:
        table: its table's name.
        start: its first row key; empty for the first region.
        stop: the first row key behind it; empty for the last region.
        region_id: milliseconds since 1970 when it was made.
        replica: 0 for the primary.
        offline: whether it was split.

    Source: HBase.proto, RegionInfo {1:region_id, 2:table_name, 3:start_key, 4:end_key, 5:offline,
        6:split, 7:replica_id}.
    """

    table: str
    start: bytes
    stop: bytes
    region_id: int
    replica: int = 0
    offline: bool = False

    @property
    def name(self) -> bytes:
        """Its full name."""
        return region_name(self.table, self.start, self.region_id, self.replica)

    @classmethod
    def read(cls, sent: Message) -> Self:
        """The region that a protobuf describes.

        Raises:
            Malformed: it has no table.
        """
        table = sent.message(2)
        if table is None:
            raise Malformed("a region without a table", "a table's name")
        return cls(
            read_table_name(table), sent.blob(3), sent.blob(4), sent.uint(1), sent.uint(7),
            sent.flag(5) or sent.flag(6),
        )  # fmt: skip

    @classmethod
    def of_name(cls, name: bytes, stop: bytes) -> Self:
        """The region of a full name; where it ends the name does not tell.

        Raises:
            Malformed: it is no name of a region.

        >>> RegionInfo.of_name(b"t,a,b,17.0123456789abcdef0123456789abcdef.", b"x").start
        b'a,b'
        """
        table, _, rest = name.partition(b",")
        start, comma, tail = rest.rpartition(b",")
        region_id, _, replica = tail.partition(b".")[0].partition(b"_")
        if not comma or not region_id.isdigit():
            raise Malformed(f"the region {name!r}", "table,start,id.hash.")
        return cls(table.decode(), start, stop, int(region_id), int(replica or b"0", 16))

    def encode(self) -> bytes:
        """The protobuf RegionInfo of it; the inverse of `read`."""
        name = message(2, table_name(self.table))
        ends = blob(3, self.start) + blob(4, self.stop)
        gone = flag(5, self.offline) + flag(6, self.offline)
        return uint(1, self.region_id) + name + ends + gone + uint(7, self.replica)


class Compacting(IntEnum):
    """What a region's files are merged by now. Source: Admin.proto, CompactionState."""

    NONE = 0
    """Nothing."""
    MINOR = 1
    """A compaction of some files."""
    MAJOR = 2
    """A compaction of all files."""
    MAJOR_AND_MINOR = 3
    """Both, in different families."""


@dataclass(frozen=True, slots=True)
class GetRegionInfo(Request[Compacting]):
    """Asks a region server whether it is compacting a region.

    Source: Admin.proto, GetRegionInfoRequest {1:region, 2:compaction_state}, answered by
        {1:region_info, 2:compaction_state}.
    """

    service = "AdminService"
    method = "GetRegionInfo"

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return message(1, region_specifier(region)) + flag(2, True), b""

    def decode(self, response: Response) -> Compacting:
        state = Message(response.message).uint(2)
        try:
            return Compacting(state)
        except ValueError:
            raise Malformed(f"a compaction in state {state}", "0..3") from None
