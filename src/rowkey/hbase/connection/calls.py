"""A request that was sent, and its answer when it comes."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Protocol

from rowkey.hbase.errors import AskedWrongly, HBaseError

if TYPE_CHECKING:
    from threading import Lock

    from rowkey.hbase.settings import Deadline
    from rowkey.hbase.wire.frames import Response


class Line(Protocol):
    """What a call knows of its connection."""

    def wait(self, call: Call, deadline: Deadline) -> Response:
        """The answer of one of its calls."""

    def arrived(self, call: Call) -> bool:
        """Whether one of its calls is done, after reading what is there; never waits."""

    def release(self, call: Call, outcome: HBaseError) -> None:
        """Nobody wants the answer of the call; whoever waits for it gets the outcome."""


class Call:
    """A request in flight.

    Args:
        line: the connection it was sent on.
        number: its number on that connection, 0..2^31-1.
        method: of the RPC.
    """

    __slots__ = ("_line", "bells", "method", "number", "outcome", "sent_at")

    def __init__(self, line: Line, number: int, method: str) -> None:
        self._line = line
        self.number = number
        self.method = method
        self.sent_at = monotonic()
        self.outcome: Response | HBaseError | None = None
        self.bells: list[Lock] = []

    @property
    def done(self) -> bool:
        """Whether the answer, or an error, is here."""
        return self.outcome is not None

    def is_done(self) -> bool:
        """The same, to be handed on as what is waited for."""
        return self.outcome is not None

    def arrived(self) -> bool:
        """Whether it is done, after reading what is there; never waits.

        Raises:
            ConnectionLost: it is the call of another process, which was forked.
        """
        return self._line.arrived(self)

    def result(self, deadline: Deadline) -> Response:
        """The answer, its cell block unpacked.

        Raises:
            HBaseError: what the server answered, by class.
            ConnectionLost: the connection broke; whether the request was carried out is unknown.
            CallTimedOut: no answer until the deadline. If it was waited for as long as one attempt
                may take, the connection is closed: a request that was given up is then less likely
                to be carried out later. After a shorter time the answer is dropped when it comes.
        """
        try:
            return self._line.wait(self, deadline)
        except HBaseError:
            raise
        except BaseException:
            self.cancel()
            raise

    def cancel(self) -> None:
        """Nobody wants the answer: it is dropped when it comes, the connection stays."""
        if self.outcome is None:
            self._line.release(self, AskedWrongly("call", f"{self.method} was cancelled"))
