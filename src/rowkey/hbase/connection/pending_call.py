"""A request in flight, and its answer when it comes."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Protocol

from rowkey.hbase.errors import HBaseError, InvalidRequest

if TYPE_CHECKING:
    from threading import Lock

    from rowkey.hbase.settings import Deadline
    from rowkey.hbase.wire.frames import Response


class CallTransport(Protocol):
    """The connection, as its calls use it."""

    def wait_for_answer(self, call: PendingCall, deadline: Deadline) -> Response:
        """Return the answer of a call of this connection."""

    def has_arrived(self, call: PendingCall) -> bool:
        """Return whether a call is done, after reading the bytes that are there; never waits."""

    def resolve_call(self, call: PendingCall, outcome: HBaseError) -> None:
        """Give a call an outcome before its answer comes; the answer is then dropped."""


class PendingCall:
    """A request in flight.

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
        """Return whether the answer, or an error, has come, as a function to wait for."""
        return self.outcome is not None

    def has_arrived(self) -> bool:
        """Return whether the call is done, after reading the bytes that are there; never waits.

        Raises:
            ConnectionLost: the call was sent before this process was forked.
        """
        return self._transport.has_arrived(self)

    def result(self, deadline: Deadline) -> Response:
        """Return the answer, with its cell block decompressed.

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
        """Drop the answer when it comes; the connection stays open."""
        if self.outcome is None:
            self._transport.resolve_call(
                self, InvalidRequest("call", f"{self.method} was cancelled")
            )
