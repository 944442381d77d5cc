"""A folder of links to the files of a database, to open it without a write in its own."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rowkey.engines.rocksdb_files.settings import write_settings
from rowkey.errors import Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterable

_IN_MEMORY = "/dev/shm"  # noqa: S108 - folders in it are made by mkdtemp
"""A file system in memory: it works where the disk is full or may only be read."""


class LinkedFolder:
    """A folder with links, removed when it is closed or forgotten.

    Args:
        directory: where the files lie.
        files: those that are linked.

    Raises:
        Unsupported: no folder can be made.
    """

    def __init__(self, directory: Path, files: Iterable[Path] = ()) -> None:
        self.path = Path(_make_folder(directory))
        self._owner = os.getpid()
        write_settings(self.path)
        for file in files:
            self.link(file)

    def link(self, file: Path) -> None:
        """Let a file appear in the folder under its own name."""
        (self.path / file.name).symlink_to(file.resolve())

    def close(self) -> None:
        """Remove the folder; closing twice is harmless."""
        if os.getpid() == self._owner:
            shutil.rmtree(self.path, ignore_errors=True)

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()


def _make_folder(directory: Path) -> str:
    for place in (_IN_MEMORY if os.access(_IN_MEMORY, os.W_OK) else None, None):
        with suppress(OSError):
            return tempfile.mkdtemp(prefix="rowkey-", dir=place)
    what = (
        "there is no place for a folder of links to it, neither in memory nor for temporary files"
    )
    raise Unsupported(str(directory), what, remedy="Set TMPDIR to a folder that can be written.")
