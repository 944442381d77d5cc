"""Small files: written whole before anything relies on them, read with a bound, with checksums."""

from __future__ import annotations

import errno
import json
import os
import stat
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, cast

_CHUNK_BYTES = 1 << 16
NO_FILE_ERRORS = (errno.EINVAL, errno.ENXIO, errno.ELOOP, errno.EFBIG)
"""What reading reports of a folder, a pipe, a socket, a circle of links, or a file that is far too
large, in place of a file: another attempt would not help."""


def make_directory(path: Path) -> None:
    """Make a directory and its missing parents, each on disk before the next one is made in it.

    Raises:
        OSError: one cannot be made, or a file is in its place.
    """
    missing = []
    while not path.is_dir():
        if os.path.lexists(path) and not path.is_dir():  # others may make it at this moment
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
        missing.append(path)
        path = path.parent
    for directory in reversed(missing):
        directory.mkdir(exist_ok=True)
        sync_directory(directory.parent)


def replace_file(path: Path, content: bytes, temporary_path: Path) -> None:
    """Replace a file atomically: after a kill, the old one or the new one is there whole.

    Args:
        path: the file.
        content: what it holds from now on.
        temporary_path: the path under which it is written first, in the same file system.

    Raises:
        OSError: it cannot be written; the old one is as it was.
    """
    with temporary_path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary_path.replace(path)
    sync_directory(path.parent)


def read_regular_file(path: str | Path, max_bytes: int, flags: int = os.O_RDONLY) -> bytes:
    """Return the content of a file that should be small.

    A pipe in its place does not let the caller wait, and a device or a huge file does not fill the
    memory.

    Args:
        path: the file, or a link to it.
        max_bytes: the size of the largest file that is read.
        flags: the flags of `os.open`.

    Raises:
        FileNotFoundError: there is none.
        OSError: it cannot be read, is larger, or is a directory, a pipe, a socket or a device.
    """
    with open_regular_file(path, flags, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        content = b"" if size > max_bytes else file.read(size + 1)
        while content and (more := file.read(min(max_bytes + 1 - len(content), _CHUNK_BYTES))):
            content += more
    if max(size, len(content)) > max_bytes:
        what = f"it has {max(size, len(content)):,} bytes, more than {max_bytes:,}"
        raise OSError(errno.EFBIG, what, str(path))
    return content


def open_regular_file(path: str | Path, flags: int, mode: str) -> BinaryIO:
    """Open a file without waiting for a pipe in its place.

    Args:
        path: the file, or a link to it.
        flags: the flags of `os.open`.
        mode: the mode of the file object, such as `rb`.

    Raises:
        OSError: it cannot be opened, or is a directory, a pipe, a socket or a device.
    """
    flags |= getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    number = os.open(path, flags, 0o666)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    return cast("BinaryIO", os.fdopen(number, mode))


def sync_directory(path: Path) -> None:
    """Write the names in a directory to disk, which a rename alone does not.

    Where a directory cannot be opened for that, as in a folder one may only write to, the system
    brings them there by itself, later.
    """
    try:
        number = os.open(path, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(number)
    finally:
        os.close(number)


def compute_checksum(document: dict[str, Any]) -> str:
    """Return a checksum of a JSON document, independent of the order of its keys.

    >>> compute_checksum({"a": 1, "b": 2}) == compute_checksum({"b": 2, "a": 1})
    True
    """
    return sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
