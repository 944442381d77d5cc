"""Which number of buckets would make it unknown which of two cells of one time was written later.

The later of two writes of one time is that of the later generation, where each of the two has put
the row somewhere else. A place to which a row has come back was written by two generations, and a
cell there is of the one or of the other.
"""

from __future__ import annotations

from itertools import combinations
from math import lcm
from typing import TYPE_CHECKING

from rowkey.keys import Source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.catalog import Generation
    from rowkey.design import Design
    from rowkey.keys import Part


def coming_back(
    design: Design, standing: Sequence[Generation], counts: Mapping[int, int]
) -> tuple[Generation, Generation] | None:
    """Two generations, where counts may put rows back from the later one's place to the other's.

    Args:
        design: the table's, under whatever counts.
        standing: the generations that rows were written under, oldest first.
        counts: those that a part of the key is to take next, by its place.
    """
    for older, newer in combinations(standing, 2):
        for place, count in counts.items():
            part = design.key.parts[place]
            if _comes_back(part, older.counts[place], newer.counts[place], count):
                return older, newer
    return None


def _comes_back(part: Part, before: int, between: int, after: int) -> bool:
    """Whether a part may have the same bytes under the outer two of three counts alone.

    Between the copies that chance makes nothing tells the later one as it is, be there one
    generation or several. Of a part whose number is no remainder nothing is known.
    """
    if part.source is Source.CHANCE:
        return False
    if getattr(part, "is_remainder", False):
        return comes_back(before, between, after)
    return between not in (before, after)


def comes_back(before: int, between: int, after: int) -> bool:
    """Whether some number has one remainder by the outer two of three counts, another between.

    The numbers of one remainder r by both are r, r + lcm, r + 2 lcm and so on, of each r that is
    below both. So the count between must divide the lcm, and be above each such r.

    >>> comes_back(16, 32, 8), comes_back(16, 32, 64), comes_back(16, 32, 16)
    (True, False, True)
    """
    return lcm(before, after) % between != 0 or between < min(before, after)
