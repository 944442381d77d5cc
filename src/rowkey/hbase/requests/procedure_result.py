"""The request that asks how far a procedure of the master is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.proto import Malformed, Message, uint

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


class ProcedureState(IntEnum):
    """How far a procedure is. Source: Master.proto, GetProcedureResultResponse.State."""

    NOT_FOUND = 0
    """It never was, or ended so long ago that the master has forgotten it."""
    RUNNING = 1
    """It goes on."""
    FINISHED = 2
    """It is over, well or not."""


class ProcedureResult(NamedTuple):
    """How far a procedure is.

    Args:
        state: whether it is over.
        java: the Java class of the error it ended with; empty if it ended well.
        says: that error's message.
    """

    state: ProcedureState
    java: str = ""
    says: str = ""


@dataclass(frozen=True, slots=True)
class GetProcedureResult(Request[ProcedureResult]):
    """Asks how far a procedure is.

    Args:
        number: what the request was answered that began it.

    Source: Master.proto, GetProcedureResultResponse {1:state, 5:exception{2:{1:class, 2:message}}};
        the method's name begins with a small letter.
    """

    service = "MasterService"
    method = "getProcedureResult"
    number: int

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return uint(1, self.number), b""

    def decode(self, response: Response) -> ProcedureResult:
        told = Message(response.message)
        try:
            state = ProcedureState(told.uint(1))
        except ValueError:
            raise Malformed(f"a procedure in state {told.uint(1)}", "0..2") from None
        exception = told.message(5)
        if exception is None:
            return ProcedureResult(state)
        generic = exception.message(2) or Message(b"")
        java = generic.text(1) or "java.lang.Exception"
        return ProcedureResult(state, java, generic.text(2))
