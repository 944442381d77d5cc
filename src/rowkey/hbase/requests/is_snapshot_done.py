"""The request that asks whether a snapshot is complete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.requests.snapshot import described
from rowkey.hbase.wire.proto import Message

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class IsSnapshotDone(Request[bool]):
    """Asks whether a snapshot is complete; if it failed, that is the answer's error.

    Args:
        name: the snapshot's name.
        table: the table it is of.

    Source: Master.proto, IsSnapshotDoneResponse {1:done}.
    """

    service = "MasterService"
    method = "IsSnapshotDone"
    name: str
    table: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return described(self.name, self.table), b""

    def decode(self, response: Response) -> bool:
        return Message(response.message).flag(1)
