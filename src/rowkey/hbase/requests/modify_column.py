"""The request that replaces a family: what is not sent falls back to its default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.hbase.messages.begins import Begins
from rowkey.hbase.wire.names import table_name
from rowkey.hbase.wire.proto import message

if TYPE_CHECKING:
    from rowkey.hbase.messages.schema import FamilySchema


@dataclass(frozen=True, slots=True)
class ModifyColumn(Begins):
    """Replaces a family: what is not sent falls back to its default.

    Args:
        table: the table's name.
        family: the whole family as it shall be.
        nonce: see `Begins`.

    Source: Master.proto, ModifyColumnRequest {1:table_name, 2:column_families, 3:nonce_group,
        4:nonce}.
    """

    method = "ModifyColumn"
    table: str
    family: FamilySchema

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return message(1, table_name(self.table)) + message(2, self.family.encode()) + self.nonces(
            3
        ), b""
