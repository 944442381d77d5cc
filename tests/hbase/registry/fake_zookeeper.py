"""A ZooKeeper server with scripted znodes and failures."""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping
from threading import Event, Thread
from typing import Self

NO_NODE = -101
SYNC, CLOSE_SESSION = 9, -11
"""Source: ZooDefs.OpCode."""


class FakeZooKeeper:
    """Listens on a port of its own; use it as a context.

    Args:
        znodes: what each holds, or the error that reading it gets.
        mode: `serve`; `silent` accepts and says nothing; `mute` takes the session and answers no
            question; `hang up` closes at once; `refuse` grants no session; `garbage` and `huge`
            send what is no answer; `drip` sends one byte at a time, slowly; `chatty` sends a ping
            and an event before each answer; `short` ends amid the answer.
    """

    def __init__(
        self, znodes: Mapping[str, bytes | int] | None = None, mode: str = "serve"
    ) -> None:
        self.znodes, self.mode = dict(znodes or {}), mode
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = self._listening.getsockname()
        self.sessions = self.closed = 0
        self._over = Event()
        self._callers: list[socket.socket] = []
        self._threads = [Thread(target=self._accept)]

    @property
    def node(self) -> str:
        """Return the server's address as in a URL."""
        return f"127.0.0.1:{self.address[1]}"

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._threads[0].join()  # no connection is accepted after this
        self.hang_up()
        for thread in self._threads[1:]:
            thread.join()

    def hang_up(self) -> None:
        """Close all connections."""
        for caller in self._callers:
            caller.close()

    def _accept(self) -> None:
        while not self._over.is_set():
            try:
                caller, _ = self._listening.accept()
            except OSError:
                return
            caller.settimeout(10)
            self._callers.append(caller)
            thread = Thread(target=self._talk, args=(caller,))
            self._threads.append(thread)
            thread.start()

    def _talk(self, caller: socket.socket) -> None:
        try:
            self._serve(caller)
        except (OSError, EOFError):
            return
        finally:
            if self.mode != "silent":
                caller.close()

    def _serve(self, caller: socket.socket) -> None:
        if self.mode in {"silent", "hang up"}:
            return
        _frame(caller)
        self.sessions += 1
        if self.mode in {"garbage", "huge"}:
            caller.sendall(b"HTTP/1.1 400 Bad Request\r\n" if self.mode == "huge" else
                           b"\x00\x00\x00\x04nope")  # fmt: skip
            self._over.wait(10)
            return
        timeout = 0 if self.mode == "refuse" else 4_000
        self._send(caller, struct.pack(">iiqi16s?", 0, timeout, 7, 16, bytes(16), False))
        while True:
            asked = _frame(caller)
            xid, operation = struct.unpack_from(">ii", asked)
            if operation == CLOSE_SESSION:
                self.closed += 1
                self._send(caller, struct.pack(">iqi", xid, 1, 0))
                return
            if self.mode == "mute":
                self._over.wait(10)
                return
            if self.mode == "chatty":
                self._send(caller, struct.pack(">iqi", -2, 1, 0))
                event = struct.pack(">iii", 3, 3, 2) + b"/x"  # NodeDataChanged, SyncConnected
                self._send(caller, struct.pack(">iqi", -1, 1, 0) + event)
            (size,) = struct.unpack_from(">i", asked, 8)
            self._send(caller, self._answer(xid, operation, asked[12 : 12 + size].decode()))

    def _answer(self, xid: int, operation: int, path: str) -> bytes:
        if operation == SYNC:
            name = path.encode()
            return struct.pack(f">iqii{len(name)}s", xid, 1, 0, len(name), name)
        held = self.znodes.get(path, NO_NODE)
        if isinstance(held, int):
            return struct.pack(">iqi", xid, 1, held)
        data = struct.pack(">i", len(held)) + held
        if self.mode == "short":
            data = data[:-1]
            return struct.pack(">iqi", xid, 1, 0) + data
        return struct.pack(">iqi", xid, 1, 0) + data + bytes(68)  # its Stat

    def _send(self, caller: socket.socket, data: bytes) -> None:
        framed = struct.pack(">i", len(data)) + data
        if self.mode != "drip":
            caller.sendall(framed)
            return
        for byte in framed:
            caller.sendall(bytes((byte,)))
            if self._over.wait(0.05):
                return


def _frame(caller: socket.socket) -> bytes:
    (size,) = struct.unpack(">i", _exactly(caller, 4))
    return _exactly(caller, size)


def _exactly(caller: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = caller.recv(size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data
