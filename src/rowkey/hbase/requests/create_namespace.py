"""The request that makes a namespace."""

from __future__ import annotations

from dataclasses import dataclass

from rowkey.hbase.messages.begins import Begins
from rowkey.hbase.wire.proto import blob, message


@dataclass(frozen=True, slots=True)
class CreateNamespace(Begins):
    """Makes a namespace.

    Args:
        name: the namespace.
        nonce: see `Begins`.

    Source: Master.proto, CreateNamespaceRequest {1:namespaceDescriptor{1:name}, 2:nonce_group,
        3:nonce}.
    """

    method = "CreateNamespace"
    name: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return message(1, blob(1, self.name.encode())) + self.nonces(2), b""
