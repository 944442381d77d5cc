"""The request that removes a snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.requests.snapshot import described

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class DeleteSnapshot(Request[None]):
    """Removes a snapshot; tables made of it stay.

    Args:
        name: the snapshot's name.

    Source: Master.proto, DeleteSnapshotRequest {1:snapshot}.
    """

    service = "MasterService"
    method = "DeleteSnapshot"
    name: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return described(self.name), b""

    def decode(self, response: Response) -> None:
        """Nothing is told."""
