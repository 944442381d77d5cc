"""The counters and sizes of regions, and the request to a region server for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.names import encode_table_name
from rowkey.hbase.wire.proto import ProtoMessage, WireFormatError, encode_message


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
        """Encode the request as protobuf; it has no cell block."""
        return b"" if self.table is None else encode_message(1, encode_table_name(self.table)), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> list[RegionLoad]:
        """Return the counters of the regions."""
        return [RegionLoad.from_message(one) for one in answer.iter_messages(1)]
