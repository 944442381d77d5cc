"""Times written as calendar digits, `20240131` or `20240131235959`, distinguished from counts.

Such a number may also be a count of seconds: a column is of the calendar only where each of its
values is an instant of the years 1900 to 2099. As counts they would all lie in early 1970, or,
for seconds and milliseconds of fourteen digits, in the year 2600 and far beyond.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa, pc

if TYPE_CHECKING:
    from rowkey.keys import Field

DAY_RANGE = (19_000_101, 20_991_231)
SECOND_RANGE = (19_000_101_000_000, 20_991_231_235_959)


def has_calendar_digits(field: Field, array: pa.Array) -> bool | None:
    """Return whether a column of times holds calendar digits; None if it has no values.

    Args:
        array: its values, as the file had them.
    """
    if field.type.unit_ns is None:
        return False
    numbers = _to_numbers(array)
    if numbers is None:
        return False
    return bool((_to_seconds(numbers) != _NO_INSTANT).all()) if len(numbers) else None


def is_calendar_number(number: object) -> bool:
    """Return whether a number in a time column looks like calendar digits: 20240131.

    >>> is_calendar_number(20240131), is_calendar_number(20241331), is_calendar_number(1706659200)
    (True, False, False)
    """
    if not isinstance(number, int):
        return False
    if not (DAY_RANGE[0] <= number <= DAY_RANGE[1] or SECOND_RANGE[0] <= number <= SECOND_RANGE[1]):
        return False
    return bool((_to_seconds(np.array([number], np.int64)) != _NO_INSTANT).all())


def parse_calendar_digits(field: Field, array: pa.Array) -> pa.Array:
    """Return a column of calendar digits as the field's own values; null where invalid.

    Args:
        field: a field with a unit of time.
        array: digits, as text or as numbers.
    """
    numbers = _to_numbers(array)
    if numbers is None:
        return pa.nulls(len(array), field.type.build_arrow_type())
    seconds = np.full(len(array), _NO_INSTANT, np.int64)
    seconds[array.is_valid().to_numpy(zero_copy_only=False)] = _to_seconds(numbers)
    is_known = (seconds != _NO_INSTANT) & (seconds >= 0)
    tick, second = field.type.unit_ns or 1, 1_000_000_000
    counts = np.where(is_known, seconds, 0)
    counts = counts * (second // tick) if tick <= second else counts // (tick // second)
    found = field.type.build_number_column(counts)
    return pc.if_else(pa.array(is_known), found, pa.scalar(None, found.type))


_NO_INSTANT = -(1 << 62)
"""Stands for no instant."""


def _to_numbers(array: pa.Array) -> np.ndarray[Any, Any] | None:
    """Return the values that are not null as whole numbers; None if they are not numbers."""
    if isinstance(array.type, pa.DictionaryType):
        array = array.cast(array.type.value_type)
    is_text = pa.types.is_string(array.type) or pa.types.is_large_string(array.type)
    if pa.types.is_null(array.type):
        return np.empty(0, np.int64)
    is_number = pa.types.is_integer(array.type) or pa.types.is_floating(array.type)
    if not is_text and not is_number:
        return None
    try:
        numbers: np.ndarray[Any, Any] = array.drop_null().cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        return None
    return numbers


def _to_seconds(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the seconds since 1970 of each number, `_NO_INSTANT` where it is no valid time."""
    is_day = (numbers >= DAY_RANGE[0]) & (numbers <= DAY_RANGE[1])
    is_second = (numbers >= SECOND_RANGE[0]) & (numbers <= SECOND_RANGE[1])
    days = np.where(is_day, numbers, np.where(is_second, numbers // 1_000_000, DAY_RANGE[0]))
    clock = np.where(is_second, numbers % 1_000_000, 0)
    years, months = days // 10_000, days // 100 % 100
    first = ((years - 1970) * 12 + np.clip(months, 1, 12) - 1).astype("M8[M]")
    length = (first + 1).astype("M8[D]") - first.astype("M8[D]")
    day = days % 100
    hour, minute, second = clock // 10_000, clock // 100 % 100, clock % 100
    is_valid = (months >= 1) & (months <= 12) & (day >= 1) & (day <= length.astype(np.int64))
    is_valid &= (hour < 24) & (minute < 60) & (second < 60)
    seconds = (first.astype("M8[D]").astype(np.int64) + day - 1) * 86_400
    seconds += hour * 3_600 + minute * 60 + second
    return np.where(is_valid & (is_day | is_second), seconds, _NO_INSTANT)
