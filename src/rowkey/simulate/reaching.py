"""How far a read looks into each of its ranges until it has enough rows."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.plan import Plan
    from rowkey.simulate.ranked import Mask


def looked_over(
    found: Sequence[tuple[int, int]], reached: Sequence[int | None], *, is_backwards: bool
) -> int:
    """How many rows of some ranges are looked at up to the last one of each."""
    ends = zip(found, reached, strict=True)
    if is_backwards:
        return sum(stop - at for (_, stop), at in ends if at is not None)
    return sum(at + 1 - start for (start, _), at in ends if at is not None)


def reached_by(
    plan: Plan,
    keys: Sequence[bytes],
    found: Sequence[tuple[int, int]],
    fitting: Mask,
    wanted: int,
) -> list[int | None]:
    """The last row of each range that is looked at until enough rows were taken.

    Ranges are merged by what follows their prefixes: of each the first row is looked at, and then
    the next one each time a row of it was passed.

    Args:
        plan: how the rows are read.
        keys: the rows, ascending.
        found: where each range begins and stops among them.
        fitting: which rows are taken, the others are passed over.
        wanted: rows to take; those of the ranges that are taken are as many or more.

    Returns:
        A place among the keys for each range; None of a range without a row.
    """
    import numpy as np

    taken = []
    for number, (start, stop) in enumerate(found):
        mine = start + np.flatnonzero(fitting[start:stop])
        first = mine[-wanted:] if plan.is_backwards else mine[:wanted]
        skipped = len(plan.ranges[number].prefix)
        taken += [(keys[at][skipped:], number) for at in first.tolist()]
    taken.sort(reverse=plan.is_backwards)
    last, of = taken[wanted - 1]
    return [
        _looked_at(keys, stretch, one.prefix + last, number - of, is_backwards=plan.is_backwards)
        for number, (one, stretch) in enumerate(zip(plan.ranges, found, strict=True))
    ]


def _looked_at(
    keys: Sequence[bytes], found: tuple[int, int], key: bytes, turn: int, *, is_backwards: bool
) -> int | None:
    """The last row of one range that is looked at when a merge stops.

    Args:
        keys: the rows, ascending.
        found: where the range begins and stops among them.
        key: the last row that was taken, with the prefix of this range.
        turn: of equal rows those of lower ranges come first, or last if it goes backwards: the
            number of this range less that of the range whose row was taken.
        is_backwards: whether the ranges are read from their ends.
    """
    start, stop = found
    if start == stop:
        return None
    if turn == 0:
        return bisect_left(keys, key, start, stop)
    # All rows of the range that come before the one that was taken are passed; then one is seen.
    passed = bisect_right if turn < 0 else bisect_left
    at = passed(keys, key, start, stop)
    return max(at - 1, start) if is_backwards else min(at, stop - 1)
