"""The request that asks how a table is described."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.messages.schema import TableSchema
from rowkey.hbase.wire.names import table_name
from rowkey.hbase.wire.proto import Message, flag, message

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class GetTableDescriptors(Request[TableSchema | None]):
    """Asks how a table is described; None if there is no such table.

    Args:
        table: the table's name.

    Source: Master.proto, GetTableDescriptorsRequest {1:table_names*, 3:include_sys_tables}; an
        unknown table is an empty list, not an error.
    """

    service = "MasterService"
    method = "GetTableDescriptors"
    table: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return message(1, table_name(self.table)) + flag(3, True), b""

    def decode(self, response: Response) -> TableSchema | None:
        found = Message(response.message).messages(1)
        return TableSchema.read(found[0]) if found else None
