"""What tables and families may be called."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rowkey.cells.limits import (
    MAX_FAMILY_BYTES,
    MAX_ROW_BYTES,
    MAX_TABLE_NAME_BYTES,
    META_ROW_OVERHEAD_BYTES,
)
from rowkey.errors import InvalidArgument

DEFAULT_NAMESPACE = "default"

_FIRST_CHARACTER = re.compile(r"[a-zA-Z_0-9]")
_INVALID_IN_NAMESPACE = re.compile(r"[^a-zA-Z_0-9]")
_UNSAFE = re.compile("[^a-zA-Z_0-9]+")
_INVALID_IN_QUALIFIER = re.compile(r"[^a-zA-Z_0-9.-]")
_CONTROL_CHARACTER = re.compile("[\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")

RESERVED_TABLE = "zookeeper"
"""A name no table may have. Source: TableName.DISALLOWED_TABLE_NAME."""

RESERVED_FAMILY = "recovered.edits"
"""A directory of every region, so no family's. Source: ColumnFamilyDescriptorBuilder."""


def find_table_name_mistakes(name: str) -> Iterator[InvalidArgument]:
    """Yield every mistake in a table's name, with or without its namespace.

    HBase 2 takes letters of any language; we take ASCII, since a table's name is also a directory,
    a part of a URL and an argument of a shell.

    Args:
        name: `qualifier` or `namespace:qualifier`.

    Returns:
        Nothing if the name is good.

    Source: TableName: namespace `[a-zA-Z_0-9]+`, qualifier `[a-zA-Z_0-9][a-zA-Z_0-9-.]*`.

    >>> [str(mistake) for mistake in find_table_name_mistakes("sales:orders")]
    []
    >>> print(*find_table_name_mistakes("server logs"))
    the table name 'server logs' contains ' '; expected letters, digits and _ . -. Write...
    """
    namespace, colon, qualifier = name.rpartition(":")
    if colon:
        yield from _find_name_mistakes(
            namespace, "namespace", "letters, digits and _", _INVALID_IN_NAMESPACE
        )
    yield from _find_name_mistakes(
        qualifier, "table name", "letters, digits and _ . -", _INVALID_IN_QUALIFIER
    )
    if qualifier == RESERVED_TABLE:
        yield InvalidArgument("", f"HBase reserves the table name {name!r}", "another name")


def build_table_name(text: str) -> str:
    """Return a text as a table's name: a column's name, say, or a file's.

    Returns:
        At most 100 letters, digits and _; empty if the text has none.

    >>> build_table_name("Incident Zip")
    'Incident_Zip'
    """
    return _UNSAFE.sub("_", text).strip("_")[:100]


def _find_name_mistakes(
    name: str, noun: str, allowed: str, invalid: re.Pattern[str]
) -> Iterator[InvalidArgument]:
    """Yield the mistakes in the namespace or the qualifier of a table's name."""
    invalid_characters = invalid.findall(name[:MAX_TABLE_NAME_BYTES])
    if not name:
        yield InvalidArgument("", f"the {noun} is empty", allowed)
    elif len(name) > MAX_TABLE_NAME_BYTES:
        what = f"the {noun} {name[:40]!r}… has {len(name):,} characters"
        yield InvalidArgument("", what, f"at most {MAX_TABLE_NAME_BYTES} characters")
    elif invalid_characters:
        character_list = " ".join(repr(letter) for letter in dict.fromkeys(invalid_characters))
        fixed_name = invalid.sub("_", name)
        yield InvalidArgument(
            "", f"the {noun} {name!r} contains {character_list}", allowed, f"Write {fixed_name}."
        )
    elif not _FIRST_CHARACTER.match(name):
        yield InvalidArgument(
            "", f"the {noun} {name!r} begins with {name[0]!r}", "a letter, a digit or _ first"
        )


def find_family_name_mistakes(name: str) -> Iterator[InvalidArgument]:
    r"""Yield every mistake in a family's name.

    Quotes are our own rule: HBase accepts them, but its shell and most scripts around it do not.

    Returns:
        Nothing if the name is good.

    Source: ColumnFamilyDescriptorBuilder.isLegalColumnFamilyName; KeyValue's 1-byte length.

    >>> print(*find_family_name_mistakes("a:b"))
    the family name 'a:b' contains ':'; expected a name without : / \ and quotes. Write 'ab', or...
    """
    quoted_name = repr(name[:40]) + ("…" if len(name) > 40 else "")
    remedy = "Write a short name such as 'd': every cell repeats it."
    if not name:
        yield InvalidArgument(
            "",
            "the family name is empty",
            f"a name of 1..{MAX_FAMILY_BYTES} bytes",
            remedy,
        )
    size = len(name.encode("utf-8", "surrogatepass"))
    if size > MAX_FAMILY_BYTES:
        yield InvalidArgument(
            "",
            f"the family name {quoted_name} has {size:,} bytes",
            f"at most {MAX_FAMILY_BYTES} bytes",
            remedy,
        )
    if _CONTROL_CHARACTER.search(name) or _SURROGATE.search(name):
        yield InvalidArgument(
            "",
            f"the family name {quoted_name} contains characters that cannot be printed",
            "printable text",
            remedy,
        )
    invalid_characters = [letter for letter in ":/\\'\"" if letter in name]
    if invalid_characters:
        fixed_name = "".join(letter for letter in name[:40] if letter not in invalid_characters)
        yield InvalidArgument(
            "",
            f"the family name {quoted_name} contains {' '.join(map(repr, invalid_characters))}",
            "a name without : / \\ and quotes",
            f"Write {fixed_name!r}, or just 'd'." if fixed_name else remedy,
        )
    if name.startswith("."):
        yield InvalidArgument(
            "",
            f"the family name {quoted_name} begins with a dot",
            "another first character",
            remedy,
        )
    if name == RESERVED_FAMILY:
        yield InvalidArgument(
            "",
            f"HBase reserves the family name {quoted_name} for a directory of each region",
            "another name",
            remedy,
        )


def compute_max_split_bytes(table: str) -> int:
    """Return the maximum length in bytes of a split key of a table.

    A region's row in hbase:meta holds the table's name and the start key, and is itself a row.

    Args:
        table: `qualifier` or `namespace:qualifier`; the default namespace is not written.

    Source: a create with longer keys fails on HBase 2.6.4 with "Row length … is > 32767".

    >>> compute_max_split_bytes("orders")
    32712
    """
    name = table.removeprefix(f"{DEFAULT_NAMESPACE}:")
    return MAX_ROW_BYTES - META_ROW_OVERHEAD_BYTES - len(name.encode())
