"""The contract of requests: how each is encoded, and how its answer is decoded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import ClassVar, Generic, TypeVar

from rowkey.hbase.wire.frames import Response
from rowkey.hbase.wire.proto import ProtoMessage, WireFormatError

A = TypeVar("A")


class Idempotence(Enum):
    """What happens if a request is sent again because its answer was lost."""

    IDEMPOTENT = 1
    """The same, however often it is sent."""
    NONCE_PROTECTED = 2
    """The same while the region stays, or after its server died: a nonce tells the server."""
    NOT_IDEMPOTENT = 3
    """It may be done twice, or be refused because it was done: it is not sent again."""


class Request(ABC, Generic[A]):
    """A request of HBase's RPC protocol: how to encode it, and to decode its answer.

    It is immutable: a request that failed is sent again as it is.
    """

    service: ClassVar[str] = "ClientService"
    """Whose call it is: ClientService, AdminService, MasterService or ClientMetaService."""

    is_slow: ClassVar[bool] = False
    """Whether one attempt may take the whole time of its operation: the server itself waits."""

    has_cells: ClassVar[bool] = False
    """Whether the answer may have a cell block; `parse_answer` then decodes all of it."""

    __slots__ = ()

    @property
    @abstractmethod
    def method(self) -> str:
        """The name of the RPC; most requests have it as a class attribute."""

    @property
    def idempotence(self) -> Idempotence:
        """What happens if the request is sent twice."""
        return Idempotence.IDEMPOTENT

    @abstractmethod
    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        """Encode the request; return its protobuf message and its cell block.

        Args:
            region: full name of its region; b"" for requests without one.
        """

    def decode(self, response: Response) -> A:
        """Decode the answer to the request, which is not an error.

        The whole answer is parsed, also where the request needs nothing of it.

        Raises:
            WireFormatError: the bytes are not an answer to this request.
        """
        answer = ProtoMessage(response.message)
        if response.cells and not self.has_cells:
            what = f"{len(response.cells):,} bytes of cells follow the answer to {self.method}"
            raise WireFormatError(what, "an answer without cells")
        return self.parse_answer(answer, response.cells)

    @abstractmethod
    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> A:
        """Return what an answer says.

        Args:
            cells: its cell block; empty unless `has_cells`.

        Raises:
            WireFormatError: it is not an answer to this request.
        """
