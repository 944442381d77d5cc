"""Whether numbers are times since 1970: by where they lie, how many there are, and how they lie.

That a number would be a day of these years is weak evidence: ids and order numbers are such too.
So what speaks for a plain number is said, and no time is declared then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

EARLIEST_S = 631_152_000
"""1990 in seconds since 1970: of the four units of time one at most brings a count between it and
now, for they are 1,000 apart."""
AHEAD_S = 2 * 366 * 86_400
"""Seconds after the present up to which there may be times: of what expires, or is planned."""
UNITS = {"s": 1, "ms": 10**3, "us": 10**6}
"""Units of time by their number in a second. Nanoseconds are left out: every fifth number of eight
bytes would be a time."""
ALIGNED_S = 60
"""Seconds that times of four bytes must be multiples of where nothing else shows that they are
times: of other numbers that is so by chance once in 60."""
SEVERAL = 4
"""Different values from which times are told: what one id or one constant is like says nothing, and
of four numbers that are no times all are multiples of 60 by chance once in 10^7."""
MANY = 20
"""Different values from which numbers are said to be times, and not to look like some, where these
are finer than a second: of seconds that is never sure."""
CLOSE_S = 60
"""Seconds from one value to the next, on average, within which seconds are as likely an id that is
counted up: it has as many digits, and such a run."""
COUNTED_S = 10**9
"""Where numbers of 10, 13 and 16 digits begin, and ids that are counted up from the first of them:
as seconds, milliseconds and microseconds they are one moment, 2001-09-09."""
NEAR = 1_000
"""Such a start is near when less than a part in so many lies between: of that moment 11 days."""


def unit_of(numbers: Sequence[int], now_ms: int) -> str:
    """The unit in which all may be times between 1990 and now; an empty string if in none.

    Args:
        numbers: at least one.
        now_ms: now, milliseconds since 1970; two years more are allowed.

    >>> now_ms = 1_800_000_000_000
    >>> unit_of([1_700_000_000_000], now_ms), unit_of([3_700_000_000_000], now_ms)
    ('ms', '')
    >>> unit_of([0x01_6553_F100_00, 0x01_6553_FF10_00], now_ms)
    ''
    """
    latest_s = now_ms // 1_000 + AHEAD_S
    for unit, per_s in UNITS.items():
        if EARLIEST_S * per_s <= min(numbers) and max(numbers) < latest_s * per_s:
            return unit if _ends_as_times(numbers, per_s) else ""
    return ""


def doubt(numbers: Sequence[int], unit: str) -> str:
    """Why numbers that may be times may as well be something else; empty if nothing says so.

    Args:
        numbers: at least one, which `unit_of` gives a unit of.
        unit: that unit.

    >>> doubt([1_700_000_000] * 30, "s")
    'they have 1 value only'
    """
    different = set(numbers)
    if len(different) < SEVERAL:
        many = len(different)
        return f"they have {many} value{'s' if many > 1 else ''} only"
    least, width = min(numbers), max(numbers) - min(numbers)
    start = COUNTED_S * UNITS[unit]
    if 0 <= least - start < start // NEAR:
        return f"numbers that are counted up from {start:,} are such too"
    is_whole = not any(one % ALIGNED_S for one in different)
    if unit == "s" and not is_whole and width < CLOSE_S * len(different):
        return "they lie as close together as ids that are counted up"
    return ""


def said(numbers: Sequence[int], unit: str) -> str:
    """How sure it is that numbers are times of which nothing is doubted: `are`, or `look like`."""
    return "are" if unit != "s" and len(set(numbers)) >= MANY else "look like"


def spanned(numbers: Sequence[int], unit: str) -> str:
    """The days between which some times lie.

    >>> spanned([1_700_000_000, 1_700_100_000], "s")
    'from 2023-11-14 to 2023-11-16'
    """
    from datetime import UTC, datetime

    ends = (min(numbers) // UNITS[unit], max(numbers) // UNITS[unit])
    first, last = (f"{datetime.fromtimestamp(end, UTC):%Y-%m-%d}" for end in ends)
    return f"on {first}" if first == last else f"from {first} to {last}"


def _ends_as_times(numbers: Sequence[int], per_s: int) -> bool:
    """Whether the last byte may be that of times: if it is always one, they are seconds apart.

    A small number, four bytes of seconds and the first of the next number look like milliseconds:
    OpenTSDB's row keys are such.
    """
    least = min(numbers)
    apart = {one - least for one in numbers}
    is_still = len(apart) > 1 and not any(gap % 256 for gap in apart)
    return not is_still or not any(gap % per_s for gap in apart)
