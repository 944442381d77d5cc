"""Where rows are written: standard output, or a file that is whole or not there at all."""

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

from rowkey.cli.streams import Written
from rowkey.errors import Unsupported, printable
from rowkey.open_file_limit import raise_shortage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OUTPUT = click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write to a file, whose name tells the form: .csv, .jsonl, .parquet, .arrow, and .gz "
    "behind them. It appears once it is whole.",
)

SPREADSHEET = click.option(
    "--spreadsheet",
    is_flag=True,
    help="With CSV: put a ' before text that a spreadsheet would run as a formula. Such a file is "
    "for reading, not for load.",
)

SUFFIXES = {
    ".csv": ("csv",),
    ".jsonl": ("jsonl",),
    ".ndjson": ("jsonl",),
    ".json": ("jsonl",),
    ".parquet": ("parquet",),
    ".arrow": ("arrow",),
    ".feather": ("arrow",),
    ".arrows": ("arrow",),
}
"""Endings of files and the forms they tell, which are those that `load` reads behind them."""
STREAM = ".arrows"
"""The ending of an Arrow stream; other Arrow files end with a directory of their batches."""
PACKED = ".gz"
BINARY = ("parquet", "arrow")
"""Forms that are no text."""


@dataclass(frozen=True, slots=True)
class Destination:
    """Where rows go.

    Args:
        form: how they are written.
        path: the file, or None for standard output.
        is_spreadsheet: whether a spreadsheet opens it, so that no cell may run as a formula.
    """

    form: str
    path: str | None = None
    is_spreadsheet: bool = False

    @classmethod
    def of(
        cls, form: str | None, path: str | None, forms: Sequence[str], *, spreadsheet: bool = False
    ) -> Destination:
        """The destination that the command line names.

        Args:
            form: as it was given; None if the file's name is to tell, else the first of `forms`.
            path: the file; None or `-` for standard output.
            forms: what the verb can write.
            spreadsheet: whether `--spreadsheet` was given.

        Raises:
            UsageError: nothing tells the form, or it cannot be written there.
        """
        path = None if path == "-" else path
        chosen = form or (forms[0] if path is None else _form_told(path, forms))
        if spreadsheet and chosen != "csv":
            raise click.UsageError(f"--spreadsheet is for CSV, not {chosen}: give -f csv.")
        found = cls(chosen, path, spreadsheet)
        if path is None:
            if found.form in BINARY and sys.stdout.isatty():
                what = "is for a file or another program, not a terminal"
                raise click.UsageError(f"-f {found.form} {what}: give -o FILE.")
            return found
        if found.form == "parquet" and found.is_packed:
            raise click.UsageError(f"{printable(path)}: Parquet is compressed already; drop .gz.")
        return found

    @property
    def is_packed(self) -> bool:
        """Whether the file is compressed as a whole."""
        return self.path is not None and self.path.lower().endswith(PACKED)

    @property
    def is_stream(self) -> bool:
        """Whether what reads it cannot go back, so that Arrow must come as a stream."""
        return self.path is None or self.is_packed or self.path.lower().endswith(STREAM)

    @contextmanager
    def binary(self) -> Iterator[BinaryIO]:
        """A stream of bytes to it, within a `with` block; a file is there once that ends well."""
        if self.path is None:
            sys.stdout.flush()
            yield cast("BinaryIO", _Counting(sys.stdout.buffer))
            sys.stdout.buffer.flush()
            return
        with ExitStack() as opened:
            stream = opened.enter_context(_renamed(Path(self.path)))
            if self.is_packed:
                packed = gzip.GzipFile("", "wb", 6, stream, mtime=0)
                stream = cast("BinaryIO", opened.enter_context(packed))
            yield stream

    @contextmanager
    def text(self) -> Iterator[TextIO]:
        """A stream of text to it, in UTF-8 where it is a file; the same otherwise."""
        if self.path is None:
            yield sys.stdout
            return
        with self.binary() as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
            try:
                yield text
                text.flush()
            finally:
                with suppress(OSError, ValueError):
                    text.detach()


def _form_told(path: str, forms: Sequence[str]) -> str:
    """The form that a file's name tells.

    Raises:
        UsageError: it tells none that the verb has.
    """
    name = path.lower().removesuffix(PACKED)
    suffix = os.path.splitext(name)[1]  # noqa: PTH122 - pathlib raises for some names
    for form in SUFFIXES.get(suffix, ()):
        if form in forms:
            return form
    known = " ".join(end for end, told in SUFFIXES.items() if set(told) & set(forms))
    what = f"the name {printable(path)} does not tell a form; expected one of {known}"
    raise click.UsageError(f"{what}. Or give -f: {', '.join(forms)}.")


@contextmanager
def _renamed(path: Path) -> Iterator[BinaryIO]:
    """A file that gets its name when it is whole and on disk; until then it has another.

    What is no plain file, such as a device or a pipe, is written to as it is.

    Raises:
        UsageError: it cannot be made.
        Unsupported: it cannot be written, such as on a full disk.
    """
    with _told(path):
        target = path.resolve() if path.is_symlink() else path
        mode = target.stat().st_mode if target.exists() else None
        if mode is not None and not stat.S_ISREG(mode):
            stream, part = _opened(str(target), path), None
        else:
            stream, part = _part(target, path)
    if part is None:
        with stream:
            yield stream
        return
    try:
        with stream:
            yield stream
            stream.flush()
            with _told(path):
                os.fsync(stream.fileno())
        with _told(path):
            part.chmod(_given() if mode is None else stat.S_IMODE(mode))
            part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _part(target: Path, path: Path) -> tuple[BinaryIO, Path]:
    """A new file beside the target, whose name no other has, left over from a dump or not."""
    file, name = tempfile.mkstemp(".part", f".{target.name}.", target.parent)
    return _opened(file, path), Path(name)


def _opened(file: str | int, path: Path) -> BinaryIO:
    """A path or descriptor to write to, called by the name that was given."""
    return cast("BinaryIO", io.BufferedWriter(Written(file, printable(str(path)))))


def _given() -> int:
    """The mode that a new file gets of the system."""
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask


_OUTSIDE = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS)
"""What no other word on the command line mends: no room, no leave to use it, a broken disk."""


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Say of a file that cannot be made why, in place of what the system raises.

    Raises:
        UsageError: another path would do.
        Unsupported: the disk is to be mended.
    """
    try:
        yield
    except (OSError, ValueError) as problem:
        raise_shortage(problem, path)
        why = getattr(problem, "strerror", None) or str(problem)
        if getattr(problem, "errno", None) in _OUTSIDE:
            raise Unsupported(str(path), f"cannot be written: {why}") from None
        name = printable(str(path))
        raise click.UsageError(f"{name}: cannot be written: {why}.") from None


class _Counting(io.RawIOBase):
    """A pipe that tells how much went through it, which writers of files ask of their sink."""

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
        """The pipe stays open: it is the command's."""
