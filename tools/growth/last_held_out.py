"""Processes that no estimate was developed with: they are only reported."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from tools.growth.held_out import DAY_S, keep_inside
from tools.growth.processes import EVENT_COUNT, TABLE_S, Ints, Process

if TYPE_CHECKING:
    from numpy.random import Generator

    Generate = Callable[[Generator], tuple[Ints, Ints]]


def generate_sales(products: int, sales: int, share: float) -> Generate:
    """Return orders of products, some of which are on sale for twenty minutes."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        on_sale = int(EVENT_COUNT * share)
        owners = np.concatenate(
            [
                chance.zipf(1.8, EVENT_COUNT - on_sale) % products,
                np.repeat(chance.integers(0, products, sales), on_sale // sales),
            ]
        )
        begins = np.repeat(chance.random(sales) * TABLE_S, on_sale // sales)
        calm = chance.random(EVENT_COUNT - on_sale) * TABLE_S
        return keep_inside(
            owners, np.concatenate([calm, begins + chance.random(len(begins)) * 1_200])
        )

    return generate


def generate_lectures(students: int) -> Generate:
    """Return students who all open a page when a lecture begins, every two hours of the day."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        owners = chance.integers(0, students, EVENT_COUNT)
        hours = 8 + 2 * chance.integers(0, 5, EVENT_COUNT)
        days = chance.integers(0, TABLE_S // DAY_S, EVENT_COUNT)
        return keep_inside(
            owners, days * DAY_S + hours * 3_600 + chance.exponential(900, EVENT_COUNT)
        )

    return generate


def generate_jobs(jobs: int, lines: int) -> Generate:
    """Return jobs that run once an hour, each at a minute of its own, with lines of log."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        hours = TABLE_S // 3_600
        sizes = chance.poisson(lines, (jobs, hours))
        begins = chance.integers(0, 60, (jobs, 1)) * 60 + np.arange(hours) * 3_600
        seconds = np.repeat(begins.ravel(), sizes.ravel())
        owners = np.repeat(np.repeat(np.arange(jobs), hours), sizes.ravel())
        return keep_inside(owners, seconds + chance.random(len(owners)) * 20)

    return generate


def generate_rush_hours(drivers: int) -> Generate:
    """Return drivers of different rates, most of whose trips are in two rush hours of a day."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        paces = chance.gamma(0.5, 1, drivers)
        owners = chance.choice(drivers, EVENT_COUNT, p=paces / paces.sum())
        peak = chance.choice([8.0, 17.5, 13.0], EVENT_COUNT, p=[0.35, 0.35, 0.3])
        width = np.where(peak == 13.0, 5.0, 0.9)
        hours = chance.normal(peak, width) % 24
        days = chance.integers(0, TABLE_S // DAY_S, EVENT_COUNT)
        return keep_inside(owners, days * DAY_S + hours * 3_600)

    return generate


def generate_retries(clients: int, branching: float, delay_s: float) -> Generate:
    """Return calls of clients, each of which causes another one some time later (Hawkes)."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        count = int(EVENT_COUNT * (1 - branching))
        owners = [chance.integers(0, clients, count)]
        seconds = [chance.random(count) * TABLE_S]
        while len(owners[-1]):
            children = chance.poisson(branching, len(owners[-1]))
            owners.append(np.repeat(owners[-1], children))
            delays = chance.exponential(delay_s, int(children.sum()))
            seconds.append(np.repeat(seconds[-1], children) + delays)
        return keep_inside(np.concatenate(owners), np.concatenate(seconds))

    return generate


def generate_switched_devices(devices: int, on_s: float, step_s: float) -> Generate:
    """Return devices that are on and off for random times and write in steps while they are on."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        spans = chance.exponential(on_s, (devices, 200))
        spans[:, 1::2] *= 4
        edges = np.cumsum(spans, 1) - 5 * on_s
        counts = (spans[:, ::2] / step_s).astype(np.int64)
        begins = (edges - spans)[:, ::2]
        numbers = np.concatenate([np.arange(one) for one in counts.ravel().tolist()])
        seconds = np.repeat(begins.ravel(), counts.ravel()) + numbers * step_s
        return keep_inside(np.repeat(np.repeat(np.arange(devices), 100), counts.ravel()), seconds)

    return generate


def generate_backups(hosts: int, lines: int) -> Generate:
    """Return hosts with a few lines at any time, and a backup of many at two in the night."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        nights = TABLE_S // DAY_S
        backups = np.tile(np.repeat(np.arange(hosts), lines), nights)
        begins = np.repeat(np.arange(nights) * DAY_S + 7_200, hosts * lines)
        calm = EVENT_COUNT // 2
        owners = np.concatenate([chance.integers(0, hosts, calm), backups])
        late = chance.exponential(600, hosts)[backups] + chance.random(len(backups)) * 90
        return keep_inside(owners, np.concatenate([chance.random(calm) * TABLE_S, begins + late]))

    return generate


def generate_threads(threads: int) -> Generate:
    """Return threads of messages whose gaps are of very different lengths."""

    def generate(chance: Generator) -> tuple[Ints, Ints]:
        sizes = np.minimum(chance.zipf(1.7, threads), 400)
        owners = np.repeat(np.arange(threads), sizes)
        gaps = chance.lognormal(6, 2, len(owners))
        begins = np.repeat(chance.random(threads) * TABLE_S, sizes)
        sums = np.cumsum(gaps)
        firsts = np.cumsum(sizes) - sizes
        return keep_inside(owners, begins + sums - np.repeat(sums[firsts], sizes))

    return generate


LAST_HELD_OUT = (
    Process("sales of 5,000 products", generate_sales(5_000, 12, 0.3)),
    Process("lectures, 4,000 students", generate_lectures(4_000)),
    Process("400 jobs an hour", generate_jobs(400, 15)),
    Process("8,000 jobs an hour", generate_jobs(8_000, 1)),
    Process("drivers in rush hours", generate_rush_hours(6_000)),
    Process("clients who retry soon", generate_retries(3_000, 0.9, 30)),
    Process("clients who retry late", generate_retries(30_000, 0.7, 3_600)),
    Process("devices that are switched", generate_switched_devices(400, 2_400, 20)),
    Process("backups of 300 hosts", generate_backups(300, 250)),
    Process("threads of messages", generate_threads(60_000)),
)
