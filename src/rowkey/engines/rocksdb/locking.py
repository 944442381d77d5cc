"""One process for a directory, told at once and not table by table."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, BinaryIO

from rowkey import forks
from rowkey.engines.rocksdb.storage_errors import in_use

try:
    import fcntl
except ImportError:  # where there is none, the lock of each RocksDB still holds
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from pathlib import Path

LOCK = ".lock"


class DirectoryLock:
    """Holds a directory until it is released, or the process is dead.

    On a disk that may only be read nobody can write, so a missing lock is none there.

    Args:
        path: the directory.

    Raises:
        Unsupported: it is held already.
        OSError: it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.is_inherited = False
        self._file = _open_lock(path / LOCK)
        if self._file is not None and fcntl is not None:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as problem:
                self._file.close()
                raise in_use(path) from problem
        forks.register(self)

    def release(self) -> None:
        """Let others have it, even if a child that is being started holds the file as well."""
        if self._file is not None:
            if fcntl is not None:
                fcntl.flock(self._file, fcntl.LOCK_UN)
            self._file.close()
            self._file = None

    def reset_in_child(self) -> None:
        """In a forked child: leave the lock to the parent; it is held as long as either has it."""
        self.is_inherited = True
        if self._file is not None:
            self._file.close()
            self._file = None


def _open_lock(path: Path) -> BinaryIO | None:
    try:
        return path.open("ab")
    except OSError as problem:
        if problem.errno not in (errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EDQUOT):
            raise
    try:
        return path.open("rb")
    except FileNotFoundError:
        return None
