"""The request that removes an empty namespace."""

from __future__ import annotations

from dataclasses import dataclass

from rowkey.hbase.messages.begins import Begins
from rowkey.hbase.wire.proto import text


@dataclass(frozen=True, slots=True)
class DeleteNamespace(Begins):
    """Removes an empty namespace.

    Args:
        name: the namespace.
        nonce: see `Begins`.

    Source: Master.proto, DeleteNamespaceRequest {1:namespaceName, 2:nonce_group, 3:nonce}.
    """

    method = "DeleteNamespace"
    name: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return text(1, self.name) + self.nonces(2), b""
