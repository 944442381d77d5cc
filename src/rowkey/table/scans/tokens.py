"""Where a scan stands, as a short text that another process can go on from."""

from __future__ import annotations

import base64
import binascii
import json
from hashlib import sha256
from typing import NamedTuple

from rowkey.errors import ReadError

_VERSION = 1


class Token(NamedTuple):
    """The last row that was given, and of which read.

    Args:
        read: a digest of the read; a token of another read is refused.
        behind: where its last row stands, as in `Piece`.
        opening: the same.
        prefix: the same; which copy of a row was given does not matter.
    """

    read: str
    behind: bytes
    opening: bytes
    prefix: bytes

    def __str__(self) -> str:
        """The token as text of letters, digits, - and _."""
        told = [_VERSION, self.read, *(piece.hex() for piece in self[1:])]
        return base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")


def digest_of(*told: object) -> str:
    """A short digest of what a read asks."""
    return sha256(repr(told).encode()).hexdigest()[:16]


def read_token(text: str, read: str) -> Token:
    """A token from its text.

    Args:
        text: what `str(token)` gave.
        read: the digest of the read that goes on.

    Raises:
        ReadError: the text is no token, or one of another read.

    >>> token = Token("ab", b"row", b"", b"05")
    >>> read_token(str(token), "ab") == token
    True
    """
    padded = text + "=" * (-len(text) % 4)
    version: object = None
    try:
        version, of, *told = json.loads(base64.urlsafe_b64decode(padded))
        behind, opening, prefix = map(bytes.fromhex, told)
    except (ValueError, TypeError, binascii.Error, RecursionError):
        version = None
    if version != _VERSION:
        what = f"{text[:40]!r} is no token of a scan"
        raise ReadError("resume", what, "what scan.token gave")
    if of != read:
        raise ReadError("resume", "the token is of another read", "the same conditions and order")
    return Token(of, behind, opening, prefix)
