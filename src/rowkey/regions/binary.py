r"""Bytes as HBase's shell prints and reads them: `\x00` for what does not print."""

from __future__ import annotations

import re

from rowkey.errors import Refused

_PIECE = re.compile(r"\\x([0-9A-F]{2})|(\\x)|([^\x00-\x7f])")
_PLAIN = frozenset(range(0x20, 0x7F)) - {ord("\\")}


def to_binary(row: bytes) -> str:
    r"""A row key as HBase's shell and logs print it.

    Source: Bytes.toStringBinary: 20..7E except the backslash as they are, else `\xNN`.

    >>> to_binary(b"a\x00\xff")
    'a\\x00\\xFF'
    """
    return "".join(chr(byte) if byte in _PLAIN else f"\\x{byte:02X}" for byte in row)


def from_binary(text: str) -> bytes:
    r"""The row key that HBase's shell would read from a text.

    What the shell reads as other bytes than were meant is refused: lower-case digits after `\x`
    lose their backslash there, characters beyond ASCII lose all but their low byte.

    Raises:
        Refused: a `\x` without two upper-case digits, or a character beyond ASCII.

    Source: Bytes.toBytesBinary, run on 2.6.4.

    >>> from_binary("a\\x00\\xFF").hex()
    '6100ff'
    """
    for piece in _PIECE.finditer(text):
        shown = repr(text[piece.start() : piece.start() + 4])
        if piece[2]:
            raise Refused("", f"{shown} is no byte", r"\x00..\xFF", r"Write \xFF, in upper case.")
        if piece[3]:
            spelled = to_binary(piece[3].encode("utf-8", "surrogatepass"))
            what = f"{piece[3]!r} is not ASCII"
            raise Refused("", what, r"ASCII or \xNN", f"Write {spelled} for its UTF-8.")
    return _PIECE.sub(lambda piece: chr(int(piece[1], 16)), text).encode("latin-1")
