"""Checks whether the times of a sample are plausible; if not, their unit may be wrong.

A count of seconds read as milliseconds is a time too, in January 1970; nothing else would show it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from rowkey.keys import Field

SECOND_NS = 1_000_000_000
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
        import numpy as np

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
        unit = self._find_fitting_type(self.example)
        return f'{text}; declare type = "{unit}" if that is their unit' if unit else text

    def _find_fitting_type(self, count: int) -> str:
        """Return the type whose unit puts a count between 1990 and 2100; empty if none."""
        from rowkey.keys import TYPES

        if self.tick > SECOND_NS:
            return ""
        ticks = {kind.unit_ns: name for name, kind in TYPES.items() if kind.unit_ns is not None}
        fits = (name for tick, name in ticks.items() if tick <= SECOND_NS
                and EARLIEST_NS <= count * tick < LATEST_NS)  # fmt: skip
        return next(fits, "")


def _format_month(seconds: int) -> str:
    """Return the month of a time, or its year alone outside the calendar."""
    try:
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).strftime("%Y-%m")
    except OverflowError:
        return f"the year {1970 + seconds // _YEAR_S:,}"
