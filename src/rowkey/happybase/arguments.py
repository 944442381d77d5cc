"""Convert and check happybase's arguments: text or bytes, `family:qualifier`, timestamps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, TypeAlias

from rowkey.cells import LATEST, Cell
from rowkey.errors import InvalidArgument
from rowkey.hbase import Filter, ReadSpec
from rowkey.messages import format_value

MAX_INTEGER = 2**31 - 1
"""The largest of Thrift's integers. Source: Hbase.thrift, i32."""

BytesOrText: TypeAlias = bytes | str
"""Bytes, or text that is encoded as UTF-8."""

RowData: TypeAlias = (
    "Mapping[bytes, BytesOrText] | Mapping[str, BytesOrText] | Mapping[BytesOrText, BytesOrText]"
)
"""Values by column; type checkers treat mappings with other key types as incompatible."""


RowItem: TypeAlias = "tuple[bytes, dict[bytes, Any]]"
"""A row key, and its values by column, `family:qualifier`."""


class WrongArgumentType(InvalidArgument, TypeError):
    """An argument has a type that is not accepted; also a TypeError, as in happybase."""


def build_type_error(name: str, value: object, allowed: str) -> WrongArgumentType:
    """Return the error for an argument of a wrong type."""
    what = f"{format_value(value)} is of type {type(value).__name__}"
    return WrongArgumentType(name, what, allowed)


def to_bytes(name: str, value: object) -> bytes:
    """Convert an argument to bytes; text is encoded as UTF-8.

    Raises:
        WrongArgumentType: the value is neither bytes nor text.
        InvalidArgument: the text cannot be encoded as UTF-8.

    >>> to_bytes("row", "é")
    b'\\xc3\\xa9'
    """
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        raise build_type_error(name, value, "bytes or text")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(
            name, f"{format_value(value)} cannot be encoded as UTF-8", "valid Unicode text"
        ) from None


def to_text(name: str, value: object) -> str:
    """Convert an argument to text; bytes are decoded as UTF-8.

    Raises:
        WrongArgumentType: the value is neither bytes nor text.
        InvalidArgument: the bytes are not UTF-8.
    """
    raw = to_bytes(name, value)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise InvalidArgument(name, f"{format_value(raw)} is not UTF-8", "UTF-8 text") from None


def split_column(column: object, name: str = "column") -> tuple[str, bytes | None]:
    """Split a column `family:qualifier`; the qualifier is None if only a family is given.

    Raises:
        WrongArgumentType: the value is neither bytes nor text.
        InvalidArgument: the column names no family.

    Source: CellUtil.parseColumn, which the Thrift server uses: the first colon separates family
        and qualifier, and `cf:` is the column with the empty qualifier.

    >>> split_column(b"cf:a:b"), split_column("cf"), split_column("cf:")
    (('cf', b'a:b'), ('cf', None), ('cf', b''))
    """
    family, colon, qualifier = to_bytes(name, column).partition(b":")
    if not family:
        raise InvalidArgument(
            name, f"{format_value(column)} names no family", "family:qualifier, or a family"
        )
    return to_text(name, family), qualifier if colon else None


def split_full_column(column: object, name: str = "column") -> tuple[str, bytes]:
    """Split a column `family:qualifier` to write to, which must have a qualifier.

    Raises:
        InvalidArgument: only a family is given. (The Thrift server drops such a value silently.)
    """
    family, qualifier = split_column(column, name)
    if qualifier is None:
        what = f"{format_value(column)} names a family without a qualifier"
        remedy = f"Write {family + ':'!r} for the empty qualifier."
        raise InvalidArgument(name, what, "family:qualifier", remedy)
    return family, qualifier


def to_timestamp(value: object) -> int | None:
    """Convert a timestamp argument to an int; None stays None.

    Raises:
        WrongArgumentType: the value is not an integer.
        InvalidArgument: the value is out of range.
    """
    if value is None:
        return None
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise build_type_error("timestamp", value, "an integer, or None")
    timestamp = int(value)
    if not 0 <= timestamp <= LATEST:
        what = f"{format_value(timestamp)} is out of range"
        raise InvalidArgument("timestamp", what, f"milliseconds from 0 to {LATEST}")
    return timestamp


def build_read_spec(
    columns: Sequence[BytesOrText] | None,
    timestamp: int | None,
    *,
    versions: int = 1,
    cell_filter: Filter | None = None,
) -> ReadSpec:
    """Return the cells to read, from happybase's arguments columns, timestamp and versions.

    Args:
        columns: families and columns; empty or None for all of them.
        timestamp: cells older than this are read; None for all.
        versions: maximum number of versions of each column.
        cell_filter: a further condition on cells.

    Raises:
        WrongArgumentType: columns are not a list or tuple, or an item has the wrong type.
        InvalidArgument: a column names no family, or the timestamp is out of range.

    Source: ThriftHBaseServiceHandler: setTimeRange(0, timestamp); Scan.addFamily overrides earlier
        columns of the family, and addColumn restricts a family.
    """
    if columns is not None and not isinstance(columns, (list, tuple)):
        raise build_type_error("columns", columns, "a list or a tuple")
    selected: dict[str, tuple[bytes, ...]] = {}
    for index, column in enumerate(columns or ()):
        family, qualifier = split_column(column, f"columns[{index}]")
        selected[family] = () if qualifier is None else (*selected.get(family, ()), qualifier)
    end = to_timestamp(timestamp)
    return ReadSpec(
        selected or None,
        (0, LATEST if end is None else end),
        versions=versions,
        filter=cell_filter,
    )


def check_positive_integer(name: str, value: object) -> None:
    """Raise InvalidArgument unless an argument is a whole number from 1 to 2^31-1.

    Raises:
        WrongArgumentType: the value is not an integer.
        InvalidArgument: the value is out of range.
    """
    allowed = f"a whole number from 1 to {MAX_INTEGER}"
    if not isinstance(value, int) or isinstance(value, bool):
        raise build_type_error(name, value, allowed)
    if not 1 <= value <= MAX_INTEGER:
        raise InvalidArgument(name, f"{format_value(value)} is out of range", allowed)


def to_row_dict(cells: Sequence[Cell], *, timestamps: bool) -> dict[bytes, Any]:
    """Convert cells to a dictionary of values, or (value, timestamp), by `family:qualifier`."""
    if timestamps:
        return {
            b"%b:%b" % (family.encode(), qualifier): (value, at)
            for family, qualifier, at, value, _, _ in cells
        }
    return {
        b"%b:%b" % (family.encode(), qualifier): value
        for family, qualifier, _, value, _, _ in cells
    }


def check_choice(name: str, value: object, choices: Mapping[str, object] | Sequence[str]) -> None:
    """Raise InvalidArgument unless an argument is one of the supported values."""
    if value not in choices:
        what = f"{format_value(value)} is not supported"
        raise InvalidArgument(name, what, f"one of {', '.join(choices)}")
