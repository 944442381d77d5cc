"""What a region has counted, and the request that asks a region server for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.names import table_name
from rowkey.hbase.wire.proto import Malformed, Message, message

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


class RegionLoad(NamedTuple):
    """What a region has counted since it was opened where it is, and how large it is.

    Args:
        name: full name of the region.
        reads: rows and pieces of rows returned, as `read_requests_count` counts.
        writes: mutations begun, as `write_requests_count` counts.
        filtered: rows looked at that gave no cell.
        stores: families.
        files: store files.
        files_mb: size of these files, in whole MB.
        memory_mb: size of what is in memory, in whole MB.
        locality: 0..1, how much of the files lies on the server itself.

    Source: ClusterStatus.proto, RegionLoad.
    """

    name: bytes
    reads: int = 0
    writes: int = 0
    filtered: int = 0
    stores: int = 0
    files: int = 0
    files_mb: int = 0
    memory_mb: int = 0
    locality: float = 0.0

    @classmethod
    def read(cls, sent: Message) -> Self:
        """The load that a protobuf tells.

        Raises:
            Malformed: it does not tell of which region.
        """
        region = sent.message(1)
        if region is None or not region.blob(2):
            raise Malformed("a load of no region", "a region")
        return cls(
            region.blob(2), sent.uint(8), sent.uint(9), sent.uint(19), sent.uint(2), sent.uint(3),
            sent.uint(5), sent.uint(6), sent.float32(16),
        )  # fmt: skip

    def is_of(self, table: str) -> bool:
        """Whether it is a region of that table; the namespace `default` is not written."""
        return self.name.startswith(f"{table},".encode())


@dataclass(frozen=True, slots=True)
class GetRegionLoad(Request[list[RegionLoad]]):
    """Asks a region server what its regions of a table have counted, as of this moment.

    Args:
        table: the table's name; None asks for the regions of all.

    Source: Admin.proto, GetRegionLoadRequest {1:table_name}; on 2.6.4 an acknowledged write is in
        the very next answer, and an unknown table is an empty list.
    """

    service = "AdminService"
    method = "GetRegionLoad"
    table: str | None = None

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return b"" if self.table is None else message(1, table_name(self.table)), b""

    def decode(self, response: Response) -> list[RegionLoad]:
        return [RegionLoad.read(one) for one in Message(response.message).messages(1)]
