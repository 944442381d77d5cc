"""Requests to the master about snapshots: take, restore, delete and list them."""

from __future__ import annotations

from dataclasses import dataclass

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.messages.schema import ProcedureRequest
from rowkey.hbase.wire.proto import ProtoMessage, encode_message, encode_text, encode_uint

_FLUSH_TYPE = 1
"""The memstore is flushed first. Source: Snapshot.proto, SnapshotDescription.Type."""


def encode_snapshot(name: str, table: str | None = None) -> bytes:
    """Encode the name and table of a snapshot as protobuf field 1 of a request.

    Args:
        table: the table that is copied, or the table that is created from the snapshot.

    Source: Snapshot.proto, SnapshotDescription {1:name, 2:table, 4:type}.
    """
    return encode_message(
        1, encode_text(1, name), encode_text(2, table), encode_uint(4, _FLUSH_TYPE)
    )


@dataclass(frozen=True, slots=True)
class TakeSnapshot(ProcedureRequest):
    """Take a snapshot of a table; the answer is 0 where the master returns no procedure id.

    Args:
        nonce: see `ProcedureRequest`.

    Source: Master.proto, SnapshotRequest {1:snapshot, 2:nonce_group, 3:nonce}, answered by
        {1:expected_timeout, 2:proc_id}; 2.5 has no proc_id.
    """

    method = "Snapshot"
    name: str
    table: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_snapshot(self.name, self.table) + self.encode_nonce(2), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> int:
        answer.require_fields(1).get_int64(1)  # sent by every version
        return max(answer.get_int64(2), 0)


@dataclass(frozen=True, slots=True)
class IsSnapshotDone(Request[bool]):
    """Ask whether a snapshot is complete; raises the snapshot's error if it failed.

    Args:
        table: the table that is copied.

    Source: Master.proto, IsSnapshotDoneResponse {1:done}.
    """

    service = "MasterService"
    method = "IsSnapshotDone"
    name: str
    table: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_snapshot(self.name, self.table), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> bool:
        return answer.require_fields(1).get_bool(1)


@dataclass(frozen=True, slots=True)
class RestoreSnapshot(ProcedureRequest):
    """Create a table from a snapshot; an existing disabled table of that name is overwritten.

    Args:
        nonce: see `ProcedureRequest`.

    Source: Master.proto, RestoreSnapshotRequest {1:snapshot, 2:nonce_group, 3:nonce}, answered by
        {1:proc_id}; another table's name in it makes a clone.
    """

    method = "RestoreSnapshot"
    name: str
    table: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_snapshot(self.name, self.table) + self.encode_nonce(2), b""


@dataclass(frozen=True, slots=True)
class DeleteSnapshot(Request[None]):
    """Delete a snapshot; tables created from it stay.

    Source: Master.proto, DeleteSnapshotRequest {1:snapshot}.
    """

    service = "MasterService"
    method = "DeleteSnapshot"
    name: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_snapshot(self.name), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> None:
        """Return None: the answer says only that it is done."""


@dataclass(frozen=True, slots=True)
class ListSnapshots(Request[dict[str, str]]):
    """Ask for the name and the table of each complete snapshot, in ascending order.

    Source: Master.proto, GetCompletedSnapshotsResponse {1:snapshots*}.
    """

    service = "MasterService"
    method = "GetCompletedSnapshots"

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return b"", b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> dict[str, str]:
        snapshots = answer.iter_messages(1)
        return dict(
            sorted((one.require_fields(1).get_text(1), one.get_text(2)) for one in snapshots)
        )
