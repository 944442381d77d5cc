"""The request that removes a family and all that it holds."""

from __future__ import annotations

from dataclasses import dataclass

from rowkey.hbase.messages.begins import Begins
from rowkey.hbase.wire.names import table_name
from rowkey.hbase.wire.proto import blob, message


@dataclass(frozen=True, slots=True)
class DeleteColumn(Begins):
    """Removes a family and all that it holds.

    Args:
        table: the table's name.
        family: the family's name.
        nonce: see `Begins`.

    Source: Master.proto, DeleteColumnRequest {1:table_name, 2:column_name, 3:nonce_group, 4:nonce}.
    """

    method = "DeleteColumn"
    table: str
    family: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return message(1, table_name(self.table)) + blob(2, self.family.encode()) + self.nonces(
            3
        ), b""
