"""What tables and families may be called."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rowkey.cells.limits import (
    FAMILY_BYTES_MOST,
    META_ROW_BYTES,
    ROW_BYTES_MOST,
    TABLE_BYTES_MOST,
)
from rowkey.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

DEFAULT_NAMESPACE = "default"

_FIRST = re.compile(r"[a-zA-Z_0-9]")
_STRANGE_IN_NAMESPACE = re.compile(r"[^a-zA-Z_0-9]")
_STRANGE_IN_QUALIFIER = re.compile(r"[^a-zA-Z_0-9.-]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_UNWRITABLE = re.compile("[\ud800-\udfff]")

RESERVED_TABLE = "zookeeper"
"""A name no table may have. Source: TableName.DISALLOWED_TABLE_NAME."""

RESERVED_FAMILY = "recovered.edits"
"""A directory of every region, so no family's. Source: ColumnFamilyDescriptorBuilder."""


def check_table(name: str) -> Iterator[Refused]:
    """Every mistake in a table's name, with or without its namespace.

    HBase 2 takes letters of any language; we take ASCII, since a table's name is also a directory,
    a part of a URL and an argument of a shell.

    Args:
        name: `qualifier` or `namespace:qualifier`.

    Returns:
        Nothing if the name is good.

    Source: TableName: namespace `[a-zA-Z_0-9]+`, qualifier `[a-zA-Z_0-9][a-zA-Z_0-9-.]*`.

    >>> [str(mistake) for mistake in check_table("sales:orders")]
    []
    >>> print(*check_table("server logs"))
    'server logs' has ' ' in it; expected letters, digits and _ . - in a table. Write server_logs.
    """
    namespace, colon, qualifier = name.rpartition(":")
    if colon:
        yield from _check_piece(
            namespace, "letters, digits and _ in a namespace", _STRANGE_IN_NAMESPACE
        )
    yield from _check_piece(
        qualifier, "letters, digits and _ . - in a table", _STRANGE_IN_QUALIFIER
    )
    if qualifier == RESERVED_TABLE:
        yield Refused("", f"{name!r} is a name HBase keeps for itself", "another name")


def _check_piece(piece: str, allowed: str, strange: re.Pattern[str]) -> Iterator[Refused]:
    """The mistakes in one side of the colon."""
    odd = strange.findall(piece[:TABLE_BYTES_MOST])
    if not piece:
        yield Refused("", "a name is empty", allowed)
    elif len(piece) > TABLE_BYTES_MOST:
        what = f"{piece[:40]!r}… is {len(piece):,} characters long"
        yield Refused("", what, f"1..{TABLE_BYTES_MOST}")
    elif odd:
        seen = " ".join(repr(letter) for letter in dict.fromkeys(odd))
        mended = strange.sub("_", piece)
        yield Refused("", f"{piece!r} has {seen} in it", allowed, f"Write {mended}.")
    elif not _FIRST.match(piece):
        yield Refused("", f"{piece!r} begins with {piece[0]!r}", "a letter, a digit or _ first")


def check_family_name(name: str) -> Iterator[Refused]:
    r"""Every mistake in a family's name.

    Quotes are our own rule: HBase would take them, its shell and every script around it would not.

    Returns:
        Nothing if the name is good.

    Source: ColumnFamilyDescriptorBuilder.isLegalColumnFamilyName; KeyValue's 1-byte length.

    >>> print(*check_family_name("a:b"))
    'a:b' has ':' in it; expected : / \ and quotes left out. Write 'ab', or just 'd'.
    """
    shown = repr(name[:40]) + ("…" if len(name) > 40 else "")
    remedy = "Write 'd': every cell repeats the name."
    if not name:
        yield Refused("", "the family's name is empty", f"1..{FAMILY_BYTES_MOST} bytes", remedy)
    size = len(name.encode("utf-8", "surrogatepass"))
    if size > FAMILY_BYTES_MOST:
        yield Refused(
            "", f"{shown} is {size:,} bytes long", f"1..{FAMILY_BYTES_MOST} bytes", remedy
        )
    if _CONTROL.search(name) or _UNWRITABLE.search(name):
        yield Refused(
            "", f"{shown} has characters in it that do not print", "printable text", remedy
        )
    odd = [letter for letter in ":/\\'\"" if letter in name]
    if odd:
        mended = "".join(letter for letter in name[:40] if letter not in odd)
        yield Refused(
            "",
            f"{shown} has {' '.join(repr(letter) for letter in odd)} in it",
            ": / \\ and quotes left out",
            f"Write {mended!r}, or just 'd'." if mended else remedy,
        )
    if name.startswith("."):
        yield Refused("", f"{shown} begins with a point", "another first character", remedy)
    if name == RESERVED_FAMILY:
        yield Refused("", f"{shown} is a directory of every region", "another name", remedy)


def longest_split(table: str) -> int:
    """Bytes that a start key of a region of this table may have.

    A region's row in hbase:meta holds the table's name and the start key, and is itself a row.

    Args:
        table: `qualifier` or `namespace:qualifier`; the default namespace is not written.

    Source: a create with longer keys fails on HBase 2.6.4 with "Row length … is > 32767".

    >>> longest_split("orders")
    32712
    """
    name = table.removeprefix(f"{DEFAULT_NAMESPACE}:")
    return ROW_BYTES_MOST - META_ROW_BYTES - len(name.encode())
