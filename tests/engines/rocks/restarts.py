"""A machine that lost its power and was started again, as a table's high-water mark tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

from rowkey.engines.rocksdb_files.high_water import _AT, _CHECKSUM, _MARK, HIGH_WATER

if TYPE_CHECKING:
    from pathlib import Path


def restart_machine(directory: Path) -> None:
    """Have a table believe that the machine was restarted since it was written to."""
    path = directory / HIGH_WATER
    content = bytearray(path.read_bytes())
    content[_AT] ^= 0xFF  # of the number of the machine's start
    end = _AT + _MARK.size
    content[end : end + _CHECKSUM.size] = _CHECKSUM.pack(crc32(bytes(content[_AT:end])))
    path.write_bytes(content)
