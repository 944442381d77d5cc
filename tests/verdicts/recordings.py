"""Ten recordings for designs that an expert has judged: five real ones, five made from a seed."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import compute, parquet

from table.recordings import DATA, EXAMPLES, ROOT, SHARED, read_typed

Numbers = np.ndarray[Any, np.dtype[Any]]

SECOND_MS = 1_000
HOUR_MS = 3_600 * SECOND_MS
DAY_MS = 24 * HOUR_MS
START_MS = 1_709_510_400_000
"""2024-03-04 00:00 UTC, a Monday: the first event of each recording that is made."""
TIME = pa.timestamp("ms", tz="UTC")
ACCESS = re.compile(
    r"(?P<client>\S+) \S+ \S+ \[(?P<time>[^]]+)\] "
    r'"(?P<method>\S+) (?P<path>\S+)[^"]*" (?P<status>\d+) (?P<bytes>\S+)'
)


def write_recording(name: str, folder: Path, max_rows: int | None = None) -> Path:
    """Write a recording as a Parquet file and return its path.

    Args:
        name: one of `RECORDINGS`.
        folder: a folder for the file.
        max_rows: how many of its first rows are written; None for all.
    """
    path = folder / f"{name}.parquet"
    parquet.write_table(RECORDINGS[name]().slice(0, max_rows), path)
    return path


def read_flights() -> pa.Table:
    """Return the departures from New York in 2013 in the order of their hours."""
    table = parquet.read_table(EXAMPLES / "flights.parquet")
    return table.rename_columns(
        ["time" if name == "time_hour" else name for name in table.column_names]
    ).sort_by([("time", "ascending"), ("carrier", "ascending"), ("flight", "ascending")])


def read_apache() -> pa.Table:
    """Return an access log, each request with the number of its line, as a collector sends it."""
    text = gzip.decompress((EXAMPLES / "apache_access.log.gz").read_bytes()).decode("utf-8")
    found = [(n, ACCESS.match(line)) for n, line in enumerate(text.splitlines(), 1)]
    rows = [(n, one) for n, one in found if one is not None]
    times = [datetime.strptime(one["time"], "%d/%b/%Y:%H:%M:%S %z") for _, one in rows]
    return pa.table(
        {
            "time": pa.array([int(time.timestamp()) * SECOND_MS for time in times]).cast(TIME),
            "client": [one["client"] for _, one in rows],
            "method": [one["method"] for _, one in rows],
            "path": [one["path"] for _, one in rows],
            "status": [int(one["status"]) for _, one in rows],
            "bytes": [None if one["bytes"] == "-" else int(one["bytes"]) for _, one in rows],
            "line": [n for n, _ in rows],
        }
    )


def read_sensors() -> pa.Table:
    """Return the measurements of 47 streams in the order of their times."""
    return read_typed(DATA / "nab_real_streams.csv.gz")


def read_purchases() -> pa.Table:
    """Return the purchases of 23,570 customers by day, each with the number of its receipt."""
    lines = gzip.decompress((DATA / "CDNOW_master.txt.gz").read_bytes()).decode("ascii")
    rows = sorted((line.split() for line in lines.splitlines()[1:]), key=lambda row: row[1])
    days = pa.array([f"{row[1][:4]}-{row[1][4:6]}-{row[1][6:]}" for row in rows])
    return pa.table(
        {
            "customer": [row[0] for row in rows],
            "date": compute.cast(days, pa.date32()),
            "discs": [int(row[2]) for row in rows],
            "cents": [round(float(row[3]) * 100) for row in rows],
            "receipt": list(range(1, len(rows) + 1)),
        }
    )


def read_weather() -> pa.Table:
    """Return the hourly weather at three airports in the order of time."""
    path = SHARED / "flights_nyc13" / "weather.csv.gz"
    if not path.exists():
        pytest.skip(f"NOT LOADED: {path.relative_to(ROOT.parent)} is not beside rowkey")
    table = read_typed(path)
    return table.rename_columns(
        ["time" if name == "time_hour" else name for name in table.column_names]
    ).sort_by([("time", "ascending"), ("origin", "ascending")])


def make_orders() -> pa.Table:
    """Return 30,000 orders of a shop, each written when it is made and again when it is paid.

    An order number is its millisecond and the number of one of ten workers, followed by twelve
    bits that count the orders of a worker in a millisecond and are always 0. Few users order much.
    """
    rng = np.random.default_rng(1)
    count = 30_000
    created = START_MS + np.sort(rng.choice(300 * SECOND_MS, count, replace=False))
    order = ((created - 1_288_834_974_657) << 22) | (rng.integers(0, 10, count) << 12)
    paid = created + SECOND_MS + rng.exponential(30 * SECOND_MS, count).astype(np.int64)
    time = np.concatenate([created, paid])
    arrival = np.argsort(time, kind="stable")
    order_index = arrival % count
    return pa.table(
        {
            "ts": pa.array(time[arrival]).cast(TIME),
            "order": order[order_index],
            "user": draw_zipf(rng, 20_000, 0.9, count)[order_index],
            "status": [("NEW", "PAID")[number] for number in (arrival >= count).astype(int)],
            "cents": rng.integers(500, 30_000, count)[order_index],
        }
    )


def make_vehicles() -> pa.Table:
    """Return the positions of 600 buses on 40 routes, one of each bus every ten seconds."""
    rng = np.random.default_rng(2)
    buses, reports = 600, 100
    route = draw_zipf(rng, 40, 0.6, buses)
    phase = rng.integers(0, 10 * SECOND_MS, buses)
    bus = np.repeat(np.arange(buses), reports)
    ts = START_MS + phase[bus] + np.tile(np.arange(reports), buses) * 10 * SECOND_MS
    arrival = np.argsort(ts, kind="stable")
    bus, ts = bus[arrival], ts[arrival]
    return pa.table(
        {
            "ts": pa.array(ts).cast(TIME),
            "vehicle": [f"bus-{number:03d}" for number in bus],
            "route": route[bus] + 1,
            "lat": 52.3 + rng.random(len(bus)) / 3,
            "lon": 13.2 + rng.random(len(bus)) / 2,
            "speed": rng.integers(0, 70, len(bus)),
        }
    )


def make_audit() -> pa.Table:
    """Return 20,000 entries of an audit log, 20 an hour, of which a service writes each third."""
    rng = np.random.default_rng(3)
    count = 20_000
    hours = np.arange(1_000)
    weight = np.where((hours % 24 >= 8) & (hours % 24 < 18), 4.0, 1.0)
    hour = rng.choice(hours, count, p=weight / weight.sum())
    ts = np.sort(START_MS + hour * HOUR_MS + rng.integers(0, HOUR_MS, count))
    person = draw_zipf(rng, 400, 0.7, count)
    is_service = rng.random(count) < 0.3
    actions = ("LOGIN", "READ", "CHANGE", "DELETE")
    number = rng.integers(1, 50_000, count)
    return pa.table(
        {
            "ts": pa.array(ts).cast(TIME),
            "actor": [
                "backup-service" if service else f"user-{name}"
                for service, name in zip(is_service, person, strict=True)
            ],
            "action": [actions[one] for one in rng.integers(0, 4, count)],
            "object": [f"invoice-{one}" for one in number],
            "details": [f"invoice {one}: " + "changed " * int(one % 30) for one in number],
            "entry": np.arange(1, count + 1),
        }
    )


def make_follows() -> pa.Table:
    """Return who follows whom: a fifth of all events follow one star, and few names hold a ~."""
    rng = np.random.default_rng(4)
    count = 62_000
    share = np.concatenate([[0.20, 0.08, 0.04], 0.68 * compute_zipf(20_000, 0.8)])
    star = rng.choice(len(share), count, p=share)
    fan = rng.integers(0, 200_000, count)
    pairs = list(dict.fromkeys(zip(star.tolist(), fan.tolist(), strict=True)))[:60_000]
    since = START_MS + np.sort(rng.integers(0, 300 * SECOND_MS, len(pairs)))
    return pa.table(
        {
            "since": pa.array(since).cast(TIME),
            "star": [name_member(star) for star, _ in pairs],
            "fan": [name_member(fan) for _, fan in pairs],
        }
    )


def make_products() -> pa.Table:
    """Return three nightly imports of 20,000 products, each sorted by the product's number."""
    rng = np.random.default_rng(5)
    count, nights = 20_000, 3
    category = draw_zipf(rng, 80, 0.7, count)
    numbers = rng.choice(1_000_000, count, replace=False)
    skus = sorted(f"{c + 100}-{n:06d}" for c, n in zip(category, numbers, strict=True))
    night = np.repeat(np.arange(nights), count)
    ts = START_MS + night * DAY_MS + 2 * HOUR_MS + np.tile(np.arange(count), nights) * 10
    return pa.table(
        {
            "ts": pa.array(ts).cast(TIME),
            "sku": skus * nights,
            "cents": rng.integers(100, 50_000, count * nights),
            "stock": rng.integers(0, 500, count * nights),
        }
    )


def compute_zipf(count: int, theta: float) -> Numbers:
    """Return the shares of values, of which the k-th occurs in proportion to 1 / k^theta."""
    share = 1.0 / np.arange(1, count + 1) ** theta
    return np.asarray(share / share.sum())


def draw_zipf(rng: np.random.Generator, count: int, theta: float, size: int) -> Numbers:
    """Return numbers from 0 to count - 1, drawn with the shares of `compute_zipf`."""
    return np.asarray(rng.choice(count, size, p=compute_zipf(count, theta)))


def name_member(number: int) -> str:
    """Return the name of a member, in every fiftieth with a ~."""
    return f"m~{number}" if number % 50 == 49 else f"m{number}"


RECORDINGS: dict[str, Callable[[], pa.Table]] = {
    "flights": read_flights,
    "apache": read_apache,
    "sensors": read_sensors,
    "purchases": read_purchases,
    "weather": read_weather,
    "orders": make_orders,
    "vehicles": make_vehicles,
    "audit": make_audit,
    "follows": make_follows,
    "products": make_products,
}
"""The recordings by name, each as a function that returns its events in the order of arrival."""
