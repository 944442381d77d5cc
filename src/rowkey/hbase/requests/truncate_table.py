"""The request that empties a disabled table and enables it."""

from __future__ import annotations

from dataclasses import dataclass

from rowkey.hbase.messages.begins import Begins
from rowkey.hbase.wire.names import table_name
from rowkey.hbase.wire.proto import flag, message


@dataclass(frozen=True, slots=True)
class TruncateTable(Begins):
    """Empties a disabled table and enables it.

    Args:
        table: the table's name.
        keep_splits: whether its regions begin where they did; else it has one.
        nonce: see `Begins`.

    Source: Master.proto, TruncateTableRequest {1:tableName, 2:preserveSplits, 3:nonce_group,
        4:nonce}.
    """

    method = "truncateTable"
    table: str
    keep_splits: bool = True

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return message(1, table_name(self.table)) + flag(2, self.keep_splits) + self.nonces(3), b""
