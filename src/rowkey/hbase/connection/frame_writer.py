"""Sends requests one at a time, and reads answers when the server takes no more bytes."""

from __future__ import annotations

import select
import socket
from threading import Lock
from typing import Final, NoReturn, Protocol

from rowkey.hbase.connection.leader_followers import LeaderFollowers
from rowkey.hbase.errors import BusyError, CallTimedOut, HBaseError
from rowkey.hbase.settings import Deadline

_WRITE_POLL_S: Final = 0.02
"""Seconds that a blocked sender waits before it checks again whether a thread reads.

Derivation: a server that takes no requests until its answers are read is served 50 times a second.
"""


class WriterOwner(Protocol):
    """The methods of a server connection that its frame writer calls."""

    host_port: str
    failure: HBaseError | None

    def require_open(self) -> None:
        """Raise the error that broke the connection, if it is broken."""

    def receive_frames(self) -> None:
        """Receive available bytes and deliver the answers, without waiting; for the leader only."""

    def fail_on_socket_error(self, problem: OSError) -> None:
        """Break the connection because the socket failed."""

    def fail(self, error: HBaseError) -> None:
        """Break the connection with this error, if it is not broken yet."""

    def fail_interrupted(self) -> None:
        """Break the connection because a thread was interrupted while it sent a request."""

    def close_if_unused(self) -> None:
        """Close the socket of a broken connection if no other thread uses it."""


class FrameWriter:
    """Sends the requests of a server connection, one at a time, on a non-blocking socket.

    Args:
        readers: the threads that wait for answers.
    """

    __slots__ = ("_owner", "_poll", "_readers", "_send_lock", "_socket", "sent_bytes")

    def __init__(self, sock: socket.socket, readers: LeaderFollowers, owner: WriterOwner) -> None:
        self._socket = sock
        self._readers = readers
        self._owner = owner
        self._send_lock = Lock()
        self._poll = select.poll()
        self.sent_bytes = 0

    @property
    def is_sending(self) -> bool:
        """Whether a thread is sending a request."""
        return self._send_lock.locked()

    def send_frame(
        self, method: str, frame: bytes, deadline: Deadline, *, no_wait: bool = False
    ) -> None:
        """Send one request as a complete frame.

        Args:
            method: the name of the RPC, for messages.
            frame: the bytes to send.
            deadline: when to give up; the connection breaks if part of the frame is sent by then.
            no_wait: whether to give up at once if another thread is sending or the kernel takes
                nothing.

        Raises:
            BusyError: the deadline was over, or other threads were sending until then; nothing was
                sent.
            ServerGone: the connection is broken.
        """
        lock, owner = self._send_lock, self._owner
        timeout_s = 0.0 if no_wait else deadline.get_remaining_s()
        if not (lock.acquire(blocking=False) or lock.acquire(timeout=timeout_s)):
            what = f"{method} was not sent: another request was being sent until the deadline"
            raise BusyError(owner.host_port, what, server=owner.host_port)
        try:
            if owner.failure is not None:
                owner.require_open()
            if deadline.is_expired and not no_wait:
                self._raise_late(method)
            sent_bytes = self._send_some(frame)
            if no_wait and not sent_bytes:
                self._raise_busy(method)
            if sent_bytes < len(frame):
                self._send_rest(method, memoryview(frame)[sent_bytes:], deadline)
        except HBaseError:
            raise
        except BaseException:
            owner.fail_interrupted()
            raise
        finally:
            lock.release()
            if owner.failure is not None:
                owner.close_if_unused()

    def _raise_late(self, method: str) -> NoReturn:
        """Raise `BusyError` for a request that is outdated: the process may have been suspended."""
        host_port = self._owner.host_port
        what = f"{method} was not sent, because its time was over"
        raise BusyError(host_port, what, server=host_port)

    def _raise_busy(self, method: str) -> NoReturn:
        """Raise `BusyError` for a request of which no byte could be sent at once."""
        host_port = self._owner.host_port
        what = f"{method} was not sent: the server does not accept more bytes at the moment"
        raise BusyError(host_port, what, server=host_port)

    def _send_some(self, frame: bytes | memoryview) -> int:
        """Send as much of a frame as the kernel takes, and return how many bytes."""
        try:
            sent_bytes = self._socket.send(frame)
        except BlockingIOError:
            return 0
        except OSError as problem:
            # What the server sent before it closed the connection may give the reason.
            self._readers.read_if_idle(self._owner.receive_frames)
            self._owner.fail_on_socket_error(problem)
            self._owner.require_open()
            raise
        self.sent_bytes += sent_bytes
        return sent_bytes

    def _send_rest(self, method: str, frame: memoryview, deadline: Deadline) -> None:
        """Send the rest of a frame that the kernel did not take at once; read answers meanwhile.

        A server may take no requests until its answers are read: without reading, the sender would
        wait for ever.
        """
        is_leader = False
        try:
            while frame:
                if deadline.is_expired:
                    what = f"{method} was not sent in time: {len(frame):,} of its bytes are left"
                    host_port = self._owner.host_port
                    self._owner.fail(CallTimedOut(host_port, what, server=host_port))
                is_leader = is_leader or self._readers.try_lead()
                self._wait_writable(deadline, is_leader=is_leader)
                self._owner.require_open()
                frame = frame[self._send_some(frame) :]
        finally:
            if is_leader:
                self._readers.stop_leading()

    def _wait_writable(self, deadline: Deadline, *, is_leader: bool) -> None:
        """Wait a moment until the kernel takes more bytes; the leader also reads answers."""
        event_mask = select.POLLIN | select.POLLOUT if is_leader else select.POLLOUT
        self._poll.register(self._socket, event_mask)
        events = self._poll.poll(min(_WRITE_POLL_S, deadline.get_remaining_s()) * 1000)
        if is_leader and events and events[0][1] & ~select.POLLOUT:
            self._owner.receive_frames()
