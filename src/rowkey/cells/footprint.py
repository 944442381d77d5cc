"""How many bytes a cell takes, on the wire and in a file before encoding and compression."""

from __future__ import annotations

from rowkey.cells.limits import FAMILY_BYTES_MOST, INT_MOST, ROW_BYTES_MOST
from rowkey.errors import Refused

KEY_LENGTH = 4
VALUE_LENGTH = 4
ROW_LENGTH = 2
FAMILY_LENGTH = 1
TIMESTAMP = 8
TYPE = 1
TAGS_LENGTH = 2

OVERHEAD = KEY_LENGTH + VALUE_LENGTH + ROW_LENGTH + FAMILY_LENGTH + TIMESTAMP + TYPE
"""Bytes of every cell beside row, family, qualifier and value: 20. Source: KeyValue."""

_MOST = {"row": ROW_BYTES_MOST, "family": FAMILY_BYTES_MOST, "tags": 32_767}


def cell_bytes(row: int, family: int, qualifier: int, value: int, tags: int = 0) -> int:
    """Bytes of one cell as a KeyValue.

    Args:
        row: bytes of the row key, which every cell of the row repeats.
        family: bytes of the family's name.
        qualifier: bytes of the qualifier; 0 is allowed.
        value: bytes of the value.
        tags: bytes of all tags; their length field comes with the first.

    Raises:
        Refused: a length is negative or beyond what HBase stores.

    Source: KeyValue: 4 + 4 + 2 + row + 1 + family + qualifier + 8 + 1 + value (+ 2 + tags).

    >>> cell_bytes(row=16, family=1, qualifier=4, value=8)
    49
    """
    given = {"row": row, "family": family, "qualifier": qualifier, "value": value, "tags": tags}
    for part, length in given.items():
        most = _MOST.get(part, INT_MOST)
        if not 0 <= length <= most:
            raise Refused(part, f"{length:,} bytes", f"0..{most:,}")
    return OVERHEAD + sum(given.values()) + (TAGS_LENGTH if tags else 0)


def block_bytes(
    row: int,
    family: int,
    qualifier: int,
    value: int,
    tags: int = 0,
    *,
    sequence_id: int = 0,
    file_has_tags: bool = False,
) -> int:
    """Bytes of one cell inside a data block of an HFile, unencoded and uncompressed.

    Args:
        row: bytes of the row key.
        family: bytes of the family's name.
        qualifier: bytes of the qualifier.
        value: bytes of the value.
        tags: bytes of all tags.
        sequence_id: the write's number, 0 once a major compaction has forgotten it.
        file_has_tags: whether any cell of the file has tags: then each has their length.

    Raises:
        Refused: a length is negative or beyond what HBase stores.

    Source: NoneEncoder: the KeyValue, tags' length if the file has tags, mvcc as a vlong.

    >>> block_bytes(row=16, family=1, qualifier=4, value=8)
    50
    """
    bare_length = TAGS_LENGTH if file_has_tags and not tags else 0
    return cell_bytes(row, family, qualifier, value, tags) + bare_length + vlong_bytes(sequence_id)


def vlong_bytes(number: int) -> int:
    """Bytes of a number in Hadoop's variable-length form: 1 for -112..127, else 2..9.

    Source: WritableUtils.writeVLong.

    >>> vlong_bytes(0), vlong_bytes(128), vlong_bytes(2**63 - 1)
    (1, 2, 9)
    """
    if not -(2**63) <= number < 2**63:
        raise Refused("number", f"{number} does not fit in 8 bytes", "-2^63..2^63-1")
    if -112 <= number <= 127:
        return 1
    magnitude = number if number >= 0 else ~number
    return 1 + (magnitude.bit_length() + 7) // 8
