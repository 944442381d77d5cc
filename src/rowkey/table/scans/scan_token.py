"""Resume tokens: short texts by which another process continues a scan."""

from __future__ import annotations

import base64
import binascii
import json
from hashlib import sha256
from typing import NamedTuple

from rowkey.errors import ReadError

_TOKEN_VERSION = 1


class ScanToken(NamedTuple):
    """The last row that a scan returned, and a digest of the read.

    Args:
        read_digest: a digest of the read; a token of another read is refused.
        suffix: the suffix of its last row, as in `ScanItem`.
        qualifier_prefix: as in `ScanItem`.
        common_prefix: as in `ScanItem`; which copy of a row was returned does not matter.
        table: the table that serves the read, if it is one of several; else empty.
    """

    read_digest: str
    suffix: bytes
    qualifier_prefix: bytes
    common_prefix: bytes
    table: str = ""

    def __str__(self) -> str:
        """Return the token as text of letters, digits, - and _."""
        digest, *places, table = self
        pieces = [_TOKEN_VERSION, digest, *(piece.hex() for piece in places)]
        pieces += [table] if table else []
        return base64.urlsafe_b64encode(json.dumps(pieces).encode()).decode().rstrip("=")


def compute_digest(*parts: object) -> str:
    """Return a short digest of the conditions, the order and the key of a read."""
    return sha256(repr(parts).encode()).hexdigest()[:16]


def parse_token(text: str, read_digest: str, table: str = "") -> ScanToken:
    """Parse the text of a resume token, and check that it belongs to a read.

    Args:
        text: the text, from `str(token)`.
        table: the table that serves the read, if it is one of several.

    Raises:
        ReadError: the text is not a token, or is the token of another read.

    >>> token = ScanToken("ab", b"row", b"", b"05")
    >>> parse_token(str(token), "ab") == token
    True
    """
    token = _decode_token(text)
    if token is None:
        what = f"{text[:40]!r} is not a token of a scan"
        raise ReadError("argument resume", what, "the `token` of an earlier scan")
    if token.table != table:
        what = f"the token comes from a scan of {token.table or 'a table without companions'}"
        remedy = "Give the token of this scan, or scan without resume."
        raise ReadError("argument resume", what, f"a token of a scan of {table}", remedy)
    if token.read_digest != read_digest:
        what = "the token comes from a scan with other conditions, order or row key"
        remedy = "Give the conditions and the order of that scan, or scan without resume."
        raise ReadError("argument resume", what, "a token of the same scan", remedy)
    return token


def find_token_table(text: object) -> str:
    """Return the table that a resume token names; empty if it names none, or is no token.

    >>> find_token_table(str(ScanToken("ab", b"row", b"", b"05", "orders")))
    'orders'
    """
    token = _decode_token(text) if isinstance(text, str) else None
    return "" if token is None else token.table


def _decode_token(text: str) -> ScanToken | None:
    """Return the token that a text stands for; None if it is no token."""
    padded = text + "=" * (-len(text) % 4)
    try:
        version, digest, *pieces = json.loads(base64.urlsafe_b64decode(padded))
        suffix, qualifier_prefix, common_prefix = map(bytes.fromhex, pieces[:3])
        (table,) = pieces[3:] or [""]
    except (ValueError, TypeError, binascii.Error, RecursionError):
        return None
    if version != _TOKEN_VERSION or not isinstance(table, str):
        return None
    return ScanToken(digest, suffix, qualifier_prefix, common_prefix, table)
