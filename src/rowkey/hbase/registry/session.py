"""A session of ZooKeeper for one read: connect, getData, closeSession, each by a deadline.

A client library keeps threads, heartbeats and retries; a lookup needs one question and one answer,
and an error that says which node said what.
"""

from __future__ import annotations

import os
from struct import Struct
from typing import TYPE_CHECKING, Self

from rowkey.hbase.connection.handshake import connect
from rowkey.hbase.registry.nodes import NodeFailed

if TYPE_CHECKING:
    from rowkey.hbase.registry.nodes import Address
    from rowkey.hbase.settings import Deadline, Settings

# Source: zookeeper.jute. A ConnectRequest is protocol, last zxid, timeout in ms, session and
# password, then whether a server without a quorum will do; frames begin with their length.
_CONNECT = Struct(">iiqiqi16s?")
_CONNECTED = Struct(">iiq")  # protocol, timeout in ms, session
_ASK = Struct(">iiii")  # length, xid, operation, length of the path
_ANSWER = Struct(">iqi")  # xid, zxid, error
_LENGTH = Struct(">i")

SESSION_MS = 10_000
"""A session that is lost with its connection ends after that time; servers take 2 to 20 ticks of
2 s. Source: zoo.cfg, tickTime.
"""

FRAME_BYTES_MOST = 4 << 20
"""Longest answer that is read. Source: jute.maxbuffer, 1 MiB by default for a server's node."""

GET_DATA, CLOSE_SESSION = 4, -11
"""Source: ZooDefs.OpCode."""

_XID = 1
"""Of the only question. Answers with others, below 0, are pings and events of watches."""

NO_NODE = -101
REFUSALS = {
    -4: "it lost its connection to the others",
    -5: "it does not understand the request",
    -102: "reading it is not allowed (NoAuth); rowkey logs in to no ZooKeeper",
    -112: "the session is over",
    -115: "authentication failed",
    -124: "it wants SASL, which rowkey does not speak",
}
"""Source: KeeperException.Code."""

_FOR_EVER = frozenset((NO_NODE, -102, -115, -124))


class NodeMissing(NodeFailed):
    """The znode is not there."""


class Session:
    """A session with one server of an ensemble; leave it by `close`, or as a context.

    Args:
        address: the server.
        settings: `connect_s` bounds the connecting.
        deadline: until when everything must be over.

    Raises:
        ServerGone: it cannot be reached.
        NodeFailed: it refuses, or is no ZooKeeper.
    """

    def __init__(self, address: Address, settings: Settings, deadline: Deadline) -> None:
        self._deadline = deadline
        self._socket = connect(address, settings, deadline)
        try:
            self._shake_hands()
        except BaseException:
            self._socket.close()
            raise

    def _shake_hands(self) -> None:
        self._send(_CONNECT.pack(_CONNECT.size - 4, 0, 0, SESSION_MS, 0, 16, bytes(16), False))
        answer = self._receive()
        protocol, timeout_ms, _ = (-1, 0, 0)
        if len(answer) >= _CONNECTED.size:
            protocol, timeout_ms, _ = _CONNECTED.unpack_from(answer)
        if protocol:
            raise NodeFailed("its answer is not ZooKeeper's", final=True)
        if timeout_ms <= 0:
            raise NodeFailed("it refused the session")

    def read(self, path: str) -> bytes:
        """What a znode holds.

        Raises:
            NodeMissing: there is no such znode.
            NodeFailed: it may not be read, or the server did not answer as it should.
        """
        name = path.encode()
        head = _ASK.pack(_ASK.size + len(name) - 3, _XID, GET_DATA, len(name))
        self._send(b"%s%s\x00" % (head, name))  # 00: no watch
        while True:
            answer = self._receive()
            if len(answer) < _ANSWER.size:
                raise NodeFailed("its answer is not ZooKeeper's", final=True)
            xid, _, error = _ANSWER.unpack_from(answer)
            if xid == _XID:
                break
        if error == NO_NODE:
            raise NodeMissing(f"there is no znode {path}", final=True)
        if error:
            why = REFUSALS.get(error, f"ZooKeeper's error {error}")
            raise NodeFailed(f"znode {path}: {why}", final=error in _FOR_EVER)
        return _data(answer, path)

    def close(self) -> None:
        """End the session without waiting for an answer; no error is raised."""
        try:
            self._socket.settimeout(0)
            self._socket.sendall(_ASK.pack(8, _XID, CLOSE_SESSION, 0)[:12])
        except OSError:
            pass  # then it ends by itself, after `SESSION_MS`
        finally:
            self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _send(self, data: bytes) -> None:
        try:
            self._socket.settimeout(_left(self._deadline))
            self._socket.sendall(data)
        except OSError as problem:
            raise _failed(problem) from problem

    def _receive(self) -> bytes:
        (size,) = _LENGTH.unpack(self._exactly(_LENGTH.size))
        if not 0 <= size <= FRAME_BYTES_MOST:
            raise NodeFailed(
                f"its answer is not ZooKeeper's: a frame of {size:,} bytes", final=True
            )
        return self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            try:
                self._socket.settimeout(_left(self._deadline))
                piece = self._socket.recv(min(size - len(data), 1 << 16))
            except OSError as problem:
                raise _failed(problem) from problem
            if not piece:
                raise NodeFailed("it closed the connection; a server without a quorum does so")
            data += piece
        return bytes(data)


def _data(answer: bytes, path: str) -> bytes:
    """The data of a getData's answer; none (length -1) is read as empty."""
    at = _ANSWER.size + _LENGTH.size
    if len(answer) < at:
        raise NodeFailed(f"znode {path}: its answer ends too soon", final=True)
    (size,) = _LENGTH.unpack_from(answer, _ANSWER.size)
    if size > len(answer) - at:
        raise NodeFailed(f"znode {path}: its answer ends too soon", final=True)
    return answer[at : at + max(size, 0)]


def _left(deadline: Deadline) -> float:
    """Seconds left; raises when there are none, since a time-out of 0 would mean something else."""
    left = deadline.left()
    if not left:
        raise TimeoutError
    return left


def _failed(problem: OSError) -> NodeFailed:
    if isinstance(problem, TimeoutError):
        return NodeFailed("no answer in time")
    return NodeFailed(os.strerror(problem.errno) if problem.errno else str(problem))
