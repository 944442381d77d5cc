"""The busiest minute of the busiest server in a recording, at the mean rate of the recording."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rowkey.hotspots import compute_even_deviation, compute_even_skew
from rowkey.simulate.entity_chance import compute_table_skew
from rowkey.simulate.row_scale import SECOND_NS
from rowkey.simulate.verdict import NOISE_DEVIATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.hotspots import Placements, Skew
    from rowkey.simulate.entity_chance import EntityChance
    from rowkey.simulate.row_scale import TimeDensity

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
    """

    start_ms: int
    width_s: int
    server_factor: float
    factor: float
    server_share: float
    region_skew: float
    even_region_skew: float

    @property
    def start_text(self) -> str:
        """Return when it begins, as text."""
        return f"{datetime.fromtimestamp(self.start_ms / 1_000, UTC):%Y-%m-%d %H:%M}"


def find_write_peak(
    skews: Sequence[Skew],
    density: TimeDensity,
    event_count: int,
    placements: Placements,
    entity_chance: EntityChance | None = None,
) -> WritePeak | None:
    """Return the peak of a recording; None if chance explains it, or if there are too few events.

    Args:
        skews: the loads at each width of window.
        density: how densely events lie in time.
        event_count: how many there are.
        placements: where regions lie.
        entity_chance: of a sample of some entities, in which bursts of one count too much.
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
        windows = max(round(event_count / mean), 1)
        cells = windows * servers
        draws = table_draws = float(event_count)
        if entity_chance is not None:
            draws, table_draws = (
                one * windows for one in entity_chance.count_draws(event_count, windows)
            )
        even = float(compute_even_skew(draws, cells))
        noise = NOISE_DEVIATIONS * float(compute_even_deviation(draws, cells))
        server_factor = busiest.server_events * servers / mean
        if server_factor <= even + noise:
            return None
        table_factor = compute_table_skew(server_factor, draws, table_draws, cells)
        factor = compute_table_skew(busiest.events / mean, draws, table_draws, windows)
        return WritePeak(
            busiest.start_ms,
            width_s,
            table_factor - (float(compute_even_skew(table_draws, cells)) - 1),
            max(factor - (float(compute_even_skew(table_draws, windows)) - 1), 1.0),
            busiest.server_share,
            busiest.region_share * regions,
            float(compute_even_skew(busiest.server_events / busiest.server_share, regions)),
        )
    return None
