"""Processes that the growth model was not developed with, each unlike those of `processes.py`.

They were written before any of them was judged, and nothing is changed to suit them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from tools.growth.processes import EVENT_COUNT, TABLE_S, Ints, Process

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Generate = Callable[[Generator], tuple[Ints, Ints]]

DAY_S = 86_400


def keep_inside(owners: Ints, seconds: Floats) -> tuple[Ints, Ints]:
    """Return the events within the table's time, with times in milliseconds."""
    inside = (seconds >= 0) & (seconds < TABLE_S)
    return owners[inside], (seconds[inside] * 1000).astype(np.int64)


def generate_shifts(count: int, shift_s: float, step_s: float) -> Generate:
    """Return vehicles that send a position in each step of a shift a day, at any hour."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        begins = chance.random((count, 1)) * DAY_S + np.array([[-DAY_S, 0, DAY_S]])
        steps = np.arange(int(shift_s / step_s)) * step_s
        seconds = (begins[:, :, np.newaxis] + steps).reshape(count, -1)
        vehicles = np.repeat(np.arange(count), seconds.shape[1])
        return keep_inside(vehicles, seconds.ravel())

    return generate


def generate_visits(count: int, exponent: float, pages: float) -> Generate:
    """Return visitors who come back after pauses of a power law and see some pages each time."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        pauses = 1_800 * (1 - chance.random((count, 60))) ** (-1 / exponent)
        visits = np.cumsum(pauses, 1) - chance.random((count, 1)) * 5 * DAY_S
        sizes = chance.geometric(1 / pages, visits.size)
        which = np.repeat(np.arange(visits.size), sizes)
        seconds = visits.ravel()[which] + chance.exponential(120, len(which))
        return keep_inside(which // 60, seconds)

    return generate


def generate_tags(discount: float, strength: float) -> Generate:
    """Return tags of which a new one appears the more rarely the more there are (Pitman-Yor)."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        tags = np.empty(EVENT_COUNT, np.int64)
        draws = chance.random((EVENT_COUNT, 2))
        fresh = 0
        for number in range(EVENT_COUNT):
            chance_of_new = (strength + discount * fresh) / (strength + number)
            if draws[number, 0] < chance_of_new or not number:
                tags[number] = fresh
                fresh += 1
            else:
                tags[number] = tags[int(draws[number, 1] * number)]
        return tags, np.arange(EVENT_COUNT) * (TABLE_S * 1000) // EVENT_COUNT

    return generate


def generate_news(articles: int, half_life_s: float) -> Generate:
    """Return articles that are read much when they appear, and ever less from then on."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        begins = chance.random(articles) * (TABLE_S + 8 * half_life_s) - 8 * half_life_s
        sizes = chance.lognormal(0, 1.2, articles)
        sizes = chance.poisson(sizes * EVENT_COUNT / sizes.sum())
        owners = np.repeat(np.arange(articles), sizes)
        ages = chance.exponential(half_life_s / np.log(2), len(owners))
        return keep_inside(owners, begins[owners] + ages)

    return generate


def generate_mixed_meters(count: int, lost: float) -> Generate:
    """Return meters of a minute, of 10 minutes and of an hour, whose messages are lost at times."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        steps = chance.choice([60, 600, 3_600], count, p=[0.03, 0.27, 0.7])
        sizes = TABLE_S // steps
        meters = np.repeat(np.arange(count), sizes)
        numbers = np.concatenate([np.arange(size) for size in sizes.tolist()])
        seconds = numbers * steps[meters] + chance.integers(0, 60, count)[meters]
        kept = chance.random(len(meters)) >= lost
        return keep_inside(meters[kept], seconds[kept].astype(np.float64))

    return generate


def generate_batches(accounts: int, hours: float) -> Generate:
    """Return accounts that each get three postings in a nightly batch of some hours."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        nights = TABLE_S // DAY_S
        owners = np.tile(np.repeat(np.arange(accounts), 3), nights)
        begins = np.repeat(np.arange(nights) * DAY_S, accounts * 3)
        return keep_inside(owners, begins + chance.random(len(owners)) * hours * 3_600)

    return generate


def generate_parcels(scans: int, days: float) -> Generate:
    """Return parcels with some scans each, whose pauses grow from one to the next."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        parcels = EVENT_COUNT // scans
        pauses = chance.exponential(1, (parcels, scans)) * 1.3 ** np.arange(scans)
        pauses *= days * DAY_S / (1.3 ** np.arange(scans)).sum()
        begins = chance.random((parcels, 1)) * (TABLE_S + 2 * days * DAY_S) - 2 * days * DAY_S
        seconds = begins + np.cumsum(pauses, 1)
        return keep_inside(np.repeat(np.arange(parcels), scans), seconds.ravel())

    return generate


def generate_lookups(names: int, exponent: float, unique_share: float) -> Generate:
    """Return lookups of names, some popular and some random ones that are asked for once."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        shares = np.arange(1, names + 1) ** -exponent
        asked = chance.choice(names, EVENT_COUNT, p=shares / shares.sum())
        once = chance.random(EVENT_COUNT) < unique_share
        asked[once] = names + np.arange(np.count_nonzero(once))
        return asked, chance.integers(0, TABLE_S * 1000, EVENT_COUNT)

    return generate


def generate_trades(symbols: int, exponent: float) -> Generate:
    """Return trades, most of them at the open and at the close of each day's market."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        shares = np.arange(1, symbols + 1) ** -exponent
        owners = chance.choice(symbols, EVENT_COUNT, p=shares / shares.sum())
        days = chance.integers(0, TABLE_S // DAY_S, EVENT_COUNT) * DAY_S
        return keep_inside(owners, days + chance.beta(0.7, 0.7, EVENT_COUNT) * 6.5 * 3_600)

    return generate


def generate_storms(devices: int, storms: int, storm_events: int) -> Generate:
    """Return devices of equal rates, of which some send thousands of errors in ten minutes."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        calm = EVENT_COUNT - storms * storm_events
        owners = np.concatenate(
            [
                chance.integers(0, devices, calm),
                np.repeat(chance.integers(0, devices, storms), storm_events),
            ]
        )
        begins = np.repeat(chance.random(storms) * TABLE_S, storm_events)
        seconds = np.concatenate(
            [chance.random(calm) * TABLE_S, begins + chance.random(len(begins)) * 600]
        )
        return keep_inside(owners, seconds)

    return generate


def generate_builds(repositories: int, lines: int) -> Generate:
    """Return repositories that are built now and then, each time with many lines of log."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        builds = EVENT_COUNT // lines
        paces = chance.lognormal(0, 1.5, repositories)
        owners = chance.choice(repositories, builds, p=paces / paces.sum())
        begins = chance.random(builds) * TABLE_S
        which = np.repeat(np.arange(builds), lines)
        return keep_inside(owners[which], begins[which] + chance.random(len(which)) * 300)

    return generate


def generate_cohorts(count: int, leaving: float) -> Generate:
    """Return users who join at a steady pace, of whom a share leaves each hour."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        stay_s = 3_600 / leaving
        joined = chance.random(count) * (TABLE_S + 5 * stay_s) - 5 * stay_s
        stays = chance.exponential(stay_s, count)
        paces = chance.gamma(0.7, 1, count) * stays
        sizes = chance.poisson(paces * EVENT_COUNT * 1.5 / paces.sum())
        owners = np.repeat(np.arange(count), sizes)
        return keep_inside(owners, joined[owners] + chance.random(len(owners)) * stays[owners])

    return generate


def generate_files(parallel: int, life_s: float) -> Generate:
    """Return files that are written in turn: all at once end and new ones begin."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        seconds = chance.random(EVENT_COUNT) * TABLE_S
        owners = (seconds // life_s).astype(np.int64) * parallel
        return keep_inside(owners + chance.integers(0, parallel, EVENT_COUNT), seconds)

    return generate


def generate_waves(count: int, exponent: float) -> Generate:
    """Return users of different rates with a wave of the day, each region at an hour of its own."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        shares = chance.permutation(np.arange(1, count + 1) ** -exponent)
        owners = chance.choice(count, 2 * EVENT_COUNT, p=shares / shares.sum())
        seconds = chance.random(len(owners)) * TABLE_S
        wave = (1 - np.cos(2 * np.pi * (seconds / DAY_S - owners % 3 / 3))) / 2
        kept = chance.random(len(owners)) < wave
        return keep_inside(owners[kept], seconds[kept])

    return generate


HELD_OUT = (
    Process("vehicles, shifts of 8 hours", generate_shifts(300, 8 * 3_600, 30)),
    Process("vehicles, shifts of 2 hours", generate_shifts(900, 2 * 3_600, 20)),
    Process("visitors who come back", generate_visits(12_000, 0.8, 6)),
    Process("visitors who come back soon", generate_visits(4_000, 1.4, 3)),
    Process("tags, many new ones", generate_tags(0.7, 10)),
    Process("tags, few new ones", generate_tags(0.3, 100)),
    Process("news, half-lives of 2 hours", generate_news(1_500, 2 * 3_600)),
    Process("news, half-lives of 20 hours", generate_news(600, 20 * 3_600)),
    Process("mixed meters, a tenth lost", generate_mixed_meters(1_200, 0.1)),
    Process("mixed meters, half lost", generate_mixed_meters(2_000, 0.5)),
    Process("nightly batch of 2 hours", generate_batches(50_000, 2)),
    Process("nightly batch of 12 hours", generate_batches(50_000, 12)),
    Process("parcels, 12 scans in 3 days", generate_parcels(12, 3)),
    Process("tickets, 6 notes in 8 hours", generate_parcels(6, 1 / 3)),
    Process("lookups, a third unique", generate_lookups(50_000, 1.2, 0.33)),
    Process("lookups, most unique", generate_lookups(2_000, 0.9, 0.8)),
    Process("trades of 3,000 symbols", generate_trades(3_000, 1.0)),
    Process("error storms, 20 devices of 5,000", generate_storms(5_000, 20, 5_000)),
    Process("error storms, 300 devices of 300", generate_storms(300, 300, 300)),
    Process("builds of 400 repositories", generate_builds(400, 250)),
    Process("builds of 20,000 repositories", generate_builds(20_000, 60)),
    Process("cohorts, 2 % leave in an hour", generate_cohorts(8_000, 0.02)),
    Process("cohorts, 30 % leave in an hour", generate_cohorts(20_000, 0.3)),
    Process("20 files an hour", generate_files(20, 3_600)),
    Process("8 files in 10 minutes", generate_files(8, 600)),
    Process("users of three continents", generate_waves(9_000, 0.7)),
)
