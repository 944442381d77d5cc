"""A lock that lets one process open a directory, checked when the engine is opened."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, BinaryIO

from rowkey import fork_safety
from rowkey.durable_files import open_regular_file
from rowkey.engines.rocksdb.storage_errors import build_in_use_error

try:
    import fcntl
except ImportError:  # on Windows each RocksDB has a lock of its own
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from pathlib import Path

LOCK_FILE = ".lock"


class DirectoryLock:
    """Locks a directory for one process, until it is released or the process ends.

    On a read-only disk no lock file is needed, as no process can write.

    Args:
        path: the directory.

    Raises:
        Unavailable: another process or engine has the directory locked.
        OSError: the lock file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.is_inherited = False
        self._file = _open_lock(path / LOCK_FILE)
        if self._file is not None and fcntl is not None:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as problem:
                self._file.close()
                raise build_in_use_error(path) from problem
        fork_safety.register_resource(self)

    def release(self) -> None:
        """Release the lock, even if a starting child process has the lock file open too."""
        if self._file is not None:
            if fcntl is not None:
                fcntl.flock(self._file, fcntl.LOCK_UN)
            self._file.close()
            self._file = None

    def reset_in_child(self) -> None:
        """Close the lock file in a forked child: the lock stays with the parent."""
        self.is_inherited = True
        if self._file is not None:
            self._file.close()
            self._file = None


def _open_lock(path: Path) -> BinaryIO | None:
    """Return the open lock file; None if it is missing and the disk is not writable."""
    try:
        return open_regular_file(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, "ab")
    except OSError as problem:
        if problem.errno not in (errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EDQUOT):
            raise
    try:
        return open_regular_file(path, os.O_RDONLY, "rb")
    except FileNotFoundError:
        return None
