"""Checks whether times are plausible; if not, their unit may be wrong.

A count of seconds read as milliseconds is a time too, in January 1970; nothing else would show it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa, pc
from rowkey.errors import RowError
from rowkey.workload.values.calendar_digits import is_calendar_number
from rowkey.workload.values.time_layouts import DAY_S, EXCEL_EPOCH_S, SECOND_NS

if TYPE_CHECKING:
    from rowkey.keys import Field

EARLIEST_NS = 631_152_000 * SECOND_NS
"""1990-01-01T00:00:00Z in nanoseconds since 1970: few systems kept logs before."""
LATEST_NS = 4_102_444_800 * SECOND_NS
"""2100-01-01T00:00:00Z. Of the four units at most one brings a count between the two, for the span
is a factor of 6.5 and the units are 1,000 apart."""
_YEAR_S = 31_556_952
"""Seconds of a Gregorian year on average."""


class TimeRangeCheck:
    """Checks whether the times of a field lie between 1990 and 2100.

    Args:
        field: a field with a unit of time.
    """

    def __init__(self, field: Field) -> None:
        self.field = field
        self.tick = field.type.unit_ns or 1
        self.value_count = 0
        self.outside_count = 0
        self.example: int | None = None

    def add(self, values: np.ndarray[Any, Any]) -> None:
        """Check the next times, given in internal form."""
        is_outside = (values < EARLIEST_NS // self.tick) | (values >= LATEST_NS // self.tick)
        count = int(is_outside.sum())
        self.value_count += len(values)
        self.outside_count += count
        if count and self.example is None:
            self.example = int(np.sort(values[is_outside])[count // 2])

    @property
    def warning(self) -> str:
        """Return a warning with the unit that fits, if most times are not in 1990 to 2099."""
        if self.example is None or self.outside_count * 2 <= self.value_count:
            return ""
        month = _format_month(self.example * self.tick // SECOND_NS)
        text = f"most times of {self.field.name} are before 1990 or after 2099, such as {month}"
        unit = find_fitting_type(self.tick, self.example)
        return f'{text}; declare type = "{unit}" if that is their unit' if unit else text


def find_fitting_type(tick: int, count: int) -> str:
    """Return the type whose unit puts a count between 1990 and 2100; empty if none.

    Args:
        tick: nanoseconds of the unit that the count should have.
        count: a count outside these years in that unit.
    """
    from rowkey.keys import TYPES

    if tick > SECOND_NS:
        return ""
    ticks = {kind.unit_ns: name for name, kind in TYPES.items() if kind.unit_ns is not None}
    fits = (name for tick, name in ticks.items() if tick <= SECOND_NS
            and EARLIEST_NS <= count * tick < LATEST_NS)  # fmt: skip
    return next(fits, "")


def has_other_reading(field: Field, number: object) -> bool:
    """Return whether the digits of a time may also be a time of our days in another form.

    The other forms are calendar digits, other units, and the days of a spreadsheet.

    Args:
        field: a field with a unit of time.
        number: a count of its unit; other values have no other reading.
    """
    tick = field.type.unit_ns
    if tick is None or type(number) is not int or EARLIEST_NS <= number * tick < LATEST_NS:
        return False
    is_day = EARLIEST_NS <= (number * DAY_S + EXCEL_EPOCH_S) * SECOND_NS < LATEST_NS
    return is_day or bool(find_fitting_type(tick, number)) or is_calendar_number(number)


def list_plausible_ranges(fields: Iterable[Field]) -> tuple[tuple[Field, int, int], ...]:
    """Return the fields of instants, each with its counts of 1990 and of 2100."""
    ticks = ((field, field.type.unit_ns) for field in fields)
    return tuple(
        (field, EARLIEST_NS // tick, LATEST_NS // tick)
        for field, tick in ticks
        if tick is not None and tick <= SECOND_NS
    )


def check_time_unit(field: Field, value: object) -> None:
    """Raise if a number is a time of our days in another unit than that of its field.

    A datetime and a text with a date say which time they mean.

    Args:
        field: a field with a unit of time.
        value: its value in a row, of any type.

    Raises:
        RowError: it is; it would be stored as a time of 1970, or of a year far away.
    """
    from rowkey.keys import TYPES

    is_number = isinstance(value, int | float | Decimal) or (
        isinstance(value, str) and value.strip().isdecimal()
    )
    tick = field.type.unit_ns
    if not is_number or tick is None:
        return
    try:
        count = field.to_internal(value)
    except RowError:
        return  # the encoder tells
    fitting = find_fitting_type(tick, count)
    if not fitting or fitting == field.type.name:
        return
    meant, rest = divmod(count * (TYPES[fitting].unit_ns or 1), tick)
    text = field.type.format_value(count)
    remedy = (
        f"Write the text {text!r} if that is the time."
        if rest
        else (f"Write {meant}; or the text {text!r} if that is the time.")
    )
    what = f"{count} looks like a {fitting}, but {field.name} is a {field.type.name}"
    raise RowError(f"field {field.name}", what, "a count of its unit since 1970", remedy)


def find_foreign_time(field: Field, array: pa.Array) -> int:
    """Return the index of the first number that `check_time_unit` refuses; -1 if none is.

    Args:
        field: a field with a unit of time.
        array: a column of numbers or texts, without dictionary.
    """
    tick = field.type.unit_ns
    if tick is None or not (pa.types.is_integer(array.type) or pa.types.is_floating(array.type)):
        return -1
    outside = pc.or_(
        pc.less(array, EARLIEST_NS // tick), pc.greater_equal(array, LATEST_NS // tick)
    )
    if not pc.any(outside).as_py():
        return -1
    rows = pc.indices_nonzero(outside).to_pylist()
    return next((row for row in rows if find_fitting_type(tick, int(array[row].as_py()))), -1)


def _format_month(seconds: int) -> str:
    """Return the month of a time, or its year alone outside the calendar."""
    try:
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).strftime("%Y-%m")
    except OverflowError:
        return f"the year {1970 + seconds // _YEAR_S:,}"
