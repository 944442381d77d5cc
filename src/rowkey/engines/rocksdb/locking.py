"""One process for a directory, told at once and not table by table."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from rowkey.engines.rocksdb.files import in_use

try:
    import fcntl
except ImportError:  # where there is none, the lock of each RocksDB still holds
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from pathlib import Path

LOCK = ".lock"


def lock_directory(path: Path) -> BinaryIO:
    """Hold a directory until the file that is returned is closed, or the process is dead.

    Raises:
        Unsupported: it is held already.
        OSError: it cannot be written to.
    """
    held = (path / LOCK).open("ab")
    if fcntl is not None:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            held.close()
            raise in_use(path) from problem
    return held
