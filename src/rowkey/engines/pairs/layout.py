r"""The bytes of a cell in RocksDB: a key, which sorts in HBase's order of cells, and a value.

```
key    row, escaped   00   qualifier, escaped   00   2^63 - 1 - timestamp, 8 bytes   255 - type
value  as it is, unless it begins with C1:   C1 00   the value
       with a time to live of its own:       C1 01   milliseconds, 8 bytes   the value
```
Escaping writes 00 as 01 01 and 01 as 01 02, so no 00 is left: the first 00 of a key ends its row,
and the one before the last 9 bytes ends its qualifier. A later put of the same coordinates has the
same key, so it replaces the earlier one, which is what HBase shows. C1 begins neither UTF-8 text
nor MessagePack, so next to no value grows.
"""

from __future__ import annotations

from struct import Struct

from rowkey.cells import LATEST, CellType

PIECE_END = b"\0"
"""Ends a row, and a qualifier."""

NEXT_PIECE_START = b"\1"
"""A row followed by this byte sorts after all keys of the row, and before those of later rows."""

TAIL_BYTES = 9
"""Bytes after the qualifier's end: 8 of the timestamp, 1 of the cell type."""

KEY_OVERHEAD_BYTES = TAIL_BYTES + 2
"""Bytes of a key besides its row and qualifier."""

VALUE_MARK = 0xC1
"""The first byte of a stored value that has a prefix before the original value."""

PLAIN_VALUE_PREFIX = b"\xc1\x00"
TTL_VALUE_PREFIX = b"\xc1\x01"

MARK_PREFIX = bytes([VALUE_MARK])

_TAIL_STRUCT = Struct(">QB")
_TTL_STRUCT = Struct(">Q")
unpack_tail = _TAIL_STRUCT.unpack_from
pack_tail = _TAIL_STRUCT.pack
CELL_TYPES = {255 - kind: kind for kind in CellType}
PUT_BYTE = 255 - CellType.PUT
"""The last byte of a put's key."""


def escape(piece: bytes) -> bytes:
    r"""Return a row key or qualifier escaped so that it contains no zero byte; order stays.

    >>> escape(b"a\0b\1c")
    b'a\x01\x01b\x01\x02c'
    """
    # `in` with a number takes a tenth of the time of `in` with bytes.
    if 0 in piece or 1 in piece:
        return piece.replace(b"\1", b"\1\2").replace(b"\0", b"\1\1")
    return piece


def unescape(piece: bytes) -> bytes:
    r"""Return the row key or qualifier that `escape` was given.

    >>> unescape(escape(b"\1\0\0\1\2"))
    b'\x01\x00\x00\x01\x02'
    """
    if 1 in piece:
        return piece.replace(b"\1\1", b"\0").replace(b"\1\2", b"\1")
    return piece


def build_tail(timestamp: int, cell_type: int) -> bytes:
    r"""Return the last 9 bytes of a stored key: newest first, deletes before puts.

    >>> build_tail(2**63 - 2, 4)
    b'\x00\x00\x00\x00\x00\x00\x00\x01\xfb'
    """
    return _TAIL_STRUCT.pack(LATEST - timestamp, 255 - cell_type)


def build_key(row: bytes, qualifier: bytes, timestamp: int, cell_type: int) -> bytes:
    r"""Return the key under which a cell is stored.

    >>> build_key(b"r", b"q", 2**63 - 2, CellType.PUT)
    b'r\x00q\x00\x00\x00\x00\x00\x00\x00\x00\x01\xfb'
    """
    return b"%b\0%b\0%b" % (escape(row), escape(qualifier), build_tail(timestamp, cell_type))


def parse_key(key: bytes) -> tuple[bytes, bytes, int, CellType]:
    """Return row, qualifier, timestamp and type of the cell stored under a key.

    >>> parse_key(build_key(b"r", b"q", 7, CellType.DELETE))
    (b'r', b'q', 7, <CellType.DELETE: 8>)
    """
    row, _, suffix = key.partition(PIECE_END)
    inverted, type_byte = _TAIL_STRUCT.unpack_from(suffix, len(suffix) - TAIL_BYTES)
    return (
        unescape(row),
        unescape(suffix[: -TAIL_BYTES - 1]),
        LATEST - inverted,
        CELL_TYPES[type_byte],
    )


def parse_row(key: bytes) -> bytes:
    """Return the row key of the cell stored under a key.

    >>> parse_row(build_key(b"r", b"q", 7, CellType.PUT))
    b'r'
    """
    return unescape(key.partition(PIECE_END)[0])


def wrap_value(value: bytes, ttl_ms: int | None = None) -> bytes:
    r"""Return a value as it is stored, with its time to live if it has one.

    >>> wrap_value(b"plain"), wrap_value(b"\xc1"), wrap_value(b"", 5)
    (b'plain', b'\xc1\x00\xc1', b'\xc1\x01\x00\x00\x00\x00\x00\x00\x00\x05')
    """
    if ttl_ms is not None:
        return TTL_VALUE_PREFIX + _TTL_STRUCT.pack(ttl_ms) + value
    return PLAIN_VALUE_PREFIX + value if value[:1] == b"\xc1" else value


def unwrap_value(stored: bytes) -> tuple[bytes, int | None]:
    r"""Return the original value of a stored value, and its time to live in ms or None.

    >>> unwrap_value(wrap_value(b"\xc1")), unwrap_value(wrap_value(b"v", 5))
    ((b'\xc1', None), (b'v', 5))
    """
    if stored[:1] != b"\xc1":
        return stored, None
    if stored[1:2] == b"\0":
        return stored[2:], None
    return stored[10:], _TTL_STRUCT.unpack_from(stored, 2)[0]
