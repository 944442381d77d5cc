"""Files as streams of bytes and lines, compressed or not, read in bounded amounts."""

from __future__ import annotations

import codecs
import io
import os
import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from string import hexdigits
from tempfile import TemporaryFile
from typing import IO, Any

from rowkey.errors import SampleError
from rowkey.messages import shorten_text, suggest_name
from rowkey.open_file_limit import raise_shortage
from rowkey.workload.compression import COMPRESSED_SUFFIXES, find_compression, open_decoded

_DECOMPRESSION_ERRORS = (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError)
"""What a stream raises whose compression is broken, or of a method that Python does not know."""
MAX_FREE_UNPACKED_BYTES, MAX_UNPACKED_RATIO = 1 << 26, 100
"""Bytes that any file may unpack to, and times its own size that a larger one may: logs and tables
reach 20 to 50, and a file made to fill memory or time 1,000 and more."""
UNPACK_CHUNK_BYTES = 1 << 12
"""Packed bytes that are unpacked at once: of Bzip2, which no limit stops, they become 90 MB."""
MAX_SHOWN_NAMES = 20
MAX_SHOWN_NAME_LENGTH = 40
MAX_LINE_BYTES = 1 << 20
"""Bytes of the longest line that is read; a longer one is refused."""
INVALID_BYTE_MARK = "\0\ufdd0"
"""Marks a byte that is not UTF-8; two hexadecimal digits with its value follow.

No text field can hold U+0000, so text with this mark is never taken for a value.
"""
MARK_INVALID_BYTES = "rowkey.marked"
"""How bytes are decoded so that those which are not UTF-8 are marked."""
ESCAPE_INVALID_BYTES = "backslashreplace"
"""How bytes are decoded so that those which are not UTF-8 can be read by people."""


def _mark_invalid_bytes(error: UnicodeError) -> tuple[str, int]:
    """Return the mark for bytes that are not UTF-8, and where decoding continues."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    strange = error.object[error.start : error.end]
    return "".join(f"{INVALID_BYTE_MARK}{byte:02x}" for byte in strange), error.end


codecs.register_error(MARK_INVALID_BYTES, _mark_invalid_bytes)


def find_marked_byte(text: str) -> str:
    """Return the first byte of a marked text that is not UTF-8, as two digits; empty if none."""
    byte = text.partition(INVALID_BYTE_MARK)[2][:2]
    return byte if len(byte) == 2 and set(byte) <= set(hexdigits) else ""


OTHER_FORMAT_REMEDY = "Declare the format of the file: [sample] format, or --sample-format."
CONVERT_REMEDY = "Convert the file: iconv -f ISO-8859-1 -t UTF-8 FILE."


def format_invalid_byte(byte: str) -> str:
    """Return the problem of a text with a byte that is not UTF-8, and how to convert it."""
    return f"the byte {byte}, which is not UTF-8; iconv converts the file"


def format_marked_text(text: str) -> str:
    """Return a marked text for people, with bytes that are not UTF-8 as `\\xNN`."""
    return text.replace(INVALID_BYTE_MARK, r"\x")


class ReadProgress:
    """How far a file is read, by its own bytes, compressed or not.

    Attributes:
        prefetched_bytes: uncompressed bytes handed to a reader that reads ahead; 0 where none does.
        delivered_bytes: how many of them the rows take that it has given, more or less.
    """

    def __init__(self) -> None:
        self._stream: IO[bytes] | None = None
        self._size = 0
        self.prefetched_bytes = 0
        self.delivered_bytes = 0

    def watch(self, stream: IO[bytes]) -> None:
        """Watch a stream from now on, instead of an earlier one."""
        self._stream = stream
        self._size = os.fstat(stream.fileno()).st_size
        self.prefetched_bytes = self.delivered_bytes = 0

    @property
    def share(self) -> float | None:
        """Return the share that is read and delivered; None without a stream of known size."""
        if self._stream is None or not self._size:
            return None
        at = self._size if self._stream.closed else self._stream.tell()
        ahead = (
            min(self.delivered_bytes / self.prefetched_bytes, 1.0) if self.prefetched_bytes else 1.0
        )
        return min(at / self._size, 1.0) * ahead


@contextmanager
def open_uncompressed(
    path: Path, progress: ReadProgress | None = None, encoding: str = "utf-8"
) -> Iterator[IO[bytes]]:
    """Return a file as a stream of its uncompressed bytes.

    A zip file must hold one file.

    Args:
        progress: told what is read.
        encoding: the encoding of its text, which becomes UTF-8; that of UTF-8 stays as it is.

    Raises:
        SampleError: there is no such file, it cannot be read, or not twice, as a pipe cannot,
            or its compression is broken.
    """
    with open_stored(path, progress) as stored:
        compression = find_compression(path)
        if compression == ".zip":
            with (
                zipfile.ZipFile(stored) as archive,
                archive.open(_find_only_member(archive, path)) as inner,
            ):
                yield _transcode(_limit_unpacked(inner, path), encoding, path)
        elif compression:
            with open_decoded(stored, compression) as stream:
                yield _transcode(_limit_unpacked(stream, path), encoding, path)
        else:
            yield _transcode(stored, encoding, path)


@contextmanager
def open_stored(path: Path, progress: ReadProgress | None = None) -> Iterator[IO[bytes]]:
    """Return a file as a stream of its bytes as they are.

    Args:
        progress: told what is read.

    Raises:
        SampleError: there is no such file, it cannot be read, or not twice, as a pipe cannot,
            or its compression turns out to be broken while it is used.
    """
    try:
        _require_regular_file(path)
        with path.open("rb") as plain:
            if progress is not None:
                progress.watch(plain)
            # Some files of the system say that they are empty, and keep their reader waiting.
            yield plain if os.fstat(plain.fileno()).st_size else io.BytesIO()
    except FileNotFoundError:
        raise SampleError(
            str(path), "there is no such file", remedy="Check the path of the sample."
        ) from None
    except _DECOMPRESSION_ERRORS as problem:
        raise_shortage(problem, path)
        raise SampleError(
            str(path),
            f"the file cannot be read: {_format_reason(problem)}",
            remedy="Check the path and its permissions, or copy the file again.",
        ) from None


class TranscodedStream(io.RawIOBase):
    """A text of another encoding as UTF-8; bytes invalid in that encoding become marks.

    Args:
        stream: the bytes.
        path: the file, for errors.
    """

    def __init__(self, stream: IO[bytes], encoding: str, path: Path) -> None:
        self._stream, self._encoding, self._path = stream, encoding, path
        self._decoder = codecs.getincrementaldecoder(encoding)(MARK_INVALID_BYTES)
        self._buffer = b""

    def readable(self) -> bool:
        """Return True: the stream can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read at most as many bytes as the buffer takes; return 0 at the end."""
        while not self._buffer:
            block = self._stream.read(UNPACK_CHUNK_BYTES)
            self._buffer = self._decode(block).encode()
            if not block:
                break
        data, self._buffer = self._buffer[: len(buffer)], self._buffer[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)

    def _decode(self, block: bytes) -> str:
        """Decode the next block of the text; an empty block is its end.

        Raises:
            SampleError: a text in UTF-16 does not begin with a byte order mark.
        """
        try:
            return self._decoder.decode(block, final=not block)
        except UnicodeError:
            what = f"the file has no byte order mark, so it is not in {self._encoding}"
            remedy = "Declare the one that it has, such as utf-8, utf-16-le or utf-16-be."
            raise SampleError(str(self._path), what, remedy=remedy) from None


def _transcode(stream: IO[bytes], encoding: str, path: Path) -> IO[bytes]:
    """Return a stream of UTF-8 of a text in another encoding."""
    if encoding == "utf-8":
        return stream
    return io.BufferedReader(TranscodedStream(stream, encoding, path), 1 << 16)


class UnpackedStream(io.RawIOBase):
    """The uncompressed bytes of a file, up to a limit that follows from its size.

    Args:
        stream: the unpacked bytes.
    """

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream = stream
        self._path = path
        self._size = path.stat().st_size
        self._max_bytes = max(MAX_FREE_UNPACKED_BYTES, MAX_UNPACKED_RATIO * self._size)
        self._position = 0

    def readable(self) -> bool:
        """Return True: the stream can be read."""
        return True

    def seekable(self) -> bool:
        """Return True: the stream can be read from another position."""
        return self._stream.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position; to go back, everything is unpacked again from the start."""
        self._position = self._stream.seek(offset, whence)
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Read at most as many bytes as the buffer takes; return 0 at the end.

        Raises:
            SampleError: there are absurdly many.
        """
        data = self._stream.read(min(len(buffer), UNPACK_CHUNK_BYTES))
        buffer[: len(data)] = data
        self._position += len(data)
        if self._position > self._max_bytes:
            raise SampleError(
                str(self._path),
                f"the {self._size:,} bytes of the file unpack to more than {self._max_bytes:,}",
                f"at most {MAX_UNPACKED_RATIO} times as many, or {MAX_FREE_UNPACKED_BYTES:,}",
                "Unpack it first, and use the unpacked file.",
            )
        return len(data)


def _limit_unpacked(stream: IO[bytes], path: Path) -> IO[bytes]:
    """Return a stream of unpacked bytes that raises an error if they are absurdly many."""
    return io.BufferedReader(UnpackedStream(stream, path), 1 << 16)


@contextmanager
def copy_to_temporary_file(stream: IO[bytes]) -> Iterator[IO[bytes]]:
    """Copy a stream to a temporary file, in which seeking is cheap."""
    with TemporaryFile(prefix="rowkey-unpacked-") as file:
        shutil.copyfileobj(stream, file, 1 << 20)
        file.seek(0)
        yield file


def measure_stream(stream: IO[bytes]) -> int:
    """Return the bytes of a seekable stream, and move to its start."""
    size = stream.seek(0, io.SEEK_END)
    stream.seek(0)
    return size


def _format_reason(problem: Exception) -> str:
    """Return the system's message of a problem, without its number."""
    return (problem.strerror if isinstance(problem, OSError) else None) or str(problem)


def _require_regular_file(path: Path) -> None:
    """Raise if a path, such as a pipe, can be read only once: a sample is read repeatedly.

    Raises:
        SampleError: it is such, or no file can be called so.
    """
    try:
        mode = path.stat().st_mode
    except ValueError:
        raise SampleError(str(path), "the path contains a zero byte", "a path without it") from None
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return
    kind = "a pipe" if stat.S_ISFIFO(mode) else "not a regular file"
    raise SampleError(
        str(path),
        f"the path is {kind}, which can be read only once",
        "a regular file",
        "Write the data to a file first, or use rowkey put for JSON lines.",
    )


def _find_only_member(archive: zipfile.ZipFile, path: Path) -> str:
    members = [member for member in archive.infolist() if not member.is_dir()]
    if len(members) != 1:
        names = f": {_format_names([one.filename for one in members])}" if members else ""
        raise SampleError(
            str(path),
            f"the archive contains {len(members)} files{names}",
            "one file",
            "Unpack the archive, and give one of its files.",
        )
    if members[0].flag_bits & 1:
        raise SampleError(str(path), "the archive is encrypted", "an archive without a password")
    return members[0].filename


def read_lines(
    path: Path,
    progress: ReadProgress | None = None,
    *,
    errors: str = ESCAPE_INVALID_BYTES,
    max_line_bytes: int = MAX_LINE_BYTES,
    encoding: str = "utf-8",
) -> Iterator[str]:
    """Return the lines of a text file, without their ends.

    Args:
        progress: told what is read.
        errors: what becomes of bytes that are not UTF-8: `ESCAPE_INVALID_BYTES` or
            `MARK_INVALID_BYTES`.
        max_line_bytes: bytes of the longest line, a whole number of MiB.

    Raises:
        SampleError: the file cannot be read, or a line is longer.
    """
    with open_uncompressed(path, progress, encoding) as stream:
        number = 0
        while line := stream.readline(max_line_bytes + 1):
            number += 1
            if len(line) > max_line_bytes:
                what = f"the line is longer than {max_line_bytes >> 20} MiB"
                raise SampleError(f"{path}:{number}", what, "one record on each line")
            text = line.decode("utf-8", errors).rstrip("\r\n")
            yield text.removeprefix("\ufeff") if number == 1 else text


class MarkedUtf8Stream(io.RawIOBase):
    """A stream of valid UTF-8, in which invalid bytes are marked.

    Args:
        stream: any bytes.
        prefix: what is read first.
        progress: told what is handed on.
        suffix: what is read last.

    >>> format_marked_text(MarkedUtf8Stream(io.BytesIO(b"caf\\xe9,1")).read(20).decode())
    'caf\\\\xe9,1'
    """

    def __init__(
        self,
        stream: IO[bytes],
        prefix: bytes = b"",
        progress: ReadProgress | None = None,
        suffix: bytes = b"",
    ) -> None:
        self._stream = stream
        self._suffix = suffix
        self._progress = progress
        self._decoder = codecs.getincrementaldecoder("utf-8")(MARK_INVALID_BYTES)
        self._buffer = prefix
        self._is_at_end = False
        self.line_end_count = 0
        """Line feeds that were handed on."""

    def readable(self) -> bool:
        """Return True: the stream can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return `size` bytes, fewer only at the end; all remaining ones if it is negative."""
        while not self._is_at_end and (size < 0 or len(self._buffer) < size):
            block = self._stream.read(size)
            self._is_at_end = size < 0 or not block
            if not block.isascii() or self._decoder.getstate()[0] or self._is_at_end:
                block = self._decoder.decode(block, final=self._is_at_end).encode()
            self._buffer += block + self._suffix * self._is_at_end
        end = len(self._buffer) if size < 0 else size
        data, self._buffer = self._buffer[:end], self._buffer[end:]
        self.line_end_count += data.count(b"\n")
        if self._progress is not None:
            self._progress.prefetched_bytes += len(data)
        return data


def find_format_suffix(path: Path) -> str:
    """Return the suffix that names a file's format: `.csv` of `flights.csv.gz`."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    plain = [suffix for suffix in suffixes if suffix not in COMPRESSED_SUFFIXES]
    return plain[-1] if plain else ""


def resolve_columns(
    available: Sequence[str], columns: Sequence[str] | None, path: Path
) -> list[str]:
    """Return the columns to read, in the requested order.

    Raises:
        SampleError: one is not there, or twice.
    """
    if columns is None:
        return list(available)
    for name in columns:
        if available.count(name) > 1:
            raise SampleError(
                str(path),
                f"the file has {available.count(name)} columns {name!r}",
                "different names",
                "Rename one of them in the file.",
            )
        if name not in available:
            near = suggest_name(name, available)
            remedy = f"{near} " if near else ""
            remedy += 'Name the column in the field: from = "…"; or rename it.'
            raise SampleError(
                str(path),
                f"it has no column {name!r}",
                f"one of {_format_names(available)}",
                remedy,
            )
    return list(columns)


def _format_names(names: Sequence[str]) -> str:
    listed = [
        shorten_text(
            name if len(name) <= MAX_SHOWN_NAME_LENGTH else f"{name[:MAX_SHOWN_NAME_LENGTH]}…"
        )
        for name in names[:MAX_SHOWN_NAMES]
    ]
    more = len(names) - len(listed)
    return ", ".join(listed) + (f" and {more:,} more names" if more else "")
