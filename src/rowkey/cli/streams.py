"""What the command prints to, so that what cannot be printed is told with the name of the place."""

from __future__ import annotations

import io
import os
import sys
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO, cast

import click

if TYPE_CHECKING:
    from collections.abc import Iterator


class Written(io.FileIO):
    """A file or pipe that tells its name where it cannot be written.

    Args:
        file: the path or an open descriptor of it.
        name: what messages call it.
        is_ours: whether the descriptor is closed with it.
    """

    def __init__(self, file: str | int, name: str, *, is_ours: bool = True) -> None:
        super().__init__(file, "wb", closefd=is_ours)
        self._called = name

    def write(self, data: Any, /) -> int:
        """Write bytes; gives how many.

        Raises:
            Unsupported: in place of what the system raises, such as of a full disk.
            BrokenPipeError: whoever reads it has closed it.
        """
        try:
            return cast("int", super().write(data))
        except BrokenPipeError:
            raise
        except OSError as problem:
            from rowkey.errors import Unsupported

            what = f"cannot be written: {problem.strerror or problem}"
            raise Unsupported(self._called, what) from None


class _Missing(io.RawIOBase):
    """Standard output where the command was started without one: nothing can be printed."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        """Say that there is none.

        Raises:
            UsageError: something was to be printed.
        """
        del data
        raise click.UsageError("there is no standard output.")


@contextmanager
def standard_streams() -> Iterator[None]:
    """Standard output and standard error that can be used, whatever the command was started with.

    In the `with` block what they cannot show is escaped, output that cannot be written is told
    with its name, and errors without a place to go are dropped. What is left goes out at its end.
    """
    before = sys.stdout, sys.stderr
    with ExitStack() as opened:
        if sys.stderr is None:
            null = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - on the stack
            sys.stderr = opened.enter_context(null)
        sys.stdout = _named(sys.stdout)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        try:
            yield
        finally:
            ours, (sys.stdout, _) = sys.stdout, before
            if ours is not before[0]:
                with suppress(Exception):  # it was told when it was flushed
                    ours.close()
            sys.stderr = before[1]


def _named(stream: TextIO | None) -> TextIO:
    """Standard output that tells its name; what is no file of the system's stays as it is."""
    if stream is None:
        missing = cast("Any", _Missing())
        return io.TextIOWrapper(missing, encoding="utf-8", write_through=True)
    is_file = isinstance(stream, io.TextIOWrapper) and isinstance(
        stream.buffer, io.BufferedWriter | io.FileIO
    )
    if not is_file:
        return stream
    told = cast("io.TextIOWrapper", stream)
    sink = io.BufferedWriter(Written(told.fileno(), "standard output", is_ours=False))
    return io.TextIOWrapper(
        sink,
        encoding=told.encoding,
        line_buffering=told.line_buffering,
        write_through=told.write_through,
    )
