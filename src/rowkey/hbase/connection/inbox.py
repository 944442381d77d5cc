"""From the bytes of a socket to whole frames; a frame that came in part waits for the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rowkey.hbase.wire.proto import Malformed

if TYPE_CHECKING:
    import socket

_BUFFER: Final = 64 << 10
"""Bytes read at a time; a frame that is longer gets a buffer of its own.

Derivation: one read then holds hundreds of small answers, and a hundred connections hold 6 MB.
"""

_FIRST_PIECE: Final = 4 << 20
"""Bytes that a long frame gets at first; doubled as it comes, so that a lie costs nothing."""

LONGEST_FRAME: Final = 1 << 30
"""Bytes; no server answers with more. Source: hbase.server.scanner.max.result.size is 100 MB."""


class Inbox:
    """What was read of a socket and not yet handed out."""

    __slots__ = ("_buffer", "_filled", "_long", "_long_size", "_start", "_stop", "received")

    def __init__(self) -> None:
        self._buffer = bytearray(_BUFFER)
        self._start = self._stop = 0
        self._long: bytearray | None = None
        self._long_size = self._filled = 0
        self.received = 0

    def fill(self, source: socket.socket) -> int:
        """Read once, without waiting; how many bytes came, 0 at the end of the stream.

        Raises:
            OSError: the socket's own, BlockingIOError if nothing is there.
        """
        if self._long is None:
            with memoryview(self._buffer) as whole, whole[self._stop :] as free:
                count = source.recv_into(free)
            self._stop += count
        else:
            count = self._fill_long(self._long, source)
        self.received += count
        return count

    def _fill_long(self, long: bytearray, source: socket.socket) -> int:
        if self._filled == len(long):
            long.extend(bytes(min(len(long), self._long_size - len(long))))
        with memoryview(long) as whole, whole[self._filled :] as free:
            count = source.recv_into(free)
        self._filled += count
        return count

    def frames(self) -> list[bytes]:
        """The frames that are whole, without their lengths, in the order they came.

        Raises:
            Malformed: the length of the next one is none, and no frame is before it.
        """
        if self._long is not None:
            return self._long_frame()
        found = []
        buffer, at, stop = self._buffer, self._start, self._stop
        while stop - at >= 4:
            size = int.from_bytes(buffer[at : at + 4], "big")
            if not 0 < size <= LONGEST_FRAME or at + 4 + size > stop:
                break
            found.append(bytes(buffer[at + 4 : at + 4 + size]))
            at += 4 + size
        self._start = at
        self._make_room(refusing=not found)
        return found

    def _long_frame(self) -> list[bytes]:
        if self._long is None or self._filled < self._long_size:
            return []
        frame = bytes(self._long)
        self._long = None
        return [frame]

    def _make_room(self, *, refusing: bool) -> None:
        """Keep only what belongs to the frame that is not whole yet."""
        left = self._stop - self._start
        if left >= 4:
            size = int.from_bytes(self._buffer[self._start : self._start + 4], "big")
            if not 0 < size <= LONGEST_FRAME:
                if refusing:
                    what = f"a frame of {size:,} bytes, beginning with {self.head()!r}"
                    raise Malformed(what, f"1..{LONGEST_FRAME:,}")
            elif 4 + size > _BUFFER:
                self._begin_long(size, left - 4)
                left = 0
        if self._start:
            self._buffer[:left] = self._buffer[self._stop - left : self._stop]
            self._start, self._stop = 0, left

    def _begin_long(self, size: int, have: int) -> None:
        self._long = bytearray(min(size, _FIRST_PIECE))
        self._long[:have] = self._buffer[self._start + 4 : self._stop]
        self._long_size, self._filled = size, have
        self._start = self._stop

    def head(self) -> bytes:
        """The first bytes of what is not handed out yet, at most 16."""
        if self._long is not None:
            return self._long_size.to_bytes(4, "big") + bytes(self._long[: min(12, self._filled)])
        return bytes(self._buffer[self._start : min(self._stop, self._start + 16)])
