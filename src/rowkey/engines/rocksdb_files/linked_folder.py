"""A folder of links to a database's files, to open it without a change to its own folder."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from rowkey.engines.rocksdb_files.rocksdict_settings import write_settings
from rowkey.errors import Unavailable

_MEMORY_FOLDER = "/dev/shm"  # noqa: S108 - folders in it are made by mkdtemp
"""A file system in memory: it works where the disk is full or may only be read."""


class LinkedFolder:
    """A temporary folder of links to a database's files, removed when it is closed.

    Args:
        table_directory: the directory of the table, for messages.

    Raises:
        Unavailable: no temporary folder can be created.
    """

    def __init__(self, table_directory: Path, files: Iterable[Path] = ()) -> None:
        self.path = Path(_create_temporary_folder(table_directory))
        self._owner = os.getpid()
        write_settings(self.path)
        for file in files:
            self.link_file(file)

    def link_file(self, file: Path) -> None:
        """Create a link to a file in the folder, under the file's own name."""
        (self.path / file.name).symlink_to(file.resolve())

    def close(self) -> None:
        """Remove the folder with its links; closing twice is harmless."""
        if os.getpid() == self._owner:
            shutil.rmtree(self.path, ignore_errors=True)

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()


def _create_temporary_folder(table_directory: Path) -> str:
    """Create a temporary folder, in memory if possible, and return its path.

    Raises:
        Unavailable: the folder cannot be created; the message names the table's directory.
    """
    for place in (_MEMORY_FOLDER if os.access(_MEMORY_FOLDER, os.W_OK) else None, None):
        with suppress(OSError):
            return tempfile.mkdtemp(prefix="rowkey-", dir=place)
    what = "no temporary folder can be created, as is needed to read the table without changing it"
    raise Unavailable(
        str(table_directory), what, remedy="Set TMPDIR to a folder that can be written."
    )
