"""The request that makes a table of a snapshot."""

from __future__ import annotations

from dataclasses import dataclass

from rowkey.hbase.messages.begins import Begins
from rowkey.hbase.requests.snapshot import described


@dataclass(frozen=True, slots=True)
class RestoreSnapshot(Begins):
    """Makes a table of a snapshot; one of that name that is there and disabled is overwritten.

    Args:
        name: the snapshot's name.
        table: the table to be made.
        nonce: see `Begins`.

    Source: Master.proto, RestoreSnapshotRequest {1:snapshot, 2:nonce_group, 3:nonce}, answered by
        {1:proc_id}; another table's name in it makes a clone.
    """

    method = "RestoreSnapshot"
    name: str
    table: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return described(self.name, self.table) + self.nonces(2), b""
