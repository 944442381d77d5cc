"""Files as streams of bytes and lines, compressed or not, a bounded amount at a time."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from rowkey.errors import SampleError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

COMPRESSED = (".gz", ".zip")
LONGEST_LINE = 1 << 20
"""Bytes of the longest line that is read; a longer one is no record of anything."""


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """A file as a stream of its uncompressed bytes.

    A zip file must hold one file.

    Raises:
        SampleError: there is no such file, it cannot be read, or its compression is broken.
    """
    try:
        if path.suffix == ".gz":
            with gzip.open(path, "rb") as stream:
                yield stream  # type: ignore[misc]
        elif path.suffix == ".zip":
            with (
                zipfile.ZipFile(path) as archive,
                archive.open(_only_member(archive, path)) as inner,
            ):
                yield inner
        else:
            with path.open("rb") as plain:
                yield plain
    except FileNotFoundError:
        raise SampleError(str(path), "there is no such file") from None
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as problem:
        raise SampleError(str(path), f"cannot be read: {problem}") from None


def _only_member(archive: zipfile.ZipFile, path: Path) -> str:
    names = [name for name in archive.namelist() if not name.endswith("/")]
    if len(names) != 1:
        raise SampleError(str(path), f"holds {len(names)} files", "one file")
    return names[0]


def lines_of(path: Path) -> Iterator[str]:
    """The lines of a text file, without their ends; bytes that are not UTF-8 are kept visible.

    Raises:
        SampleError: the file cannot be read, or a line is longer than 1 MiB.
    """
    with opened(path) as stream:
        number = 0
        while line := stream.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                raise SampleError(
                    f"{path}:{number}", "the line is longer than 1 MiB", "records, one a line"
                )
            text = line.decode("utf-8", "backslashreplace").rstrip("\r\n")
            yield text.removeprefix("\ufeff") if number == 1 else text


def kind_suffix(path: Path) -> str:
    """The ending of a file's name that tells its format: `.csv` of `flights.csv.gz`."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    plain = [suffix for suffix in suffixes if suffix not in COMPRESSED]
    return plain[-1] if plain else ""


def wanted(available: Sequence[str], columns: Sequence[str] | None, path: Path) -> list[str]:
    """The columns to read, in the order asked for.

    Raises:
        SampleError: one is not there.
    """
    if columns is None:
        return list(available)
    from rowkey.errors import did_you_mean

    for name in columns:
        if name not in available:
            shown = ", ".join(available[:20])
            remedy = did_you_mean(name, available) or f'Name its column: from = "{available[0]}".'
            raise SampleError(str(path), f"has no column {name!r}", shown, remedy)
    return list(columns)
