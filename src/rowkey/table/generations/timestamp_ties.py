"""Bucket counts under which cells of two generations with one timestamp could not be ordered.

The later of two writes of one time is that of the later generation, where each of the two has put
the row somewhere else. A place to which a row has come back was written by two generations, and a
cell there is of the one or of the other.
"""

from __future__ import annotations

from itertools import combinations
from math import lcm
from typing import TYPE_CHECKING

from rowkey.keys import Determinant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.catalog import Generation
    from rowkey.design import Design
    from rowkey.keys import Part


def find_tied_generations(
    design: Design, generations: Sequence[Generation], counts: Mapping[int, int]
) -> tuple[Generation, Generation] | None:
    """Return two generations, if counts may put rows back from the later place to the earlier.

    Args:
        design: the table's, under whatever counts.
        generations: the generations that rows were written under, oldest first.
        counts: those that a part of the key is to take next, by its place.
    """
    for older, newer in combinations(generations, 2):
        for place, count in counts.items():
            part = design.key.parts[place]
            if _can_part_return(part, older.counts[place], newer.counts[place], count):
                return older, newer
    return None


def _can_part_return(part: Part, first_count: int, middle_count: int, last_count: int) -> bool:
    """Whether a part may have the same bytes under the first and the last of three counts only.

    Copies of a random salt cannot be ordered anyway, with one generation or several. Of a part
    whose number is no remainder nothing is known.
    """
    if part.determined_by is Determinant.CHANCE:
        return False
    if getattr(part, "is_remainder", False):
        return can_row_return(first_count, middle_count, last_count)
    return middle_count not in (first_count, last_count)


def can_row_return(first_count: int, middle_count: int, last_count: int) -> bool:
    """Whether a number has one remainder by the first and the last count, and another in between.

    The numbers of one remainder r by both are r, r + lcm, r + 2 lcm and so on, of each r that is
    below both. So the count between must divide the lcm, and be above each such r.

    >>> can_row_return(16, 32, 8), can_row_return(16, 32, 64), can_row_return(16, 32, 16)
    (True, False, True)
    """
    return lcm(first_count, last_count) % middle_count != 0 or middle_count < min(
        first_count, last_count
    )
