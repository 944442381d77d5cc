"""A server on loopback whose behaviour a test scripts: answer, stall, lie or hang up."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import Self

from rowkey.hbase.wire.proto import (
    ProtoMessage,
    decode_varint,
    encode_bool,
    encode_bytes,
    encode_message,
    encode_text,
    encode_uint,
    encode_varint,
)

JOIN_S = 20.0
"""Seconds in which the threads of a fake server must end."""


@dataclass(frozen=True)
class ReceivedRequest:
    """A request as a server reads it."""

    call_id: int
    method: str
    param: bytes
    cells: bytes
    timeout_ms: int


def frame(body: bytes) -> bytes:
    """Return a frame: a length and its bytes."""
    return len(body).to_bytes(4, "big") + body


def answer_frame(call_id: int, body: bytes = b"", cells: bytes = b"") -> bytes:
    """Return the frame of an answer."""
    block = encode_message(3, encode_uint(1, len(cells))) if cells else b""
    header = encode_uint(1, call_id % 2**32) + block
    return frame(encode_varint(len(header)) + header + encode_varint(len(body)) + body + cells)


def fault_frame(
    call_id: int,
    java: str,
    says: str,
    *,
    do_not_retry: bool = False,
    host: str | None = None,
    port: int | None = None,
) -> bytes:
    """Return the frame of an exception with a stack trace."""
    trace = f"{java}: {says}\n\tat org.apache.hadoop.hbase.Somewhere.java:1"
    fault = (
        encode_text(1, java)
        + encode_text(2, trace)
        + encode_text(3, host)
        + encode_uint(4, port)
        + encode_bool(5, do_not_retry)
    )
    header = encode_uint(1, call_id % 2**32) + encode_bytes(2, fault)
    return frame(encode_varint(len(header)) + header)


class AcceptedConnection:
    """The server's side of a client's connection, which a script reads and writes."""

    def __init__(self, accepted: socket.socket) -> None:
        self.socket = accepted
        self.header = ProtoMessage(b"")
        self.words = b""
        self._writing = Lock()

    def greet(self) -> None:
        """Read the preamble and the header of the client."""
        self.words = self._read(6)
        self.header = ProtoMessage(self._read(int.from_bytes(self._read(4), "big")))

    def _read(self, count: int) -> bytes:
        pieces = []
        while count:
            piece = self.socket.recv(min(count, 1 << 20))
            if not piece:
                raise EOFError
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)

    def read_request(self) -> ReceivedRequest:
        """Return the next request; raise EOFError if the client has hung up."""
        frame = self._read(int.from_bytes(self._read(4), "big"))
        size, at = decode_varint(frame, 0)
        header = ProtoMessage(frame[at : at + size])
        block = header.get_message(5)
        stop = len(frame) - (block.get_uint(1) if block else 0)
        size, at = decode_varint(frame, at + size)
        param, cells = frame[at : at + size], frame[stop:]
        return ReceivedRequest(
            header.get_uint(1), header.get_text(3), param, cells, header.get_uint(7)
        )

    def write(self, raw: bytes) -> None:
        """Send bytes as they are, completely, also with several writing threads."""
        with self._writing:
            self.socket.sendall(raw)

    def answer(self, asked: ReceivedRequest, body: bytes = b"", cells: bytes = b"") -> None:
        """Answer a request."""
        self.write(answer_frame(asked.call_id, body, cells))

    def fail(
        self, asked: ReceivedRequest, java: str, says: str = "", *, do_not_retry: bool = False
    ) -> None:
        """Answer a request with an exception."""
        self.write(fault_frame(asked.call_id, java, says, do_not_retry=do_not_retry))

    def hang_up(self) -> None:
        """Close the connection; the client reads EOF."""
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)

    def reset(self) -> None:
        """Cut the connection; the client reads ECONNRESET."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


def answer_each(
    reply: Callable[[ReceivedRequest], bytes | tuple[bytes, bytes] | None],
) -> Callable[..., None]:
    """Return the script of a server that answers each request; None sends no answer."""

    def script(peer: AcceptedConnection) -> None:
        while True:
            asked = peer.read_request()
            made = reply(asked)
            if isinstance(made, tuple):
                peer.answer(asked, *made)
            elif made is not None:
                peer.answer(asked, made)

    return script


def stall(over: Event) -> Callable[[AcceptedConnection], None]:
    """Return the script of a server that neither reads nor answers during the test."""

    def script(_: AcceptedConnection) -> None:
        over.wait(JOIN_S)

    return script


class FakeServer:
    """A server on loopback; each connection runs the script in a thread of its own.

    Args:
        script: what is done with a connection; it ends with EOFError when the client hangs up.
        greets: whether the client's first words are read before the script begins.
        port: to listen on; 0: any free one.
    """

    def __init__(
        self, script: Callable[[AcceptedConnection], None], *, greets: bool = True, port: int = 0
    ) -> None:
        self._script, self._greets = script, greets
        self._listening = socket.create_server(("127.0.0.1", port))
        self.address: tuple[str, int] = ("127.0.0.1", self._listening.getsockname()[1])
        self.peers: list[AcceptedConnection] = []
        self.problems: list[BaseException] = []
        self._threads = [Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                accepted, _ = self._listening.accept()
            except OSError:
                return
            peer = AcceptedConnection(accepted)
            self.peers.append(peer)
            thread = Thread(target=self._serve, args=(peer,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, peer: AcceptedConnection) -> None:
        try:
            if self._greets:
                peer.greet()
            self._script(peer)
        except (EOFError, OSError):
            pass  # the client, or the end of the test, hung up
        except BaseException as problem:  # noqa: BLE001 - told when the server is closed
            self.problems.append(problem)
        finally:
            peer.socket.close()

    def close(self) -> None:
        """Stop the server and raise the errors of its scripts."""
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._threads[0].join(JOIN_S)
        for peer in self.peers:
            peer.hang_up()
        for thread in self._threads:
            thread.join(JOIN_S)
        assert [] == [thread for thread in self._threads if thread.is_alive()]
        assert [] == self.problems

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def free_port() -> int:
    """Return a port on which nobody listens at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port
