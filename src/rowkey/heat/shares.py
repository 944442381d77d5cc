"""Windows of equal numbers of events: what a sample too thin for windows of time still shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from rowkey.heat.placements import Placements

WINDOWS = 50


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
