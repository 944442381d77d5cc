"""A request in flight, and its answer when it comes."""

from __future__ import annotations

from threading import Lock
from time import monotonic
from typing import Protocol

from rowkey.hbase.errors import HBaseError, InvalidRequest
from rowkey.hbase.settings import Deadline
from rowkey.hbase.wire.frames import Response


class CallTransport(Protocol):
    """The methods of a server connection that its pending calls use."""

    def wait_for_answer(self, call: PendingCall, deadline: Deadline) -> Response:
        """Wait for the answer of a call of this connection, and return it."""

    def has_arrived(self, call: PendingCall) -> bool:
        """Read available answers without waiting; return whether this call has its answer."""

    def resolve_call(self, call: PendingCall, outcome: HBaseError) -> None:
        """Set the error of a call before its answer comes; the answer is then dropped."""


class PendingCall:
    """A request that was sent and whose answer is awaited.

    Args:
        transport: the connection that it was sent on.
        call_id: its id on that connection, 0..2^31-1.
        method: the name of the RPC.
    """

    __slots__ = ("_transport", "call_id", "method", "outcome", "sent_at", "waiters")

    def __init__(self, transport: CallTransport, call_id: int, method: str) -> None:
        self._transport = transport
        self.call_id = call_id
        self.method = method
        self.sent_at = monotonic()
        self.outcome: Response | HBaseError | None = None
        self.waiters: list[Lock] = []

    @property
    def has_outcome(self) -> bool:
        """Whether the answer, or an error, has come."""
        return self.outcome is not None

    def is_done(self) -> bool:
        """Return whether the answer, or an error, has come; a method, to pass as a callback."""
        return self.outcome is not None

    def has_arrived(self) -> bool:
        """Read available answers without waiting; return whether this call has its answer.

        Raises:
            ConnectionLost: the call was sent before this process was forked.
        """
        return self._transport.has_arrived(self)

    def result(self, deadline: Deadline) -> Response:
        """Wait for the answer, and return it with its cell block decompressed.

        Raises:
            HBaseError: the error that the server answered.
            ConnectionLost: the connection broke; whether the request was carried out is unknown.
            CallTimedOut: no answer came until the deadline. After a full call timeout the
                connection is closed, so that the request is less likely to be carried out later.
                After a shorter time the answer is dropped when it comes.
        """
        try:
            return self._transport.wait_for_answer(self, deadline)
        except HBaseError:
            raise
        except BaseException:
            self.cancel()
            raise

    def cancel(self) -> None:
        """Cancel the call: its answer is dropped when it comes, the connection stays open."""
        if self.outcome is None:
            self._transport.resolve_call(
                self,
                InvalidRequest(
                    "call",
                    f"{self.method} was cancelled",
                    remedy="Send the request again if you need its answer.",
                ),
            )
