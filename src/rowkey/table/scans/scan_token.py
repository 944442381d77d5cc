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
        suffix: where its last row stands, as in `ScanItem`.
        qualifier_prefix: the same.
        common_prefix: the same; which copy of a row was given does not matter.
    """

    read_digest: str
    suffix: bytes
    qualifier_prefix: bytes
    common_prefix: bytes

    def __str__(self) -> str:
        """Return the token as text of letters, digits, - and _."""
        pieces = [_TOKEN_VERSION, self.read_digest, *(piece.hex() for piece in self[1:])]
        return base64.urlsafe_b64encode(json.dumps(pieces).encode()).decode().rstrip("=")


def compute_digest(*parts: object) -> str:
    """Return a short digest of a read."""
    return sha256(repr(parts).encode()).hexdigest()[:16]


def parse_token(text: str, read_digest: str) -> ScanToken:
    """Return the token that a text holds.

    Args:
        text: what `str(token)` gave.
        read_digest: the digest of the read that goes on.

    Raises:
        ReadError: the text is no token, or one of another read.

    >>> token = ScanToken("ab", b"row", b"", b"05")
    >>> parse_token(str(token), "ab") == token
    True
    """
    padded = text + "=" * (-len(text) % 4)
    version: object = None
    try:
        version, token_digest, *pieces = json.loads(base64.urlsafe_b64decode(padded))
        suffix, qualifier_prefix, common_prefix = map(bytes.fromhex, pieces)
    except (ValueError, TypeError, binascii.Error, RecursionError):
        version = None
    if version != _TOKEN_VERSION:
        what = f"{text[:40]!r} is no token of a scan"
        raise ReadError("resume", what, "the token of a scan")
    if token_digest != read_digest:
        raise ReadError("resume", "the token is of another read", "the same conditions and order")
    return ScanToken(token_digest, suffix, qualifier_prefix, common_prefix)
