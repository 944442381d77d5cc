"""The busiest minute of the busiest server in a recording, at the mean rate of the recording."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rowkey.hotspots import MIN_PEAK_EVENTS, WARM_RATIO, compute_even_skew
from rowkey.simulate.row_scale import SECOND_NS
from rowkey.simulate.table_load import DRAW_COUNT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from rowkey.hotspots import Placements, Skew
    from rowkey.simulate.row_scale import TimeDensity
    from rowkey.simulate.table_load import TableLoad

MAX_CELLS = 1 << 18
"""Windows of servers that are drawn: a year has 52,560 windows of 600 s."""
PEAK_WIDTHS_S = (60, 600)
"""Widths of window that a peak is measured in: the narrowest in which one holds enough events."""


@dataclass(frozen=True, slots=True)
class WritePeak:
    """The window of a recording in which one server has most to do.

    Args:
        start_ms: when it begins, in milliseconds since 1970.
        width_s: seconds that it lasts.
        server_factor: writes of the busiest server in it, over a fair share of the mean rate of
            the whole recording.
        factor: writes of the busiest window on all servers, over the same mean.
        server_share: the busiest server's share of the writes of its window.
        region_skew: the busiest region's share of them, over a fair one.
        even_region_skew: what an even design would show.
        factor_range: the least and the largest that `server_factor` may be by chance, where it is
            that of a table of which the recording has a part; else None.
    """

    start_ms: int
    width_s: int
    server_factor: float
    factor: float
    server_share: float
    region_skew: float
    even_region_skew: float
    factor_range: tuple[float, float] | None = None

    @property
    def start_text(self) -> str:
        """Return when it begins, as text."""
        return f"{datetime.fromtimestamp(self.start_ms / 1_000, UTC):%Y-%m-%d %H:%M}"


def find_write_peak(
    skews: Sequence[Skew],
    density: TimeDensity,
    placements: Placements,
) -> WritePeak | None:
    """Return the peak of a recording; None if it is hardly above the mean or has too few events.

    Args:
        skews: the loads at each width of window.
        density: how densely events lie in time.
        placements: where regions lie.
    """
    servers, regions = placements.servers, placements.regions
    for skew in skews:
        busiest, width_s = skew.busiest, skew.width_s
        # Times that are cut to hours do not say in which minute an event came.
        if width_s not in PEAK_WIDTHS_S or width_s * SECOND_NS < density.step_ns:
            continue
        if not busiest.events:
            continue
        mean = density.sample_rate * width_s
        server_factor = busiest.server_events * servers / mean
        if server_factor <= WARM_RATIO:
            return None
        return WritePeak(
            busiest.start_ms,
            width_s,
            server_factor,
            busiest.events / mean,
            busiest.server_share,
            busiest.region_share * regions,
            float(compute_even_skew(busiest.server_events / busiest.server_share, regions)),
        )
    return None


def find_table_peak(
    load: TableLoad,
    seconds: np.ndarray[Any, Any],
    density: TimeDensity,
    placements: Placements,
    repetitions: int,
) -> WritePeak | None:
    """Return the peak of a table of which a sample has a part; None as for a recording.

    Args:
        load: the load of the table.
        seconds: when each sampled event came, from the begin of the sample on.
        density: how densely events lie in time.
        placements: where regions lie.
        repetitions: how often the table has the time of the sample.
    """
    import numpy as np

    servers, regions = placements.servers, placements.regions
    for width_s in PEAK_WIDTHS_S:
        if width_s * SECOND_NS < density.step_ns:
            continue
        count = max(round(density.duration_s / width_s), 1)
        most = max(MAX_CELLS // servers // repetitions, 1)
        if count > most:
            if width_s < max(PEAK_WIDTHS_S):
                continue
            count = most
        windows = (seconds / density.duration_s * count).astype(np.int64).clip(0, count - 1)
        mean, found = load.event_count / count, []
        for loads in load.draw_loads(windows, count, repetitions):
            totals = loads.sum(1)
            busy = np.flatnonzero(totals >= MIN_PEAK_EVENTS)
            if len(busy):
                at = int(busy[loads[busy].max(1).argmax()])
                peak = float(loads[at].max())
                share, factor = peak / float(totals[at]), float(totals.max()) / mean
                found.append((peak * servers / mean, factor, share, at % count))
        if 2 * len(found) <= DRAW_COUNT:
            continue
        found.sort()
        server_factor, factor, share, at = found[len(found) // 2]
        if server_factor <= WARM_RATIO:
            return None
        excess = max(1 - factor / server_factor, 0.0)  # beyond a fair share, in one region
        each = max(regions // servers, 1)
        return WritePeak(
            density.first_ms + round(at * density.duration_s / count * 1_000),
            width_s,
            server_factor,
            factor,
            share,
            share * (excess + (1 - excess) / each) * regions,
            1.0,
            (found[0][0], found[-1][0]),
        )
    return None
