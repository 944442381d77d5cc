"""Where rows are written: standard output, or a file that appears only when it is complete."""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
import sys
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO, cast

import click

from rowkey.cli.streams import NamedFile
from rowkey.errors import Unavailable
from rowkey.messages import shorten_text
from rowkey.open_file_limit import raise_shortage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OUTPUT_OPTION = click.option(
    "-o",
    "--output",
    metavar="FILE",
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
    """Where output is written: a file or standard output.

    Args:
        row_format: how they are written.
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
        """Return the destination that the command line names.

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
            raise click.UsageError(f"--spreadsheet is for CSV, not {chosen}: give -f csv.")
        destination = cls(chosen, path, spreadsheet)
        if path is None:
            if destination.row_format in BINARY_FORMATS and sys.stdout.isatty():
                what = "is for a file or another program, not a terminal"
                raise click.UsageError(f"-f {destination.row_format} {what}: give -o FILE.")
            return destination
        if destination.row_format == "parquet" and destination.is_compressed:
            raise click.UsageError(
                f"{shorten_text(path)}: Parquet is compressed already; drop .gz."
            )
        return destination

    @property
    def is_compressed(self) -> bool:
        """Return whether the whole file is compressed with gzip."""
        return self.path is not None and self.path.lower().endswith(GZIP_SUFFIX)

    @property
    def is_stream(self) -> bool:
        """Return whether readers cannot seek, so that Arrow must be written as a stream."""
        return (
            self.path is None
            or self.is_compressed
            or self.path.lower().endswith(ARROW_STREAM_SUFFIX)
        )

    @contextmanager
    def open_binary(self) -> Iterator[BinaryIO]:
        """Open the destination for bytes; a file appears once the `with` block ends well."""
        if self.path is None:
            sys.stdout.flush()
            yield cast("BinaryIO", _CountingPipe(sys.stdout.buffer))
            sys.stdout.buffer.flush()
            return
        with ExitStack() as opened:
            stream = opened.enter_context(_open_atomically(Path(self.path)))
            if self.is_compressed:
                packed = gzip.GzipFile("", "wb", 6, stream, mtime=0)
                stream = cast("BinaryIO", opened.enter_context(packed))
            yield stream

    @contextmanager
    def open_text(self) -> Iterator[TextIO]:
        """Open the destination for text, in UTF-8 if it is a file; else as `open_binary`."""
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
    """Return the format that the end of a file's name means.

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
    what = f"the name {shorten_text(path)} does not decide the format; expected one of {suffixes}"
    raise click.UsageError(f"{what}. Or give -f: {', '.join(formats)}.")


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
    """Create a temporary file next to the target."""
    file, name = tempfile.mkstemp(".part", f".{target.name}.", target.parent)
    return _open_sink(file, path), Path(name)


def _open_sink(file: str | int, path: Path) -> BinaryIO:
    """Open a path or descriptor for writing; errors name the path that was given."""
    return cast("BinaryIO", io.BufferedWriter(NamedFile(file, shorten_text(str(path)))))


def _get_default_mode() -> int:
    """Return the mode that the system gives a new file."""
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask


_DISK_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS)
"""Errors that another path does not avoid: a full disk, a broken or read-only disk."""


@contextmanager
def _translate_os_errors(path: Path) -> Iterator[None]:
    """Raise an error that says why a file cannot be written, in place of the system's.

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
            raise Unavailable(str(path), f"cannot be written: {why}") from None
        name = shorten_text(str(path))
        raise click.UsageError(f"{name}: cannot be written: {why}.") from None


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
