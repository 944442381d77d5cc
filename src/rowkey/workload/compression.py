"""Compressed files: recognized by their first bytes or their names, and read as streams."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Protocol

from rowkey.array_libraries import pa

COMPRESSED_SUFFIXES = (".gz", ".zip", ".xz", ".zst", ".bz2")
_FIRST_BYTES = {
    ".gz": b"\x1f\x8b\x08",
    ".zip": b"PK\x03\x04",
    ".xz": b"\xfd7zXZ\x00",
    ".zst": b"\x28\xb5\x2f\xfd",
    ".bz2": b"BZh",
}
MAX_XZ_MEMORY_BYTES = 1 << 28
"""Memory that a file may ask of the decoder of xz; `xz -9` needs a quarter of it."""
_CHUNK_BYTES = 1 << 16


class Decoder(Protocol):
    """A stream of unpacked bytes that is read once."""

    def read(self, size: int, /) -> bytes:
        """Return at most so many bytes; none at the end."""


def find_compression(path: Path) -> str:
    """Return how a file is compressed, as the suffix of its program; empty if it is not.

    The first bytes decide; where they are of no compression, the file's name, so that a damaged
    file is not taken for plain text.
    """
    head = b""
    with suppress(OSError, ValueError):
        if path.is_file():
            with path.open("rb") as stream:
                head = stream.read(8)
    detected = detect_compression(head)
    suffix = path.suffix.lower()
    return detected or (suffix if suffix in COMPRESSED_SUFFIXES else "")


def detect_compression(head: bytes) -> str:
    """Return the compression that the first bytes of a file show; empty if they show none.

    >>> detect_compression(b"BZh91AY&SY"), detect_compression(b"BZh,host")
    ('.bz2', '')
    """
    for suffix, first_bytes in _FIRST_BYTES.items():
        if head.startswith(first_bytes):
            is_text = suffix == ".bz2" and not head[3:4].isdigit()
            return "" if is_text else suffix
    return ""


class RewindableStream(io.RawIOBase):
    """Unpacked bytes that can be read again from the start.

    Args:
        file: the compressed bytes.
        open_decoder: returns a decoder of them.
    """

    def __init__(self, file: IO[bytes], open_decoder: Callable[[IO[bytes]], Decoder]) -> None:
        self._file = file
        self._open_decoder = open_decoder
        self._decoder = open_decoder(file)
        self._position = 0

    def readable(self) -> bool:
        """Return True: the stream can be read."""
        return True

    def seekable(self) -> bool:
        """Return True: the stream can be read from another position."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read at most as many bytes as the buffer takes; return 0 at the end."""
        data = self._decoder.read(len(buffer))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position; to go back, everything is unpacked again from the start."""
        if whence == io.SEEK_END:
            while self.read(_CHUNK_BYTES):
                pass
            offset += self._position
        elif whence == io.SEEK_CUR:
            offset += self._position
        if offset < self._position:
            self._file.seek(0)
            self._decoder, self._position = self._open_decoder(self._file), 0
        while self._position < offset and self.read(min(offset - self._position, _CHUNK_BYTES)):
            pass
        return self._position


class XzDecoder:
    """Decodes an xz file in bounded memory.

    Args:
        file: the compressed bytes.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decompressor = self._build_decompressor()
        self._is_at_start = True

    def read(self, size: int) -> bytes:
        """Return at most so many unpacked bytes; none at the end.

        Raises:
            OSError: the file is damaged, or asks for too much memory.
            EOFError: the file is cut off.
        """
        import lzma

        while True:
            if self._decompressor.eof:
                packed = self._decompressor.unused_data or self._file.read(_CHUNK_BYTES)
                while packed and not packed.strip(b"\0"):  # padding between streams
                    packed = self._file.read(_CHUNK_BYTES)
                if not packed:
                    return b""
                self._decompressor = self._build_decompressor()
                packed = packed.lstrip(b"\0")
            elif self._decompressor.needs_input:
                packed = self._file.read(_CHUNK_BYTES)
                if not packed:
                    raise EOFError("the compressed file ends before its end mark")
            else:
                packed = b""
            try:
                data: bytes = self._decompressor.decompress(packed, size)
            except lzma.LZMAError as problem:
                raise OSError(str(problem)) from None
            if data:
                return data

    @staticmethod
    def _build_decompressor() -> Any:
        """Return a decompressor with a limit of memory."""
        import lzma

        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MAX_XZ_MEMORY_BYTES)


def open_decoded(file: IO[bytes], compression: str) -> IO[bytes]:
    """Return the unpacked bytes of a file that gzip, bzip2, xz or zstd wrote.

    Args:
        file: the compressed bytes.
        compression: the program's suffix, other than `.zip`.
    """
    stream: Any
    if compression == ".gz":
        from gzip import GzipFile

        stream = GzipFile(fileobj=file)
    elif compression == ".bz2":
        from bz2 import BZ2File

        stream = BZ2File(file)
    elif compression == ".xz":
        stream = RewindableStream(file, XzDecoder)
    else:
        stream = RewindableStream(file, _open_zstd)
    return stream  # type: ignore[no-any-return]


def _open_zstd(file: IO[bytes]) -> Decoder:
    """Return a decoder of zstd, whose window Arrow limits to 128 MiB."""
    decoder: Decoder = pa.CompressedInputStream(pa.PythonFile(_Unclosed(file), "r"), "zstd")
    return decoder


class _Unclosed(io.RawIOBase):
    """Reads a file and leaves it open when it is closed itself."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
