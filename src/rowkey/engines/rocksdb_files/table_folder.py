"""The directories of tables: listed, prepared, and removed only if all files are rowkey's."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

from rowkey.durable_files import make_directory
from rowkey.engines.rocksdb_files.descriptor import (
    DESCRIPTOR_FILE,
    STATE_CREATING,
    parse_table_name,
    read_descriptor,
)
from rowkey.engines.rocksdb_files.inspection import has_database, list_foreign_files
from rowkey.errors import CorruptionError, NotSupported, Unavailable

if TYPE_CHECKING:
    from pathlib import Path

_MAX_NAMED_FILES = 3
"""Files that an error names of many."""


def list_tables(directory: Path) -> list[str]:
    """Return the names of the tables in a directory, ascending, damaged ones among them."""
    return sorted(parse_table_name(path) for path in directory.iterdir() if _is_table(path))


def _is_table(directory: Path) -> bool:
    """Return whether a directory holds a table, which may be damaged.

    One that is still being created is none.
    """
    if directory.name.startswith(".") or not directory.is_dir():
        return False
    try:
        return read_descriptor(directory).state != STATE_CREATING
    except (CorruptionError, NotSupported, Unavailable):
        return has_database(directory)


def prepare_directory(directory: Path) -> None:
    """Create an empty directory; remove what an interrupted creation has left there.

    Raises:
        Unavailable: there is something else.
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
    """Return whether a directory holds what a kill has left of a table being created, and no more.

    Its descriptor says so: of such a table nothing was acknowledged.
    """
    try:
        is_half_created = read_descriptor(directory).state == STATE_CREATING
    except (CorruptionError, NotSupported, Unavailable):
        return False
    return is_half_created and not list_foreign_files(directory)


def check_only_own_files(directory: Path) -> None:
    """Raise unless a directory holds a table and nothing else.

    Raises:
        CorruptionError: its descriptor is damaged.
        Unavailable: it holds something else.
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
    """Remove what is left of a table that was dropped; what is anything else stays."""
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
    """Return the error that a directory holds files that are not rowkey's."""
    what = f"the directory of the new table is taken: {_format_names(content)}"
    remedy = "Move these files away, or choose another table name."
    return Unavailable(str(directory), what, "an empty directory or none", remedy)


def _format_names(paths: list[Path]) -> str:
    """Return the first few names."""
    names = ", ".join(path.name for path in paths[:_MAX_NAMED_FILES])
    return (
        f"{names} and {len(paths) - _MAX_NAMED_FILES:,} more"
        if len(paths) > _MAX_NAMED_FILES
        else names
    )


def find_free_name(path: Path) -> Path:
    """Return a path that is not there: this one, or with a number after it."""
    names = (path.with_name(f"{path.name}@{number}") for number in count())
    return path if not os.path.lexists(path) else next(n for n in names if not os.path.lexists(n))
