"""Processes that generate all events of a table, each with an entity and a time.

A process is a function of a random generator; it returns the entity and the second of each event of
`TABLE_S` seconds, in any order. `PROCESSES` has them by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from numpy.random import Generator

TABLE_S = 48 * 3_600
"""Seconds that the table keeps."""
EVENT_COUNT = 300_000
"""Events that a process makes, about."""
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Process:
    """A process that makes the events of a table.

    Args:
        name: what it imitates, with the parameters that matter.
        generate: returns the entity and the time in milliseconds of each event.
        step_s: seconds from one event of an entity to the next, if all have the same; else 0.
    """

    name: str
    generate: Callable[[Generator], tuple[Ints, Ints]]
    step_s: int = 0


def generate_users(count: int, exponent: float) -> Callable[[Generator], tuple[Ints, Ints]]:
    """Return users who stay for ever, each with a rate of his own: a power of his rank."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        shares = np.arange(1, count + 1) ** -exponent
        users = chance.choice(count, EVENT_COUNT, p=shares / shares.sum())
        return users, chance.integers(0, TABLE_S * 1000, EVENT_COUNT)

    return generate


def generate_meters(step_s: int, *, is_aligned: bool) -> Callable[[Generator], tuple[Ints, Ints]]:
    """Return meters that write once in each step, at its begin or each at a moment of its own."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        steps = TABLE_S // step_s
        count = EVENT_COUNT // steps
        meters = np.tile(np.arange(count), steps)
        phases = chance.integers(0, step_s, count) * (not is_aligned)
        seconds = np.repeat(np.arange(steps) * step_s, count) + phases[meters]
        return meters, seconds * 1000

    return generate


def generate_sessions(
    mean_events: float, life_s: float
) -> Callable[[Generator], tuple[Ints, Ints]]:
    """Return sessions that begin at a steady pace and end after some events."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        count = int(EVENT_COUNT / mean_events)
        sizes = chance.geometric(1 / mean_events, count)
        begins = chance.random(count) * (TABLE_S + life_s) - life_s
        sessions = np.repeat(np.arange(count), sizes)
        seconds = begins[sessions] + chance.random(len(sessions)) * life_s
        inside = (seconds >= 0) & (seconds < TABLE_S)
        return sessions[inside], (seconds[inside] * 1000).astype(np.int64)

    return generate


def generate_tenants(count: int, whale: float) -> Callable[[Generator], tuple[Ints, Ints]]:
    """Return tenants of whom one has a share of all events and the others follow a power law."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        shares = np.arange(1, count + 1) ** -0.8
        shares = shares / shares.sum() * (1 - whale)
        tenants = chance.choice(count + 1, EVENT_COUNT, p=[whale, *shares])
        return tenants, chance.integers(0, TABLE_S * 1000, EVENT_COUNT)

    return generate


def generate_choices(shares: list[float]) -> Callable[[Generator], tuple[Ints, Ints]]:
    """Return events with one of a few values, such as seasons, countries or log levels."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        values = chance.choice(len(shares), EVENT_COUNT, p=np.array(shares) / sum(shares))
        return values, chance.integers(0, TABLE_S * 1000, EVENT_COUNT)

    return generate


def generate_chats(
    rooms: int, burst_events: float, burst_s: float
) -> Callable[[Generator], tuple[Ints, Ints]]:
    """Return rooms that are silent for long and then talk much for some minutes."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        bursts = int(EVENT_COUNT / burst_events)
        shares = np.arange(1, rooms + 1) ** -0.7
        owners = chance.choice(rooms, bursts, p=shares / shares.sum())
        sizes = chance.geometric(1 / burst_events, bursts)
        begins = chance.random(bursts) * (TABLE_S - burst_s)
        which = np.repeat(np.arange(bursts), sizes)
        seconds = begins[which] + chance.random(len(which)) * burst_s
        return owners[which], (seconds * 1000).astype(np.int64)

    return generate


def generate_crawls(mean_pages: float) -> Callable[[Generator], tuple[Ints, Ints]]:
    """Return a crawl, domain by domain, whose sizes differ much; none is visited twice."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        sizes = np.maximum(chance.lognormal(np.log(mean_pages) - 0.72, 1.2, EVENT_COUNT), 1)
        sizes = sizes[: np.searchsorted(np.cumsum(sizes), EVENT_COUNT)].astype(np.int64)
        domains = np.repeat(np.arange(len(sizes)), sizes)
        return domains, np.arange(len(domains)) * (TABLE_S * 1000) // len(domains)

    return generate


def generate_ads(campaigns: int, life_s: float) -> Callable[[Generator], tuple[Ints, Ints]]:
    """Return campaigns of a limited life with a wave of the day over all of them."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        paces = chance.lognormal(0, 1, campaigns)
        begins = chance.random(campaigns) * (TABLE_S + life_s) - life_s
        owners = chance.choice(campaigns, 2 * EVENT_COUNT, p=paces / paces.sum())
        seconds = begins[owners] + chance.random(len(owners)) * life_s
        wave = (1 - np.cos(2 * np.pi * seconds / 86_400)) / 2 * 0.9 + 0.1
        kept = (seconds >= 0) & (seconds < TABLE_S) & (chance.random(len(owners)) < wave)
        return owners[kept], (seconds[kept] * 1000).astype(np.int64)

    return generate


def generate_growing_users(count: int, factor: float) -> Callable[[Generator], tuple[Ints, Ints]]:
    """Return users who join while the table fills; at its end there are `factor` times as many."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        first = int(count / factor)
        joined = np.concatenate([np.zeros(first), chance.random(count - first) * TABLE_S])
        paces = chance.lognormal(0, 0.8, count)
        expected = paces * (TABLE_S - joined)
        sizes = chance.poisson(expected * EVENT_COUNT / expected.sum())
        users = np.repeat(np.arange(count), sizes)
        seconds = joined[users] + chance.random(len(users)) * (TABLE_S - joined[users])
        return users, (seconds * 1000).astype(np.int64)

    return generate


def generate_hosts(count: int, life_s: float) -> Callable[[Generator], tuple[Ints, Ints]]:
    """Return hosts of a cluster that come and go and write logs as long as they live."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        total = int(count * (TABLE_S + life_s) / life_s)
        begins = chance.random(total) * (TABLE_S + life_s) - life_s
        starts, stops = np.maximum(begins, 0), np.minimum(begins + life_s, TABLE_S)
        expected = np.maximum(stops - starts, 0) * chance.lognormal(0, 0.5, total)
        sizes = chance.poisson(expected * EVENT_COUNT / expected.sum())
        hosts = np.repeat(np.arange(total), sizes)
        seconds = starts[hosts] + chance.random(len(hosts)) * (stops - starts)[hosts]
        return hosts, (seconds * 1000).astype(np.int64)

    return generate


PROCESSES = (
    Process("2,000 users of rates 1/rank^0.6", generate_users(2_000, 0.6)),
    Process("2,000 users of rates 1/rank^1", generate_users(2_000, 1.0)),
    Process("20,000 users of rates 1/rank^0.8", generate_users(20_000, 0.8)),
    Process("20,000 users of rates 1/rank^1.1", generate_users(20_000, 1.1)),
    Process("100,000 users of equal rates", generate_users(100_000, 0.0)),
    Process("40 machines of equal rates", generate_users(40, 0.0)),
    Process("meters, hourly on the hour", generate_meters(3_600, is_aligned=True), 3_600),
    Process("meters, hourly", generate_meters(3_600, is_aligned=False), 3_600),
    Process("meters, each 5 minutes", generate_meters(300, is_aligned=False), 300),
    Process("meters, each minute on the minute", generate_meters(60, is_aligned=True), 60),
    Process("meters, each 10 s", generate_meters(10, is_aligned=False), 10),
    Process("meters, each 6 hours", generate_meters(6 * 3_600, is_aligned=False), 6 * 3_600),
    Process("sessions of 5 events in 2 minutes", generate_sessions(5, 120)),
    Process("sessions of 20 events in 30 minutes", generate_sessions(20, 1_800)),
    Process("sessions of 50 events in 3 hours", generate_sessions(50, 3 * 3_600)),
    Process("orders of 4 events in a day", generate_sessions(4, 86_400)),
    Process("games of 200 events in 10 minutes", generate_sessions(200, 600)),
    Process("uploads of 1,000 events in an hour", generate_sessions(1_000, 3_600)),
    Process("tenants, a whale of 40 %", generate_tenants(500, 0.4)),
    Process("tenants, a whale of 80 %", generate_tenants(5_000, 0.8)),
    Process("tenants, a whale of 10 %", generate_tenants(20_000, 0.1)),
    Process("four seasons", generate_choices([1, 1, 1, 1])),
    Process("log levels", generate_choices([90, 8, 2])),
    Process("twelve countries", generate_choices([40, 20, 10, 8, 6, 5, 4, 3, 2, 1, 0.5, 0.5])),
    Process("chats, 300 rooms", generate_chats(300, 60, 300)),
    Process("chats, 5,000 rooms", generate_chats(5_000, 30, 600)),
    Process("chats, 20,000 rooms", generate_chats(20_000, 10, 1_200)),
    Process("a crawl of 40 pages a domain", generate_crawls(40)),
    Process("a crawl of 400 pages a domain", generate_crawls(400)),
    Process("a crawl of 5 pages a domain", generate_crawls(5)),
    Process("ads, campaigns of 6 hours", generate_ads(3_000, 6 * 3_600)),
    Process("ads, campaigns of 24 hours", generate_ads(1_000, 24 * 3_600)),
    Process("ads, campaigns of a week", generate_ads(300, 7 * 86_400)),
    Process("users who doubled", generate_growing_users(10_000, 2)),
    Process("users who grew tenfold", generate_growing_users(10_000, 10)),
    Process("a few users who grew tenfold", generate_growing_users(500, 10)),
    Process("hosts that live 2 hours", generate_hosts(100, 2 * 3_600)),
    Process("hosts that live 12 hours", generate_hosts(300, 12 * 3_600)),
    Process("hosts that live a week", generate_hosts(1_000, 7 * 86_400)),
    Process("unique ids", generate_sessions(1.0001, 1)),
    Process("pairs of requests and answers", generate_sessions(2, 5)),
    Process("10,000 customers, few orders", generate_users(300_000, 0.3)),
)
