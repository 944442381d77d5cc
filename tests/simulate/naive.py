"""A simulator written from the description alone, with dicts, lists and bisect."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

WIDTHS_S = (1, 10, 60, 600)
PER_SERVER = 200
WINDOWS = 50


@dataclass
class NaiveResult:
    """The counts of the naive replay.

    Args:
        writes: operations by region.
        skews: by width, the skew over servers, over regions and of other servers; None if thin.
        shares: of regions and of servers: total, mean and worst share of the busiest.
        overwritten: events whose key had been written before.
    """

    writes: list[int]
    skews: dict[int, tuple[float, float, float, float] | None] = field(default_factory=dict)
    shares: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    overwritten: int = 0


def replay_naively(
    keys: list[bytes], times_ms: list[int] | None, splits: list[bytes], servers: int
) -> NaiveResult:
    """Count the writes of each region in the given order.

    Args:
        keys: the row key of each event.
        times_ms: the time of each event, or None.
        splits: the ascending split keys.
        servers: the number of servers; region i is on server i modulo this number.
    """
    regions = [bisect_right(splits, key) for key in keys]
    count = len(splits) + 1
    counted = Counter(regions)
    found = NaiveResult([counted[region] for region in range(count)])
    found.overwritten = len(keys) - len(set(keys))
    if times_ms is not None:
        for width in WIDTHS_S:
            found.skews[width] = _compute_skew(regions, times_ms, width, count, servers)
    found.shares["regions"] = _compute_shares(regions)
    found.shares["servers"] = _compute_shares([region % servers for region in regions])
    return found


def count_rows_by_region(
    ranges: list[tuple[bytes, bytes]], keys: list[bytes], regions: list[tuple[bytes, bytes]]
) -> dict[int, int]:
    """Return how many rows some ranges have in each region that they touch.

    Args:
        ranges: the start and stop of each; an empty stop is no end.
        keys: all row keys, ascending.
        regions: the start and stop of each region, ascending.
    """
    counts: dict[int, int] = {}
    for number, (first, end) in enumerate(regions):
        for start, stop in ranges:
            low, high = max(start, first), min(filter(None, (stop, end)), default=b"")
            if not high or low < high:
                last = bisect_left(keys, high) if high else len(keys)
                counts[number] = counts.get(number, 0) + last - bisect_left(keys, low)
    return counts


def _compute_skew(
    regions: list[int], times_ms: list[int], width: int, count: int, servers: int
) -> tuple[float, float, float, float] | None:
    windows: dict[int, list[int]] = defaultdict(list)
    for region, time in zip(regions, times_ms, strict=True):
        windows[time // (width * 1000)].append(region)
    thick = [inside for inside in windows.values() if len(inside) >= PER_SERVER * servers]
    events = sum(map(len, thick))
    if not thick or events * 2 < len(regions):
        return None

    counted = [Counter(inside) for inside in thick]

    def compute_busiest(places: int, place: Any) -> float:
        fullest = 0
        for by_region in counted:
            by_place: Counter[int] = Counter()
            for region, writes in by_region.items():
                by_place[place(region)] += writes
            fullest += max(by_place.values())
        return places * fullest / events

    return (
        compute_busiest(servers, lambda region: region % servers),
        compute_busiest(count, lambda region: region),
        compute_busiest(servers + 1, lambda region: region % (servers + 1)),
        compute_busiest(2 * servers, lambda region: region % (2 * servers)),
    )


def _compute_shares(places: list[int]) -> tuple[float, float, float]:
    total = max(Counter(places).values()) / len(places)
    windows = min(WINDOWS, len(places))
    edges = [len(places) * number // windows for number in range(windows + 1)]
    busiest = [
        max(Counter(places[low:high]).values()) / (high - low) for low, high in pairwise(edges)
    ]
    return total, sum(busiest) / len(busiest), max(busiest)


def choose_splits(keys: list[bytes], regions: int) -> list[bytes]:
    """Return splits into regions of equal key counts: key n * i // R of n ascending keys."""
    ordered = sorted(keys)
    chosen = [ordered[len(ordered) * i // regions] for i in range(1, regions)]
    return [key for key in dict.fromkeys(chosen) if key]
