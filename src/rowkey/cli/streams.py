"""Standard output and files that raise errors with their name."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import IO, TYPE_CHECKING, Any, TextIO, cast
from weakref import finalize

import click

from rowkey.errors import Unavailable


class NamedFile(io.FileIO):
    """A file or pipe whose write errors contain its name.

    Args:
        file: the path or an open descriptor of it.
        name: what messages call it.
        closes_descriptor: whether the descriptor is closed with it.
    """

    def __init__(self, file: str | int, name: str, *, closes_descriptor: bool = True) -> None:
        super().__init__(file, "wb", closefd=closes_descriptor)
        self._display_name = name

    def write(self, data: Any, /) -> int:
        """Write bytes; return how many.

        Raises:
            Unavailable: the system refuses, for example because the disk is full.
            BrokenPipeError: the reader has closed the pipe.
        """
        try:
            return cast("int", super().write(data))
        except BrokenPipeError:
            raise
        except OSError as problem:
            what = f"the output cannot be written: {problem.strerror or problem}"
            remedy = "Free space on the disk, or write to another place."
            raise Unavailable(self._display_name, what, remedy=remedy) from None


class _MissingOutput(io.RawIOBase):
    """Stands for standard output where the command was started without one."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        """Raise a usage error, because there is no standard output.

        Raises:
            UsageError: always.
        """
        del data
        raise click.UsageError(
            "standard output is closed. Give -o FILE, or start the command with an open stdout."
        )


@contextmanager
def wrap_standard_streams() -> Iterator[None]:
    """Make standard output and standard error usable, however the command was started.

    In the `with` block characters that they cannot show are escaped, a failed write names
    standard output, and messages without a standard error are dropped.
    """
    original_streams = sys.stdout, sys.stderr
    with ExitStack() as stack:
        if sys.stderr is None:
            null = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - on the stack
            sys.stderr = stack.enter_context(null)
        sys.stdout = _wrap_output(sys.stdout)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        try:
            yield
        finally:
            ours, (sys.stdout, _) = sys.stdout, original_streams
            if ours is not original_streams[0]:
                with suppress(Exception):  # the flush has already raised its error
                    ours.close()
            sys.stderr = original_streams[1]


def _wrap_output(stream: TextIO | None) -> TextIO:
    """Wrap standard output so that write errors name it, if it is a file; a stub if it is None."""
    if stream is None:
        missing_output = cast("Any", _MissingOutput())
        return io.TextIOWrapper(missing_output, encoding="utf-8", write_through=True)
    is_file = isinstance(stream, io.TextIOWrapper) and isinstance(
        stream.buffer, io.BufferedWriter | io.FileIO
    )
    if not is_file:
        return stream
    text_stream = cast("io.TextIOWrapper", stream)
    sink = io.BufferedWriter(
        NamedFile(text_stream.fileno(), "standard output", closes_descriptor=False)
    )
    return io.TextIOWrapper(
        sink,
        encoding=text_stream.encoding,
        line_buffering=text_stream.line_buffering,
        write_through=text_stream.write_through,
    )


MAX_STANDARD_INPUT_BYTES = 1 << 32
"""Bytes of standard input that are copied; a larger sample is saved to a file by its owner."""
_CHUNK_BYTES = 1 << 20
_META_KEY = "rowkey.standard_input"
_NAME = "standard input"
if TYPE_CHECKING:
    _SystemPath = Path
else:
    _SystemPath = type(Path())


class StandardInputCopy(_SystemPath):
    """The path of a copy of standard input, which messages call `standard input`."""

    def __str__(self) -> str:
        return _NAME

    def __fspath__(self) -> str:
        return super().__str__()


def resolve_input_file(
    context: click.Context, _: click.Parameter, path: str | None
) -> str | Path | None:
    """Return the path of a file argument; for `-` that of a temporary copy of standard input.

    The copy is removed when the command ends.

    Raises:
        UsageError: standard input is larger than the limit, or is wanted twice.
    """
    if path != "-":
        return path
    if _META_KEY in context.meta:
        raise click.UsageError("standard input can be one file only. Save the other one to a file.")

    folder = mkdtemp(prefix="rowkey-")
    # A context is not closed if a later argument is wrong; then the folder goes with the context.
    context.call_on_close(finalize(context, rmtree, folder, ignore_errors=True))
    copy = _copy_standard_input(Path(folder))
    context.meta[_META_KEY] = True
    return copy


def has_standard_input(context: click.Context) -> bool:
    """Return whether a command reads standard input; known when its given arguments are."""
    return _META_KEY in context.meta


def is_standard_input(path: str | Path) -> bool:
    """Return whether a path is the copy of standard input that the running command reads."""
    return isinstance(path, StandardInputCopy)


def _copy_standard_input(folder: Path) -> StandardInputCopy:
    """Return a new file with the bytes of standard input.

    Raises:
        UsageError: they are too many.
        Unavailable: the file cannot be written.
    """
    from rowkey.workload import FORMATS

    stream: IO[bytes] = sys.stdin.buffer
    block = stream.read(_CHUNK_BYTES)
    suffix = next(
        (
            one.suffixes[0]
            for one in FORMATS.values()
            if one.first_bytes and block.startswith(one.first_bytes)
        ),
        "",
    )
    path = StandardInputCopy(folder / f"{_NAME}{suffix}")
    size = 0
    try:
        with path.open("wb") as copy:
            while block:
                size += len(block)
                if size > MAX_STANDARD_INPUT_BYTES:
                    raise click.UsageError(
                        f"standard input has more than {MAX_STANDARD_INPUT_BYTES:,} bytes. Save it "
                        "to a file, and give the file."
                    )
                copy.write(block)
                block = stream.read(_CHUNK_BYTES)
    except OSError as problem:
        what = f"standard input cannot be copied to {folder}: {problem.strerror or problem}"
        remedy = "Free space on that disk, or set TMPDIR to a folder on another one."
        raise Unavailable("standard input", what, remedy=remedy) from None
    return path
