"""Requests that start a procedure of the master, each protected by a nonce."""

from __future__ import annotations

from dataclasses import dataclass, field
from secrets import randbits
from typing import ClassVar

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.proto import ProtoMessage, encode_uint


def generate_nonce() -> int:
    """Return a random number that no other request has, 1..2^63-1; 0 would mean none."""
    return randbits(63) or 1


@dataclass(frozen=True, slots=True)
class ProcedureRequest(Request[int]):
    """A request to the master that starts a procedure; its answer is the procedure's id.

    Args:
        nonce: a retry with the same nonce starts nothing new, and gets the same answer.

    Source: HBase 2.6.4, the same nonce gives the same procedure; 0 stands for none.
    """

    service: ClassVar[str] = "MasterService"
    nonce: int = field(default_factory=generate_nonce, kw_only=True)

    def encode_nonce(self, number: int) -> bytes:
        """Encode the fields nonce_group and nonce; `number` is the field number of the first."""
        return encode_uint(number, 0) + encode_uint(number + 1, self.nonce)

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> int:
        """Return the id of the procedure; 0 if the master started none."""
        return max(answer.require_fields(1).get_int64(1), 0)
