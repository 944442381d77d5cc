"""The request for the result of a procedure of the master."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.proto import ProtoMessage, WireFormatError, encode_uint


class ProcedureState(IntEnum):
    """The state of a procedure. Source: Master.proto, GetProcedureResultResponse.State."""

    NOT_FOUND = 0
    """The master does not know it, or has removed it since it ended."""
    RUNNING = 1
    """It is running."""
    FINISHED = 2
    """It has ended, with or without an error."""


class ProcedureResult(NamedTuple):
    """The state of a procedure and its error.

    Args:
        state: the state.
        java_class: the Java class of the error it ended with; empty if it succeeded.
        error_message: the message of that error.
    """

    state: ProcedureState
    java_class: str = ""
    error_message: str = ""


@dataclass(frozen=True, slots=True)
class GetProcedureResult(Request[ProcedureResult]):
    """Ask for the state of a procedure.

    Args:
        number: the procedure id that the master returned when it started.

    Source: Master.proto, GetProcedureResultResponse {1:state, 5:exception{2:{1:class, 2:message}}};
        the method's name begins with a small letter.
    """

    service = "MasterService"
    method = "getProcedureResult"
    number: int

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        """Encode the request as protobuf; it has no cell block."""
        return encode_uint(1, self.number), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> ProcedureResult:
        """Return the state of the procedure, and its error."""
        try:
            state = ProcedureState(answer.require_fields(1).get_uint(1))
        except ValueError:
            what = f"a procedure has the state {answer.get_uint(1)}"
            raise WireFormatError(what, "a state from 0 to 2") from None
        exception = answer.get_message(5)
        if exception is None:
            return ProcedureResult(state)
        generic = exception.get_message(2) or ProtoMessage(b"")
        java = generic.get_text(1) or "java.lang.Exception"
        return ProcedureResult(state, java, generic.get_text(2))
