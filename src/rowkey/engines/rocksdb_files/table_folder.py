"""The directories of tables: listed, prepared, and removed only if all files are rowkey's."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from itertools import count
from pathlib import Path

from rowkey.durable_files import make_directory
from rowkey.engines.rocksdb_files.descriptor import (
    DESCRIPTOR_FILE,
    STATE_CREATING,
    parse_table_name,
    read_descriptor,
)
from rowkey.engines.rocksdb_files.inspection import has_database, list_foreign_files
from rowkey.errors import CorruptionError, NotSupported, Unavailable

_MAX_NAMED_FILES = 3
"""Maximum number of files that an error names."""


def list_tables(directory: Path) -> list[str]:
    """Return the names of the tables in a directory, damaged ones too, ascending."""
    return sorted(parse_table_name(path) for path in directory.iterdir() if is_table(path))


def is_table(directory: Path) -> bool:
    """Return whether a directory contains a table, sound or damaged, that is fully created.

    A table is fully created once its descriptor says so.
    """
    if directory.name.startswith(".") or not directory.is_dir():
        return False
    try:
        return read_descriptor(directory).state != STATE_CREATING
    except (CorruptionError, NotSupported, Unavailable):
        return has_database(directory)


def prepare_directory(directory: Path) -> None:
    """Create an empty directory for a table, removing leftovers of an interrupted creation.

    Raises:
        Unavailable: the path contains other files.
    """
    if os.path.lexists(directory):
        if directory.is_symlink() or not directory.is_dir():
            raise _build_occupied_error(directory, [directory])
        content = list(directory.iterdir())
        if content:
            if not _is_half_created(directory):
                raise _build_occupied_error(directory, sorted(content))
            _remove_files(directory)
    make_directory(directory)


def _is_half_created(directory: Path) -> bool:
    """Return whether a directory contains only leftovers of an interrupted creation.

    The descriptor of such a table says so; no change of it was acknowledged.
    """
    try:
        is_half_created = read_descriptor(directory).state == STATE_CREATING
    except (CorruptionError, NotSupported, Unavailable):
        return False
    return is_half_created and not list_foreign_files(directory)


def check_only_own_files(directory: Path) -> None:
    """Raise unless a directory contains a table and no files of others.

    Raises:
        CorruptionError: the descriptor is damaged.
        Unavailable: the directory contains other files.
    """
    read_descriptor(directory)
    foreign = list_foreign_files(directory)
    if foreign:
        what = (
            f"rowkey did not write these files in the table's directory: {_format_names(foreign)}"
        )
        remedy = "Move them away, so that they are not removed with the table."
        raise Unavailable(str(directory), what, remedy=remedy)


def remove_dropped_table(directory: Path) -> None:
    """Remove the files of a dropped table; a directory with other files stays."""
    try:
        check_only_own_files(directory)
    except (CorruptionError, NotSupported, Unavailable):
        return
    _remove_files(directory)
    with suppress(OSError):
        directory.rmdir()


def _remove_files(directory: Path) -> None:
    """Remove the files of a table, its descriptor last."""
    for path in directory.iterdir():
        if path.name == DESCRIPTOR_FILE:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    (directory / DESCRIPTOR_FILE).unlink(missing_ok=True)


def _build_occupied_error(directory: Path, content: list[Path]) -> Unavailable:
    """Return the error for a new table whose directory contains other files."""
    what = f"the directory of the new table has other files: {_format_names(content)}"
    if content == [directory]:
        what = "the path of the new table's directory is a file or a link"
    remedy = "Move these files away, or choose another table name."
    return Unavailable(str(directory), what, "an empty directory or none", remedy)


def _format_names(paths: list[Path]) -> str:
    """Return the first few file names as text, and how many more there are."""
    names = ", ".join(path.name for path in paths[:_MAX_NAMED_FILES])
    return (
        f"{names} and {len(paths) - _MAX_NAMED_FILES:,} more"
        if len(paths) > _MAX_NAMED_FILES
        else names
    )


def find_free_name(path: Path) -> Path:
    """Return a path that does not exist: the given one, or one with a number added."""
    names = (path.with_name(f"{path.name}@{number}") for number in count())
    return path if not os.path.lexists(path) else next(n for n in names if not os.path.lexists(n))
