"""Files as streams of bytes and lines, compressed or not, a bounded amount at a time."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import zipfile
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from rowkey.errors import SampleError, did_you_mean, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

COMPRESSED = (".gz", ".zip")
_BROKEN = (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError)
"""What a stream raises whose compression is broken, or of a method that Python does not know."""
NAMES_SHOWN = 20
NAME_SHOWN = 40
LONGEST_LINE = 1 << 20
"""Bytes of the longest line that is read; a longer one is no record of anything."""


class Meter:
    """How far a file is read, told by its own bytes, compressed or not."""

    def __init__(self) -> None:
        self._stream: IO[bytes] | None = None
        self._size = 0

    def watch(self, stream: IO[bytes]) -> None:
        """Watch a file from now on, in place of another."""
        self._stream = stream
        self._size = os.fstat(stream.fileno()).st_size

    @property
    def share(self) -> float | None:
        """Which share of it is read; None if nothing is watched, or its size is not known."""
        if self._stream is None or not self._size:
            return None
        at = self._size if self._stream.closed else self._stream.tell()
        return min(at / self._size, 1.0)


@contextmanager
def opened(path: Path, meter: Meter | None = None) -> Iterator[IO[bytes]]:
    """A file as a stream of its uncompressed bytes.

    A zip file must hold one file.

    Args:
        path: the file.
        meter: told what is read.

    Raises:
        SampleError: there is no such file, it cannot be read, or its compression is broken.
    """
    try:
        with path.open("rb") as plain:
            if meter is not None:
                meter.watch(plain)
            if path.suffix.lower() == ".gz":
                with gzip.GzipFile(fileobj=plain) as stream:
                    yield stream  # type: ignore[misc]
            elif path.suffix.lower() == ".zip":
                with (
                    zipfile.ZipFile(plain) as archive,
                    archive.open(_only_member(archive, path)) as inner,
                ):
                    yield inner
            else:
                yield plain
    except FileNotFoundError:
        raise SampleError(str(path), "there is no such file") from None
    except _BROKEN as problem:
        raise SampleError(str(path), f"cannot be read: {problem}") from None


def _only_member(archive: zipfile.ZipFile, path: Path) -> str:
    members = [member for member in archive.infolist() if not member.is_dir()]
    if len(members) != 1:
        raise SampleError(str(path), f"holds {len(members)} files", "one file")
    if members[0].flag_bits & 1:
        raise SampleError(str(path), "is encrypted", "a file that can be read")
    return members[0].filename


def lines_of(path: Path, meter: Meter | None = None) -> Iterator[str]:
    """The lines of a text file, without their ends; bytes that are not UTF-8 are kept visible.

    Args:
        path: the file.
        meter: told what is read.

    Raises:
        SampleError: the file cannot be read, or a line is longer than 1 MiB.
    """
    with opened(path, meter) as stream:
        number = 0
        while line := stream.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                raise SampleError(
                    f"{path}:{number}", "the line is longer than 1 MiB", "records, one a line"
                )
            text = line.decode("utf-8", "backslashreplace").rstrip("\r\n")
            yield text.removeprefix("\ufeff") if number == 1 else text


class VisibleText(io.RawIOBase):
    r"""A stream whose bytes are UTF-8 throughout: others are written as `\xNN`.

    Args:
        stream: any bytes.
        before: what is read first.

    >>> VisibleText(io.BytesIO(b"caf\xe9,1")).read(20)
    b'caf\\xe9,1'
    """

    def __init__(self, stream: IO[bytes], before: bytes = b"") -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
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
