"""Counters become rates: known where both counts are of one opening of a region, else unknown.

A region that is moved, split, merged or restored counts from 0, and what it counted since the last
look is lost. So its rate in that interval is not known: neither the fall of its count, which would
be a negative rate, nor its new count, which would be too small a one.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.engines import OpenRegion

What = Literal["writes", "reads"]
"""What is counted."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What all regions of a table had counted at one moment.

    Args:
        at_s: when, in seconds of a clock that never goes back.
        regions: in the order of their keys.
        servers: all that may hold regions, ascending; those of the regions are among them.
    """

    at_s: float
    regions: tuple[OpenRegion, ...]
    servers: tuple[str, ...]

    @classmethod
    def of(cls, at_s: float, regions: Sequence[OpenRegion], servers: Sequence[str]) -> Counted:
        """The counts of a moment; a server that holds a region counts, whoever has not heard of it.

        Args:
            at_s: when.
            regions: in the order of their keys.
            servers: those that are known to live.
        """
        there = {*servers, *(region.server for region in regions)}
        return cls(at_s, tuple(regions), tuple(sorted(there)))


@dataclass(frozen=True, slots=True)
class RegionRate:
    """What one region did between two counts.

    Args:
        start: its first row key, inclusive.
        stop: the first row key behind it; empty for the last region.
        server: where it is.
        writes: mutations in the interval; None if that is not known.
        reads: rows read in it; None if that is not known.
        why: why something is not known, or an empty string.
    """

    start: bytes
    stop: bytes
    server: str
    writes: int | None
    reads: int | None
    why: str = ""

    def count(self, what: What) -> int | None:
        """Writes or reads."""
        return self.writes if what == "writes" else self.reads


@dataclass(frozen=True, slots=True)
class Interval:
    """What all regions did between two counts.

    Args:
        at_s: when it ended, in seconds of the same clock as the counts.
        length_s: how long it was, above 0.
        regions: in the order of their keys, as they stood at its end.
        servers: all that may hold regions, ascending.
    """

    at_s: float
    length_s: float
    regions: tuple[RegionRate, ...]
    servers: tuple[str, ...]

    @property
    def bounds(self) -> tuple[tuple[bytes, bytes], ...]:
        """Where each region begins and stops."""
        return tuple((region.start, region.stop) for region in self.regions)

    def is_known(self, what: What) -> bool:
        """Whether it is known of every region."""
        return all(region.count(what) is not None for region in self.regions)

    def total(self, what: What) -> int:
        """The sum over those regions of which it is known."""
        return sum(region.count(what) or 0 for region in self.regions)

    def by_server(self, what: What) -> dict[str, int]:
        """The sum over the known regions of each server, 0 for one without any."""
        loads = dict.fromkeys(self.servers, 0)
        for region in self.regions:
            loads[region.server] += region.count(what) or 0
        return loads


def between(before: Counted, after: Counted) -> Interval:
    """What the regions did between two counts.

    Args:
        before: the earlier one.
        after: the later one, at another moment.

    >>> from rowkey.engines import OpenRegion
    >>> first = Counted.of(0.0, [OpenRegion(b"", b"", 5, 0, "a", 1)], ["a"])
    >>> more = Counted.of(2.0, [OpenRegion(b"", b"", 9, 1, "a", 1)], ["a"])
    >>> moved = Counted.of(4.0, [OpenRegion(b"", b"", 3, 0, "b", 2)], ["a", "b"])
    >>> between(first, more).regions[0].writes, between(more, moved).regions[0].why
    (4, 'moved here from a')
    """
    known = {region.opening: region for region in before.regions}
    regions = tuple(
        _rate(known[region.opening], region)
        if region.opening in known
        else _unknown(region, _why(region, before.regions))
        for region in after.regions
    )
    return Interval(after.at_s, after.at_s - before.at_s, regions, after.servers)


def _rate(before: OpenRegion, after: OpenRegion) -> RegionRate:
    """What one opening of a region did; unknown if its counts fell, which they never should."""
    writes, reads = after.writes - before.writes, after.reads - before.reads
    if writes < 0 or reads < 0:
        return _unknown(after, "its counts fell")
    return RegionRate(after.start, after.stop, after.server, writes, reads)


def _unknown(region: OpenRegion, why: str) -> RegionRate:
    return RegionRate(region.start, region.stop, region.server, None, None, why)


def _why(region: OpenRegion, before: Sequence[OpenRegion]) -> str:
    """What has become of a region that was not counted before in this opening."""
    at = bisect_right(before, region.start, key=lambda one: one.start) - 1
    if at < 0:
        return "opened"
    there = before[at]
    if (there.start, there.stop) == (region.start, region.stop):
        moved = there.server != region.server
        return f"moved here from {there.server}" if moved else "opened anew"
    if _holds(there, region):
        return "split off"
    return "merged" if _holds(region, there) else "opened"


def _holds(outer: OpenRegion, inner: OpenRegion) -> bool:
    """Whether one region's range holds all of another's."""
    ends = not outer.stop or (bool(inner.stop) and inner.stop <= outer.stop)
    return outer.start <= inner.start and ends
