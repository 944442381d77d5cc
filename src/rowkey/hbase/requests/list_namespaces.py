"""The request that lists the namespaces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.proto import Message

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


@dataclass(frozen=True, slots=True)
class ListNamespaces(Request[list[str]]):
    """Asks for the names of all namespaces, HBase's own included, ascending.

    Source: Master.proto, ListNamespaceDescriptorsResponse {1:namespaceDescriptor{1:name}*}.
    """

    service = "MasterService"
    method = "ListNamespaceDescriptors"

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return b"", b""

    def decode(self, response: Response) -> list[str]:
        found = Message(response.message).messages(1)
        return sorted(one.blob(1).decode("utf-8", "replace") for one in found)
