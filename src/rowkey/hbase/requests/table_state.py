"""The request that asks whether a table is enabled."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.names import table_name
from rowkey.hbase.wire.proto import Malformed, Message, message

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


class TableState(IntEnum):
    """Whether a table can be used. Source: HBase.proto, TableState.State."""

    ENABLED = 0
    """Its regions are open."""
    DISABLED = 1
    """Its regions are closed."""
    DISABLING = 2
    """Its regions are being closed."""
    ENABLING = 3
    """Its regions are being opened; so it is while a table is made."""


@dataclass(frozen=True, slots=True)
class GetTableState(Request[TableState]):
    """Asks whether a table is enabled; of an unknown one the answer is TableNotFound.

    Args:
        table: the table's name.

    Source: Master.proto, GetTableStateResponse {1:table_state{1:state}}.
    """

    service = "MasterService"
    method = "GetTableState"
    table: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return message(1, table_name(self.table)), b""

    def decode(self, response: Response) -> TableState:
        state = (Message(response.message).message(1) or Message(b"")).uint(1)
        try:
            return TableState(state)
        except ValueError:
            raise Malformed(f"a table in state {state}", "0..3") from None
