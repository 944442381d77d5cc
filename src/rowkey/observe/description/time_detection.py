"""Detect whether numbers are times since 1970, by their values and their spacing.

Ids and order numbers may look like recent times too. If anything suggests plain numbers, that is
reported, and no time is declared.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import gcd
from statistics import median

EARLIEST_S = 631_152_000
"""1990 in seconds since 1970. A number lies between 1990 and now in one unit of time at most,
because the units are a factor of 1,000 apart."""
MAX_AHEAD_S = 2 * 366 * 86_400
"""Seconds by which times may lie in the future, such as expiry dates and plans."""
TICKS_PER_S = {"s": 1, "ms": 10**3, "us": 10**6}
"""The number of ticks of each time unit in a second. Nanoseconds are left out, because every fifth
number of eight bytes would be a time."""
ALIGNMENT_S = 60
"""Seconds of which four-byte times must be multiples if nothing else shows that they are times;
another number is such a multiple by chance once in 60."""
MIN_DISTINCT_TIMES = 4
"""Different values that are needed to recognise times: a single id or constant shows nothing, but
four numbers that are no times are all multiples of 60 by chance once in 10^7."""
FEW_TIMES_ALIGNMENT_S = {"s": 3_600, "ms": 60, "us": 60}
"""Seconds of which fewer values must be multiples: a number of milliseconds is a whole minute by
chance once in 60,000, a number of seconds a whole hour once in 3,600."""
DECIMAL_ROUND_S, BINARY_ROUND = 10**6, 2**16
"""A million seconds, and seconds that end with two zero bytes: round numbers are whole minutes or
hours more often than by chance, so they show nothing."""
MIN_SURE_TIMES = 20
"""Different values from which on numbers finer than seconds are reported as times, not only as
numbers that look like times; numbers of seconds are never that certain."""
MAX_ID_STEP_S = 60
"""Mean gap in seconds below which numbers of seconds may as well be ids that count up, which have
as many digits and are as close together."""
MAX_COUNTER_STEP = 3
"""Mean step below which numbers are taken for ids that count up, at least every third of which is
present: steps that small are even by chance."""
MAX_CLOCK_DEVIATION = 0.4
"""Mean deviation of a clock's steps from their median at most, relative to the median. It is 0 for
a regular clock, a third if each reading falls anywhere in its interval, and 0.64 for random steps,
such as those of ids that are spread over many prefixes."""
MIN_RUN_VALUES = 9
"""Values after one prefix that are needed to judge whether their steps are even."""
COUNTER_START_S = 10**9
"""The smallest number of 10 digits, from which ids may count up, as seconds: 2001-09-09. The
smallest numbers of 13 and 16 digits are the same moment in milliseconds and microseconds."""
COUNTER_START_FRACTION = 1_000
"""Numbers above such a start by less than one part in this many, or 11 days, may be such ids."""


def find_time_unit(numbers: Sequence[int], now_ms: int) -> str:
    """Return the unit in which all numbers are times since 1990; "" if there is none.

    Args:
        numbers: at least one.
        now_ms: now, milliseconds since 1970; two years more are allowed.

    >>> now_ms = 1_800_000_000_000
    >>> find_time_unit([1_700_000_000_000], now_ms), find_time_unit([3_700_000_000_000], now_ms)
    ('ms', '')
    """
    latest_s = now_ms // 1_000 + MAX_AHEAD_S
    for unit, per_s in TICKS_PER_S.items():
        if EARLIEST_S * per_s <= min(numbers) and max(numbers) < latest_s * per_s:
            return unit
    return ""


def find_time_doubt(
    numbers: Sequence[int], unit: str, prefixes: Sequence[bytes], now_ms: int
) -> str:
    """Return why numbers that look like times may be something else; "" if nothing does.

    Args:
        numbers: at least one number.
        unit: the result of `find_time_unit` for these numbers.
        prefixes: the key bytes before each number.
        now_ms: now, milliseconds since 1970.

    >>> now_ms = 1_800_000_000_000
    >>> find_time_doubt([1_700_000_000] * 30, "s", [b""] * 30, now_ms)
    'they have only 1 distinct value'
    >>> find_time_doubt([1_700_006_400_000] * 30, "ms", [b""] * 30, now_ms)
    ''
    """
    different = set(numbers)
    if len(different) < MIN_DISTINCT_TIMES and not _is_aligned(different, unit):
        many = len(different)
        return f"they have only {many} distinct value{'s' if many > 1 else ''}"
    least, start = min(numbers), COUNTER_START_S * TICKS_PER_S[unit]
    if 0 <= least - start < start // COUNTER_START_FRACTION:
        return f"ids that count up from {start:,} look the same"
    if not any(one % (ALIGNMENT_S * TICKS_PER_S[unit]) for one in different):
        return ""
    if unit != "s":
        return _find_inner_seconds(different, unit, now_ms)
    if _is_counter(numbers, prefixes):
        return "they are as close together as ids that count up"
    return ""


def format_certainty(numbers: Sequence[int], unit: str) -> str:
    """Return `are` or `look like`, as certain as it is that the numbers are times."""
    return "are" if unit != "s" and len(set(numbers)) >= MIN_SURE_TIMES else "look like"


def format_span(numbers: Sequence[int], unit: str) -> str:
    """Return the dates between which times lie, as a phrase.

    >>> format_span([1_700_000_000, 1_700_100_000], "s")
    'from 2023-11-14 to 2023-11-16'
    """
    from datetime import UTC, datetime

    ends = (min(numbers) // TICKS_PER_S[unit], max(numbers) // TICKS_PER_S[unit])
    first, last = (f"{datetime.fromtimestamp(end, UTC):%Y-%m-%d}" for end in ends)
    return f"on {first}" if first == last else f"from {first} to {last}"


def _is_aligned(distinct_numbers: set[int], unit: str) -> bool:
    """Return whether a few numbers are whole hours or minutes, which chance hardly gives."""
    if any(one % (FEW_TIMES_ALIGNMENT_S[unit] * TICKS_PER_S[unit]) for one in distinct_numbers):
        return False
    is_zeros = unit == "s" and not any(one % BINARY_ROUND for one in distinct_numbers)
    return not is_zeros and any(
        one % (DECIMAL_ROUND_S * TICKS_PER_S[unit]) for one in distinct_numbers
    )


def _find_inner_seconds(distinct_numbers: set[int], unit: str, now_ms: int) -> str:
    """Return why eight bytes may contain a four-byte time; "" if they do not.

    A small number, four bytes of seconds and the first byte of the next number look like
    milliseconds, for example in OpenTSDB's row keys.
    """
    for place in range(1, 5):
        seconds = [one >> 8 * (4 - place) & 0xFFFF_FFFF for one in distinct_numbers]
        if find_time_unit(seconds, now_ms) != "s":
            continue
        is_aligned = not any(one % ALIGNMENT_S for one in seconds)
        if is_aligned and not find_time_doubt(seconds, "s", [b""] * len(seconds), now_ms):
            return f"4 bytes from byte {place + 1} on are whole minutes in seconds since 1970"
        if place == 3 and _has_constant_last_byte(distinct_numbers, TICKS_PER_S[unit]):
            return "their last byte is always the same, and the 4 before it may be seconds"
    return ""


def _has_constant_last_byte(distinct_numbers: set[int], per_s: int) -> bool:
    """Return whether all numbers share their last byte and are not whole seconds apart."""
    least = min(distinct_numbers)
    apart = {one - least for one in distinct_numbers}
    return not any(gap % 256 for gap in apart) and any(gap % per_s for gap in apart)


def _is_counter(numbers: Sequence[int], prefixes: Sequence[bytes]) -> bool:
    """Return whether numbers that look like seconds may be ids that count up.

    Such ids do not recur after another prefix, or are randomly spaced there. The times of several
    clocks recur, or the clocks alternate, and they are evenly spaced after each prefix.
    """
    different, runs = set(numbers), _group_runs(numbers, prefixes)
    steps = [after - one for run in runs for one, after in pairwise(run)]
    step = sum(steps) / len(steps) if steps else 0.0
    if len(steps) >= MIN_DISTINCT_TIMES and step < MAX_COUNTER_STEP:
        return True
    apart = (max(different) - min(different)) / len(different)
    if apart >= MAX_ID_STEP_S:
        return False
    comes_again = sum(map(len, runs)) - len(different) >= MIN_DISTINCT_TIMES
    takes_turns = (
        step >= MAX_ID_STEP_S and apart >= MAX_COUNTER_STEP and not _has_odd_common_step(steps)
    )
    return not (_is_evenly_spaced(runs) and (comes_again or takes_turns))


def _has_odd_common_step(steps: Sequence[int]) -> bool:
    """Return whether all steps are multiples of a number that is no whole minute."""
    common = gcd(*steps)
    return common > 1 and common % ALIGNMENT_S > 0


def _group_runs(numbers: Sequence[int], prefixes: Sequence[bytes]) -> list[list[int]]:
    """Return the distinct numbers after each key prefix, ascending."""
    runs: dict[bytes, set[int]] = {}
    for prefix, number in zip(prefixes, numbers, strict=True):
        runs.setdefault(prefix, set()).add(number)
    return [sorted(run) for run in runs.values()]


def _is_evenly_spaced(runs: Sequence[Sequence[int]]) -> bool:
    """Return whether numbers after the same prefix are about equally spaced."""
    off = usual = 0.0
    for run in runs:
        if len(run) >= MIN_RUN_VALUES:
            steps = [after - one for one, after in pairwise(run)]
            middle = median(steps)
            off += sum(min(abs(step - middle), middle) for step in steps)
            usual += middle * len(steps)
    return usual > 0 and off <= MAX_CLOCK_DEVIATION * usual
