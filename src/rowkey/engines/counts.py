"""What the regions of a table have counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable


@dataclass(frozen=True, slots=True)
class RegionCount:
    """One region and what it has counted since the table was created.

    On a cluster: since the region was opened where it is.

    Args:
        start: its first row key, inclusive.
        stop: the first row key behind it; empty for the last region.
        writes: mutations of a row: a put of many cells is one; so are an increment, an append and a
            check-and-mutate that was applied.
        reads: rows returned by gets and scans; a get that finds nothing counts as well.

    Source: HRegion.writeRequestsCount and readRequestsCount.
    """

    start: bytes
    stop: bytes
    writes: int
    reads: int


@dataclass(frozen=True, slots=True)
class OpenRegion:
    """A region in one of its openings: counts of one opening never fall.

    Args:
        start: its first row key, inclusive.
        stop: the first row key behind it; empty for the last region.
        writes: as a `RegionCount` has it.
        reads: the same.
        server: the server that it is on; empty where there is one place for all.
        opening: what tells this opening of this region from all others.
    """

    start: bytes
    stop: bytes
    writes: int
    reads: int
    server: str
    opening: Hashable

    @classmethod
    def here(cls, count: RegionCount) -> OpenRegion:
        """A region of an engine without servers, which is the same as long as its bounds are."""
        bounds = (count.start, count.stop)
        return cls(*bounds, count.writes, count.reads, "", bounds)
