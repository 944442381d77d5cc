"""Turn counters into rates, which are known if a region stayed open between two snapshots.

A region that is moved, split, merged or restored counts from 0 again, and its counts since the last
snapshot are lost. Its rate in that interval is unknown: the difference would be negative, and the
new count alone too small.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rowkey.engines import OpenRegion

CounterName = Literal["writes", "reads"]
"""What is counted."""


@dataclass(frozen=True, slots=True)
class CounterSnapshot:
    """The request counters of all regions of a table at one moment.

    Args:
        at_s: when, in seconds of a clock that never goes back.
        regions: in the order of their keys.
        servers: all servers that may hold regions, ascending, with those of the regions.
    """

    at_s: float
    regions: tuple[OpenRegion, ...]
    servers: tuple[str, ...]

    @classmethod
    def from_regions(
        cls, at_s: float, regions: Sequence[OpenRegion], servers: Sequence[str]
    ) -> CounterSnapshot:
        """Return the snapshot of open regions and known servers at one moment.

        Args:
            at_s: when.
            regions: in the order of their keys.
            servers: the live servers.
        """
        there = {*servers, *(region.server for region in regions)}
        return cls(at_s, tuple(regions), tuple(sorted(there)))


@dataclass(frozen=True, slots=True)
class RegionDelta:
    """The reads and writes of one region between two snapshots.

    Args:
        start: its first row key, inclusive.
        stop: the first row key after it; empty for the last region.
        server: the server that holds it.
        writes: mutations in the interval; None if unknown.
        reads: rows read in it; None if unknown.
        reason: why a count is unknown, or an empty string.
    """

    start: bytes
    stop: bytes
    server: str
    writes: int | None
    reads: int | None
    reason: str = ""

    def get_count(self, counter: CounterName) -> int | None:
        """Return the region's writes or reads; None if they are unknown."""
        return self.writes if counter == "writes" else self.reads


@dataclass(frozen=True, slots=True)
class LoadInterval:
    """The reads and writes of all regions between two snapshots.

    Args:
        end_s: when it ended, in seconds of the same clock as the counts.
        length_s: how long it was, above 0.
        regions: the regions at its end, in the order of their keys.
        servers: all servers that may hold regions, ascending.
    """

    end_s: float
    length_s: float
    regions: tuple[RegionDelta, ...]
    servers: tuple[str, ...]

    @property
    def bounds(self) -> tuple[tuple[bytes, bytes], ...]:
        """The first row key and the stop key of each region."""
        return tuple((region.start, region.stop) for region in self.regions)

    def is_known(self, counter: CounterName) -> bool:
        """Return whether the count of every region is known."""
        return all(region.get_count(counter) is not None for region in self.regions)

    def sum_operations(self, counter: CounterName) -> int:
        """Return the reads or writes of all regions whose counts are known."""
        return sum(region.get_count(counter) or 0 for region in self.regions)

    def sum_by_server(self, counter: CounterName) -> dict[str, int]:
        """Return the known reads or writes of each server; 0 for one without regions."""
        loads = dict.fromkeys(self.servers, 0)
        for region in self.regions:
            loads[region.server] += region.get_count(counter) or 0
        return loads


def compute_interval(before: CounterSnapshot, after: CounterSnapshot) -> LoadInterval:
    """Return the reads and writes of each region between two snapshots.

    Args:
        before: the earlier one.
        after: the later one, at another moment.

    >>> from rowkey.engines import OpenRegion
    >>> first = CounterSnapshot.from_regions(0.0, [OpenRegion(b"", b"", 5, 0, "a", 1)], ["a"])
    >>> more = CounterSnapshot.from_regions(2.0, [OpenRegion(b"", b"", 9, 1, "a", 1)], ["a"])
    >>> moved = CounterSnapshot.from_regions(4.0, [OpenRegion(b"", b"", 3, 0, "b", 2)], ["a", "b"])
    >>> compute_interval(first, more).regions[0].writes
    4
    >>> compute_interval(more, moved).regions[0].reason
    'moved here from a'
    """
    old_regions = {region.opening_id: region for region in before.regions}
    regions = tuple(
        _compute_delta(old_regions[region.opening_id], region)
        if region.opening_id in old_regions
        else _build_unknown_delta(region, _explain_unknown(region, before.regions))
        for region in after.regions
    )
    return LoadInterval(after.at_s, after.at_s - before.at_s, regions, after.servers)


def _compute_delta(before: OpenRegion, after: OpenRegion) -> RegionDelta:
    """Return the counter differences of a region; unknown if a counter decreased."""
    writes, reads = after.writes - before.writes, after.reads - before.reads
    if writes < 0 or reads < 0:
        return _build_unknown_delta(after, "its counters decreased")
    return RegionDelta(after.start, after.stop, after.server, writes, reads)


def _build_unknown_delta(region: OpenRegion, reason: str) -> RegionDelta:
    return RegionDelta(region.start, region.stop, region.server, None, None, reason)


def _explain_unknown(region: OpenRegion, old_regions: Sequence[OpenRegion]) -> str:
    """Return what happened to a region that was opened since the earlier snapshot."""
    at = bisect_right(old_regions, region.start, key=lambda one: one.start) - 1
    if at < 0:
        return "newly opened"
    old_region = old_regions[at]
    if (old_region.start, old_region.stop) == (region.start, region.stop):
        moved = old_region.server != region.server
        return f"moved here from {old_region.server}" if moved else "reopened"
    if _is_superset(old_region, region):
        return "created by a split"
    return "created by a merge" if _is_superset(region, old_region) else "newly opened"


def _is_superset(outer: OpenRegion, inner: OpenRegion) -> bool:
    """Return whether one region's key range contains another's."""
    ends = not outer.stop or (bool(inner.stop) and inner.stop <= outer.stop)
    return outer.start <= inner.start and ends
