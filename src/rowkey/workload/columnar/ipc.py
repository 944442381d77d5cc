"""The sizes that an Arrow file declares, checked before Arrow asks for memory.

Arrow takes lengths, offsets and the unpacked sizes of buffers as they are written. Here they are
read from the metadata alone, and what cannot be true of a file of its size is refused.

Source: the Arrow columnar format, "Serialization and Interprocess Communication"; its schemas
Message.fbs and File.fbs; FlatBuffers' "Internals" for the bytes of tables.
"""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass, field
from typing import IO

MAGIC = b"ARROW1\0\0"
"""How a file begins; a stream begins otherwise."""
CONTINUATION = 0xFFFFFFFF
MOST_METADATA_BYTES = 1 << 26
MOST_UNPACKED_BYTES = 1 << 28
"""Bytes that any message may unpack to, and any file."""
MESSAGE_RATIO, FILE_RATIO = 32, 200
"""Times its own size that a larger message, or a larger file, may unpack to: a column of one value
reaches thousands, and no file that is worth a look does so throughout."""
DICTIONARY, BATCH = 2, 3
"""Numbers of the headers of messages that have a body."""

OLD_COMPRESSION = b"ARROW:experimental_compression"
"""The word among the metadata of a message that says in Arrow 0.17 that it is compressed."""


class DamagedFileError(ValueError):
    """A file that says of itself what cannot be true."""


class Table:
    """A table of FlatBuffers.

    Args:
        data: the bytes that it is in.
        at: where it begins.
    """

    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at
        self.fields = at - _read("<i", data, at)
        self.fields_size = _read("<H", data, self.fields)

    def find(self, number: int) -> int | None:
        """Return where a field begins; None if it is not there."""
        place = 4 + 2 * number
        if place + 2 > self.fields_size:
            return None
        offset = _read("<H", self.data, self.fields + place)
        return self.at + offset if offset else None

    def number(self, number: int, form: str) -> int:
        """Return a field that is a number, 0 if it is not there."""
        at = self.find(number)
        return 0 if at is None else _read(form, self.data, at)

    def table(self, number: int) -> Table | None:
        """Return a field that is a table; None if it is not there."""
        at = self.find(number)
        return None if at is None else Table(self.data, at + _read("<I", self.data, at))

    def structs(self, number: int, form: str) -> list[tuple[int, ...]]:
        """Return a field that is a vector of structs, each as its numbers."""
        at = self.find(number)
        if at is None:
            return []
        at += _read("<I", self.data, at)
        size, count = struct.calcsize(form), _read("<I", self.data, at)
        if at + 4 + size * count > len(self.data):
            raise DamagedFileError(f"a list of {count:,} entries does not fit into the metadata")
        return list(struct.iter_unpack(form, self.data[at + 4 : at + 4 + size * count]))


def _read(form: str, data: bytes, at: int) -> int:
    if at < 0 or at + struct.calcsize(form) > len(data):
        raise DamagedFileError("its metadata points outside of itself")
    number: int = struct.unpack_from(form, data, at)[0]
    return number


@dataclass(frozen=True, slots=True)
class Message:
    """What the metadata of a message says.

    Args:
        kind: the number of its header.
        body_bytes: bytes of its body.
        rows: rows of a batch; 0 of anything else.
        buffers: where the buffers of a batch begin in the body, and their bytes.
        is_packed: whether they are compressed.
    """

    kind: int
    body_bytes: int
    rows: int = 0
    buffers: tuple[tuple[int, ...], ...] = ()
    is_packed: bool = False

    @classmethod
    def parse(cls, metadata: bytes) -> Message:
        """Read the metadata of a message.

        Raises:
            DamagedFileError: a length is negative, or a buffer lies outside of the body.
        """
        found = Table(metadata, _read("<I", metadata, 0))
        kind, body_bytes, header = found.number(1, "<B"), found.number(3, "<q"), found.table(2)
        batch = header.table(1) if kind == DICTIONARY and header is not None else header
        if body_bytes < 0:
            raise DamagedFileError(f"a message has {body_bytes:,} bytes")
        if kind not in (DICTIONARY, BATCH) or batch is None:
            return cls(kind, body_bytes)
        rows, buffers = batch.number(0, "<q"), batch.structs(2, "<qq")
        nodes = batch.structs(1, "<qq")
        if rows < 0 or any(length < 0 or not 0 <= nulls <= length for length, nulls in nodes):
            raise DamagedFileError("a batch has a negative number of rows or nulls")
        for offset, length in buffers:
            if offset < 0 or length < 0 or offset + length > body_bytes:
                raise DamagedFileError("a buffer lies outside of its batch")
        is_packed = batch.find(3) is not None or OLD_COMPRESSION in metadata
        return cls(kind, body_bytes, rows, tuple(buffers), is_packed)


@dataclass(slots=True)
class Limits:
    """Counts what a file unpacks to, and refuses what is too much for its size.

    Args:
        file_bytes: bytes of the file, as it is stored.
        unpacked: bytes that were counted.
    """

    file_bytes: int
    unpacked: int = field(default=0)

    def count_message(self, message: Message, stream: IO[bytes], start: int = 0) -> None:
        """Count what the buffers of a message unpack to.

        Args:
            message: what its metadata says.
            stream: what its body is in.
            start: where that begins.

        Raises:
            DamagedFileError: it is too much.
        """
        size = sum(
            _read_unpacked_size(stream, start + offset, length)
            for offset, length in message.buffers
            if length
        )
        most = max(MOST_UNPACKED_BYTES, MESSAGE_RATIO * message.body_bytes)
        if size > most:
            raise DamagedFileError(
                f"a batch of {message.body_bytes:,} bytes unpacks to {size:,}, more than {most:,}"
            )
        self.count(size)

    def count(self, size: int) -> None:
        """Count some bytes that are unpacked.

        Raises:
            DamagedFileError: they are too many, with those that were counted before.
        """
        self.unpacked += size
        most = max(MOST_UNPACKED_BYTES, FILE_RATIO * self.file_bytes)
        if self.unpacked > most:
            raise DamagedFileError(
                f"its {self.file_bytes:,} bytes unpack to more than {most:,}; write it uncompressed"
            )


def _read_unpacked_size(stream: IO[bytes], at: int, length: int) -> int:
    """Return how many bytes a compressed buffer unpacks to, as it says at its beginning."""
    if length < 8:
        raise DamagedFileError(f"a compressed buffer has {length} bytes")
    stream.seek(at)
    size = _read("<q", stream.read(8), 0)
    if size < -1:
        raise DamagedFileError(f"a buffer unpacks to {size:,} bytes")
    return length if size == -1 else size


class MessageStream(io.RawIOBase):
    """A stream of Arrow's messages, each checked before any of it is handed on.

    Args:
        stream: the messages.
        limits: counts what they unpack to.
        most_body_bytes: bytes that a body may have.
    """

    def __init__(self, stream: IO[bytes], limits: Limits, most_body_bytes: int) -> None:
        self._stream = stream
        self._limits = limits
        self._most = most_body_bytes
        self._ready = b""
        self._body_left = 0
        """Bytes of a body that are handed on as they come."""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes, fewer only at the end; all if it is negative."""
        found: list[bytes] = []
        left = size if size >= 0 else 1 << 62
        while left and (piece := self._read_piece(left)):
            found.append(piece)
            left -= len(piece)
        return found[0] if len(found) == 1 else b"".join(found)

    def _read_piece(self, most: int) -> bytes:
        """Return the next bytes, at most `most`; none at the end."""
        if not self._ready and not self._body_left:
            self._ready = self._read_message_start()
        if self._ready:
            piece, self._ready = self._ready[:most], self._ready[most:]
            return piece
        piece = self._stream.read(min(most, self._body_left))
        self._body_left -= len(piece) if piece else self._body_left
        return piece

    def _read_message_start(self) -> bytes:
        """Return the next message up to its body, or with its body if it is compressed."""
        head = self._stream.read(4)
        if len(head) == 4 and _read("<I", head, 0) == CONTINUATION:
            head += self._stream.read(4)
        if len(head) < 4 or not any(head[-4:]):
            return head
        metadata_bytes = _read("<i", head, len(head) - 4)
        if not 0 <= metadata_bytes <= MOST_METADATA_BYTES:
            raise DamagedFileError(f"the metadata of a message has {metadata_bytes:,} bytes")
        metadata = self._stream.read(metadata_bytes)
        message = Message.parse(metadata)
        if message.body_bytes > self._most:
            what = f"a message has {message.body_bytes:,} bytes"
            raise DamagedFileError(f"{what}, more than {self._most:,}")
        if not message.is_packed:
            self._body_left = message.body_bytes
            return head + metadata
        body = self._stream.read(message.body_bytes)
        self._limits.count_message(message, io.BytesIO(body))
        return head + metadata + body


class FileBlocks:
    """The messages of an Arrow file, by its footer.

    Args:
        stream: the file, which can be read anywhere.
        limits: counts what its batches unpack to.

    Raises:
        DamagedFileError: there is no footer.
    """

    def __init__(self, stream: IO[bytes], limits: Limits) -> None:
        self._stream = stream
        self._limits = limits
        end = stream.seek(0, io.SEEK_END) - len(MAGIC.rstrip(b"\0")) - 4
        size = _read("<i", self._read_bytes(end, 4), 0) if end > 0 else -1
        self._end = end - size
        if size < 0 or self._end < len(MAGIC):
            raise DamagedFileError("its end is no footer")
        footer = self._read_bytes(self._end, size)
        found = Table(footer, _read("<I", footer, 0))
        self.dictionaries = found.structs(2, "<qi4xq")
        self.batches = found.structs(3, "<qi4xq")

    def check(self, block: tuple[int, ...]) -> Message:
        """Check a message and return what its metadata says.

        Args:
            block: where it begins, the bytes of its metadata with their length, those of its body.

        Raises:
            DamagedFileError: it says what cannot be true.
        """
        offset, metadata_bytes, body_bytes = block
        start = offset + metadata_bytes
        is_inside = min(offset, metadata_bytes, body_bytes) >= 0 and start + body_bytes <= self._end
        if not is_inside or metadata_bytes > MOST_METADATA_BYTES:
            raise DamagedFileError("its footer points outside of its messages")
        metadata = self._read_bytes(offset, metadata_bytes)
        has_mark = _read("<I", metadata, 0) == CONTINUATION
        message = Message.parse(metadata[8 if has_mark else 4 :])
        if start + message.body_bytes > self._end:
            raise DamagedFileError("a message is longer than the file")
        if message.is_packed:
            self._limits.count_message(message, self._stream, start)
        return message

    def _read_bytes(self, at: int, count: int) -> bytes:
        self._stream.seek(at)
        return self._stream.read(count)
