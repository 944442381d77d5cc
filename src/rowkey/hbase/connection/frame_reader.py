"""Splits the bytes that a socket receives into frames."""

from __future__ import annotations

import socket
from typing import Final

from rowkey.hbase.wire.proto import WireFormatError

_BUFFER_BYTES: Final = 64 << 10
"""Bytes read at a time; a frame that is longer gets a buffer of its own.

Derivation: one read then holds hundreds of small answers, and a hundred connections hold 6 MB.
"""

_FIRST_LONG_BYTES: Final = 4 << 20
"""Bytes that a long frame gets at first; doubled as it comes, so that a lie costs nothing."""

MAX_FRAME_BYTES: Final = 1 << 30
"""Bytes; no server answers with more. Source: hbase.server.scanner.max.result.size is 100 MB."""


class FrameReader:
    """Receives bytes from a socket, and splits them into frames."""

    __slots__ = (
        "_buffer",
        "_long_buffer",
        "_long_filled",
        "_long_size",
        "_start",
        "_stop",
        "is_empty",
        "received_bytes",
    )

    def __init__(self) -> None:
        self._buffer = bytearray(_BUFFER_BYTES)
        self._start = self._stop = 0
        self._long_buffer: bytearray | None = None
        self._long_size = self._long_filled = 0
        self.received_bytes = 0
        self.is_empty = True
        """Whether no bytes were left when frames were last taken."""

    def fill_buffer(self, sock: socket.socket) -> int:
        """Receive from the socket once, without waiting; return how many bytes came, 0 at the end.

        Raises:
            OSError: the socket's own, BlockingIOError if nothing is there.
        """
        if self._long_buffer is None:
            with memoryview(self._buffer) as whole, whole[self._stop :] as free:
                count = sock.recv_into(free)
            self._stop += count
        else:
            count = self._fill_long_frame(self._long_buffer, sock)
        self.received_bytes += count
        return count

    def _fill_long_frame(self, buffer: bytearray, sock: socket.socket) -> int:
        """Receive once into the buffer of a long frame; return how many bytes came."""
        if self._long_filled == len(buffer):
            buffer.extend(bytes(min(len(buffer), self._long_size - len(buffer))))
        with memoryview(buffer) as whole, whole[self._long_filled :] as free:
            count = sock.recv_into(free)
        self._long_filled += count
        return count

    def take_frames(self) -> list[bytes]:
        """Remove the complete frames from the buffer; return them without their lengths.

        Raises:
            WireFormatError: the length of the next frame is not valid, and no frame is before it.
        """
        if self._long_buffer is not None:
            return self._take_long_frame()
        frames = []
        buffer, at, stop = self._buffer, self._start, self._stop
        while stop - at >= 4:
            size = int.from_bytes(buffer[at : at + 4], "big")
            if not 0 < size <= MAX_FRAME_BYTES or at + 4 + size > stop:
                break
            frames.append(bytes(buffer[at + 4 : at + 4 + size]))
            at += 4 + size
        self.is_empty = at == stop
        if self.is_empty:
            self._start = self._stop = 0
        else:
            self._start = at
            self._compact_buffer(rejects_bad_size=not frames)
        return frames

    def _take_long_frame(self) -> list[bytes]:
        """Return the long frame in a list if it is complete, else an empty list."""
        if self._long_buffer is None or self._long_filled < self._long_size:
            return []
        frame = bytes(self._long_buffer)
        self._long_buffer, self.is_empty = None, True
        return [frame]

    def _compact_buffer(self, *, rejects_bad_size: bool) -> None:
        """Move the bytes of the incomplete last frame to the start of the buffer."""
        bytes_left = self._stop - self._start
        if bytes_left >= 4:
            size = int.from_bytes(self._buffer[self._start : self._start + 4], "big")
            if not 0 < size <= MAX_FRAME_BYTES:
                if rejects_bad_size:
                    what = f"a frame that begins with {self.peek_head()!r} has {size:,} bytes"
                    raise WireFormatError(what, f"1 to {MAX_FRAME_BYTES:,} bytes")
            elif 4 + size > _BUFFER_BYTES:
                self._start_long_frame(size, bytes_left - 4)
                bytes_left = 0
        if self._start:
            self._buffer[:bytes_left] = self._buffer[self._stop - bytes_left : self._stop]
            self._start, self._stop = 0, bytes_left

    def _start_long_frame(self, size: int, filled: int) -> None:
        """Give a frame that is longer than the buffer a buffer of its own."""
        self._long_buffer = bytearray(min(size, _FIRST_LONG_BYTES))
        self._long_buffer[:filled] = self._buffer[self._start + 4 : self._stop]
        self._long_size, self._long_filled = size, filled
        self._start = self._stop

    def peek_head(self) -> bytes:
        """Return the first bytes, at most 16, after the complete frames, for messages."""
        if self._long_buffer is not None:
            return self._long_size.to_bytes(4, "big") + bytes(
                self._long_buffer[: min(12, self._long_filled)]
            )
        return bytes(self._buffer[self._start : min(self._stop, self._start + 16)])
