"""The request that makes a table, cut into regions from the start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.hbase.messages.begins import Begins
from rowkey.hbase.wire.proto import blob, message

if TYPE_CHECKING:
    from rowkey.hbase.messages.schema import TableSchema


@dataclass(frozen=True, slots=True)
class CreateTable(Begins):
    """Makes a table.

    HBase takes splits in any order, and attributes of any value: who sends this has checked them.

    Args:
        schema: the table.
        splits: row keys that regions begin with, strictly ascending, none empty.
        nonce: see `Begins`.

    Source: Master.proto, CreateTableRequest {1:table_schema, 2:split_keys*, 3:nonce_group,
        4:nonce}.
    """

    method = "CreateTable"
    schema: TableSchema
    splits: tuple[bytes, ...] = ()

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        splits = b"".join(blob(2, split) for split in self.splits)
        return message(1, self.schema.encode()) + splits + self.nonces(3), b""
