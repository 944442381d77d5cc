"""Operations counted by time window and region in bounded memory, and the skew they show."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from rowkey.array_libraries import np
from rowkey.hotspots.placements import Placements
from rowkey.hotspots.region_counts import RegionCounts
from rowkey.hotspots.skew import compute_even_deviation, compute_even_skew
from rowkey.messages import pluralize

WINDOW_WIDTHS_S = (1, 10, 60, 600)
MIN_EVENTS_PER_SERVER = 200
"""Events a window must hold for each server: with fewer, chance alone looks like a hot spot.
At 200 the value of an even design over 8 servers is 1.10, at 35 it is 1.72."""
MIN_COVERED_SHARE = 0.5
"""Share of all events that must lie in such windows before a figure is given."""
EQUAL_COUNT_WINDOWS = 50
"""Number of windows of equal numbers of events, for samples too small for time windows."""
MIN_PEAK_EVENTS = 200
"""Events of a window that may be the peak of a recording: its rate is then right to 7 %."""
MAX_OPEN_ENTRIES = 1 << 22
"""Counts kept of windows that may still grow; older windows are closed first."""


@dataclass(frozen=True, slots=True)
class BusiestWindows:
    """The largest loads of any window of one width that holds `MIN_PEAK_EVENTS` or more.

    Args:
        events: events of the window with the most of them.
        server_events: most events of one server in one window.
        start_ms: when that window begins, in milliseconds since 1970.
        server_share: the server's share of the events of that window.
        region_share: the busiest region's share of them.
    """

    events: int = 0
    server_events: int = 0
    start_ms: int = 0
    server_share: float = 0.0
    region_share: float = 0.0

    def merge(self, other: BusiestWindows) -> BusiestWindows:
        """Return the largest loads of these windows and others."""
        first, second = sorted((self, other), key=lambda one: (-one.server_events, one.start_ms))
        return replace(first, events=max(first.events, second.events))


@dataclass(frozen=True, slots=True)
class Skew:
    """The measured skew at one window width; figures are None if there are too few events.

    Args:
        width_s: seconds of a window.
        window_count: windows that hold enough events.
        covered_share: share of all events that lie in them.
        server_skew: load of the fullest server of each window over its fair share, weighted by
            load.
        region_skew: the same for regions.
        even_server_skew: what an even design would show.
        even_region_skew: the same for regions.
        even_server_deviation: standard deviation of what an even design would show.
        balanced_low: the least skew of other placements that balance the number of regions.
        balanced_median: their median.
        balanced_high: their largest.
        one_more_server: skew with one server more.
        double_servers: skew with twice the servers.
        peak: the hottest window's start in milliseconds since 1970, and its skew over servers.
        provisioning: load of the fullest server in the worst window over a fair share in the
            busiest one.
        busiest: the largest loads of all windows, those with few events for each server included.
        reason: why there are no figures, or an empty string.
    """

    width_s: int
    window_count: int = 0
    covered_share: float = 0.0
    server_skew: float | None = None
    region_skew: float | None = None
    even_server_skew: float | None = None
    even_region_skew: float | None = None
    even_server_deviation: float | None = None
    balanced_low: float | None = None
    balanced_median: float | None = None
    balanced_high: float | None = None
    one_more_server: float | None = None
    double_servers: float | None = None
    peak: tuple[int, float] | None = None
    provisioning: float | None = None
    busiest: BusiestWindows = BusiestWindows()
    reason: str = ""


class WindowCounts:
    """Counts operations by time window and region, and sums up complete windows.

    Counts of the parts of a stream can be merged. When more than four million counts are open, the
    older windows are closed and only their sums kept; operations of a closed window count as late.
    A part that is not the first keeps its oldest windows open until it is merged, because the
    previous part may end in them.

    Args:
        width_s: seconds of a window.
        placements: where regions lie.
        is_first: whether the stream begins here.
    """

    def __init__(self, width_s: int, placements: Placements, *, is_first: bool = True) -> None:
        self.width_s = width_s
        self.placements = placements
        self.is_first = is_first
        self.operation_count = 0
        self.late_count = 0
        self.sums = _SkewSums(placements)
        self.first_open_window: int | None = None
        self._head: RegionCounts | None = None
        self._counts: list[RegionCounts] = []
        self._open_count = 0

    def add(self, counts: RegionCounts, width_s: int) -> RegionCounts:
        """Add the counts of shorter windows.

        Args:
            counts: operations by window and region.
            width_s: seconds of these windows, of which this width is a multiple.

        Returns:
            The counts for windows of this width, to widen again for larger widths.
        """
        counts = counts.widen_windows(self.width_s // width_s)
        self.operation_count += int(counts.counts.sum())
        self._add_open(counts)
        return counts

    def merge(self, later: WindowCounts) -> None:
        """Add the counts of a later part of the same stream of events."""
        self.operation_count += later.operation_count
        self.late_count += later.late_count
        self.sums.merge(later.sums)
        for counts in [*([] if later._head is None else [later._head]), *later._counts]:
            self._add_open(counts)
        if later.first_open_window is not None:  # not before: open windows may lie below it
            self._raise_first_open_window(later.first_open_window)

    def _add_open(self, counts: RegionCounts) -> None:
        """Add counts to open windows; operations of closed windows count as late."""
        if self.first_open_window is not None and counts.windows[0] < self.first_open_window:
            late = int(np.searchsorted(counts.windows, self.first_open_window))
            self._add_late(counts.slice_windows(0, late))
            if late == len(counts):
                return
            counts = counts.slice_windows(late, len(counts))
        self._counts.append(counts)
        self._open_count += len(counts.counts)
        if self._open_count > MAX_OPEN_ENTRIES:
            self._merge_open()

    def _add_late(self, counts: RegionCounts) -> None:
        """Count operations of closed windows as late, unless their window is still open."""
        if self._head is not None:
            in_head = int(np.searchsorted(counts.windows, self._head.windows[-1], "right"))
            if in_head:
                self._head = RegionCounts.merge([self._head, counts.slice_windows(0, in_head)])
                counts = counts.slice_windows(in_head, len(counts))
        self.late_count += int(counts.counts.sum())

    def _merge_open(self) -> None:
        """Merge the counts of each open window, and close old windows if they are too many."""
        counts = RegionCounts.merge(self._counts)
        self._counts, self._open_count = [counts], len(counts.counts)
        if 2 * self._open_count <= MAX_OPEN_ENTRIES or len(counts) < 2:
            return
        if not self.is_first and self._head is None:
            oldest = max(len(counts) // 4, 1)
            self._head = counts.slice_windows(0, oldest)
            counts = counts.slice_windows(oldest, len(counts))
            self._counts, self._open_count = [counts], len(counts.counts)
            self._raise_first_open_window(int(counts.windows[0]))
        entries = counts.starts
        half = max(int((entries < self._open_count // 2).sum()) - 1, 1)
        self._close_windows(int(counts.windows[half - 1]) + 1)

    def _close_windows(self, first_open_window: int) -> None:
        """Sum up and drop the windows before `first_open_window`."""
        counts = self._counts[0]
        closed_count = int(np.searchsorted(counts.windows, first_open_window))
        if closed_count:
            self.sums.add(self.width_s * 1_000, counts.slice_windows(0, closed_count))
        counts = counts.slice_windows(closed_count, len(counts))
        self._counts = [counts] if len(counts) else []
        self._open_count = len(counts.counts)
        self._raise_first_open_window(first_open_window)

    def _raise_first_open_window(self, window: int) -> None:
        """Count operations before a window as late from now on."""
        self.first_open_window = max(window, self.first_open_window or window)

    def compute_skew(self) -> Skew:
        """Return the skew over all windows counted so far."""
        sums = self.sums
        remaining = [*([] if self._head is None else [self._head]), *self._counts]
        if remaining:
            sums = _SkewSums(self.placements)
            sums.merge(self.sums)
            sums.add(self.width_s * 1_000, RegionCounts.merge(remaining))
        return sums.compute_skew(self.width_s, self.operation_count)


class _SkewSums:
    """Sums over the windows that hold enough events to measure skew."""

    def __init__(self, placements: Placements) -> None:
        self.placements = placements
        self.min_events = MIN_EVENTS_PER_SERVER * placements.servers
        self.windows_by_events: Counter[int] = Counter()
        self.fullest_region_sum = 0
        self.fullest_server_sums = np.zeros(len(placements.assignments), np.int64)
        self.peak = (0, 0.0)
        self.largest_load = 0
        self.busiest = BusiestWindows()

    def add(self, width_ms: int, counts: RegionCounts) -> None:
        """Add windows of `width_ms` milliseconds, numbered from 1970."""
        self._note_busiest(width_ms, counts)
        is_full = counts.window_totals >= self.min_events
        if not is_full.any():
            return
        counts = counts if is_full.all() else counts.select_windows(is_full)
        events = counts.window_totals
        self.windows_by_events.update(events.tolist())
        self.fullest_region_sum += int(np.maximum.reduceat(counts.counts, counts.starts).sum())
        loads = self.placements.compute_fullest_loads(counts)
        self.fullest_server_sums += loads.sum(axis=1)
        skews = loads[0] * self.placements.servers / events
        worst = int(np.argmax(skews))
        self._note_peak(int(counts.windows[worst]) * width_ms, float(skews[worst]))
        self.largest_load = max(self.largest_load, int(loads[0].max()))

    def _note_busiest(self, width_ms: int, counts: RegionCounts) -> None:
        """Remember the largest loads."""
        is_busy = counts.window_totals >= MIN_PEAK_EVENTS
        if not is_busy.any():
            return
        counts = counts if is_busy.all() else counts.select_windows(is_busy)
        events = counts.window_totals
        loads = self.placements.compute_fullest_loads(counts, placement_count=1)[0]
        at = int(loads.argmax())
        found = BusiestWindows(
            int(events.max()),
            int(loads[at]),
            int(counts.windows[at]) * width_ms,
            float(loads[at] / events[at]),
            float(np.maximum.reduceat(counts.counts, counts.starts)[at] / events[at]),
        )
        self.busiest = self.busiest.merge(found)

    def _note_peak(self, start_ms: int, skew: float) -> None:
        """Remember a window if its skew is the largest so far."""
        if skew > self.peak[1] or (skew == self.peak[1] and start_ms < self.peak[0]):
            self.peak = (start_ms, skew)

    def merge(self, other: _SkewSums) -> None:
        """Add the sums over other windows."""
        self.windows_by_events.update(other.windows_by_events)
        self.fullest_region_sum += other.fullest_region_sum
        self.fullest_server_sums = self.fullest_server_sums + other.fullest_server_sums
        if other.windows_by_events:
            self._note_peak(*other.peak)
        self.largest_load = max(self.largest_load, other.largest_load)
        self.busiest = self.busiest.merge(other.busiest)

    def compute_skew(self, width_s: int, operation_count: int) -> Skew:
        """Return the skew of one window width, or the reason why it cannot be measured."""
        sizes = sorted(self.windows_by_events.items())
        events, windows = np.array(sizes, np.int64).reshape(-1, 2).T
        event_count, window_count = int(events @ windows), int(windows.sum())
        covered = event_count / operation_count if operation_count else 0.0
        if not window_count or covered < MIN_COVERED_SHARE:
            reason = self._format_reason(width_s, covered)
            return Skew(width_s, window_count, covered, busiest=self.busiest, reason=reason)
        servers, regions = self.placements.servers, self.placements.regions
        per_event = 1 / event_count
        skews = self.fullest_server_sums * self.placements.server_counts * per_event
        balanced_skews = skews[self.placements.balanced_slice]
        even_servers = float((windows * compute_even_skew(events, servers) * events).sum())
        even_regions = float((windows * compute_even_skew(events, regions) * events).sum())
        deviations = compute_even_deviation(events, servers) * events
        return Skew(
            width_s,
            window_count,
            covered,
            server_skew=float(skews[0]),
            region_skew=self.fullest_region_sum * regions * per_event,
            even_server_skew=even_servers * per_event,
            even_region_skew=even_regions * per_event,
            even_server_deviation=float(np.sqrt((windows * deviations**2).sum())) * per_event,
            balanced_low=float(balanced_skews.min()),
            balanced_median=float(np.median(balanced_skews)),
            balanced_high=float(balanced_skews.max()),
            one_more_server=float(skews[1]),
            double_servers=float(skews[2]),
            peak=self.peak,
            provisioning=self.largest_load * servers / int(events[-1]),
            busiest=self.busiest,
        )

    def _format_reason(self, width_s: int, covered_share: float) -> str:
        """Return the reason why there are too few events for a window width."""
        each = "" if self.placements.servers == 1 else (f" ({MIN_EVENTS_PER_SERVER} per server)")
        return (
            f"{_format_small_share(covered_share)} of the events lie in windows of {width_s} s "
            f"with at least {pluralize(self.min_events, 'event')}{each}"
        )


def _format_small_share(share: float) -> str:
    """Return a small share as a phrase such as `only 31%`.

    >>> _format_small_share(0.0), _format_small_share(0.005), _format_small_share(0.314)
    ('none', 'less than 1%', 'only 31%')
    """
    if share >= 0.01:
        return f"only {share:.0%}"
    return "less than 1%" if share else "none"


@dataclass(frozen=True, slots=True)
class BusiestShares:
    """The share of the events that the busiest region or server takes.

    Args:
        total: over all events.
        mean: the mean of its shares in each window, weighted by load.
        worst: its largest share in any window.
    """

    total: float
    mean: float
    worst: float


class EqualCountWindows:
    """Counts operations by region in windows of equal numbers of events.

    Args:
        expected_events: how many events the stream has.
        regions: how many regions.
        window_count: how many windows they are cut into.
        first_event: the number of the first event that will be added, from 0.
    """

    def __init__(
        self,
        expected_events: int,
        regions: int,
        window_count: int = EQUAL_COUNT_WINDOWS,
        first_event: int = 0,
    ) -> None:
        self.window_count = max(min(window_count, expected_events), 1)
        self.edges = [
            expected_events * number // self.window_count for number in range(self.window_count + 1)
        ]
        self.counts = np.zeros((self.window_count, regions), np.int64)
        self.next_event = first_event

    def add(self, regions: np.ndarray[Any, Any]) -> None:
        """Add the regions of the next events of the stream."""
        start = 0
        while start < len(regions):
            window = min(bisect_right(self.edges, self.next_event), self.window_count) - 1
            is_last = window == self.window_count - 1
            left = len(regions) if is_last else self.edges[window + 1] - self.next_event
            part = regions[start : start + left]
            self.counts[window] += np.bincount(part, minlength=self.counts.shape[1])
            self.next_event += len(part)
            start += len(part)

    def merge(self, other: EqualCountWindows) -> None:
        """Add the counts of another part of the same stream of events."""
        self.counts += other.counts
        self.next_event = max(self.next_event, other.next_event)

    def assign_windows(self, numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the window of each event, given the number of the event from 0."""
        return np.searchsorted(np.array(self.edges[1:-1]), numbers, "right")

    def compute_shares(self, placements: Placements | None = None) -> BusiestShares:
        """Return the shares of the busiest region, or of the busiest server in a placement."""
        counts = self.counts if placements is None else placements.sum_by_server(self.counts)
        totals = counts.sum(axis=0)
        per_window = counts.sum(axis=1)
        busiest = counts.max(axis=1)[per_window > 0] / per_window[per_window > 0]
        if not len(busiest):
            return BusiestShares(0.0, 0.0, 0.0)
        total = float(totals.max() / totals.sum())
        return BusiestShares(total, float(busiest.mean()), float(busiest.max()))
