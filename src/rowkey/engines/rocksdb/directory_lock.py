"""A lock that lets one process open a directory, checked when the engine is opened."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, BinaryIO

from rowkey import fork_safety
from rowkey.engines.rocksdb.storage_errors import build_in_use_error

try:
    import fcntl
except ImportError:  # where there is none, the lock of each RocksDB still holds
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from pathlib import Path

LOCK_FILE = ".lock"


class DirectoryLock:
    """Locks a directory until it is released or the process ends.

    On a disk that may only be read nobody can write, so a missing lock is none there.

    Args:
        path: the directory.

    Raises:
        Unavailable: it is held already.
        OSError: it cannot be opened.
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
        """Release the lock, even if a child process that is starting holds the file too."""
        if self._file is not None:
            if fcntl is not None:
                fcntl.flock(self._file, fcntl.LOCK_UN)
            self._file.close()
            self._file = None

    def reset_in_child(self) -> None:
        """Leave the lock to the parent in a forked child."""
        self.is_inherited = True
        if self._file is not None:
            self._file.close()
            self._file = None


def _open_lock(path: Path) -> BinaryIO | None:
    """Return the open lock file, or None if it is missing and cannot be created."""
    try:
        return path.open("ab")
    except OSError as problem:
        if problem.errno not in (errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EDQUOT):
            raise
    try:
        return path.open("rb")
    except FileNotFoundError:
        return None
