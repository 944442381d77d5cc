"""Files as streams of bytes and lines, compressed or not, a bounded amount at a time."""

from __future__ import annotations

import codecs
import io
import os
import shutil
import stat
import zipfile
import zlib
from contextlib import contextmanager
from string import hexdigits
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

from rowkey.errors import SampleError, did_you_mean, printable
from rowkey.open_file_limit import raise_shortage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

COMPRESSED = (".gz", ".zip")
_BROKEN = (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError)
"""What a stream raises whose compression is broken, or of a method that Python does not know."""
FREE_UNPACKED_BYTES, UNPACKED_RATIO = 1 << 26, 100
"""Bytes that any file may unpack to, and times its own size that a larger one may: logs and tables
reach 20 to 50, and a file made to fill memory or time 1,000 and more."""
UNPACKED_AT_ONCE = 1 << 12
"""Packed bytes that are unpacked at once: of Bzip2, which no limit stops, they become 90 MB."""
NAMES_SHOWN = 20
NAME_SHOWN = 40
LONGEST_LINE = 1 << 20
"""Bytes of the longest line that is read; a longer one is no record of anything."""
MARK = "\0\ufdd0"
"""Stands, with two hexadecimal digits behind it, for a byte that is not UTF-8.

No text field can hold U+0000, so that nothing which is read so is ever a value.
"""
MARKED = "rowkey.marked"
"""How bytes are decoded so that those which are not UTF-8 are marked."""
VISIBLE = "backslashreplace"
"""How bytes are decoded so that those which are not UTF-8 can be read by people."""


def _mark(problem: UnicodeError) -> tuple[str, int]:
    """What stands for bytes that are not UTF-8, and where decoding goes on."""
    if not isinstance(problem, UnicodeDecodeError):
        raise problem
    strange = problem.object[problem.start : problem.end]
    return "".join(f"{MARK}{byte:02x}" for byte in strange), problem.end


codecs.register_error(MARKED, _mark)


def marked_byte(text: str) -> str:
    """The first byte of a marked text that is not UTF-8, as two digits; empty if all are."""
    byte = text.partition(MARK)[2][:2]
    return byte if len(byte) == 2 and set(byte) <= set(hexdigits) else ""


CONVERT = "Convert the file: iconv -f ISO-8859-1 -t UTF-8 FILE."


def not_utf8(byte: str) -> str:
    """What is wrong with a text that has a byte which is not UTF-8, and what converts it."""
    return f"the byte {byte}, which is not UTF-8; iconv converts the file"


def unmarked(text: str) -> str:
    """A marked text as people read it, a byte that is not UTF-8 as `\\xNN`."""
    return text.replace(MARK, r"\x")


class Meter:
    """How far a file is read, told by its own bytes, compressed or not.

    Attributes:
        handed: uncompressed bytes handed to a reader that reads ahead; 0 where none does.
        given: how many of them the rows take that it has given, more or less.
    """

    def __init__(self) -> None:
        self._stream: IO[bytes] | None = None
        self._size = 0
        self.handed = 0
        self.given = 0

    def watch(self, stream: IO[bytes]) -> None:
        """Watch a file from now on, in place of another."""
        self._stream = stream
        self._size = os.fstat(stream.fileno()).st_size
        self.handed = self.given = 0

    @property
    def share(self) -> float | None:
        """Which share of it is read and given; None if nothing is watched, or of unknown size."""
        if self._stream is None or not self._size:
            return None
        at = self._size if self._stream.closed else self._stream.tell()
        ahead = min(self.given / self.handed, 1.0) if self.handed else 1.0
        return min(at / self._size, 1.0) * ahead


@contextmanager
def opened(path: Path, meter: Meter | None = None) -> Iterator[IO[bytes]]:
    """A file as a stream of its uncompressed bytes.

    A zip file must hold one file.

    Args:
        path: the file.
        meter: told what is read.

    Raises:
        SampleError: there is no such file, it is none that can be read twice, it cannot be read,
            or its compression is broken.
    """
    try:
        _require_regular(path)
        with path.open("rb") as plain:
            if meter is not None:
                meter.watch(plain)
            # Some files of the system say that they are empty, and keep their reader waiting.
            stored = plain if os.fstat(plain.fileno()).st_size else io.BytesIO()
            if path.suffix.lower() == ".gz":
                from gzip import GzipFile

                with GzipFile(fileobj=stored) as stream:
                    yield _limit_unpacked(stream, path)  # type: ignore[arg-type]
            elif path.suffix.lower() == ".zip":
                with (
                    zipfile.ZipFile(stored) as archive,
                    archive.open(_only_member(archive, path)) as inner,
                ):
                    yield _limit_unpacked(inner, path)
            else:
                yield stored
    except FileNotFoundError:
        raise SampleError(str(path), "there is no such file") from None
    except _BROKEN as problem:
        raise_shortage(problem, path)
        raise SampleError(str(path), f"cannot be read: {_reason(problem)}") from None


class UnpackedStream(io.RawIOBase):
    """The bytes that a file unpacks to, as long as they are not absurdly many for its size.

    Args:
        stream: the unpacked bytes.
        path: the file.
    """

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream = stream
        self._path = path
        self._size = path.stat().st_size
        self._most = max(FREE_UNPACKED_BYTES, UNPACKED_RATIO * self._size)
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._stream.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position; before the current one, everything is unpacked again."""
        self._at = self._stream.seek(offset, whence)
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Read at most as many bytes as the buffer takes; 0 at the end.

        Raises:
            SampleError: there are absurdly many.
        """
        data = self._stream.read(min(len(buffer), UNPACKED_AT_ONCE))
        buffer[: len(data)] = data
        self._at += len(data)
        if self._at > self._most:
            raise SampleError(
                str(self._path),
                f"its {self._size:,} bytes unpack to more than {self._most:,}",
                f"at most {UNPACKED_RATIO} times as many",
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


def _reason(problem: Exception) -> str:
    """What the system says of a problem, without its number."""
    return (problem.strerror if isinstance(problem, OSError) else None) or str(problem)


def _require_regular(path: Path) -> None:
    """Go no further with what gives its bytes only once: a sample is read more than once.

    Raises:
        SampleError: it is such, or no file can be called so.
    """
    try:
        mode = path.stat().st_mode
    except ValueError:
        raise SampleError(str(path), "no file can be called so: it holds a zero byte") from None
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return
    kind = "a pipe" if stat.S_ISFIFO(mode) else "no file on a disk"
    raise SampleError(
        str(path),
        f"is {kind}, which can be read only once",
        "a file",
        "Write it to a file first, or use rowkey put for JSON lines.",
    )


def _only_member(archive: zipfile.ZipFile, path: Path) -> str:
    members = [member for member in archive.infolist() if not member.is_dir()]
    if len(members) != 1:
        raise SampleError(str(path), f"holds {len(members)} files", "one file")
    if members[0].flag_bits & 1:
        raise SampleError(str(path), "is encrypted", "a file that can be read")
    return members[0].filename


def lines_of(
    path: Path, meter: Meter | None = None, *, strange: str = VISIBLE, longest: int = LONGEST_LINE
) -> Iterator[str]:
    """The lines of a text file, without their ends.

    Args:
        path: the file.
        meter: told what is read.
        strange: what becomes of bytes that are not UTF-8: `VISIBLE` or `MARKED`.
        longest: bytes of the longest line, a whole number of MiB.

    Raises:
        SampleError: the file cannot be read, or a line is longer.
    """
    with opened(path, meter) as stream:
        number = 0
        while line := stream.readline(longest + 1):
            number += 1
            if len(line) > longest:
                what = f"the line is longer than {longest >> 20} MiB"
                raise SampleError(f"{path}:{number}", what, "records, one a line")
            text = line.decode("utf-8", strange).rstrip("\r\n")
            yield text.removeprefix("\ufeff") if number == 1 else text


class MarkedText(io.RawIOBase):
    """A stream whose bytes are UTF-8 throughout: others are marked.

    Args:
        stream: any bytes.
        before: what is read first.
        meter: told what is handed on.

    >>> unmarked(MarkedText(io.BytesIO(b"caf\\xe9,1")).read(20).decode())
    'caf\\\\xe9,1'
    """

    def __init__(self, stream: IO[bytes], before: bytes = b"", meter: Meter | None = None) -> None:
        self._stream = stream
        self._meter = meter
        self._decoder = codecs.getincrementaldecoder("utf-8")(MARKED)
        self._ready = before
        self._ended = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, fewer only at the end; all that are left if it is negative."""
        while not self._ended and (size < 0 or len(self._ready) < size):
            block = self._stream.read(size)
            self._ended = size < 0 or not block
            self._ready += self._decoder.decode(block, final=self._ended).encode()
        end = len(self._ready) if size < 0 else size
        taken, self._ready = self._ready[:end], self._ready[end:]
        if self._meter is not None:
            self._meter.handed += len(taken)
        return taken


def kind_suffix(path: Path) -> str:
    """The ending of a file's name that tells its format: `.csv` of `flights.csv.gz`."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    plain = [suffix for suffix in suffixes if suffix not in COMPRESSED]
    return plain[-1] if plain else ""


def wanted(available: Sequence[str], columns: Sequence[str] | None, path: Path) -> list[str]:
    """The columns to read, in the order asked for.

    Raises:
        SampleError: one is not there, or twice.
    """
    if columns is None:
        return list(available)
    for name in columns:
        if available.count(name) > 1:
            raise SampleError(
                str(path), f"has {available.count(name)} columns {name!r}", "a name for each"
            )
        if name not in available:
            near = did_you_mean(name, available)
            remedy = near or 'Name the column that holds it: from = "…".'
            raise SampleError(str(path), f"has no column {name!r}", _shown(available), remedy)
    return list(columns)


def _shown(names: Sequence[str]) -> str:
    """A list of names, each on one line and none of them long."""
    listed = [
        printable(name if len(name) <= NAME_SHOWN else f"{name[:NAME_SHOWN]}…")
        for name in names[:NAMES_SHOWN]
    ]
    more = len(names) - len(listed)
    return ", ".join(listed) + (f" and {more:,} more names" if more else "")
