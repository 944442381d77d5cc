"""The Thrift compact protocol, in which Parquet writes its footer and page headers.

Arrow ends the process where some numbers of a footer contradict each other (Arrow 26, statistics of
sizes), so the footer is read here first, and nothing of it is asked of Arrow.

Source: Apache Thrift, "Thrift Compact protocol encoding".
"""

from __future__ import annotations

from typing import Any

from rowkey.workload.columnar.arrow_ipc import DamagedFileError

MAX_DEPTH = 24
"""Structs and lists in one another; those of Parquet are at most eight deep."""
TRUE_TYPE, FALSE_TYPE, BYTE_TYPE, DOUBLE_TYPE, BINARY_TYPE, LIST_TYPE, SET_TYPE, STRUCT_TYPE = (
    1,
    2,
    3,
    7,
    8,
    9,
    10,
    12,
)
"""Numbers of the types of fields, those of whole numbers left out."""
INTEGER_TYPES = (4, 5, 6)
LONG_LIST_SIZE = 15
"""The size of a list that is written after its header."""


def read_struct(data: bytes, offset: int, depth: int = 0) -> tuple[dict[int, Any], int]:
    """Return the fields of a struct by their numbers, and the offset after its end.

    Args:
        data: bytes that contain the struct.
        offset: the offset of its first byte.
        depth: how many structs and lists enclose it.

    Raises:
        IndexError: the data end before the struct does.
        DamagedFileError: a type is unknown, or structs are nested too deep.
    """
    if depth > MAX_DEPTH:
        raise DamagedFileError(f"the metadata has structs nested more than {MAX_DEPTH} deep")
    fields: dict[int, Any] = {}
    number = 0
    while head := data[offset]:
        offset += 1
        if head >> 4:
            number += head >> 4
        else:
            number, offset = _read_number(data, offset)
        kind = head & 15
        if kind in (TRUE_TYPE, FALSE_TYPE):
            fields[number] = kind == TRUE_TYPE
        else:
            fields[number], offset = _read_value(data, offset, kind, depth + 1)
    return fields, offset + 1


def get_number(fields: dict[int, Any], number: int, default: int) -> int:
    """Return a field that is a whole number; a default if it is missing or another type."""
    value = fields.get(number)
    return value if isinstance(value, int) else default


def get_struct(fields: dict[int, Any], number: int) -> dict[int, Any]:
    """Return a field that is a struct; an empty one if it is missing or another type."""
    value = fields.get(number)
    return value if isinstance(value, dict) else {}


def get_structs(fields: dict[int, Any], number: int) -> list[dict[int, Any]]:
    """Return a field that is a list of structs; an empty list if it is missing or no list."""
    value = fields.get(number)
    values = value if isinstance(value, list) else []
    return [one if isinstance(one, dict) else {} for one in values]


def _read_value(data: bytes, offset: int, field_type: int, depth: int) -> tuple[Any, int]:
    """Return a value of a type, None for those that tell no size, and where it ends.

    Raises:
        DamagedFileError: the type is unknown.
        IndexError: the data end within the value.
    """
    if field_type in INTEGER_TYPES:
        return _read_number(data, offset)
    if field_type == STRUCT_TYPE:
        return read_struct(data, offset, depth)
    if field_type in (LIST_TYPE, SET_TYPE):
        return _read_list(data, offset, depth)
    if field_type == BINARY_TYPE:
        size, offset = _read_varint(data, offset)
    elif field_type in (BYTE_TYPE, DOUBLE_TYPE):
        size = 1 if field_type == BYTE_TYPE else 8
    else:
        raise DamagedFileError(f"the metadata has a field of the unknown type {field_type}")
    if offset + size > len(data):
        raise IndexError
    return None, offset + size


def _read_list(data: bytes, offset: int, depth: int) -> tuple[list[Any], int]:
    """Return the values of a list, and the offset after its end.

    Raises:
        IndexError: the data end within the list.
    """
    size, kind = data[offset] >> 4, data[offset] & 15
    offset += 1
    if size == LONG_LIST_SIZE:
        size, offset = _read_varint(data, offset)
    if offset + size > len(data):  # each value has a byte or more
        raise IndexError
    if kind in (TRUE_TYPE, FALSE_TYPE, BYTE_TYPE):
        return [], offset + size
    values = []
    for _ in range(size):
        value, offset = _read_value(data, offset, kind, depth + 1)
        values.append(value)
    return values, offset


def _read_number(data: bytes, offset: int) -> tuple[int, int]:
    """Return a signed number, and where it ends."""
    number, offset = _read_varint(data, offset)
    return number >> 1 ^ -(number & 1), offset


def _read_varint(data: bytes, offset: int) -> tuple[int, int]:
    """Return a number written in groups of seven bits, the lowest first, and where it ends.

    Raises:
        DamagedFileError: the number has more than 64 bits.
    """
    number = shift = 0
    while (byte := data[offset]) & 0x80:
        number |= (byte & 0x7F) << shift
        offset, shift = offset + 1, shift + 7
        if shift > 63:
            raise DamagedFileError("the metadata has a number of more than 64 bits")
    return number | byte << shift, offset + 1
