"""Request counts of the regions of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable


@dataclass(frozen=True, slots=True)
class RegionRequestCounts:
    """The request counts of one region since the table was created.

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
    """A region since it was opened on a server: counts of one opening never decrease.

    Args:
        start: its first row key, inclusive.
        stop: the first row key behind it; empty for the last region.
        writes: as a `RegionRequestCounts` has it.
        reads: the same.
        server: the server that it is on; empty where there is one place for all.
        opening_id: what tells this opening of this region from all others.
    """

    start: bytes
    stop: bytes
    writes: int
    reads: int
    server: str
    opening_id: Hashable

    @classmethod
    def from_counts(cls, counts: RegionRequestCounts) -> OpenRegion:
        """Return the region of an embedded engine, which its bounds identify."""
        bounds = (counts.start, counts.stop)
        return cls(*bounds, counts.writes, counts.reads, "", bounds)
