"""Requests to the master about namespaces: create, delete and list them."""

from __future__ import annotations

from dataclasses import dataclass

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.messages.procedure_request import ProcedureRequest
from rowkey.hbase.wire.proto import ProtoMessage, encode_bytes, encode_message, encode_text


@dataclass(frozen=True, slots=True)
class CreateNamespace(ProcedureRequest):
    """Create a namespace.

    Args:
        name: the namespace.
        nonce: see `ProcedureRequest`.

    Source: Master.proto, CreateNamespaceRequest {1:namespaceDescriptor{1:name}, 2:nonce_group,
        3:nonce}.
    """

    method = "CreateNamespace"
    name: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        """Encode the request as protobuf; it has no cell block."""
        return encode_message(1, encode_bytes(1, self.name.encode())) + self.encode_nonce(2), b""


@dataclass(frozen=True, slots=True)
class DeleteNamespace(ProcedureRequest):
    """Delete an empty namespace.

    Args:
        name: the namespace.
        nonce: see `ProcedureRequest`.

    Source: Master.proto, DeleteNamespaceRequest {1:namespaceName, 2:nonce_group, 3:nonce}.
    """

    method = "DeleteNamespace"
    name: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        """Encode the request as protobuf; it has no cell block."""
        return encode_text(1, self.name) + self.encode_nonce(2), b""


@dataclass(frozen=True, slots=True)
class ListNamespaces(Request[list[str]]):
    """Ask for the names of all namespaces in ascending order, including HBase's own.

    Source: Master.proto, ListNamespaceDescriptorsResponse {1:namespaceDescriptor{1:name}*}.
    """

    service = "MasterService"
    method = "ListNamespaceDescriptors"

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        """Encode the request as protobuf; it has no cell block."""
        return b"", b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> list[str]:
        """Return the names of the namespaces, in ascending order."""
        namespaces = answer.iter_messages(1)
        return sorted(
            one.require_fields(1).get_bytes(1).decode("utf-8", "replace") for one in namespaces
        )
