"""The request that replaces all that a table is: what is not sent falls back to its default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.hbase.messages.begins import Begins
from rowkey.hbase.wire.names import table_name
from rowkey.hbase.wire.proto import message

if TYPE_CHECKING:
    from rowkey.hbase.messages.schema import TableSchema


@dataclass(frozen=True, slots=True)
class ModifyTable(Begins):
    """Replaces all that a table is: what is not sent falls back to its default.

    Args:
        schema: the whole table as it shall be.
        nonce: see `Begins`.

    Source: Master.proto, ModifyTableRequest {1:table_name, 2:table_schema, 3:nonce_group, 4:nonce}.
    """

    method = "ModifyTable"
    schema: TableSchema

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return message(1, table_name(self.schema.name)) + message(
            2, self.schema.encode()
        ) + self.nonces(3), b""
