"""What all requests share that begin a procedure of the master: its number, and a nonce."""

from __future__ import annotations

from dataclasses import dataclass, field
from secrets import randbits
from typing import TYPE_CHECKING, ClassVar

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.proto import Message, uint

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


def new_nonce() -> int:
    """A number that no other request bears, 1..2^63-1; 0 would mean that there is none."""
    return randbits(63) or 1


@dataclass(frozen=True, slots=True)
class Begins(Request[int]):
    """A request to the master that begins a procedure; its answer is the procedure's number.

    Args:
        nonce: sent again with the same nonce it begins nothing new, and has the same answer.

    Source: HBase 2.6.4, the same nonce gives the same procedure; 0 stands for none.
    """

    service: ClassVar[str] = "MasterService"
    nonce: int = field(default_factory=new_nonce, kw_only=True)

    def nonces(self, number: int) -> bytes:
        """The fields nonce_group and nonce, the first of them with this number."""
        return uint(number, 0) + uint(number + 1, self.nonce)

    def decode(self, response: Response) -> int:
        return max(Message(response.message).int64(1), 0)  # 0 and -1: nothing had to be done
