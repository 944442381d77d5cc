"""Whether the times of a recording lie where recordings lie; if not, their unit may be another.

A count of seconds read as milliseconds is a time too, in January 1970; nothing else would show it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from rowkey.keys import Field

SECOND = 1_000_000_000
EARLIEST = 631_152_000 * SECOND
"""1990-01-01T00:00:00Z in nanoseconds since 1970: few systems kept logs before."""
LATEST = 4_102_444_800 * SECOND
"""2100-01-01T00:00:00Z. Of the four units at most one brings a count between the two, for the span
is a factor of 6.5 and the units are 1,000 apart."""
_YEAR_S = 31_556_952
"""Seconds of a Gregorian year on average."""


class Era:
    """Looks at the times of a field.

    Args:
        field: a field with a unit of time.
    """

    def __init__(self, field: Field) -> None:
        self.field = field
        self.tick = field.type.tick or 1
        self.seen = 0
        self.outside = 0
        self.example: int | None = None

    def add(self, held: np.ndarray[Any, Any]) -> None:
        """Look at the next times, as held."""
        import numpy as np

        is_outside = (held < EARLIEST // self.tick) | (held >= LATEST // self.tick)
        count = int(is_outside.sum())
        self.seen += len(held)
        self.outside += count
        if count and self.example is None:
            self.example = int(np.sort(held[is_outside])[count // 2])

    @property
    def said(self) -> str:
        """Where the times lie, if most are not of 1990 to 2099, and the unit they would fit."""
        if self.example is None or self.outside * 2 <= self.seen:
            return ""
        told = f"{self.field.name} lies in {_month(self.example * self.tick // SECOND)}"
        unit = self._fitting(self.example)
        return f"{told}: is it {unit}?" if unit else told

    def _fitting(self, count: int) -> str:
        """The type whose unit brings a count between 1990 and 2100; empty if none does."""
        from rowkey.keys import TYPES

        if self.tick > SECOND:
            return ""
        ticks = {kind.tick: name for name, kind in TYPES.items() if kind.tick is not None}
        fits = (name for tick, name in ticks.items() if tick <= SECOND
                and EARLIEST <= count * tick < LATEST)  # fmt: skip
        return next(fits, "")


def _month(seconds: int) -> str:
    """The month of an instant; the year alone where no calendar has it."""
    try:
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).strftime("%Y-%m")
    except OverflowError:
        return f"the year {1970 + seconds // _YEAR_S:,}"
