"""A TCP proxy in front of a server that a test can cut, stall, or make lose one answer."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Self

MULTI = 14
"""The request that changes nodes. Source: ZooDefs.OpCode."""
_LENGTH = struct.Struct(">i")


class TcpProxy:
    """Listens on a port of its own and passes on what comes, to a server and back.

    Args:
        port: the server's, on this machine.
    """

    def __init__(self, port: int) -> None:
        self._server = ("127.0.0.1", port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._passing = Event()
        self._passing.set()
        self._lose = ""
        self._is_garbled = False
        self.lost = 0
        self.before_cut: Callable[[], None] = lambda: None
        self._ends: list[socket.socket] = []
        self._threads = [Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def hosts(self) -> str:
        """Return the proxy's address as host:port."""
        return f"127.0.0.1:{self._listening.getsockname()[1]}"

    @property
    def threads(self) -> int:
        """Return how many of the proxy's threads run."""
        return sum(thread.is_alive() for thread in self._threads)

    @property
    def files(self) -> int:
        """Return how many of the proxy's sockets are open."""
        return 1 + sum(end.fileno() >= 0 for end in self._ends)

    def lose(self, what: str) -> None:
        """Cut the connection of the next change: before its `request` or before its `answer`.

        Its `sense` is lost where it gets the answer to another question.
        """
        self._lose = what

    @contextmanager
    def stall(self) -> Iterator[None]:
        """Accept connections, but pass no bytes in either direction."""
        self._passing.clear()
        try:
            yield
        finally:
            self._passing.set()

    def close_all(self) -> None:
        """Close all connections; new ones are accepted."""
        ends, self._ends = self._ends, []
        _close(*ends)

    @contextmanager
    def refuse(self) -> Iterator[None]:
        """Close all connections and forward no new ones."""
        self._passing.clear()
        self.close_all()
        try:
            yield
        finally:
            self._passing.set()

    def _accept(self) -> None:
        while True:
            try:
                caller, _ = self._listening.accept()
            except OSError:
                return
            self._passing.wait()
            try:
                server = socket.create_connection(self._server)
            except OSError:
                caller.close()
                continue
            self._ends += [caller, server]
            cut = Event()
            for pump in (self._requests, self._answers):
                ends = (caller, server, cut)
                self._threads.append(Thread(target=pump, args=ends, daemon=True))
                self._threads[-1].start()

    def _requests(self, caller: socket.socket, server: socket.socket, cut: Event) -> None:
        with suppress(OSError):
            while head := _read_exactly(caller, _LENGTH.size):
                frame = _read_exactly(caller, *_LENGTH.unpack(head))
                self._passing.wait()
                what, is_change = self._lose, frame[4:8] == MULTI.to_bytes(4, "big")
                if what and is_change:
                    self._lose = ""
                    self.lost += 1
                    if what == "request":
                        self.before_cut()
                        break
                    if what == "sense":
                        self._is_garbled = True
                    else:
                        cut.set()
                server.sendall(head + frame)
        if not cut.is_set():
            _close(caller, server)

    def _answers(self, caller: socket.socket, server: socket.socket, cut: Event) -> None:
        with suppress(OSError):
            while piece := server.recv(1 << 16):
                self._passing.wait()
                if cut.is_set():
                    self.before_cut()
                    break
                if self._is_garbled:
                    self._is_garbled = False
                    piece = piece[:4] + b"\x7f" + piece[5:]
                caller.sendall(piece)
        _close(caller, server)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._passing.set()
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        _close(*self._ends)
        for thread in self._threads:
            thread.join()


def _read_exactly(end: socket.socket, size: int) -> bytes:
    """Return this many bytes, or none if the connection ends before."""
    data = bytearray()
    while len(data) < size:
        piece = end.recv(size - len(data))
        if not piece:
            return b""
        data += piece
    return bytes(data)


def _close(*ends: socket.socket) -> None:
    """Close connections, which wakes the threads that read from them."""
    for end in ends:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()


@contextmanager
def open_black_hole() -> Iterator[str]:
    """Yield a port that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"
