"""The sizes that an Arrow file declares, checked before Arrow allocates memory for them.

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
MAX_METADATA_BYTES = 1 << 26
MAX_UNPACKED_BYTES = 1 << 28
"""Bytes that any message may unpack to, and any file."""
MAX_MESSAGE_RATIO, MAX_FILE_RATIO = 32, 200
"""Times its own size that a larger message, or a larger file, may unpack to: a column of one value
reaches thousands, and no file that is worth a look does so throughout."""
DICTIONARY_HEADER, BATCH_HEADER = 2, 3
"""Numbers of the headers of messages that have a body."""

OLD_COMPRESSION_KEY = b"ARROW:experimental_compression"
"""The word among the metadata of a message that says in Arrow 0.17 that it is compressed."""


class DamagedFileError(ValueError):
    """Raised for a file whose own description cannot be true."""


class FlatBufferTable:
    """A FlatBuffers table.

    Args:
        data: the bytes that it is in.
        offset: where it begins.
    """

    def __init__(self, data: bytes, offset: int) -> None:
        self.data = data
        self.offset = offset
        self.fields = offset - _read_number("<i", data, offset)
        self.fields_size = _read_number("<H", data, self.fields)

    def find_field(self, number: int) -> int | None:
        """Return where a field begins; None if it is not there."""
        place = 4 + 2 * number
        if place + 2 > self.fields_size:
            return None
        offset = _read_number("<H", self.data, self.fields + place)
        return self.offset + offset if offset else None

    def read_number(self, number: int, struct_format: str) -> int:
        """Return a field that is a number, 0 if it is not there."""
        at = self.find_field(number)
        return 0 if at is None else _read_number(struct_format, self.data, at)

    def read_table(self, number: int) -> FlatBufferTable | None:
        """Return a field that is a table; None if it is not there."""
        at = self.find_field(number)
        return (
            None
            if at is None
            else FlatBufferTable(self.data, at + _read_number("<I", self.data, at))
        )

    def read_structs(self, number: int, struct_format: str) -> list[tuple[int, ...]]:
        """Return a field that is a vector of structs, each as its numbers.

        Raises:
            DamagedFileError: the vector is longer than the metadata.
        """
        at = self.find_field(number)
        if at is None:
            return []
        at += _read_number("<I", self.data, at)
        size, count = struct.calcsize(struct_format), _read_number("<I", self.data, at)
        if at + 4 + size * count > len(self.data):
            raise DamagedFileError(f"a list of {count:,} entries does not fit into the metadata")
        return list(struct.iter_unpack(struct_format, self.data[at + 4 : at + 4 + size * count]))


def _read_number(struct_format: str, data: bytes, offset: int) -> int:
    if offset < 0 or offset + struct.calcsize(struct_format) > len(data):
        raise DamagedFileError("the metadata has an offset outside of itself")
    number: int = struct.unpack_from(struct_format, data, offset)[0]
    return number


@dataclass(frozen=True, slots=True)
class ArrowMessage:
    """The metadata of a message.

    Args:
        header_type: the number of its header.
        body_bytes: bytes of its body.
        rows: rows of a batch; 0 of anything else.
        buffers: where the buffers of a batch begin in the body, and their bytes.
        is_compressed: whether they are compressed.
    """

    header_type: int
    body_bytes: int
    rows: int = 0
    buffers: tuple[tuple[int, ...], ...] = ()
    is_compressed: bool = False

    @classmethod
    def parse(cls, metadata: bytes) -> ArrowMessage:
        """Return the parsed metadata of a message.

        Raises:
            DamagedFileError: a length is negative, or a buffer lies outside of the body.
        """
        table = FlatBufferTable(metadata, _read_number("<I", metadata, 0))
        kind, body_bytes, header = (
            table.read_number(1, "<B"),
            table.read_number(3, "<q"),
            table.read_table(2),
        )
        batch = header.read_table(1) if kind == DICTIONARY_HEADER and header is not None else header
        if body_bytes < 0:
            raise DamagedFileError(f"a message has {body_bytes:,} bytes")
        if kind not in (DICTIONARY_HEADER, BATCH_HEADER) or batch is None:
            return cls(kind, body_bytes)
        rows, buffers = batch.read_number(0, "<q"), batch.read_structs(2, "<qq")
        nodes = batch.read_structs(1, "<qq")
        if rows < 0 or any(length < 0 or not 0 <= nulls <= length for length, nulls in nodes):
            raise DamagedFileError("a batch has a negative number of rows or nulls")
        for offset, length in buffers:
            if offset < 0 or length < 0 or offset + length > body_bytes:
                raise DamagedFileError("a buffer lies outside of its batch")
        is_packed = batch.find_field(3) is not None or OLD_COMPRESSION_KEY in metadata
        return cls(kind, body_bytes, rows, tuple(buffers), is_packed)


@dataclass(slots=True)
class UnpackedSizeLimit:
    """Adds up the uncompressed size of a file, and refuses too much for the file's size.

    Args:
        file_bytes: bytes of the file, as it is stored.
        unpacked_bytes: bytes that were counted.
    """

    file_bytes: int
    unpacked_bytes: int = field(default=0)

    def count_message(self, message: ArrowMessage, stream: IO[bytes], start: int = 0) -> None:
        """Count the uncompressed size of a message's buffers.

        Args:
            stream: the file that contains its body.
            start: the offset of the body in the stream.

        Raises:
            DamagedFileError: the buffers are too large.
        """
        size = sum(
            _read_unpacked_size(stream, start + offset, length)
            for offset, length in message.buffers
            if length
        )
        max_bytes = max(MAX_UNPACKED_BYTES, MAX_MESSAGE_RATIO * message.body_bytes)
        if size > max_bytes:
            raise DamagedFileError(
                f"a batch of {message.body_bytes:,} bytes unpacks to {size:,}, "
                f"more than {max_bytes:,}"
            )
        self.count_bytes(size)

    def count_bytes(self, size: int) -> None:
        """Count some uncompressed bytes.

        Raises:
            DamagedFileError: all bytes counted so far are too many for the size of the file.
        """
        self.unpacked_bytes += size
        max_bytes = max(MAX_UNPACKED_BYTES, MAX_FILE_RATIO * self.file_bytes)
        if self.unpacked_bytes > max_bytes:
            raise DamagedFileError(
                f"{self.file_bytes:,} bytes unpack to more than {max_bytes:,}; "
                "write it uncompressed"
            )


def _read_unpacked_size(stream: IO[bytes], offset: int, length: int) -> int:
    """Return how many bytes a compressed buffer unpacks to, as it says at its beginning.

    Raises:
        DamagedFileError: the buffer is too short, or the size below -1.
    """
    if length < 8:
        raise DamagedFileError(f"a compressed buffer has {length} bytes")
    stream.seek(offset)
    size = _read_number("<q", stream.read(8), 0)
    if size < -1:
        raise DamagedFileError(f"a buffer unpacks to {size:,} bytes")
    return length if size == -1 else size


class CheckedMessageStream(io.RawIOBase):
    """A stream of Arrow messages, each checked before it is passed on.

    Args:
        limits: counts what they unpack to.
        max_body_bytes: bytes that a body may have.
    """

    def __init__(self, stream: IO[bytes], limits: UnpackedSizeLimit, max_body_bytes: int) -> None:
        self._stream = stream
        self._limits = limits
        self._max_body_bytes = max_body_bytes
        self._buffer = b""
        self._body_bytes_left = 0
        """Bytes of a body that are handed on as they come."""

    def readable(self) -> bool:
        """Return True: the stream can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes, fewer only at the end; all if it is negative."""
        pieces: list[bytes] = []
        bytes_left = size if size >= 0 else 1 << 62
        while bytes_left and (piece := self._read_piece(bytes_left)):
            pieces.append(piece)
            bytes_left -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _read_piece(self, max_bytes: int) -> bytes:
        """Return the next bytes, at most `max_bytes`; none at the end."""
        if not self._buffer and not self._body_bytes_left:
            self._buffer = self._read_message_start()
        if self._buffer:
            piece, self._buffer = self._buffer[:max_bytes], self._buffer[max_bytes:]
            return piece
        piece = self._stream.read(min(max_bytes, self._body_bytes_left))
        self._body_bytes_left -= len(piece) if piece else self._body_bytes_left
        return piece

    def _read_message_start(self) -> bytes:
        """Return the next message up to its body, or with its body if it is compressed.

        Raises:
            DamagedFileError: the metadata or the body is larger than a message can be.
        """
        head = self._stream.read(4)
        if len(head) == 4 and _read_number("<I", head, 0) == CONTINUATION:
            head += self._stream.read(4)
        if len(head) < 4 or not any(head[-4:]):
            return head
        metadata_bytes = _read_number("<i", head, len(head) - 4)
        if not 0 <= metadata_bytes <= MAX_METADATA_BYTES:
            raise DamagedFileError(f"the metadata of a message has {metadata_bytes:,} bytes")
        metadata = self._stream.read(metadata_bytes)
        message = ArrowMessage.parse(metadata)
        if message.body_bytes > self._max_body_bytes:
            what = f"a message has {message.body_bytes:,} bytes"
            raise DamagedFileError(f"{what}, more than {self._max_body_bytes:,}")
        if not message.is_compressed:
            self._body_bytes_left = message.body_bytes
            return head + metadata
        body = self._stream.read(message.body_bytes)
        self._limits.count_message(message, io.BytesIO(body))
        return head + metadata + body


class ArrowFileBlocks:
    """The messages of an Arrow file, found by its footer.

    Args:
        stream: the file, which can be read anywhere.
        limits: counts what its batches unpack to.

    Raises:
        DamagedFileError: there is no footer.
    """

    def __init__(self, stream: IO[bytes], limits: UnpackedSizeLimit) -> None:
        self._stream = stream
        self._limits = limits
        end = stream.seek(0, io.SEEK_END) - len(MAGIC.rstrip(b"\0")) - 4
        size = _read_number("<i", self._read_bytes(end, 4), 0) if end > 0 else -1
        self._end = end - size
        if size < 0 or self._end < len(MAGIC):
            raise DamagedFileError("the file does not end with a footer")
        footer = self._read_bytes(self._end, size)
        found = FlatBufferTable(footer, _read_number("<I", footer, 0))
        self.dictionaries = found.read_structs(2, "<qi4xq")
        self.batches = found.read_structs(3, "<qi4xq")

    def check_block(self, block: tuple[int, ...]) -> ArrowMessage:
        """Check a message and return its metadata.

        Args:
            block: where it begins, the bytes of its metadata with their length, those of its body.

        Raises:
            DamagedFileError: it says what cannot be true.
        """
        offset, metadata_bytes, body_bytes = block
        start = offset + metadata_bytes
        is_inside = min(offset, metadata_bytes, body_bytes) >= 0 and start + body_bytes <= self._end
        if not is_inside or metadata_bytes > MAX_METADATA_BYTES:
            raise DamagedFileError("the footer has an offset outside of the messages")
        metadata = self._read_bytes(offset, metadata_bytes)
        has_mark = _read_number("<I", metadata, 0) == CONTINUATION
        message = ArrowMessage.parse(metadata[8 if has_mark else 4 :])
        if start + message.body_bytes > self._end:
            raise DamagedFileError("a message is longer than the file")
        if message.is_compressed:
            self._limits.count_message(message, self._stream, start)
        return message

    def _read_bytes(self, offset: int, count: int) -> bytes:
        self._stream.seek(offset)
        return self._stream.read(count)
