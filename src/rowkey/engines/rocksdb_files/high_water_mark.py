"""The high-water mark: the last acknowledged change, stored next to the database.

A log that was truncated looks like one that a kill interrupted, and a truncated MANIFEST looks like
an older one: RocksDB opens both without the lost part. This file says how far the table had come,
so that an end that comes too early is an error.

It is passed to the system with each write, in 1 µs. It survives the death of the process as the log
does. After a loss of power it may lag the log, but never contains an unacknowledged change; and as
changes that were not synced may be lost then, only synced ones must be there after a restart.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from struct import Struct
from typing import BinaryIO
from zlib import crc32

from rowkey.durable_files import open_regular_file, read_regular_file
from rowkey.engines.rocksdb_files.write_origin import ORIGIN_BYTES

HIGH_WATER_FILE = "high-water"
_MAGIC = b"rowkey high water\n"
_MARK_STRUCT = Struct(f"<16sQQ{ORIGIN_BYTES}s")
"""The boot of the machine it was written in, the last change, the last change on disk, the origin
of the writes."""
_CHECKSUM_STRUCT = Struct("<I")
_MARK_OFFSET = 64
"""The byte at which the mark begins; the text before it is for people."""
_FILE_BYTES = 128
_MAX_FILE_BYTES = 4096
_BOOT_ID_FILE = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class StoredMark:
    """The progress of a table when its mark was last written.

    Args:
        acknowledged_sequence: sequence number of the last acknowledged change.
        durable_sequence: sequence number of the last change that was on disk.
        is_of_this_boot: whether the machine has not restarted since.
        origin: the origin of the writes since the table was last opened.
    """

    acknowledged_sequence: int
    durable_sequence: int
    is_of_this_boot: bool
    origin: bytes

    @property
    def required_sequence(self) -> int:
        """Return the sequence number of the last change that the table must contain."""
        return self.acknowledged_sequence if self.is_of_this_boot else self.durable_sequence


class HighWaterMark:
    """The high-water mark of an open table, written with each change.

    Args:
        path: the file of the mark, created if it is missing or damaged.
        sequence: the sequence number of the last change, which is on disk.
        origin: the origin of the writes that follow; on disk before the first of them.

    Raises:
        OSError: the file cannot be written.
    """

    def __init__(self, path: Path, sequence: int, origin: bytes) -> None:
        self._boot_id, self.origin = _read_boot_id(), origin
        self._durable_sequence = sequence
        if read_mark(path) is None:
            _create_file(path)
        self._file: BinaryIO | None = open_regular_file(path, os.O_RDWR, "r+b")
        self.raise_mark(sequence, durable=True)
        os.fsync(self._file.fileno())

    def raise_mark(self, sequence: int, *, durable: bool) -> None:
        """Store the sequence number of the last acknowledged change.

        Args:
            durable: whether it is on disk.

        Raises:
            OSError: it cannot be written.

        Cost: 1 µs.
        """
        if durable:
            self._durable_sequence = sequence
        mark = _MARK_STRUCT.pack(self._boot_id, sequence, self._durable_sequence, self.origin)
        assert self._file is not None
        os.pwrite(self._file.fileno(), mark + _CHECKSUM_STRUCT.pack(crc32(mark)), _MARK_OFFSET)

    def close(self) -> None:
        """Close the file of the mark; closing twice is harmless."""
        if self._file is not None:
            self._file.close()
            self._file = None


def read_mark(path: Path) -> StoredMark | None:
    """Return the high-water mark in a file; None if it is missing or damaged."""
    try:
        content = read_regular_file(path, _MAX_FILE_BYTES)
    except OSError:
        return None
    mark = content[_MARK_OFFSET : _MARK_OFFSET + _MARK_STRUCT.size]
    stored = content[_MARK_OFFSET + _MARK_STRUCT.size : _MARK_OFFSET + _MARK_STRUCT.size + 4]
    if not content.startswith(_MAGIC) or stored != _CHECKSUM_STRUCT.pack(crc32(mark)):
        return None
    boot, acknowledged, durable, origin = _MARK_STRUCT.unpack(mark)
    return StoredMark(acknowledged, durable, boot == _read_boot_id(), origin)


def _create_file(path: Path) -> None:
    """Create the file of a high-water mark, still without a mark."""
    with path.open("wb") as file:
        file.write(_MAGIC.ljust(_FILE_BYTES, b"\0"))
        file.flush()
        os.fsync(file.fileno())


def _read_boot_id() -> bytes:
    """Return an id of this boot of the machine; a random id if the system has none.

    With a random id every opening seems to follow a restart, so only synced changes are required.
    """
    try:
        return sha256(_BOOT_ID_FILE.read_bytes()).digest()[:16]
    except OSError:
        return os.urandom(16)
