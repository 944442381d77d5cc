"""Events made from a seed for the recordings of this folder: who writes what at which time."""

from __future__ import annotations

from typing import Any

import numpy as np

Numbers = np.ndarray[Any, np.dtype[Any]]
Columns = dict[str, Any]

START_S = 1_709_510_400
"""2024-03-04 00:00 UTC, a Monday."""
DAY_S, HOUR_S = 86_400, 3_600


def make_log(
    count: int,
    hosts: int,
    *,
    per_second: float = 1.0,
    theta: float = 0.0,
    share: float = 0.0,
    seed: int = 1,
) -> Columns:
    """Return events in the order of time: `host`, `id` from 0 on, and `ts` in seconds.

    Args:
        count: how many events.
        hosts: how many hosts.
        per_second: events a second.
        theta: the k-th host occurs in proportion to 1 / k^theta.
        share: share of the events of a host named `hot`, besides the others.
        seed: where randomness begins.
    """
    rng = np.random.default_rng(seed)
    host = draw_names(rng, "h", hosts, count, theta)
    host = np.where(rng.random(count) < share, "hot", host)
    return {"host": host, "id": np.arange(count), "ts": tick(count, per_second)}


def tick(count: int, per_second: float) -> Numbers:
    """Return rising times in whole seconds, a number of them in each second."""
    return np.asarray(START_S + (np.arange(count) / per_second).astype(np.int64))


def draw_names(
    rng: np.random.Generator, prefix: str, values: int, count: int, theta: float = 0.0
) -> Numbers:
    """Return drawn names such as `h017`, of which the k-th occurs in proportion to 1 / k^theta."""
    weight = 1.0 / np.arange(1, values + 1) ** theta
    picked = rng.choice(values, count, p=weight / weight.sum())
    return name_numbers(prefix, picked, len(str(values - 1)))


def name_numbers(prefix: str, numbers: Numbers, digits: int) -> Numbers:
    """Return names of a prefix and a number with a fixed count of digits."""
    return np.char.add(prefix, np.char.zfill(numbers.astype(str), digits))


def make_days(days: int, per_day: int, seed: int = 2) -> Columns:
    """Return receipts of 200 shops day by day: `day`, `shop`, `receipt`."""
    rng = np.random.default_rng(seed)
    count = days * per_day
    day = np.datetime64("2024-03-04") + np.repeat(np.arange(days), per_day)
    return {"day": day, "shop": draw_names(rng, "s", 200, count), "receipt": np.arange(count)}


def make_hourly_reports(hours: int, per_hour: int, step_s: int = HOUR_S, seed: int = 3) -> Columns:
    """Return reports of 400 hosts whose times are whole multiples of a step."""
    rng = np.random.default_rng(seed)
    count = hours * per_hour
    ts = START_S + np.repeat(np.arange(hours), per_hour) * step_s
    return {"host": draw_names(rng, "h", 400, count), "id": np.arange(count), "ts": ts}


def make_new_users(count: int, seed: int = 4) -> Columns:
    """Return the events of users who sign up all the time and are active for a while after it."""
    rng = np.random.default_rng(seed)
    newest = np.arange(count) // 8
    age = rng.exponential(20, count).astype(np.int64)
    user = name_numbers("u", np.maximum(newest - age, 0) * 7_919 % 100_003, 6)
    return {"user": user, "ts": tick(count, 2)}


def make_bursts(windows: int, size: int, bursts: int, seed: int = 5) -> Columns:
    """Return a log in which single stretches belong to a host named `batch` alone.

    Args:
        windows: stretches of equal numbers of events.
        size: events of each, one a minute.
        bursts: how many stretches `batch` fills, evenly distributed.
        seed: where randomness begins.
    """
    log = make_log(windows * size, 400, per_second=1 / 60, seed=seed)
    stretch = log["id"] // size
    is_burst = stretch * bursts // windows != (stretch + 1) * bursts // windows
    return {**log, "host": np.where(is_burst, "batch", log["host"])}


def make_rush_hours(days: int, per_day: int, seed: int = 6) -> Columns:
    """Return sales of 300 shops; half of each day's come in an hour in which one shop has most."""
    rng = np.random.default_rng(seed)
    count = days * per_day
    is_rush = rng.random(count) < 0.5
    second = np.where(is_rush, 12 * HOUR_S + rng.integers(0, HOUR_S, count),
                      rng.integers(0, DAY_S, count))  # fmt: skip
    ts = START_S + np.repeat(np.arange(days), per_day) * DAY_S + second
    is_canteen = is_rush & (rng.random(count) < 0.8)
    shop = np.where(is_canteen, "canteen", draw_names(rng, "s", 300, count))
    order = np.argsort(ts, kind="stable")
    return {"host": shop[order], "id": np.arange(count), "ts": ts[order]}


def make_flights(aircraft: int, at_a_time: int, reports: int, seed: int = 7) -> Columns:
    """Return position reports of aircraft, of which few are in the air at the same time.

    Args:
        aircraft: how many there are in all.
        at_a_time: how many report in turn.
        reports: reports of each flight, one a second for all together.
        seed: where randomness begins.
    """
    rng = np.random.default_rng(seed)
    number = np.arange(aircraft * reports)
    place = number % at_a_time
    flight = (number // at_a_time + place * reports // at_a_time) // reports * at_a_time + place
    icao = rng.choice(1 << 24, int(flight.max()) + 1, replace=False)[flight]
    host = np.char.mod("%06x", icao)
    return {"host": host, "id": number, "ts": tick(len(number), 30)}


def make_snowflakes(count: int, seed: int = 8) -> Columns:
    """Return ids of a millisecond, one of 16 workers, and twelve bits that are nearly always 0."""
    rng = np.random.default_rng(seed)
    ms = np.sort(rng.choice(count * 5, count, replace=False)) + 180_000_000_000
    worker = rng.integers(0, 16, count)
    return {"id": (ms << 22) | (worker << 12), "ts": START_S + ms // 1_000 - 180_000_000}


def make_doubled_codes(count: int, seed: int = 9) -> Columns:
    """Return codes in which each digit is written twice, such as `3377aa00`."""
    rng = np.random.default_rng(seed)
    digits = np.array(list("0123456789abcdef"))[rng.integers(0, 16, (count, 4))]
    host = [("".join(a + a for a in row)) for row in digits]
    return {"host": np.array(host), "id": np.arange(count), "ts": tick(count, 1)}


def make_names(count: int, seed: int = 10) -> Columns:
    """Return events of people named by words of letters that begin with g to z."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("ghijklmnopqrstuvwxyz"))
    word = letters[rng.integers(0, len(letters), (1_000, 6))]
    host = np.array(["".join(row) for row in word])[rng.integers(0, 1_000, count)]
    return {"host": host, "id": np.arange(count), "ts": tick(count, 1)}


def make_rollout(count: int, seed: int = 11) -> Columns:
    """Return sensors of which those of the second half are others, with later names."""
    rng = np.random.default_rng(seed)
    sensor = rng.integers(0, 500, count)
    is_late = np.arange(count) >= count // 2
    host = np.where(is_late, name_numbers("n", sensor, 3), name_numbers("b", sensor, 3))
    return {"host": host, "id": np.arange(count), "ts": tick(count, 1)}


def make_orders(count: int, *, drift: float, seed: int = 12) -> Columns:
    """Return order lines, 91 % from one country, whose most sold articles change with time.

    Args:
        count: how many lines.
        drift: how far the middle of the sold articles moves, as a share of all 4,000.
        seed: where randomness begins.
    """
    rng = np.random.default_rng(seed)
    others = draw_names(rng, "C", 37, count)
    country = np.where(rng.random(count) < 0.91, "United Kingdom", others)
    middle = 2_000 + (np.arange(count) / count - 0.5) * drift * 4_000
    article = np.clip(rng.normal(middle, 500 if drift else 1_200), 0, 3_999).astype(np.int64)
    return {"country": country, "article": name_numbers("", article, 5), "ts": tick(count, 0.1),
            "invoice": np.arange(count) // 20}  # fmt: skip


def make_imports(count: int, *, is_sorted: bool, seed: int = 13) -> Columns:
    """Return an import of articles with random numbers, sorted by number or shuffled."""
    rng = np.random.default_rng(seed)
    sku = rng.choice(1_000_000, count, replace=False)
    sku = np.sort(sku) if is_sorted else sku
    return {"sku": name_numbers("", sku, 6), "ts": tick(count, 100)}
