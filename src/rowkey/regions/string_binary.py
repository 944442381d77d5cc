r"""Bytes as HBase's shell prints and reads them: `\x00` for what does not print."""

from __future__ import annotations

import re

from rowkey.errors import InvalidArgument

_ESCAPE = re.compile(r"\\x([0-9A-F]{2})|(\\x)|([^\x00-\x7f])")
_PRINTABLE_BYTES = frozenset(range(0x20, 0x7F)) - {ord("\\")}


def to_string_binary(row: bytes) -> str:
    r"""Format a row key as HBase's shell and logs print it.

    Source: Bytes.toStringBinary: 20..7E except the backslash as they are, else `\xNN`.

    >>> to_string_binary(b"a\x00\xff")
    'a\\x00\\xFF'
    """
    return "".join(chr(byte) if byte in _PRINTABLE_BYTES else f"\\x{byte:02X}" for byte in row)


def from_string_binary(text: str) -> bytes:
    r"""Parse a row key as HBase's shell reads it.

    Text that the shell would read as unintended bytes is an error: the shell drops the backslash of
    `\x` before lower-case digits, and keeps only the low byte of a character beyond ASCII.

    Raises:
        InvalidArgument: a `\x` without two upper-case digits, or a character beyond ASCII.

    Source: Bytes.toBytesBinary, run on 2.6.4.

    >>> from_string_binary("a\\x00\\xFF").hex()
    '6100ff'
    """
    for piece in _ESCAPE.finditer(text):
        excerpt = repr(text[piece.start() : piece.start() + 4])
        if piece[2]:
            raise InvalidArgument(
                "",
                f"{excerpt} is not a byte in hexadecimal digits",
                r"\x00..\xFF",
                r"Write \xFF, in upper case.",
            )
        if piece[3]:
            spelled = to_string_binary(piece[3].encode("utf-8", "surrogatepass"))
            what = f"{piece[3]!r} is not ASCII"
            raise InvalidArgument("", what, r"ASCII or \xNN", f"Write {spelled} for its UTF-8.")
    return _ESCAPE.sub(lambda piece: chr(int(piece[1], 16)), text).encode("latin-1")
