"""Whether numbers are times since 1970: by where they lie, how many there are, and how they lie.

That a number would be a day of these years is weak evidence: ids and order numbers are such too.
So what speaks for a plain number is said, and no time is declared then.
"""

from __future__ import annotations

from itertools import pairwise
from math import gcd
from statistics import median
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
WHOLE_S = {"s": 3_600, "ms": 60, "us": 60}
"""Seconds that fewer values must be multiples of: of milliseconds that are no times one is a whole
minute by chance once in 60,000, of seconds one is a whole hour once in 3,600."""
ROUND_S, ROUND = 10**6, 2**16
"""A million seconds in any unit, and two bytes of zeros behind seconds: numbers that are round in
themselves, and so whole minutes or hours more often than by chance."""
MANY = 20
"""Different values from which numbers are said to be times, and not to look like some, where these
are finer than a second: of seconds that is never sure."""
CLOSE_S = 60
"""Seconds from one value to the next, on average, within which seconds are as likely an id that is
counted up: it has as many digits, and such a run."""
DENSE = 3
"""Numbers that are less apart, on average, are counted up, with one in three at least: the steps of
so many are even by chance."""
EVEN = 0.4
"""How far the steps of a clock are from their median at most, as a part of it: 0 where it ticks,
a third where each reading falls anywhere in its own interval; 0.64 where the steps are chance, as
those of ids of which each belongs to one of many prefixes."""
RUN = 9
"""Values behind one prefix from which on it is seen whether they are even."""
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
    """
    latest_s = now_ms // 1_000 + AHEAD_S
    for unit, per_s in UNITS.items():
        if EARLIEST_S * per_s <= min(numbers) and max(numbers) < latest_s * per_s:
            return unit
    return ""


def doubt(numbers: Sequence[int], unit: str, before: Sequence[bytes], now_ms: int) -> str:
    """Why numbers that may be times may as well be something else; empty if nothing says so.

    Args:
        numbers: at least one, which `unit_of` gives a unit of.
        unit: that unit.
        before: what stands before each of them in its key.
        now_ms: now, milliseconds since 1970.

    >>> now_ms = 1_800_000_000_000
    >>> doubt([1_700_000_000] * 30, "s", [b""] * 30, now_ms)
    'they have 1 value only'
    >>> doubt([1_700_006_400_000] * 30, "ms", [b""] * 30, now_ms)
    ''
    """
    different = set(numbers)
    if len(different) < SEVERAL and not _is_whole(different, unit):
        many = len(different)
        return f"they have {many} value{'s' if many > 1 else ''} only"
    least, start = min(numbers), COUNTED_S * UNITS[unit]
    if 0 <= least - start < start // NEAR:
        return f"numbers that are counted up from {start:,} are such too"
    if not any(one % (ALIGNED_S * UNITS[unit]) for one in different):
        return ""
    if unit != "s":
        return _within(different, unit, now_ms)
    if _is_counted(numbers, before):
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


def _is_whole(different: set[int], unit: str) -> bool:
    """Whether a few numbers are such whole hours or minutes as no others are by chance."""
    if any(one % (WHOLE_S[unit] * UNITS[unit]) for one in different):
        return False
    is_zeros = unit == "s" and not any(one % ROUND for one in different)
    return not is_zeros and any(one % (ROUND_S * UNITS[unit]) for one in different)


def _within(different: set[int], unit: str, now_ms: int) -> str:
    """Why eight bytes may hold four bytes of seconds instead; empty if they do not.

    A small number, four bytes of seconds and the first of the next number look like milliseconds:
    OpenTSDB's row keys are such.
    """
    for place in range(1, 5):
        held = [one >> 8 * (4 - place) & 0xFFFF_FFFF for one in different]
        if unit_of(held, now_ms) != "s":
            continue
        is_aligned = not any(one % ALIGNED_S for one in held)
        if is_aligned and not doubt(held, "s", [b""] * len(held), now_ms):
            return f"4 bytes from byte {place + 1} on are whole minutes in seconds since 1970"
        if place == 3 and _is_still(different, UNITS[unit]):
            return "their last byte is always the same, and the 4 before it may be seconds"
    return ""


def _is_still(different: set[int], per_s: int) -> bool:
    """Whether the last byte is always the same, though the numbers are not seconds apart."""
    least = min(different)
    apart = {one - least for one in different}
    return not any(gap % 256 for gap in apart) and any(gap % per_s for gap in apart)


def _is_counted(numbers: Sequence[int], before: Sequence[bytes]) -> bool:
    """Whether seconds may as well be ids that are counted up.

    Such ids never come again behind another prefix, or lie there by chance; what many clocks tell
    comes again, or the clocks take turns, and behind each prefix it is even.
    """
    different, runs = set(numbers), _runs(numbers, before)
    steps = [after - one for run in runs for one, after in pairwise(run)]
    step = sum(steps) / len(steps) if steps else 0.0
    if len(steps) >= SEVERAL and step < DENSE:
        return True
    apart = (max(different) - min(different)) / len(different)
    if apart >= CLOSE_S:
        return False
    comes_again = sum(map(len, runs)) - len(different) >= SEVERAL
    takes_turns = step >= CLOSE_S and apart >= DENSE and not _is_dealt(steps)
    return not (_is_even(runs) and (comes_again or takes_turns))


def _is_dealt(steps: Sequence[int]) -> bool:
    """Whether all steps are multiples of one that no clock has: so numbers lie in 100 buckets."""
    common = gcd(*steps)
    return common > 1 and common % ALIGNED_S > 0


def _runs(numbers: Sequence[int], before: Sequence[bytes]) -> list[list[int]]:
    """The different numbers behind each prefix, ascending."""
    runs: dict[bytes, set[int]] = {}
    for prefix, number in zip(before, numbers, strict=True):
        runs.setdefault(prefix, set()).add(number)
    return [sorted(run) for run in runs.values()]


def _is_even(runs: Sequence[Sequence[int]]) -> bool:
    """Whether the steps behind each prefix are about the same; a gap among them counts as one."""
    off = usual = 0.0
    for run in runs:
        if len(run) >= RUN:
            steps = [after - one for one, after in pairwise(run)]
            middle = median(steps)
            off += sum(min(abs(step - middle), middle) for step in steps)
            usual += middle * len(steps)
    return usual > 0 and off <= EVEN * usual
