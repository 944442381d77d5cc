"""Reads RocksDB's log format, shared by write-ahead logs and MANIFEST, without RocksDB.

If a record is longer than the rest of the file, RocksDB assumes that a kill cut it off, and drops
it with everything after it: one flipped bit in a length is enough. A flipped bit in a type can make
it wait forever, and a header of zeros makes it skip the rest of a block silently. This module
distinguishes all of these from a log that a kill cut off, before RocksDB opens it.

Source: log_format.h and log_reader.cc of RocksDB 10.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from struct import Struct

BLOCK_BYTES = 32_768
"""Bytes of a block; no fragment crosses its end. Source: log_format.h, kBlockSize."""

HEADER_BYTES = 7
"""Bytes before a fragment: checksum 4, length 2, type 1. Source: log_format.h, kHeaderSize."""

FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4
"""Types of a fragment: a whole record, or a part of one. Source: log_format.h; the other types,
for recycled and compressed logs and for timestamps, do not occur with the options used here."""

_FRAGMENT_TYPES = frozenset({FULL, FIRST, MIDDLE, LAST})
_HEADER_STRUCT = Struct("<IHB")

_POLYNOMIAL = 0x82F63B78
_MASK_DELTA = 0xA282EAD8
"""Source: crc32c.h, Mask: rotated right by 15 bits, and this added."""


@dataclass(frozen=True, slots=True)
class LogDamage:
    """The position and kind of the damage in a log file.

    Args:
        offset: the byte at which the damaged record begins.
        problem: what is wrong with the record, as a sentence without a full stop.
    """

    offset: int
    problem: str

    def describe(self, subject: str) -> str:
        """Return the damage as a sentence without a full stop, such as of `the log`."""
        return f"{subject} is damaged at byte {self.offset:,}: {self.problem}"


@dataclass(frozen=True, slots=True)
class ForeignLog(LogDamage):
    """A log that is intact, but not the table's own, so that none of it can be used."""

    def describe(self, subject: str) -> str:
        """Return why the log cannot be used, as a sentence without a full stop."""
        return f"{subject} {self.problem}"


def find_damage(log: bytes, *, verify_checksums: bool = False) -> LogDamage | None:
    """Return the first damage of a log that a kill cannot have caused; None if it is sound.

    Args:
        log: the content of the file.
        verify_checksums: whether to compute every checksum; RocksDB does that itself on open.

    Cost: about 0.5 µs a fragment; with checksums another 0.1 µs a byte.
    """
    for offset, length, fragment_type in _iterate_fragments(log):
        damage = _check_header(log, offset, length, fragment_type)
        if damage is None and verify_checksums:
            damage = _check_content(log, offset, length)
        if damage is not None:
            return damage
    return None


def read_records(log: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the offset and content of each record of a log, up to the first incomplete one.

    Args:
        log: the content of a file in which `find_damage` found none.
    """
    parts: list[bytes] = []
    start = 0
    for offset, length, fragment_type in _iterate_fragments(log):
        begin = offset + HEADER_BYTES
        if begin + length > len(log):
            return
        content = log[begin : begin + length]
        if fragment_type == FULL:
            yield offset, content
        elif fragment_type == FIRST:
            start, parts = offset, [content]
        else:
            parts.append(content)
            if fragment_type == LAST:
                yield start, b"".join(parts)


def encode_log(records: Iterable[bytes]) -> bytes:
    """Return the bytes of a log file with the given records."""
    log = bytearray()
    for record in records:
        is_first, remainder = True, record
        while is_first or remainder:
            block_bytes_left = BLOCK_BYTES - len(log) % BLOCK_BYTES
            if block_bytes_left < HEADER_BYTES:
                log += bytes(block_bytes_left)
                continue
            part, remainder = (
                remainder[: block_bytes_left - HEADER_BYTES],
                remainder[block_bytes_left - HEADER_BYTES :],
            )
            fragment_type = (
                (FIRST if remainder else FULL) if is_first else (MIDDLE if remainder else LAST)
            )
            checksum = mask_crc(compute_crc32c(bytes([fragment_type]) + part))
            log += _HEADER_STRUCT.pack(checksum, len(part), fragment_type) + part
            is_first = False
    return bytes(log)


def _iterate_fragments(log: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield offset, length and type of each fragment, up to the zeros that end a log.

    A header of zeros before other bytes is yielded as a fragment, as allocated but unwritten space
    is at the end only; the next fragment is then read from the next block.
    """
    offset, size, content_size = 0, len(log), len(log.rstrip(b"\0"))
    while offset + HEADER_BYTES <= size:
        block_bytes_left = BLOCK_BYTES - offset % BLOCK_BYTES
        if block_bytes_left < HEADER_BYTES:
            offset += block_bytes_left
            continue
        _, length, fragment_type = _HEADER_STRUCT.unpack_from(log, offset)
        if offset >= content_size:
            return
        yield offset, length, fragment_type
        offset += HEADER_BYTES + length if length or fragment_type else block_bytes_left


def _check_header(log: bytes, offset: int, length: int, fragment_type: int) -> LogDamage | None:
    """Return the damage of a fragment's header; None if it is sound."""
    if fragment_type not in _FRAGMENT_TYPES:
        return LogDamage(offset, f"a record has the unknown type {fragment_type}")
    if offset % BLOCK_BYTES + HEADER_BYTES + length > BLOCK_BYTES:
        return LogDamage(offset, f"a record of {length} bytes crosses the end of its block")
    if offset + HEADER_BYTES + length > len(log) and _has_shorter_content(log, offset):
        return LogDamage(offset, f"a record of {length} bytes does not match its checksum")
    return None


def _check_content(log: bytes, offset: int, length: int) -> LogDamage | None:
    """Return the damage of a fragment's content; None if its checksum is right."""
    checked = log[offset + HEADER_BYTES - 1 : offset + HEADER_BYTES + length]
    if len(checked) <= length:
        return None
    if mask_crc(compute_crc32c(checked)) == _HEADER_STRUCT.unpack_from(log, offset)[0]:
        return None
    return LogDamage(offset, f"a record of {length} bytes does not match its checksum")


def _has_shorter_content(log: bytes, offset: int) -> bool:
    """Return whether a record's checksum fits a shorter length, so that the length is wrong."""
    (stored, _, _) = _HEADER_STRUCT.unpack_from(log, offset)
    state = 0xFFFFFFFF
    for byte in log[offset + HEADER_BYTES - 1 : offset + HEADER_BYTES + BLOCK_BYTES]:
        state = _CRC_TABLE[(state ^ byte) & 0xFF] ^ (state >> 8)
        if mask_crc(state ^ 0xFFFFFFFF) == stored:
            return True
    return False


def compute_crc32c(data: bytes) -> int:
    """Return the CRC-32C checksum of bytes.

    Cost: about 0.1 µs a byte.

    >>> hex(compute_crc32c(b"123456789"))
    '0xe3069283'
    """
    state = 0xFFFFFFFF
    for byte in data:
        state = _CRC_TABLE[(state ^ byte) & 0xFF] ^ (state >> 8)
    return state ^ 0xFFFFFFFF


def mask_crc(crc: int) -> int:
    """Return a CRC-32C checksum in the masked form that RocksDB stores."""
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


def _build_crc_table() -> list[int]:
    """Return the checksum of each single byte. Source: CRC-32C, reflected polynomial."""
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (_POLYNOMIAL if crc & 1 else 0)
        table.append(crc)
    return table


_CRC_TABLE = _build_crc_table()
