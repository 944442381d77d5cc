"""The busiest minute of the busiest server in a recording, at the mean rate of the recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa
from rowkey.hotspots import (
    MIN_PEAK_EVENTS,
    Placements,
    Skew,
    TimeDensity,
    assign_row_codes,
    compute_colocated_share,
    compute_even_deviation,
    compute_even_skew,
)
from rowkey.schema import NANOSECONDS
from rowkey.simulate.part_peak import MIN_FACTOR, CommonLoad, PartGrowth, PartLoad
from rowkey.simulate.value_groups import count_draws
from rowkey.simulate.verdict import NOISE_DEVIATIONS

if TYPE_CHECKING:
    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Ints = np.ndarray[Any, np.dtype[np.int64]]

PEAK_WIDTHS_S = (60, 600)
"""Widths of window that a peak is measured in: the narrowest in which one holds enough events."""
COLOCATED_SHARE = 0.9
"""Share of the events of an entity in one region from which on they are taken to lie together."""


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
        factor_range: the least and the largest that `server_factor` may be, where it is estimated
            from a part of the table; else None.
        repeats: how many times as often as in the sample such a window comes.
    """

    start_ms: int
    width_s: int
    server_factor: float
    factor: float
    server_share: float
    region_skew: float
    even_region_skew: float
    factor_range: tuple[float, float] | None = None
    repeats: float = 1.0

    @property
    def start_text(self) -> str:
        """Return when it begins, as text."""
        return f"{datetime.fromtimestamp(self.start_ms / 1_000, UTC):%Y-%m-%d %H:%M}"

    def repeat(self, speedup: float) -> WritePeak:
        """Return the peak of a table of which each value writes so many times as often.

        A batch, as of a nightly import, has each value once: there are more of them, so that each
        is less above the mean. A wave of the day or the year would get higher.
        """
        if speedup <= 1:
            return self
        low, high = self.factor_range or (self.server_factor, self.server_factor)
        return replace(
            self,
            server_factor=max(self.server_factor / speedup, 1.0),
            factor=max(self.factor / speedup, 1.0),
            factor_range=self.factor_range and (max(low / speedup, 1.0), max(high / speedup, 1.0)),
            repeats=speedup,
        )


def find_write_peak(
    skews: Sequence[Skew], density: TimeDensity, event_count: int, placements: Placements
) -> WritePeak | None:
    """Return the peak of a recording; None if chance explains it, or if there are too few events.

    Args:
        skews: the loads at each width of window.
        density: how densely events lie in time.
        event_count: how many there are.
        placements: where regions lie.
    """
    servers, regions = placements.servers, placements.regions
    if density.is_one_moment:
        return None
    for skew in skews:
        busiest, width_s = skew.busiest, skew.width_s
        # Times that are cut to hours do not say in which minute an event came.
        if width_s not in PEAK_WIDTHS_S or width_s * NANOSECONDS["s"] < density.step_ns:
            continue
        if not busiest.events:
            continue
        mean = density.sample_rate * width_s
        windows = max(round(event_count / mean), 1)
        excess = _compute_chance_excess(event_count, windows * servers)
        server_factor = busiest.server_events * servers / mean
        noise = _compute_noise(event_count, windows * servers)
        if server_factor - excess - noise <= 1:
            return None
        factor = busiest.events / mean - _compute_chance_excess(event_count, windows)
        return WritePeak(
            busiest.start_ms,
            width_s,
            server_factor - excess,
            max(factor, 1.0),
            busiest.server_share,
            busiest.region_share * regions,
            float(compute_even_skew(busiest.server_events / busiest.server_share, regions)),
        )
    return None


def _compute_chance_excess(events: float, places: int) -> float:
    """Return by how much chance lifts the fullest of so many equal places above the mean."""
    return float(compute_even_skew(events, places)) - 1


def _compute_noise(events: float, places: int) -> float:
    """Return how much more than usual it may lift it."""
    return NOISE_DEVIATIONS * float(compute_even_deviation(events, places))


def estimate_table_peak(
    names: tuple[str, ...],
    entity_choices: Sequence[tuple[str, ...]],
    regions: np.ndarray[Any, Any],
    rows: pa.RecordBatch,
    density: TimeDensity,
    growth: PartGrowth,
    write_shares: Floats,
    window_shares: Floats,
    region_count: int,
    measurements: dict[tuple[object, ...], Any],
) -> WritePeak | None:
    """Return the peak of the table of which a sample has a part; None as for a recording.

    Args:
        names: the fields of which rows with equal values lie on one server at a time.
        entity_choices: fields of what may come by itself, such as a user; that one counts without
            which busy times have the least in common.
        regions: the region of each sampled event.
        rows: the sampled events.
        density: how densely they lie in time.
        growth: how the table follows from the sample.
        write_shares: the share of all events that each server takes.
        window_shares: the share of those of a window, in any order of servers.
        region_count: how many regions there are.
        measurements: what was found of the same events and growth before, which more is added to.
    """
    seconds = density.first_ms / 1_000 + density.place_times(rows) * density.duration_s
    servers = len(write_shares)
    for width_s in PEAK_WIDTHS_S:
        if width_s * NANOSECONDS["s"] < density.step_ns:
            continue
        numbers = (seconds // width_s).astype(np.int64)
        first = int(numbers.min())
        windows, count = numbers - first, int(numbers.max()) - first + 1
        common, entities, entity_names = find_common_load(
            entity_choices, rows, windows, count, measurements.setdefault(("common", width_s), {})
        )
        # Events of one entity lie on one server if its rows do, whatever else is in the key.
        is_held = compute_colocated_share(entities, regions) >= COLOCATED_SHARE
        kept = "load", width_s, *(entity_names if is_held else names)
        if kept not in measurements:
            groups = entities if is_held else _number_groups(rows, names)
            measurements[kept] = PartLoad(groups, common, windows, count, growth)
        load: PartLoad = measurements[kept]
        all_events = load.estimate_maximum(np.ones(1)).value
        if all_events < MIN_PEAK_EVENTS:
            continue
        fair, events = load.mean / servers, load.mean * count
        excess = _compute_chance_excess(events, count * servers)
        shares = window_shares
        if is_held and growth.copies >= MIN_FACTOR:
            shares = _share_more_entities(write_shares, entities)
        peak = load.estimate_maximum(shares, MIN_PEAK_EVENTS).scale(1 / fair)
        if peak.value - excess - _compute_noise(events, count * servers) <= 1:
            return None
        low, likely, high = (max(one - excess, 1.0) for one in (peak.low, peak.value, peak.high))
        factor = max(all_events / load.mean - _compute_chance_excess(events, count), 1.0)
        # Beyond what all servers have at the peak, one value's burst lies in one region.
        burst, share = max(1 - factor / likely, 0.0), min(likely / servers / factor, 1.0)
        region_share = share * (burst + (1 - burst) / max(region_count / servers, 1))
        held, counts = np.unique(windows, return_counts=True)
        start = int(held[counts.argmax()])
        return WritePeak(
            (first + start) * width_s * 1_000,
            width_s,
            likely,
            factor,
            share,
            region_share * region_count,
            1.0,
            (low, high),
        )
    return None


def _share_more_entities(write_shares: Floats, entities: Ints) -> Floats:
    """Return the share of the writes of each server in a table of more entities than a sample has.

    Few entities of the sample write at a time, so that its windows are more uneven than all of it.
    Of many more entities some write in each window; they lie evenly, unless more than chance placed
    those of the sample.

    Args:
        write_shares: the share of all sampled events that each server takes.
        entities: the index of the entity of each event; an entity lies on one server.
    """
    servers, draws = len(write_shares), count_draws(entities)
    chance = 1 + _compute_chance_excess(draws, servers) + _compute_noise(draws, servers)
    if float(write_shares.max()) * servers > chance:
        return write_shares
    return np.full(servers, 1 / servers)


def find_common_load(
    entity_choices: Sequence[tuple[str, ...]],
    rows: pa.RecordBatch,
    windows: Ints,
    window_count: int,
    found: dict[tuple[str, ...], tuple[CommonLoad, Ints]],
) -> tuple[CommonLoad, Ints, tuple[str, ...]]:
    """Return the load that entities have in common, each event's entity by index, and its fields.

    Args:
        entity_choices: fields of what may come by itself; the one with the least in common counts.
        rows: the sampled events.
        windows: the window of each.
        window_count: how many windows there are.
        found: what was found of some fields before, which more is added to.
    """
    for names in entity_choices:
        if names not in found:
            groups = _number_groups(rows, names)
            found[names] = CommonLoad(groups, windows, window_count), groups
    best = min(entity_choices, key=lambda names: float(found[names][0].heights.max()))
    return *found[best], best


def _number_groups(rows: pa.RecordBatch, names: Sequence[str]) -> Ints:
    """Return the index of each row's group of equal values; without fields each row is a group."""
    return assign_row_codes(rows, names) if names else np.arange(rows.num_rows)
