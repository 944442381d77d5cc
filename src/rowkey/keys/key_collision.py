"""Finds two different rows with the same key, where a part of the key has no end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rowkey.errors import RowError
from rowkey.keys.declared_field import Field
from rowkey.keys.key import Key
from rowkey.keys.part_interface import Part

if TYPE_CHECKING:
    Conversion = Callable[[str], Any]

MAX_PAIRS_TRIED = 200
"""The most pairs tried. With 16 buckets in front, no pair of 200 meets in one bucket for one key in
400,000."""
_VALUE_CONVERSIONS: tuple[Conversion, ...] = (str, int, str.encode)

RowPair = tuple[tuple[Any, Any], tuple[Any, Any]]


def find_colliding_rows(key: Key, index: int) -> RowPair | None:
    """Return the values of two fields in two rows with the same key, where a part has no end.

    Args:
        index: the part without an end.

    Returns:
        For each row, the value of the part's field and that of the next field after it; None if no
        such rows were found, or encoding them would assign ids.

    >>> from rowkey.keys import bind_key
    >>> key = bind_key("[user:raw]['~'][fan]", {"user": "text", "fan": "text"})
    >>> find_colliding_rows(key, 0)
    (('1', '2~3'), ('1~2', '3'))
    """
    part = key.parts[index]
    separator, next_part = _find_next_field_part(key, index)
    if (
        key.has_coded_fields
        or next_part is None
        or len(part.fields) != 1
        or len(next_part.fields) != 1
    ):
        return None
    [first], [second] = part.fields, next_part.fields
    other_values = {
        name: field.type.domain.generate_value(0)
        for name, field in key.fields.items()
        if name not in (first, second)
    }
    conversions = [
        (convert_first, convert_second)
        for convert_first in _choose_conversions(key.fields[first])
        for convert_second in _choose_conversions(key.fields[second])
    ]
    for first_row, second_row in _generate_row_pairs(separator, conversions):
        try:
            keys = {
                key.encode({**other_values, first: a, second: b}, salt=0)
                for a, b in (first_row, second_row)
            }
        except RowError:
            continue
        if len(keys) == 1 and first != second:
            return first_row, second_row
    return None


def _find_next_field_part(key: Key, index: int) -> tuple[str, Part | None]:
    """Return the constants after a part, as a text, and the first other part after them."""
    separator = b""
    for part in key.parts[index + 1 :]:
        if part.fields or part.cardinality != 1:
            return separator.decode("latin-1"), part
        separator += b"".join(part.images({}).points or ())
    return "", None


def _choose_conversions(field: Field) -> list[Conversion]:
    """Return the conversions of texts of digits to values that a field may take.

    Those to other classes than that of its values are tried with one and two digits: each refusal
    of two hundred would be an error to build.
    """
    own_class = type(field.type.domain.generate_value(0))
    return [
        convert
        for convert in _VALUE_CONVERSIONS
        if any(
            isinstance(value, own_class) or _can_hold(field, value)
            for value in (convert("1"), convert("10"))
        )
    ]


def _can_hold(field: Field, value: Any) -> bool:
    try:
        field.normalize(value)
    except RowError:
        return False
    return True


def _generate_row_pairs(
    separator: str, conversions: Sequence[tuple[Conversion, Conversion]]
) -> Iterator[RowPair]:
    """Yield pairs of rows in which the joined values are the same text."""
    for number in range(1, MAX_PAIRS_TRIED + 1):
        texts = (
            (f"{number}", f"2{separator}3"),
            (f"{number}{separator}2", "3"),
        )
        for convert_first, convert_second in conversions:
            try:
                first_row, second_row = ((convert_first(a), convert_second(b)) for a, b in texts)
            except ValueError:
                continue
            yield first_row, second_row
