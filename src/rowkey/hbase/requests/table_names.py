"""The request that lists the tables of users."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.names import read_table_name
from rowkey.hbase.wire.proto import Message, flag, text

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class GetTableNames(Request[list[str]]):
    """Asks for the names of all tables but HBase's own.

    Args:
        namespace: only of this one; None asks for all.

    Source: Master.proto, GetTableNamesRequest {1:regex, 2:include_sys_tables, 3:namespace}.
    """

    service = "MasterService"
    method = "GetTableNames"
    namespace: str | None = None

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return flag(2, False) + text(3, self.namespace), b""

    def decode(self, response: Response) -> list[str]:
        return sorted(map(read_table_name, Message(response.message).messages(1)))
