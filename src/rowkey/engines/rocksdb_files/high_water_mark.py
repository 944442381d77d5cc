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

HIGH_WATER_FILE = "high-water"
_MAGIC = b"rowkey high water\n"
_MARK_STRUCT = Struct("<16sQQ")
"""The boot of the machine it was written in, the last change, the last change on disk."""
_CHECKSUM_STRUCT = Struct("<I")
_MARK_OFFSET = 64
"""Where the mark begins; what is before it is for people who look into the file."""
_FILE_BYTES = 128
_BOOT_ID_FILE = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class StoredMark:
    """The progress of a table when its mark was last written.

    Args:
        acknowledged_sequence: sequence number of the last change that was acknowledged.
        durable_sequence: that of the last change that was on disk by then.
        is_of_this_boot: whether the machine was not restarted since.
    """

    acknowledged_sequence: int
    durable_sequence: int
    is_of_this_boot: bool

    @property
    def required_sequence(self) -> int:
        """Return the sequence number that the table must reach."""
        return self.acknowledged_sequence if self.is_of_this_boot else self.durable_sequence


class HighWaterMark:
    """The mark of an open table, raised with each write.

    Args:
        path: the file; it is made whole before it is used.
        sequence: the last change in the table, all of which is on disk.

    Raises:
        OSError: it cannot be written.
    """

    def __init__(self, path: Path, sequence: int) -> None:
        self._boot_id = _read_boot_id()
        self._durable_sequence = sequence
        if read_mark(path) is None:
            _create_file(path)
        self._file: BinaryIO | None = path.open("r+b", buffering=0)
        self.raise_mark(sequence, durable=True)

    def raise_mark(self, sequence: int, *, durable: bool) -> None:
        """Store that a change is acknowledged.

        Args:
            sequence: its sequence number.
            durable: whether it is on disk.

        Raises:
            OSError: it cannot be written.

        Cost: 1 µs.
        """
        if durable:
            self._durable_sequence = sequence
        mark = _MARK_STRUCT.pack(self._boot_id, sequence, self._durable_sequence)
        assert self._file is not None
        os.pwrite(self._file.fileno(), mark + _CHECKSUM_STRUCT.pack(crc32(mark)), _MARK_OFFSET)

    def close(self) -> None:
        """Close the file; closing twice is harmless."""
        if self._file is not None:
            self._file.close()
            self._file = None


def read_mark(path: Path) -> StoredMark | None:
    """Return the mark in a file; None if it is missing, damaged or cannot be read."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    mark = content[_MARK_OFFSET : _MARK_OFFSET + _MARK_STRUCT.size]
    stored = content[_MARK_OFFSET + _MARK_STRUCT.size : _MARK_OFFSET + _MARK_STRUCT.size + 4]
    if not content.startswith(_MAGIC) or stored != _CHECKSUM_STRUCT.pack(crc32(mark)):
        return None
    boot, acknowledged, durable = _MARK_STRUCT.unpack(mark)
    return StoredMark(acknowledged, durable, boot == _read_boot_id())


def _create_file(path: Path) -> None:
    """Create the file of the mark, without a mark."""
    with path.open("wb") as file:
        file.write(_MAGIC.ljust(_FILE_BYTES, b"\0"))
        file.flush()
        os.fsync(file.fileno())


def _read_boot_id() -> bytes:
    """Return an id of this boot of the machine; a random one if the system has none.

    Then every opening counts as one after a restart, and only synced changes must be there.
    """
    try:
        return sha256(_BOOT_ID_FILE.read_bytes()).digest()[:16]
    except OSError:
        return os.urandom(16)
