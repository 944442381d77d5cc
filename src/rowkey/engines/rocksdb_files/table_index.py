"""Reads the index of a table file without RocksDB: the keys that separate its blocks.

RocksDB says that a block is damaged, but not where the next one begins. The index does: for each
block it has a separator, a key not below the last one of the block and below the first one of the
next.

Source: table/format.cc and table/block_based/block.cc of RocksDB 10.4.
"""

from __future__ import annotations

import bz2
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from rowkey.array_libraries import pa

_MAGIC = 0x88E2_41B7_85F4_CFF7
"""Ends a block-based table. Source: kBlockBasedTableMagicNumber."""
_FOOTER_BYTES = 53
_FOOTER_END = struct.Struct("<IQ")
"""How a footer ends: the version of the format, and the magic number."""
_METAINDEX_IN_FOOTER = 6
"""The version from which on a footer has only the size of the metaindex, which lies before it."""
_METAINDEX_SIZE_AT = 13
_TRAILER_BYTES = 5
"""After each block: the type of its compression, and its checksum."""
_UINT32 = struct.Struct("<I")
_INDEX_NAME, _PROPERTIES_NAME = b"rocksdb.index", b"rocksdb.properties"
_LARGEST_SEQUENCE = b"rocksdb.key.largest.seqno"
_CREATOR = b"rocksdb.creating.db.identity"
_OLDEST_KEY_TIME = b"rocksdb.oldest.key.time"
_NO_COMPRESSION, _SNAPPY, _ZLIB, _BZIP2 = 0, 1, 2, 3
_ARROW_CODECS = {_SNAPPY: "snappy", 4: "lz4_raw", 5: "lz4_raw", 7: "zstd"}
_MAX_INDEX_BYTES = 1 << 30
_MAX_RESTARTS = (1 << 28) - 1
"""Of the number of restarts the highest bits are flags."""
_MAX_VARINT_BITS = 64


class InvalidIndex(ValueError):
    """The index of a table file cannot be parsed."""


def read_separators(path: Path) -> list[bytes]:
    """Return the keys that separate the blocks of a table file, ascending.

    Checksums are not verified: a caller must not rely on a separator being right.

    Raises:
        InvalidIndex: the file or its index is damaged, or of a format that is not known here.
        OSError: the file cannot be read.

    Cost: about 2 µs a block.
    """
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            offset, length = _find_index(file, size)
            entries = _read_entries(_read_block(file, offset, length), has_lengths=False)
            return sorted({key for key, _ in entries})
    except (IndexError, ValueError, struct.error, OverflowError, zlib.error) as problem:
        raise InvalidIndex(f"{path}: {problem}") from problem


def read_origin(path: Path) -> tuple[str, int]:
    """Return the id of the database that wrote a table file, and the number of its last change.

    Raises:
        InvalidIndex: the file or its properties are damaged, or of an unknown format.
        OSError: the file cannot be read.
    """
    properties = _read_properties(path)
    try:
        sequence, _ = _read_varint(properties[_LARGEST_SEQUENCE], 0)
        return properties[_CREATOR].decode(), sequence
    except (LookupError, ValueError) as problem:
        raise InvalidIndex(f"{path}: {problem}") from problem


def is_compacted(path: Path) -> bool:
    """Return whether a compaction wrote a table file: only flushes know the time of its first key.

    Raises:
        InvalidIndex: the file or its properties are damaged, or of an unknown format.
        OSError: the file cannot be read.

    Source: rocksdb/db/compaction/compaction_job.cc, which passes no oldest key time.
    """
    return _read_properties(path).get(_OLDEST_KEY_TIME, b"\0") == b"\0"


def _read_properties(path: Path) -> dict[bytes, bytes]:
    try:
        with path.open("rb") as file:
            offset, length = _find_block(file, path.stat().st_size, _PROPERTIES_NAME)
            return dict(_read_entries(_read_block(file, offset, length), has_lengths=True))
    except (LookupError, ValueError, struct.error, OverflowError, zlib.error) as problem:
        raise InvalidIndex(f"{path}: {problem}") from problem


def _find_index(file: BinaryIO, size: int) -> tuple[int, int]:
    """Return the offset of a file's index block, and its size without the trailer.

    Raises:
        InvalidIndex: the file is not a table of RocksDB, or is damaged.
    """
    footer = _read_at(file, size - _FOOTER_BYTES, _FOOTER_BYTES)
    version, magic = _FOOTER_END.unpack_from(footer, len(footer) - _FOOTER_END.size)
    if magic != _MAGIC:
        raise InvalidIndex("the file is not a block-based table")
    at = 1  # the type of the checksums
    if version < _METAINDEX_IN_FOOTER:
        for _ in range(2):  # the handle of the metaindex
            _, at = _read_varint(footer, at)
        return _read_handle(footer, at)
    return _find_block(file, size, _INDEX_NAME)


def _find_block(file: BinaryIO, size: int, name: bytes) -> tuple[int, int]:
    """Return the offset and the size of a block that the metaindex names.

    Raises:
        InvalidIndex: the metaindex does not name the block.
    """
    footer = _read_at(file, size - _FOOTER_BYTES, _FOOTER_BYTES)
    (length,) = _UINT32.unpack_from(footer, _METAINDEX_SIZE_AT)
    offset = size - _FOOTER_BYTES - _TRAILER_BYTES - length
    for key, handle in _read_entries(_read_block(file, offset, length), has_lengths=True):
        if key == name:
            return _read_handle(handle, 0)
    raise InvalidIndex(f"the metaindex does not name {name.decode()}")


def _read_at(file: BinaryIO, offset: int, length: int) -> bytes:
    if min(offset, length) < 0 or offset + length > os.fstat(file.fileno()).st_size:
        raise InvalidIndex(f"the file lacks {length} bytes at offset {offset}")
    file.seek(offset)
    return file.read(length)


def _read_block(file: BinaryIO, offset: int, length: int) -> bytes:
    """Read a block of a file, and decompress it.

    Raises:
        InvalidIndex: the block is too large, or cannot be decompressed.
    """
    stored = _read_at(file, offset, length + 1)
    content, compression = stored[:-1], stored[-1]
    if compression == _NO_COMPRESSION:
        return content
    if compression == _SNAPPY:
        size, _ = _read_varint(content, 0)  # snappy's own, which it reads itself
    else:
        size, at = _read_varint(content, 0)
        content = content[at:]
    if size > _MAX_INDEX_BYTES:
        raise InvalidIndex(f"the index is {size} bytes long, which is too long")
    try:
        return _decompress(content, compression, size)
    except (OSError, NotImplementedError) as problem:  # raised by pyarrow and bz2
        raise InvalidIndex(str(problem)) from problem


def _decompress(content: bytes, compression: int, size: int) -> bytes:
    """Decompress the content of a block.

    Args:
        content: the compressed bytes.
        compression: RocksDB's number of the compression.
        size: number of bytes before compression.

    Raises:
        InvalidIndex: the compression is unknown.
    """
    if compression == _ZLIB:
        return zlib.decompress(content, wbits=-zlib.MAX_WBITS)
    if compression == _BZIP2:
        return bz2.decompress(content)
    if compression not in _ARROW_CODECS:
        raise InvalidIndex(f"the block has the unknown compression {compression}")
    codec = pa.Codec(_ARROW_CODECS[compression])
    decompressed: bytes = codec.decompress(content, decompressed_size=size, asbytes=True)
    return decompressed


def _read_entries(block: bytes, *, has_lengths: bool) -> Iterator[tuple[bytes, bytes]]:
    """Yield the keys and values of a block.

    Args:
        block: its content.
        has_lengths: whether values have their length before them. Those of an index do not: a
            handle is two numbers, or one where its key shares bytes with the key before.

    Raises:
        InvalidIndex: the block ends within an entry.
    """
    (restarts,) = _UINT32.unpack_from(block, len(block) - _UINT32.size)
    end = len(block) - _UINT32.size * (1 + (restarts & _MAX_RESTARTS))
    at, key, length = 0, b"", 0
    while at < end:
        shared, at = _read_varint(block, at)
        unshared, at = _read_varint(block, at)
        if has_lengths:
            length, at = _read_varint(block, at)
        key = key[:shared] + block[at : at + unshared]
        at += unshared
        begin = at
        if has_lengths:
            at += length
        else:
            for _ in range(1 if shared else 2):
                _, at = _read_varint(block, at)
        if at > end:
            raise InvalidIndex("a block ends within an entry")
        yield key, block[begin:at]


def _read_handle(data: bytes, at: int) -> tuple[int, int]:
    """Parse a block handle: the offset and the size of a block."""
    offset, at = _read_varint(data, at)
    size, _ = _read_varint(data, at)
    return offset, size


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Parse a varint; return the number and the offset after it.

    Raises:
        InvalidIndex: the number has more than 64 bits.
    """
    value = shift = 0
    while shift < _MAX_VARINT_BITS:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise InvalidIndex("a number has more than 64 bits")
