"""Operations counted by time window and region, in bounded memory, and the skew they show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.errors import counted
from rowkey.heat.region_counts import RegionCounts
from rowkey.heat.skew import even_share, even_spread

if TYPE_CHECKING:
    import numpy as np

    from rowkey.heat.placements import Placements

WIDTHS_S = (1, 10, 60, 600)
PER_SERVER = 200
"""Events a window must hold for each server: with fewer, chance alone looks like a hot spot.
At 200 the value of an even design over 8 servers is 1.10, at 35 it is 1.72."""
COVERED = 0.5
"""Share of all events that must lie in such windows before a figure is given."""
WINDOWS = 50
"""Windows of equal numbers of events: what a sample too thin for windows of time still shows."""
MOST_CELLS = 1 << 22
"""Counts kept of windows that may still grow; older windows are closed first."""


@dataclass(frozen=True, slots=True)
class Skew:
    """The skew at one width of window; figures are None where the sample is too thin.

    Args:
        width_s: seconds of a window.
        windows: windows that hold enough events.
        covered: share of all events that lie in them.
        servers: load of the fullest server of each window over its fair share, weighted by load.
        regions: the same of regions.
        even_servers: what an even design would show.
        even_regions: the same of regions.
        spread_servers: standard deviation of what an even design would show.
        other_low: the least skew of other placements that balance the number of regions.
        other_median: their median.
        other_high: their largest.
        one_more: skew with one server more.
        doubled: skew with twice the servers.
        peak: the hottest window's start in milliseconds since 1970, and its skew over servers.
        provisioning: load of the fullest server in the worst window over a fair share in the
            busiest one.
        reason: why there are no figures, or an empty string.
    """

    width_s: int
    windows: int = 0
    covered: float = 0.0
    servers: float | None = None
    regions: float | None = None
    even_servers: float | None = None
    even_regions: float | None = None
    spread_servers: float | None = None
    other_low: float | None = None
    other_median: float | None = None
    other_high: float | None = None
    one_more: float | None = None
    doubled: float | None = None
    peak: tuple[int, float] | None = None
    provisioning: float | None = None
    reason: str = ""


class WindowCounts:
    """Counts operations by window and region, and folds closed windows into skew.

    Args:
        width_s: seconds of a window.
        placements: where regions lie.
    """

    def __init__(self, width_s: int, placements: Placements) -> None:
        self.width_s = width_s
        self.placements = placements
        self.most_open = max(MOST_CELLS // placements.regions, 4)
        self.closed_before: int | None = None
        self._counts: list[RegionCounts] = []
        self._open = 0
        self.seen = 0
        self.late = 0
        self.sums = _Sums(placements)

    def add(self, counts: RegionCounts, width_s: int) -> RegionCounts:
        """Add the counts of some shorter windows.

        Args:
            counts: operations by window and region.
            width_s: seconds of these windows, of which this width is a multiple.

        Returns:
            The same for windows of this width, from which those of a multiple of it are soon made.
        """
        counts = counts.widen(self.width_s // width_s)
        self._keep(counts)
        return counts

    def _keep(self, counts: RegionCounts) -> None:
        import numpy as np

        self.seen += int(counts.counts.sum())
        if self.closed_before is not None and counts.windows[0] < self.closed_before:
            late = int(np.searchsorted(counts.windows, self.closed_before))
            self.late += int(counts.totals[:late].sum())
            if late == len(counts):
                return
            counts = counts.slice(late, len(counts))
        self._counts.append(counts)
        self._open += len(counts)
        if self._open > self.most_open:
            self._settle()

    def _settle(self) -> None:
        """Merge what came for each window; close the older half if that is still too much."""
        counts = RegionCounts.merge(self._counts)
        if 2 * len(counts) > self.most_open:
            counts = self._close(counts, len(counts) - self.most_open // 2)
        self._counts, self._open = [counts], len(counts)

    def _close(self, counts: RegionCounts, count: int) -> RegionCounts:
        """Fold the first windows into the sums and return the others."""
        self.sums.add(self.width_s * 1_000, counts.slice(0, count))
        self.closed_before = int(counts.windows[count - 1]) + 1
        return counts.slice(count, len(counts))

    def skew(self) -> Skew:
        """The skew of all windows; no more may be added."""
        if self._open:
            self._settle()
            self._close(self._counts[0], self._open)
        return self.sums.skew(self.width_s, self.seen)


class _Sums:
    """Sums over windows that hold enough events."""

    def __init__(self, placements: Placements) -> None:
        import numpy as np

        self.placements = placements
        self.enough = PER_SERVER * placements.servers
        self.windows = 0
        self.events = 0
        self.fullest_region = 0.0
        self.fullest = np.zeros(len(placements.tables))
        self.even_server = self.even_region = self.variance = 0.0
        self.peak = (0, 0.0)
        self.largest_load = 0.0
        self.busiest = 0.0

    def add(self, width_ms: int, counts: RegionCounts) -> None:
        """Add windows of a width in milliseconds, whose numbers count from 1970."""
        import numpy as np

        is_full = counts.totals >= self.enough
        if not is_full.any():
            return
        counts = counts if is_full.all() else counts.select(is_full)
        events = counts.totals
        servers, regions = self.placements.servers, self.placements.regions
        self.windows += len(events)
        self.events += int(events.sum())
        self.fullest_region += float(np.maximum.reduceat(counts.counts, counts.starts).sum())
        loads = self.placements.fullest(counts)
        self.fullest += loads.sum(axis=1)
        self.even_server += float((even_share(events, servers) * events / servers).sum())
        self.even_region += float((even_share(events, regions) * events / regions).sum())
        self.variance += float(((even_spread(events, servers) * events / servers) ** 2).sum())
        skews = loads[0] * servers / events
        worst = int(np.argmax(skews))
        if skews[worst] > self.peak[1]:
            self.peak = (int(counts.windows[worst]) * width_ms, float(skews[worst]))
        self.largest_load = max(self.largest_load, float(loads[0].max()))
        self.busiest = max(self.busiest, float(events.max()))

    def skew(self, width_s: int, seen: int) -> Skew:
        """The figures, or why there are none."""
        import numpy as np

        covered = self.events / seen if seen else 0.0
        if not self.windows or covered < COVERED:
            return Skew(width_s, self.windows, covered, reason=self._reason(width_s, covered))
        servers, regions = self.placements.servers, self.placements.regions
        per_event = 1 / self.events
        skews = self.fullest * self.placements.counts * per_event
        others = skews[self.placements.others]
        return Skew(
            width_s,
            self.windows,
            covered,
            servers=float(skews[0]),
            regions=self.fullest_region * regions * per_event,
            even_servers=self.even_server * servers * per_event,
            even_regions=self.even_region * regions * per_event,
            spread_servers=float(np.sqrt(self.variance)) * servers * per_event,
            other_low=float(others.min()),
            other_median=float(np.median(others)),
            other_high=float(others.max()),
            one_more=float(skews[1]),
            doubled=float(skews[2]),
            peak=self.peak,
            provisioning=self.largest_load * servers / self.busiest,
        )

    def _reason(self, width_s: int, covered: float) -> str:
        each = "" if self.placements.servers == 1 else f", {PER_SERVER} a server"
        return (
            f"{_few(covered)} of the events lie in windows of {width_s} s that hold "
            f"{counted(self.enough, 'event')} or more{each}"
        )


def _few(share: float) -> str:
    """A share that is too small to judge by.

    >>> _few(0.0), _few(0.005), _few(0.314)
    ('none', 'less than 1%', 'only 31%')
    """
    if share >= 0.01:
        return f"only {share:.0%}"
    return "less than 1%" if share else "none"


@dataclass(frozen=True, slots=True)
class Shares:
    """Share of the events that the busiest place takes.

    Args:
        total: over all events.
        median: the median of its share in each window.
        worst: its largest share in any window.
    """

    total: float
    median: float
    worst: float


class EqualCounts:
    """Counts operations by region in windows of equal numbers of events.

    Args:
        expected: how many events there will be.
        regions: how many regions.
        windows: how many windows they are cut into.
    """

    def __init__(self, expected: int, regions: int, windows: int = WINDOWS) -> None:
        import numpy as np

        self.windows = max(min(windows, expected), 1)
        self.edges = [expected * number // self.windows for number in range(self.windows + 1)]
        self.counts = np.zeros((self.windows, regions), np.int64)
        self.at = 0
        self.seen = 0

    def add(self, regions: np.ndarray[Any, Any]) -> None:
        """Add the regions of the next events."""
        import numpy as np

        start = 0
        while start < len(regions):
            left = self.edges[self.at + 1] - self.seen
            stop = len(regions) if self.at == self.windows - 1 else min(start + left, len(regions))
            found = np.bincount(regions[start:stop], minlength=self.counts.shape[1])
            self.counts[self.at] += found
            self.seen += stop - start
            start = stop
            if self.at < self.windows - 1 and self.seen >= self.edges[self.at + 1]:
                self.at += 1

    def windows_of(self, numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The window that each event came in, by the number of the event from 0."""
        import numpy as np

        return np.searchsorted(np.array(self.edges[1:-1]), numbers, "right")

    def shares(self, placements: Placements | None = None) -> Shares:
        """The busiest region's shares, or the busiest server's under a placement."""
        import numpy as np

        counts = self.counts if placements is None else placements.by_server(self.counts)
        totals = counts.sum(axis=0)
        per_window = counts.sum(axis=1)
        busiest = counts.max(axis=1)[per_window > 0] / per_window[per_window > 0]
        if not len(busiest):
            return Shares(0.0, 0.0, 0.0)
        ranked = np.sort(busiest)
        return Shares(
            float(totals.max() / totals.sum()),
            float(ranked[len(ranked) // 2]),
            float(ranked[-1]),
        )
