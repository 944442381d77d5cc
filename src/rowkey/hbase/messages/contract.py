"""What a request to a server is: bytes to send, and what to make of the bytes that come back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response

A = TypeVar("A")


class Repeating(Enum):
    """What may come of a request that is sent again because its answer was lost."""

    HARMLESS = 1
    """The same, however often it is sent."""
    GUARDED = 2
    """The same while the region stays, or after its server died: a nonce tells the server."""
    COUNTS = 3
    """It may be done twice, or be refused because it was done: it is not sent again."""


class Request(ABC, Generic[A]):
    """One call of HBase's protocol, ready to be sent to whichever server has the region.

    It is immutable: a request that failed is sent again as it is.
    """

    service: ClassVar[str] = "ClientService"
    """Whose call it is: ClientService, AdminService, MasterService or ClientMetaService."""

    slow: ClassVar[bool] = False
    """Whether one attempt may take the whole time of its operation: the server itself waits."""

    __slots__ = ()

    @property
    @abstractmethod
    def method(self) -> str:
        """The name of the call; most kinds write it as a class attribute."""

    @property
    def repeating(self) -> Repeating:
        """What may come of sending it twice."""
        return Repeating.HARMLESS

    @abstractmethod
    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        """What is sent: the message of the call, and its cells.

        Args:
            region: full name of the region it is sent to; b"" for requests that name none.
        """

    @abstractmethod
    def decode(self, response: Response) -> A:
        """What an answer without an error says.

        Raises:
            Malformed: the bytes are no answer to this request.
        """
