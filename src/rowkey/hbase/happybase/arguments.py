"""What callers of happybase pass: text or bytes, columns in one piece, timestamps as an end."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

from rowkey.cells import LATEST
from rowkey.errors import Refused, shown
from rowkey.hbase.reading import Read

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.cells import Cell
    from rowkey.hbase.filters import Filter

Text: TypeAlias = bytes | str
"""Bytes, or text that stands for its UTF-8."""

Data: TypeAlias = "Mapping[bytes, Text] | Mapping[str, Text] | Mapping[Text, Text]"
"""Values by column; a mapping of one sort of key is none of another to a type checker."""

COUNT_MOST = 2**31 - 1
"""Most versions or rows that can be asked for. Source: the type i32 of Thrift."""


class WrongType(Refused, TypeError):
    """An argument of a type that cannot be taken; happybase raises TypeError as well."""


def wrong_type(word: str, given: object, allowed: str) -> WrongType:
    """The error of an argument of another type than is allowed."""
    return WrongType(word, f"{shown(given)} is a {type(given).__name__}", allowed)


def as_bytes(word: str, given: object) -> bytes:
    """The bytes that an argument stands for.

    Raises:
        WrongType: it is neither bytes nor text.
        Refused: it is text that UTF-8 has no bytes for.

    >>> as_bytes("row", "é")
    b'\\xc3\\xa9'
    """
    if isinstance(given, bytes):
        return given
    if not isinstance(given, str):
        raise wrong_type(word, given, "bytes or text")
    try:
        return given.encode()
    except UnicodeEncodeError:
        raise Refused(
            word, f"{shown(given)} has half a character", "text as UTF-8 has it"
        ) from None


def as_text(word: str, given: object) -> str:
    """The text that an argument stands for.

    Raises:
        WrongType: it is neither bytes nor text.
        Refused: it is not UTF-8.
    """
    raw = as_bytes(word, given)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise Refused(word, f"{shown(raw)} is no text", "text as UTF-8 has it") from None


def split_column(given: object, word: str = "column") -> tuple[str, bytes | None]:
    """Family and qualifier of a column; no qualifier where only a family is named.

    Raises:
        WrongType: it is neither bytes nor text.
        Refused: it names no family.

    Source: CellUtil.parseColumn, by which Thrift's server reads columns: the first colon parts
        them, and `cf:` is the column of the empty qualifier.

    >>> split_column(b"cf:a:b"), split_column("cf"), split_column("cf:")
    (('cf', b'a:b'), ('cf', None), ('cf', b''))
    """
    family, colon, qualifier = as_bytes(word, given).partition(b":")
    if not family:
        raise Refused(word, f"{shown(given)} names no family", "family:qualifier, or a family")
    return as_text(word, family), qualifier if colon else None


def whole_column(given: object, word: str = "column") -> tuple[str, bytes]:
    """Family and qualifier of a column that is written.

    Raises:
        Refused: it names only a family. (Thrift's server leaves such a value out, without a word.)
    """
    family, qualifier = split_column(given, word)
    if qualifier is None:
        what = f"{shown(given)} is a family"
        raise Refused(word, what, "family:qualifier", f"Write {family + ':'!r} for no qualifier.")
    return family, qualifier


def as_timestamp(given: object) -> int | None:
    """A timestamp, or None.

    Raises:
        WrongType: it is no whole number.
        Refused: it is out of range.
    """
    if given is None:
        return None
    if not isinstance(given, Integral) or isinstance(given, bool):
        raise wrong_type("timestamp", given, "a whole number, or None")
    timestamp = int(given)
    if not 0 <= timestamp <= LATEST:
        raise Refused("timestamp", f"{shown(timestamp)} is out of range", f"0..{LATEST}")
    return timestamp


def as_read(
    columns: Sequence[Text] | None,
    timestamp: int | None,
    *,
    versions: int = 1,
    judge: Filter | None = None,
) -> Read:
    """What is wanted of a row.

    Args:
        columns: families and columns; none, or None, for all of them.
        timestamp: up to which, and not with it, cells are read; None for no end.
        versions: most versions of each column.
        judge: what else a cell must be like.

    Raises:
        WrongType: columns are no list or tuple, or anything is of a wrong type.
        Refused: a column names no family, or the timestamp is out of range.

    Source: ThriftHBaseServiceHandler: setTimeRange(0, timestamp); Scan.addFamily takes what was
        asked of its columns before, and addColumn narrows a family down.
    """
    if columns is not None and not isinstance(columns, (list, tuple)):
        raise wrong_type("columns", columns, "a list or a tuple")
    wanted: dict[str, tuple[bytes, ...]] = {}
    for number, one in enumerate(columns or ()):
        family, qualifier = split_column(one, f"columns[{number}]")
        wanted[family] = () if qualifier is None else (*wanted.get(family, ()), qualifier)
    end = as_timestamp(timestamp)
    return Read(
        wanted or None,
        (0, LATEST if end is None else end),
        versions=versions,
        filter=judge,
    )


def check_whole(word: str, given: object) -> None:
    """Raise unless this is a whole number of one or more.

    Raises:
        WrongType: it is no whole number.
        Refused: it is out of range.
    """
    if not isinstance(given, int) or isinstance(given, bool):
        raise wrong_type(word, given, f"1..{COUNT_MOST}")
    if not 1 <= given <= COUNT_MOST:
        raise Refused(word, f"{shown(given)} is out of range", f"1..{COUNT_MOST}")


def row_dict(cells: Sequence[Cell], *, timestamps: bool) -> dict[bytes, Any]:
    """Cells as happybase gives them: values, or (value, timestamp), by `family:qualifier`."""
    if timestamps:
        return {
            b"%b:%b" % (family.encode(), qualifier): (value, at)
            for family, qualifier, at, value, _, _ in cells
        }
    return {
        b"%b:%b" % (family.encode(), qualifier): value
        for family, qualifier, _, value, _, _ in cells
    }


def family_name(given: object) -> str:
    """A family by its name, with or without a colon behind it."""
    return as_text("families", given).removesuffix(":")


def one_of(word: str, given: object, legal: Mapping[str, object] | Sequence[str]) -> None:
    """Raise unless this is one of some words."""
    if given not in legal:
        raise Refused(word, f"{shown(given)} is unknown", ", ".join(legal))
