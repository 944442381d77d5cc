"""A lock that lets one process open a directory, checked when the engine is opened."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from threading import RLock
from typing import BinaryIO
from weakref import WeakSet, WeakValueDictionary

from rowkey import fork_safety
from rowkey.durable_files import open_regular_file
from rowkey.engines.rocksdb.storage_errors import build_in_use_error
from rowkey.errors import Unavailable

try:
    import fcntl
except ImportError:  # on Windows each RocksDB has a lock of its own
    fcntl = None  # type: ignore[assignment]

from rowkey.engines.contract import Engine

LOCK_FILE = ".lock"


class DirectoryLock:
    """Locks a directory for one process, until all its engines have released it or are gone.

    On a read-only disk no lock file is needed, as no process can write.

    Args:
        file: its open lock file, if there is one.

    Raises:
        Unavailable: another process has the directory locked.
    """

    def __init__(self, path: Path, file: BinaryIO | None) -> None:
        self.is_inherited = False
        self._engines: WeakSet[Engine] = WeakSet()
        self._owners: WeakValueDictionary[str, Engine] = WeakValueDictionary()
        """The engine of this process that uses each open table."""
        self._file = file
        if file is not None and fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as problem:
                file.close()
                raise build_in_use_error(path) from problem
        fork_safety.register_resource(self)

    @property
    def is_shared(self) -> bool:
        """Whether more than one engine has the directory open."""
        return len(self._engines) > 1

    def add_engine(self, engine: Engine) -> None:
        """Keep the directory locked for one more engine."""
        self._engines.add(engine)

    def claim_table(self, name: str, engine: Engine) -> None:
        """Let one engine use a table from now on.

        Raises:
            Unavailable: another engine of this process uses it.
        """
        with _locked_directories.lock:
            if self._owners.setdefault(name, engine) is not engine:
                what = "the table is open already, by another call of rowkey.open in this process"
                remedy = "Use the table that is open, also in other threads; or close it first."
                raise Unavailable(f"table {name}", what, remedy=remedy)

    def release_tables(self, engine: Engine, names: Iterable[str]) -> None:
        """Let other engines of this process use the tables that an engine has closed."""
        with _locked_directories.lock:
            for name in list(names):
                if self._owners.get(name) is engine:
                    del self._owners[name]

    def release(self, engine: Engine) -> None:
        """Release the lock for an engine, and the file once no engine has it.

        It is released even if a starting child process has the lock file open too.
        """
        with _locked_directories.lock:
            self.release_tables(engine, self._owners)
            self._engines.discard(engine)
            if not self._engines:
                _locked_directories.forget(self)
                self._close_file()

    def _close_file(self) -> None:
        """Unlock and close the lock file."""
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


class _LockedDirectories:
    """The directories that this process has locked; a forked child starts without any."""

    def __init__(self) -> None:
        self.lock = RLock()
        self._locks: WeakValueDictionary[tuple[int, int], DirectoryLock] = WeakValueDictionary()
        fork_safety.register_resource(self)

    def acquire(self, path: Path, engine: Engine) -> DirectoryLock:
        """Lock a directory for an engine, and return the lock, which all its engines share."""
        with self.lock:
            file = _open_lock(path / LOCK_FILE)
            # The number of an open file is not given to another one, as that of a folder may be.
            status = path.stat() if file is None else os.fstat(file.fileno())
            place = (status.st_dev, status.st_ino)
            lock = self._locks.get(place)
            if lock is None:
                lock = self._locks[place] = DirectoryLock(path, file)
            elif file is not None:
                file.close()
            lock.add_engine(engine)
            return lock

    def forget(self, lock: DirectoryLock) -> None:
        """Forget a lock that no engine has any longer."""
        for place in [place for place, one in self._locks.items() if one is lock]:
            del self._locks[place]

    def reset_in_child(self) -> None:
        """Forget the locks of the parent in a forked child."""
        self.lock, self._locks = RLock(), WeakValueDictionary()


_locked_directories = _LockedDirectories()


def lock_directory(path: Path, engine: Engine) -> DirectoryLock:
    """Lock a directory for an engine of this process, and return the lock.

    All engines of the process share it, until each has released it or is garbage.

    Args:
        engine: what is going to use it.

    Raises:
        Unavailable: another process has the directory locked.
        OSError: the lock file cannot be opened.
    """
    return _locked_directories.acquire(path, engine)


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
