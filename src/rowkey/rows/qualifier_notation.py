r"""Qualifiers as text: UTF-8, in which `\xNN` is one byte, as in HBase's shell."""

from __future__ import annotations

import re

from rowkey.errors import InvalidArgument
from rowkey.regions import to_string_binary

_ESCAPE = re.compile(rb"\\x([0-9A-F]{2})?")


def parse_qualifier(text: str) -> bytes:
    r"""Return the bytes of a qualifier, or of the constant part of one, that a design declares.

    `\xNN` is one byte in upper-case hexadecimal digits, and `\x5C` a backslash; a backslash before
    another character is itself. Everything else is text in UTF-8.

    Raises:
        InvalidArgument: a `\x` without two upper-case digits, which HBase's shell would drop.

    Source: Bytes.toBytesBinary; text beyond ASCII, of which it keeps one byte, is UTF-8 here.

    >>> parse_qualifier("\\x80\\x0Bq"), parse_qualifier("a\\b"), parse_qualifier("\\x5Cx41")
    (b'\x80\x0bq', b'a\\b', b'\\x41')
    """
    raw = text.encode()
    for piece in _ESCAPE.finditer(raw):
        if piece[1] is None:
            excerpt = repr(raw[piece.start() : piece.start() + 4].decode(errors="replace"))
            what = f"{excerpt} is not a byte in hexadecimal digits"
            remedy = r"Write \xFF, in upper case; \x5C is a backslash."
            raise InvalidArgument("", what, r"\x00..\xFF", remedy)
    return _ESCAPE.sub(lambda piece: bytes.fromhex(piece[1].decode()), raw)


def format_qualifier(qualifier: bytes) -> str:
    r"""Return a qualifier as a design declares it: text if it is printable, else `\xNN` bytes.

    >>> format_qualifier(b"\x80\x0bq"), format_qualifier("größe".encode()), format_qualifier(b"a\\")
    ('\\x80\\x0Bq', 'größe', 'a\\x5C')
    """
    try:
        text = qualifier.decode()
    except UnicodeDecodeError:
        return to_string_binary(qualifier)
    return text if text.isprintable() and "\\" not in text else to_string_binary(qualifier)
