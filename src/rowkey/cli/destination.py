"""Where rows are written: standard output, or a file that appears only when it is complete."""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

import click

from rowkey.cli.options import FILE_PATH
from rowkey.cli.streams import NamedFile
from rowkey.errors import Unavailable
from rowkey.messages import shorten_text
from rowkey.open_file_limit import raise_shortage

OUTPUT_OPTION = click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=FILE_PATH,
    help="Write to a file. Its name decides the format: .csv, .jsonl, .parquet or .arrow, with "
    ".gz added for gzip. The file appears only when it is complete.",
)

SPREADSHEET_OPTION = click.option(
    "--spreadsheet",
    is_flag=True,
    help="With CSV: put a ' before text that a spreadsheet would run as a formula. Do not load "
    "such a file again.",
)

FORMATS_BY_SUFFIX = {
    ".csv": ("csv",),
    ".jsonl": ("jsonl",),
    ".ndjson": ("jsonl",),
    ".json": ("jsonl",),
    ".parquet": ("parquet",),
    ".arrow": ("arrow",),
    ".feather": ("arrow",),
    ".arrows": ("arrow",),
}
"""File suffixes and the formats they stand for; `load` reads the same format from each."""
ARROW_STREAM_SUFFIX = ".arrows"
"""The ending of an Arrow stream; other Arrow files end with a directory of their batches."""
GZIP_SUFFIX = ".gz"
BINARY_FORMATS = ("parquet", "arrow")
"""Formats that are not text."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A file or standard output that a command writes to, with the format of its rows.

    Args:
        row_format: how rows are written, such as `csv`.
        path: the file, or None for standard output.
        is_spreadsheet: whether a spreadsheet opens it, so that no cell may run as a formula.
    """

    row_format: str
    path: str | None = None
    is_spreadsheet: bool = False

    @classmethod
    def from_options(
        cls,
        row_format: str | None,
        path: str | None,
        formats: Sequence[str],
        *,
        spreadsheet: bool = False,
    ) -> Destination:
        """Return the destination that the options -f, -o and --spreadsheet choose.

        Args:
            row_format: the format of `-f`; None to decide by the file's name, or to take the first
                of `formats` for standard output.
            path: the file; None or `-` for standard output.
            formats: the formats that the command can write.
            spreadsheet: whether `--spreadsheet` was given.

        Raises:
            UsageError: the file's name does not decide the format, or the destination cannot take
                the format.
        """
        path = None if path == "-" else path
        chosen = row_format or (formats[0] if path is None else _find_format(path, formats))
        if spreadsheet and chosen != "csv":
            raise click.UsageError(
                f"--spreadsheet works with CSV only, not with {chosen}. Give -f csv."
            )
        destination = cls(chosen, path, spreadsheet)
        if path is None:
            if destination.row_format in BINARY_FORMATS and sys.stdout.isatty():
                what = "standard output is a terminal, which cannot show binary data"
                raise click.UsageError(f"-f {destination.row_format}: {what}. Give -o FILE.")
            return destination
        if destination.row_format == "parquet" and destination.is_compressed:
            raise click.UsageError(
                f"{shorten_text(path)}: Parquet is compressed already. Remove .gz from the name."
            )
        return destination

    @property
    def is_compressed(self) -> bool:
        """Return whether the whole file is compressed with gzip."""
        return self.path is not None and self.path.lower().endswith(GZIP_SUFFIX)

    @property
    def is_stream(self) -> bool:
        """Return whether readers cannot seek, so that Arrow must use its stream format."""
        return (
            self.path is None
            or self.is_compressed
            or self.path.lower().endswith(ARROW_STREAM_SUFFIX)
        )

    @contextmanager
    def open_binary(self) -> Iterator[BinaryIO]:
        """Open the destination for bytes; a file appears once the `with` block succeeds."""
        if self.path is None:
            sys.stdout.flush()
            yield cast("BinaryIO", _CountingPipe(sys.stdout.buffer))
            sys.stdout.buffer.flush()
            return
        with ExitStack() as stack:
            stream = stack.enter_context(_open_atomically(Path(self.path)))
            if self.is_compressed:
                packed = gzip.GzipFile("", "wb", 6, stream, mtime=0)
                stream = cast("BinaryIO", stack.enter_context(packed))
            yield stream

    @contextmanager
    def open_text(self) -> Iterator[TextIO]:
        """Open the destination for text, in UTF-8 if it is a file."""
        if self.path is None:
            yield sys.stdout
            return
        with self.open_binary() as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
            try:
                yield text
                text.flush()
            finally:
                with suppress(OSError, ValueError):
                    text.detach()


def _find_format(path: str, formats: Sequence[str]) -> str:
    """Return the row format that a file's suffix stands for.

    Raises:
        UsageError: the name stands for no format that the command can write.
    """
    name = path.lower().removesuffix(GZIP_SUFFIX)
    suffix = os.path.splitext(name)[1]  # noqa: PTH122 - pathlib raises for some names
    for form in FORMATS_BY_SUFFIX.get(suffix, ()):
        if form in formats:
            return form
    suffixes = " ".join(
        end
        for end, suffix_formats in FORMATS_BY_SUFFIX.items()
        if set(suffix_formats) & set(formats)
    )
    what = f"{shorten_text(path)}: the name does not say the format; expected one of {suffixes}"
    raise click.UsageError(f"{what}. Or give -f with one of {', '.join(formats)}.")


@contextmanager
def _open_atomically(path: Path) -> Iterator[BinaryIO]:
    """Open a file that gets its name only when it is complete and on disk.

    A path that is not a plain file, such as a device or a pipe, is written directly.

    Raises:
        UsageError: the file cannot be created.
        Unavailable: the file cannot be written, for example because the disk is full.
    """
    with _translate_os_errors(path):
        target = path.resolve() if path.is_symlink() else path
        mode = target.stat().st_mode if target.exists() else None
        if mode is not None and not stat.S_ISREG(mode):
            stream, part = _open_sink(str(target), path), None
        else:
            stream, part = _open_part_file(target, path)
    if part is None:
        with stream:
            yield stream
        return
    try:
        with stream:
            yield stream
            stream.flush()
            with _translate_os_errors(path):
                os.fsync(stream.fileno())
        with _translate_os_errors(path):
            part.chmod(_get_default_mode() if mode is None else stat.S_IMODE(mode))
            part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _open_part_file(target: Path, path: Path) -> tuple[BinaryIO, Path]:
    """Create the temporary file that becomes the target when it is complete."""
    file, name = tempfile.mkstemp(".part", f".{target.name}.", target.parent)
    return _open_sink(file, path), Path(name)


def _open_sink(file: str | int, path: Path) -> BinaryIO:
    """Open a path or descriptor for writing; its errors show the path that the user gave."""
    return cast("BinaryIO", io.BufferedWriter(NamedFile(file, shorten_text(str(path)))))


def _get_default_mode() -> int:
    """Return the permission bits that the system gives to a new file."""
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask


_DISK_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS)
"""Errors that another path does not avoid: a full disk, a broken or read-only disk."""


@contextmanager
def _translate_os_errors(path: Path) -> Iterator[None]:
    """Replace a system error by a message that says why the file cannot be written.

    Raises:
        UsageError: another path may work.
        Unavailable: the disk is full, broken or read-only.
    """
    try:
        yield
    except (OSError, ValueError) as problem:
        raise_shortage(problem, path)
        why = getattr(problem, "strerror", None) or str(problem)
        if getattr(problem, "errno", None) in _DISK_ERRNOS:
            remedy = "Free space on the disk, or give another path."
            raise Unavailable(
                str(path), f"the output cannot be written: {why}", remedy=remedy
            ) from None
        name = shorten_text(str(path))
        raise click.UsageError(
            f"{name}: the output cannot be written: {why}. Give another path."
        ) from None


class _CountingPipe(io.RawIOBase):
    """A pipe that counts its bytes, for writers that ask for their position."""

    def __init__(self, sink: BinaryIO) -> None:
        self._sink = sink
        self._written = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        count = self._sink.write(data)
        self._written += count
        return count

    def tell(self) -> int:
        return self._written

    def close(self) -> None:
        """Leave the pipe open: it is the command's output."""
