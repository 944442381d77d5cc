"""The compact protocol of Thrift, in which Parquet writes its footer and the headers of its pages.

Arrow ends the process where some numbers of a footer contradict each other (Arrow 26, statistics of
sizes), so the footer is read here first, and nothing of it is asked of Arrow.

Source: Apache Thrift, "Thrift Compact protocol encoding".
"""

from __future__ import annotations

from typing import Any

from rowkey.workload.columnar.ipc import DamagedFileError

DEEPEST = 24
"""Structs and lists in one another; those of Parquet are at most eight deep."""
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
"""Numbers of the types of fields, those of whole numbers left out."""
WHOLE_NUMBERS = (4, 5, 6)
LONG_LIST = 15
"""The size of a list that is written behind its head."""


def read_struct(data: bytes, at: int, depth: int = 0) -> tuple[dict[int, Any], int]:
    """Return the fields of a struct by their numbers, and where it ends.

    Args:
        data: the bytes that it is in.
        at: where it begins.
        depth: how many structs and lists it is in.

    Raises:
        IndexError: it ends after the data.
        DamagedFileError: a type is unknown, or too many structs are in one another.
    """
    if depth > DEEPEST:
        raise DamagedFileError(f"its metadata has structs more than {DEEPEST} deep")
    found: dict[int, Any] = {}
    number = 0
    while head := data[at]:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            number, at = _read_number(data, at)
        kind = head & 15
        if kind in (TRUE, FALSE):
            found[number] = kind == TRUE
        else:
            found[number], at = _read_value(data, at, kind, depth + 1)
    return found, at + 1


def get_number(fields: dict[int, Any], number: int, default: int) -> int:
    """Return a field that is a whole number, a default if it is not there or is none."""
    value = fields.get(number)
    return value if isinstance(value, int) else default


def get_struct(fields: dict[int, Any], number: int) -> dict[int, Any]:
    """Return a field that is a struct, an empty one if it is not there or is none."""
    value = fields.get(number)
    return value if isinstance(value, dict) else {}


def get_structs(fields: dict[int, Any], number: int) -> list[dict[int, Any]]:
    """Return a field that is a list of structs, an empty list if it is not there or is none."""
    value = fields.get(number)
    values = value if isinstance(value, list) else []
    return [one if isinstance(one, dict) else {} for one in values]


def _read_value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    """Return a value of a type, None for those that tell no size, and where it ends."""
    if kind in WHOLE_NUMBERS:
        return _read_number(data, at)
    if kind == STRUCT:
        return read_struct(data, at, depth)
    if kind in (LIST, SET):
        return _read_list(data, at, depth)
    if kind == BINARY:
        size, at = _read_varint(data, at)
    elif kind in (BYTE, DOUBLE):
        size = 1 if kind == BYTE else 8
    else:
        raise DamagedFileError(f"its metadata has a field of the unknown type {kind}")
    if at + size > len(data):
        raise IndexError
    return None, at + size


def _read_list(data: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    """Return the values of a list, and where it ends."""
    size, kind = data[at] >> 4, data[at] & 15
    at += 1
    if size == LONG_LIST:
        size, at = _read_varint(data, at)
    if at + size > len(data):  # each value has a byte or more
        raise IndexError
    if kind in (TRUE, FALSE, BYTE):
        return [], at + size
    found = []
    for _ in range(size):
        value, at = _read_value(data, at, kind, depth + 1)
        found.append(value)
    return found, at


def _read_number(data: bytes, at: int) -> tuple[int, int]:
    """Return a signed number, and where it ends."""
    number, at = _read_varint(data, at)
    return number >> 1 ^ -(number & 1), at


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number written in groups of seven bits, the lowest first, and where it ends."""
    number = shift = 0
    while (byte := data[at]) & 0x80:
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if shift > 63:
            raise DamagedFileError("its metadata has a number of more than 64 bits")
    return number | byte << shift, at + 1
