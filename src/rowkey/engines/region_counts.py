"""Request counts of the regions of a table."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class RegionRequestCounts:
    """The read and write requests of one region since the table was created.

    On a cluster: since its server opened the region.

    Args:
        start: its first row key, inclusive.
        stop: the first row key after it; empty for the last region.
        writes: mutations of a row: a put of many cells is one; so are an increment, an append and a
            check-and-mutate that was applied.
        reads: rows returned by gets and scans; a get that finds nothing counts as well.

    Source: HRegion.writeRequestsCount and readRequestsCount.
    """

    start: bytes
    stop: bytes
    writes: int
    reads: int


class RegionAvailability(NamedTuple):
    """How many regions of a table are open.

    Args:
        open: regions that a server has open and answers for.
        total: all regions.
    """

    open: int
    total: int


@dataclass(frozen=True, slots=True)
class OpenRegion:
    """A region on its server, with its request counts since the server opened it.

    Args:
        start: its first row key, inclusive.
        stop: the first row key after it; empty for the last region.
        writes: as in `RegionRequestCounts`.
        reads: as in `RegionRequestCounts`.
        server: the name of its server; empty on an embedded engine.
        opening_id: identifies this opening of the region: counts only grow while it is the same.
    """

    start: bytes
    stop: bytes
    writes: int
    reads: int
    server: str
    opening_id: Hashable

    @classmethod
    def from_counts(cls, counts: RegionRequestCounts) -> OpenRegion:
        """Return the open region of an embedded engine, identified by its bounds."""
        bounds = (counts.start, counts.stop)
        return cls(*bounds, counts.writes, counts.reads, "", bounds)
