"""A simulated cluster: regions that are written, moved, split, merged and lost.

The true counts are kept next to the counters, so that every rate can be checked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from rowkey.engines import OpenRegion
from rowkey.observe import CounterSnapshot


@dataclass(slots=True)
class Region:
    """A region: bounds, server, and the number and counters of its opening."""

    start: int
    stop: int
    server: str
    opening: int
    writes: int = 0
    reads: int = 0


@dataclass(slots=True)
class Cluster:
    """Servers and the regions of one table, whose keys are two bytes.

    Args:
        servers: their names.
        regions: how many regions.
    """

    servers: list[str]
    regions: list[Region] = field(default_factory=list)
    truth: Counter[tuple[int, int]] = field(default_factory=Counter)
    """Writes since the last count, by the bounds that a region has now."""
    disturbed: set[int] = field(default_factory=set)
    """Openings that began since the last count."""
    openings: Iterator[int] = field(default_factory=count)

    @classmethod
    def build(cls, servers: int, regions: int) -> Cluster:
        """Return a cluster with regions placed round robin."""
        made = cls([f"rs{number}" for number in range(servers)])
        edges = [65_536 * number // regions for number in range(regions + 1)]
        for number in range(regions):
            server = made.servers[number % servers]
            made.regions.append(made.open_region(edges[number], edges[number + 1], server))
        return made

    def open_region(self, start: int, stop: int, server: str) -> Region:
        """Return a region in a new opening, which counts from 0."""
        region = Region(start, stop, server, next(self.openings))
        self.disturbed.add(region.opening)
        return region

    def write(self, place: int, many: int) -> None:
        """Write into a region."""
        region = self.regions[place % len(self.regions)]
        region.writes += many
        self.truth[region.start, region.stop] += many

    def read(self, place: int, many: int) -> None:
        """Read rows of a region."""
        self.regions[place % len(self.regions)].reads += many

    def move(self, place: int, to: int) -> None:
        """Open a region on a server, possibly its own."""
        place %= len(self.regions)
        old = self.regions[place]
        server = self.servers[to % len(self.servers)]
        self.regions[place] = self.open_region(old.start, old.stop, server)

    def split(self, place: int) -> None:
        """Halve a region that is wide enough; both halves stay on its server."""
        place %= len(self.regions)
        old = self.regions[place]
        middle = (old.start + old.stop) // 2
        if middle > old.start:
            halves = ((old.start, middle), (middle, old.stop))
            self.regions[place : place + 1] = [
                self.open_region(*half, old.server) for half in halves
            ]

    def merge(self, place: int) -> None:
        """Merge a region with its neighbour."""
        if len(self.regions) > 1:
            place %= len(self.regions) - 1
            left, right = self.regions[place : place + 2]
            self.regions[place : place + 2] = [
                self.open_region(left.start, right.stop, left.server)
            ]

    def restart(self, number: int) -> None:
        """Restart a server under another name, after its regions opened elsewhere."""
        number %= len(self.servers)
        dead = self.servers[number]
        others = [one for one in self.servers if one != dead] or [f"{dead}'"]
        for place, region in enumerate(self.regions):
            if region.server == dead:
                server = others[place % len(others)]
                self.regions[place] = self.open_region(region.start, region.stop, server)
        self.servers[number] = f"{dead}'"

    def count_writes(self, at_s: float) -> CounterSnapshot:
        """Return the counters of all regions."""
        seen = [
            OpenRegion(
                encode_bound(one.start),
                encode_bound(one.stop),
                one.writes,
                one.reads,
                one.server,
                one.opening,
            )
            for one in self.regions
        ]
        return CounterSnapshot.from_regions(at_s, seen, self.servers)

    def reset_true_counts(self) -> None:
        """Reset the true counts, for the next interval."""
        self.truth.clear()
        self.disturbed.clear()


def encode_bound(number: int) -> bytes:
    """Return the row key of a bound; both ends of the table are empty."""
    return b"" if number in {0, 65_536} else number.to_bytes(2, "big")
