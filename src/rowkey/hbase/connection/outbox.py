"""How a request leaves: one at a time, whole, and never waiting for a server that waits for us."""

from __future__ import annotations

import select
from threading import Lock
from typing import TYPE_CHECKING, Final, NoReturn, Protocol

from rowkey.hbase.errors import BusyError, CallTimedOut, HBaseError

if TYPE_CHECKING:
    import socket

    from rowkey.hbase.connection.turns import Turns
    from rowkey.hbase.settings import Deadline

_SLICE_S: Final = 0.02
"""Seconds that a blocked sender waits before it looks again whether somebody reads.

Derivation: a server that stops reading until its answers are read is then freed 50 times a second.
"""


class Owner(Protocol):
    """What sending knows of its connection."""

    place: str

    def require_whole(self) -> None:
        """Raise the connection's error if it is broken."""

    def receive(self) -> None:
        """Read what is there, without waiting; only with the turn to read."""

    def cut(self, problem: OSError) -> None:
        """The socket failed: the connection is broken."""

    def fail(self, error: HBaseError) -> None:
        """The connection is broken for that reason, if it was not before."""

    def interrupted(self) -> None:
        """A send was ended amid its work: half a request cannot be taken back."""

    def left(self) -> None:
        """Nobody sends any more."""


class Outbox:
    """The sending side of a socket that does not block.

    Args:
        target: the socket.
        turns: the turn to read.
        owner: the connection.
    """

    __slots__ = ("_either", "_owner", "_sending", "_target", "_turns", "sent")

    def __init__(self, target: socket.socket, turns: Turns, owner: Owner) -> None:
        self._target = target
        self._turns = turns
        self._owner = owner
        self._sending = Lock()
        self._either = select.poll()
        self.sent = 0

    @property
    def busy(self) -> bool:
        """Whether somebody sends."""
        return self._sending.locked()

    def transmit(
        self, method: str, frame: bytes, deadline: Deadline, *, at_once: bool = False
    ) -> None:
        """Send a whole frame; at once: only if nobody sends and the kernel takes some of it.

        Raises:
            BusyError: others were sending until the deadline; nothing of this one is sent.
            ServerGone: the connection is broken; it breaks at a deadline amid the frame.
        """
        sending, owner = self._sending, self._owner
        patience_s = 0.0 if at_once else deadline.left()
        if not (sending.acquire(blocking=False) or sending.acquire(timeout=patience_s)):
            what = f"another request is still being sent, {method} had no turn"
            raise BusyError(owner.place, what, server=owner.place)
        try:
            owner.require_whole()
            sent = self._offer(frame)
            if at_once and not sent:
                self._refuse(method)
            if sent < len(frame):
                self._push(method, memoryview(frame)[sent:], deadline)
        except HBaseError:
            raise
        except BaseException:
            owner.interrupted()
            raise
        finally:
            sending.release()
            owner.left()

    def _refuse(self, method: str) -> NoReturn:
        place = self._owner.place
        raise BusyError(place, f"does not take {method} just now", server=place)

    def _offer(self, frame: bytes | memoryview) -> int:
        """Hand the kernel what it takes of a frame."""
        try:
            sent = self._target.send(frame)
        except BlockingIOError:
            return 0
        except OSError as problem:
            self._read_last_words()
            self._owner.cut(problem)
            self._owner.require_whole()
            raise
        self.sent += sent
        return sent

    def _push(self, method: str, frame: memoryview, deadline: Deadline) -> None:
        """Send what the kernel did not take at once; read meanwhile, if nobody does.

        A server may stop reading until its answers are read: who only sends would wait for ever.
        """
        reads = False
        try:
            while frame:
                if deadline.expired:
                    what = f"did not take {method} in time, {len(frame):,} bytes of it are left"
                    place = self._owner.place
                    self._owner.fail(CallTimedOut(place, what, server=place))
                reads = reads or self._turns.take()
                self._wait(deadline, reads=reads)
                self._owner.require_whole()
                frame = frame[self._offer(frame) :]
        finally:
            if reads:
                self._turns.leave()

    def _wait(self, deadline: Deadline, *, reads: bool) -> None:
        wanted = select.POLLIN | select.POLLOUT if reads else select.POLLOUT
        self._either.register(self._target, wanted)
        came = self._either.poll(min(_SLICE_S, deadline.left()) * 1000)
        if reads and came and came[0][1] & ~select.POLLOUT:
            self._owner.receive()

    def _read_last_words(self) -> None:
        """Read what the server said before it closed the connection: it may say why."""
        self._turns.spare(self._owner.receive)
