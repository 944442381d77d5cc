"""Standard input as a file: samples are read more than once, so it is copied first."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

MAX_STANDARD_INPUT_BYTES = 1 << 32
"""Bytes of standard input that are copied; a larger sample is saved to a file by its owner."""
_CHUNK_BYTES = 1 << 20
_FORMAT_MARKS = {b"PAR1": ".parquet", b"ARROW1": ".arrow"}
"""First bytes of formats that need no declaration."""
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
    from shutil import rmtree
    from tempfile import mkdtemp
    from weakref import finalize

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
    from rowkey.errors import Unavailable

    stream: IO[bytes] = sys.stdin.buffer
    block = stream.read(_CHUNK_BYTES)
    suffix = next((end for mark, end in _FORMAT_MARKS.items() if block.startswith(mark)), "")
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
