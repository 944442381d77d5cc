"""Standard output and files that raise errors with their name."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, TextIO, cast

import click


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
            from rowkey.errors import Unavailable

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
    """Return standard output wrapped so that its write errors name it; other streams unchanged."""
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
