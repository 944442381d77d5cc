"""The request that closes the regions of a table."""

from __future__ import annotations

from dataclasses import dataclass

from rowkey.hbase.messages.begins import Begins
from rowkey.hbase.wire.names import table_name
from rowkey.hbase.wire.proto import message


@dataclass(frozen=True, slots=True)
class DisableTable(Begins):
    """Closes the regions of a table.

    Args:
        table: the table's name.
        nonce: see `Begins`.

    Source: Master.proto, DisableTableRequest {1:table_name, 2:nonce_group, 3:nonce}.
    """

    method = "DisableTable"
    table: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return message(1, table_name(self.table)) + self.nonces(2), b""
