"""The directories of tables: which are there, made empty, and removed with files of ours only."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

from rowkey.durable import make_directory
from rowkey.engines.rocksdb_files.descriptor import (
    CREATING,
    DESCRIPTOR,
    read_descriptor,
    table_of_directory,
)
from rowkey.engines.rocksdb_files.directory import holds_database, list_foreign
from rowkey.errors import CorruptionError, Unsupported

if TYPE_CHECKING:
    from pathlib import Path

_NAMED = 3
"""Files that an error names of many."""


def list_tables(place: Path) -> list[str]:
    """Return the names of the tables in a directory, ascending, damaged ones among them."""
    return sorted(table_of_directory(path) for path in place.iterdir() if _is_table(path))


def _is_table(directory: Path) -> bool:
    """Return whether a directory holds a table, which may be damaged.

    One that is still being created is none.
    """
    if directory.name.startswith(".") or not directory.is_dir():
        return False
    try:
        return read_descriptor(directory).state != CREATING
    except (CorruptionError, Unsupported):
        return holds_database(directory)


def prepare_directory(directory: Path) -> None:
    """Make an empty directory, in place of what a kill has left of a table being created.

    Raises:
        Unsupported: there is something else.
    """
    if os.path.lexists(directory):
        if directory.is_symlink() or not directory.is_dir():
            raise _occupied(directory, [directory])
        content = list(directory.iterdir())
        if content:
            if not _is_half_created(directory):
                raise _occupied(directory, sorted(content))
            _remove_files(directory)
    make_directory(directory)


def _is_half_created(directory: Path) -> bool:
    """Return whether a directory holds what a kill has left of a table being created, and no more.

    Its descriptor says so: of such a table nothing was acknowledged.
    """
    try:
        is_half_created = read_descriptor(directory).state == CREATING
    except (CorruptionError, Unsupported):
        return False
    return is_half_created and not list_foreign(directory)


def check_own(directory: Path) -> None:
    """Raise unless a directory holds a table and nothing else.

    Raises:
        CorruptionError: its descriptor is damaged.
        Unsupported: it holds something else.
    """
    read_descriptor(directory)
    foreign = list_foreign(directory)
    if foreign:
        what = f"it holds {_named(foreign)}, which is not of rowkey, and would be removed"
        raise Unsupported(str(directory), what, "files of the table", "Move it away.")


def remove_dropped(directory: Path) -> None:
    """Remove what is left of a table that was dropped; what is anything else stays."""
    try:
        check_own(directory)
    except (CorruptionError, Unsupported):
        return
    _remove_files(directory)
    with suppress(OSError):
        directory.rmdir()


def _remove_files(directory: Path) -> None:
    """Remove the files of a table, its descriptor last."""
    for path in directory.iterdir():
        if path.name == DESCRIPTOR:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    (directory / DESCRIPTOR).unlink(missing_ok=True)


def _occupied(directory: Path, content: list[Path]) -> Unsupported:
    what = f"the table would lie there, but it holds something else: {_named(content)}"
    return Unsupported(str(directory), what, "an empty directory or none", "Move it away.")


def _named(paths: list[Path]) -> str:
    """Return the first few names."""
    names = ", ".join(path.name for path in paths[:_NAMED])
    return f"{names} and {len(paths) - _NAMED:,} more" if len(paths) > _NAMED else names


def find_free_name(path: Path) -> Path:
    """Return a path that is not there: this one, or with a number after it."""
    names = (path.with_name(f"{path.name}@{number}") for number in count())
    return path if not os.path.lexists(path) else next(n for n in names if not os.path.lexists(n))
