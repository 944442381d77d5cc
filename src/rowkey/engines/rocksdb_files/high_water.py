"""The high-water mark: the last change that was acknowledged, noted next to the database.

A log that was cut looks like one that a kill has torn, and a MANIFEST that was cut looks like an
older one: RocksDB opens both without what is missing. This file says how far the table had come, so
that an end that comes too early is told.

It is handed to the system with each write, at 1 µs: it survives the death of the process as the log
does, and after a loss of power it may be behind the log, never ahead of what was
acknowledged. What was not synced may be lost by a loss of power, so after the machine was restarted
only synced changes must be there.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from struct import Struct
from typing import BinaryIO
from zlib import crc32

HIGH_WATER = "high-water"
_MAGIC = b"rowkey high water\n"
_MARK = Struct("<16sQQ")
"""The boot of the machine it was written in, the last change, the last change on disk."""
_CHECKSUM = Struct("<I")
_AT = 64
"""Where the mark begins; what is before it is for people who look into the file."""
_SIZE = 128
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a table had come.

    Args:
        acknowledged: sequence number of the last change that was acknowledged.
        durable: that of the last change that was on disk by then.
        is_of_this_boot: whether the machine was not restarted since.
    """

    acknowledged: int
    durable: int
    is_of_this_boot: bool

    @property
    def least(self) -> int:
        """The sequence number that the table must reach."""
        return self.acknowledged if self.is_of_this_boot else self.durable


class HighWaterMark:
    """The mark of an open table, to be raised with each write.

    Args:
        path: the file; it is made whole before it is used.
        sequence: the last change in the table, all of which is on disk.

    Raises:
        OSError: it cannot be written.
    """

    def __init__(self, path: Path, sequence: int) -> None:
        self._boot = _boot_id()
        self._durable = sequence
        if read_mark(path) is None:
            _create(path)
        self._file: BinaryIO | None = path.open("r+b", buffering=0)
        self.raise_to(sequence, durable=True)

    def raise_to(self, sequence: int, *, durable: bool) -> None:
        """Note that a change is acknowledged.

        Args:
            sequence: its sequence number.
            durable: whether it is on disk.

        Raises:
            OSError: it cannot be written.

        Cost: 1 µs.
        """
        if durable:
            self._durable = sequence
        mark = _MARK.pack(self._boot, sequence, self._durable)
        assert self._file is not None
        os.pwrite(self._file.fileno(), mark + _CHECKSUM.pack(crc32(mark)), _AT)

    def close(self) -> None:
        """Let go of the file; closing twice is harmless."""
        if self._file is not None:
            self._file.close()
            self._file = None


def read_mark(path: Path) -> Mark | None:
    """Return the mark in a file; None if it is missing, damaged or cannot be read."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    mark = content[_AT : _AT + _MARK.size]
    stored = content[_AT + _MARK.size : _AT + _MARK.size + 4]
    if not content.startswith(_MAGIC) or stored != _CHECKSUM.pack(crc32(mark)):
        return None
    boot, acknowledged, durable = _MARK.unpack(mark)
    return Mark(acknowledged, durable, boot == _boot_id())


def _create(path: Path) -> None:
    with path.open("wb") as file:
        file.write(_MAGIC.ljust(_SIZE, b"\0"))
        file.flush()
        os.fsync(file.fileno())


def _boot_id() -> bytes:
    """Return what tells this start of the machine from others; random where nothing does.

    Then every opening counts as one after a restart, and only synced changes must be there.
    """
    try:
        return sha256(_BOOT_ID.read_bytes()).digest()[:16]
    except OSError:
        return os.urandom(16)
