"""The origin of a write: the table and the opening of the table that it belongs to.

RocksDB checks that the batches of a log follow each other, not that the log is the table's own: two
tables with the same operations have logs that fit each other. So each batch ends with its origin,
and the high-water mark has the origin of the last opening. RocksDB writes what its logs hold to
files when it opens a table, so all logs that an opening reads are of the opening before.
"""

from __future__ import annotations

import secrets
from hashlib import sha256

ORIGIN_BYTES = 16
_TABLE_BYTES = 8

PROGRESS_KEY = b"sequence"
"""Key of the last change of each batch: two numbers and the origin. The numbers are the batches
that changed rows, which show how far a table was recovered, and the highest timestamp of a change,
so that timestamps never go back."""
PROGRESS_NUMBERS_BYTES = 16

_VALUE_BYTES = PROGRESS_NUMBERS_BYTES + ORIGIN_BYTES
_PUT_START = b"\x01%c%b%c" % (len(PROGRESS_KEY), PROGRESS_KEY, _VALUE_BYTES)
"""A put in the family of the metadata. Source: write_batch.cc, kTypeValue."""
_PUT_BYTES = len(_PUT_START) + _VALUE_BYTES


def build_table_part(table_id: str) -> bytes:
    """Return the part of an origin that names the table."""
    return sha256(table_id.encode()).digest()[:_TABLE_BYTES]


def build_origin(table_id: str) -> bytes:
    """Return the origin of the writes of a new opening of a table.

    Args:
        table_id: the id of its database.
    """
    return build_table_part(table_id) + secrets.token_bytes(ORIGIN_BYTES - _TABLE_BYTES)


def find_origin(batch: bytes) -> bytes:
    """Return the origin at the end of a batch in a log; empty if it has none."""
    if batch[-_PUT_BYTES:-_VALUE_BYTES] != _PUT_START:
        return b""
    return batch[-ORIGIN_BYTES:]


def is_of_table(origin: bytes, table_id: str) -> bool:
    """Return whether an origin is of a table.

    >>> is_of_table(build_origin("a"), "a"), is_of_table(build_origin("a"), "b")
    (True, False)
    """
    return origin.startswith(build_table_part(table_id))
