"""Times written as digits of the calendar, `20240131` or `20240131235959`, told from counts.

Such a number may also be a count of seconds: a column is of the calendar only where each of its
values is an instant of the years 1900 to 2099. As counts they would all lie in early 1970, or,
for seconds and milliseconds of fourteen digits, in the year 2600 and far beyond.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from rowkey.keys import Field

DAY = (19_000_101, 20_991_231)
SECOND = (19_000_101_000_000, 20_991_231_235_959)


def is_of_calendar(field: Field, array: pa.Array) -> bool | None:
    """Whether a column of times holds digits of the calendar; None if it holds nothing at all.

    Args:
        field: the field that the column is for.
        array: its values, as the file had them.
    """
    if field.type.tick is None:
        return False
    numbers = _numbers(array)
    if numbers is None:
        return False
    return bool((_seconds(numbers) != _NONE).all()) if len(numbers) else None


def looks_of_calendar(number: object) -> bool:
    """Whether a count of time would be read as digits of the calendar, if all of its column are.

    >>> looks_of_calendar(20240131), looks_of_calendar(20241331), looks_of_calendar(1706659200)
    (True, False, False)
    """
    if not isinstance(number, int):
        return False
    if not (DAY[0] <= number <= DAY[1] or SECOND[0] <= number <= SECOND[1]):
        return False
    import numpy as np

    return bool((_seconds(np.array([number], np.int64)) != _NONE).all())


def from_calendar(field: Field, array: pa.Array) -> pa.Array:
    """A column of such digits as the field's own values; null where they are none.

    Args:
        field: a field with a unit of time.
        array: digits, as text or as numbers.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = _numbers(array)
    if numbers is None:
        return pa.nulls(len(array), field.type.arrow())
    seconds = np.full(len(array), _NONE, np.int64)
    seconds[array.is_valid().to_numpy(zero_copy_only=False)] = _seconds(numbers)
    is_known = (seconds != _NONE) & (seconds >= 0)
    tick, second = field.type.tick or 1, 1_000_000_000
    counts = np.where(is_known, seconds, 0)
    counts = counts * (second // tick) if tick <= second else counts // (tick // second)
    found = field.type.from_numbers(counts)
    return pc.if_else(pa.array(is_known), found, pa.scalar(None, found.type))


_NONE = -(1 << 62)
"""Stands for no instant."""


def _numbers(array: pa.Array) -> np.ndarray[Any, Any] | None:
    """The values that are there as whole numbers; None if they are none."""
    import numpy as np
    import pyarrow as pa

    if isinstance(array.type, pa.DictionaryType):
        array = array.cast(array.type.value_type)
    is_text = pa.types.is_string(array.type) or pa.types.is_large_string(array.type)
    if pa.types.is_null(array.type):
        return np.empty(0, np.int64)
    if not is_text and not pa.types.is_integer(array.type):
        return None
    try:
        numbers: np.ndarray[Any, Any] = array.drop_null().cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        return None
    return numbers


def _seconds(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Seconds since 1970 of each, `_NONE` where it is no instant of those years."""
    import numpy as np

    is_day = (numbers >= DAY[0]) & (numbers <= DAY[1])
    is_second = (numbers >= SECOND[0]) & (numbers <= SECOND[1])
    days = np.where(is_day, numbers, np.where(is_second, numbers // 1_000_000, DAY[0]))
    clock = np.where(is_second, numbers % 1_000_000, 0)
    years, months = days // 10_000, days // 100 % 100
    first = ((years - 1970) * 12 + np.clip(months, 1, 12) - 1).astype("M8[M]")
    length = (first + 1).astype("M8[D]") - first.astype("M8[D]")
    day = days % 100
    hour, minute, second = clock // 10_000, clock // 100 % 100, clock % 100
    fits = (months >= 1) & (months <= 12) & (day >= 1) & (day <= length.astype(np.int64))
    fits &= (hour < 24) & (minute < 60) & (second < 60)
    found = (first.astype("M8[D]").astype(np.int64) + day - 1) * 86_400
    found += hour * 3_600 + minute * 60 + second
    return np.where(fits & (is_day | is_second), found, _NONE)
