"""Simulates a restart of the machine, as a table's high-water mark records it."""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

from rowkey.engines.rocksdb_files.high_water_mark import (
    _CHECKSUM_STRUCT,
    _MARK_OFFSET,
    _MARK_STRUCT,
    HIGH_WATER_FILE,
)


def restart_machine(directory: Path) -> None:
    """Change the mark of a table as if the machine had restarted since its last write."""
    path = directory / HIGH_WATER_FILE
    content = bytearray(path.read_bytes())
    content[_MARK_OFFSET] ^= 0xFF  # of the number of the machine's start
    end = _MARK_OFFSET + _MARK_STRUCT.size
    content[end : end + _CHECKSUM_STRUCT.size] = _CHECKSUM_STRUCT.pack(
        crc32(bytes(content[_MARK_OFFSET:end]))
    )
    path.write_bytes(content)
