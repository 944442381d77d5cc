"""The request that lists the snapshots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.proto import Message

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class ListSnapshots(Request[dict[str, str]]):
    """Asks for the name of each complete snapshot and the table it is of, ascending.

    Source: Master.proto, GetCompletedSnapshotsResponse {1:snapshots*}.
    """

    service = "MasterService"
    method = "GetCompletedSnapshots"

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return b"", b""

    def decode(self, response: Response) -> dict[str, str]:
        found = Message(response.message).messages(1)
        return dict(sorted((one.text(1), one.text(2)) for one in found))
