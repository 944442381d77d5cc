"""Bucket counts under which cells of two generations with one timestamp could not be ordered.

Of two writes with one timestamp, the later is that of the later generation, if each generation gave
the row another row key. A row key to which a row has returned was written by two generations, and
a cell there may be of either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import lcm

from rowkey.catalog import Generation
from rowkey.design import Design
from rowkey.keys import Determinant, Part


def find_tied_generations(
    design: Design, generations: Sequence[Generation], counts: Mapping[int, int]
) -> tuple[Generation, Generation] | None:
    """Return two generations if new counts may return rows from the later's keys to the earlier's.

    Args:
        design: the table's design, with any bucket counts.
        generations: the generations that rows were written under, oldest first.
        counts: the new bucket counts, by the index of the part.
    """
    for older, newer in combinations(generations, 2):
        for place, count in counts.items():
            part = design.key.parts[place]
            if _can_part_return(part, older.counts[place], newer.counts[place], count):
                return older, newer
    return None


def _can_part_return(part: Part, first_count: int, middle_count: int, last_count: int) -> bool:
    """Return whether a key part may have equal bytes under the first and last of three counts only.

    Copies under a random salt cannot be ordered anyway, with one generation or several. A part
    whose number is not a remainder may have any bytes.
    """
    if part.determined_by is Determinant.CHANCE:
        return False
    if getattr(part, "is_remainder", False):
        return can_row_return(first_count, middle_count, last_count)
    return middle_count not in (first_count, last_count)


def can_row_return(first_count: int, middle_count: int, last_count: int) -> bool:
    """Return whether a number may have equal remainders by the first and last of three counts only.

    The numbers of one remainder r by both are r, r + lcm, r + 2 lcm and so on, of each r that is
    below both. So it may not if the middle count divides the lcm and is above each such r.

    >>> can_row_return(16, 32, 8), can_row_return(16, 32, 64), can_row_return(16, 32, 16)
    (True, False, True)
    """
    return lcm(first_count, last_count) % middle_count != 0 or middle_count < min(
        first_count, last_count
    )
