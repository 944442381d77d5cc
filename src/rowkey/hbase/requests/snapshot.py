"""The request that takes a snapshot of a table, and how snapshots are named on the wire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.hbase.messages.begins import Begins
from rowkey.hbase.wire.proto import Message, message, text, uint

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response

_FLUSH = 1
"""What is in memory is written first. Source: Snapshot.proto, SnapshotDescription.Type."""


def described(name: str, table: str | None = None) -> bytes:
    """The field 1 that names a snapshot.

    Args:
        name: the snapshot's name.
        table: the table it is of, or that is made of it.

    Source: Snapshot.proto, SnapshotDescription {1:name, 2:table, 4:type}.
    """
    return message(1, text(1, name), text(2, table), uint(4, _FLUSH))


@dataclass(frozen=True, slots=True)
class TakeSnapshot(Begins):
    """Takes a snapshot of a table; 0 for the procedure's number where the master tells none.

    Args:
        name: the snapshot's name.
        table: the table.
        nonce: see `Begins`.

    Source: Master.proto, SnapshotRequest {1:snapshot, 2:nonce_group, 3:nonce}, answered by
        {1:expected_timeout, 2:proc_id}; 2.5 has no proc_id.
    """

    method = "Snapshot"
    name: str
    table: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return described(self.name, self.table) + self.nonces(2), b""

    def decode(self, response: Response) -> int:
        return max(Message(response.message).int64(2), 0)
