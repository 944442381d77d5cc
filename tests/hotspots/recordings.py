"""Recordings with a known cause, and even ones: the table was written before rowkey judged them.

Each has a design, the cause that must be named first, and other designs of the same kind, with more
or better regions, under which that cause stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hotspots.made_events import (
    START_S,
    Columns,
    draw_names,
    make_bursts,
    make_days,
    make_doubled_codes,
    make_flights,
    make_hourly_reports,
    make_imports,
    make_log,
    make_names,
    make_new_users,
    make_orders,
    make_rollout,
    make_rush_hours,
    make_snowflakes,
    tick,
)

TEXT: dict[str, Any] = {"type": "text", "max_bytes": 20}
CONTINENT: dict[str, Any] = {"type": "choice", "of": ["AF", "AM", "AS", "EU"]}
FIELDS: dict[str, Any] = {
    **dict.fromkeys(("host", "shop", "user", "country", "article", "sku"), TEXT),
    "session": {**TEXT, "nullable": True},
    "continent": CONTINENT,
    "day": "date",
    "ts": "timestamp_s",
    "ms": "timestamp_ms",
    **dict.fromkeys(("id", "receipt", "invoice"), "u64"),
    "number": "u32",
    "uuid": "bytes",
}


@dataclass(frozen=True, eq=False)
class Recording:
    """Events with a design, and the cause that an expert expects.

    Args:
        name: names it in tests.
        make: makes the events.
        key: the row key.
        splits: how the regions are split.
        servers: how many region servers.
        expected: the cause that must be first; several are equally right; none for an even one.
        others: keys and splits of the same kind, under which the cause stays.
        why: why it is that cause, or why several are right.
        writes: `[writes]` of the design.
        heavy: values that the design lists as heavy, by field.
    """

    name: str
    make: Callable[[], Columns]
    key: str
    splits: Any
    servers: int
    expected: tuple[str, ...] = ()
    others: tuple[tuple[str, Any], ...] = ()
    why: str = ""
    writes: dict[str, Any] = field(default_factory=dict)
    heavy: dict[str, list[str]] = field(default_factory=dict)


def take_sample(regions: int) -> dict[str, Any]:
    """Return splits at quantiles of the first half."""
    return {"algorithm": "sample", "regions": regions}


def split_evenly(regions: int) -> dict[str, Any]:
    """Return splits with equal steps over all bytes."""
    return {"algorithm": "uniform", "regions": regions}


def split_hex(regions: int) -> dict[str, Any]:
    """Return splits with equal steps over hexadecimal digits."""
    return {"algorithm": "hex_string", "regions": regions}


PER_BUCKET = "per_bucket"


def make_tenants() -> Columns:
    """Return documents of 60 tenants, of which one has 60 %."""
    log = make_log(30_000, 60, share=0.6, seed=20)
    return {**log, "user": log["host"]}


def make_sessions(share: float) -> Columns:
    """Return events of which a share has no session."""
    rng = np.random.default_rng(21)
    log = make_log(20_000, 2_000, seed=21)
    is_null = rng.random(20_000) < share
    session = [None if no else name for no, name in zip(is_null, log["host"], strict=True)]
    return {"session": session, "ts": log["ts"], "id": log["id"]}


def make_continents() -> Columns:
    """Return events of four continents, equally busy, and of many users."""
    rng = np.random.default_rng(22)
    names = np.array(CONTINENT["of"])
    return {"continent": names[rng.integers(0, 4, 20_000)], "ts": tick(20_000, 1),
            "user": draw_names(rng, "u", 5_000, 20_000)}  # fmt: skip


def make_prefixed_users() -> Columns:
    """Return events of users whose names all begin with `user_`."""
    rng = np.random.default_rng(23)
    return {"user": draw_names(rng, "user_", 50_000, 20_000), "ts": tick(20_000, 1)}


def make_stepped_orders() -> Columns:
    """Return order numbers as text that rise by a thousand."""
    return {"host": np.char.mod("%09d", 120_000_000 + np.arange(20_000) * 1_000),
            "ts": tick(20_000, 1)}  # fmt: skip


def make_minute_reports() -> Columns:
    """Return reports of 500 devices, once a minute all at the same millisecond."""
    reports = make_hourly_reports(80, 500, 60, seed=24)
    return {"host": reports["host"], "ms": reports["ts"] * 1_000}


def make_uuids() -> Columns:
    """Return random identifiers of 16 bytes."""
    rng = np.random.default_rng(25)
    return {"uuid": [rng.bytes(16) for _ in range(20_000)], "ts": tick(20_000, 1)}


def make_counters() -> Columns:
    """Return page views, of which one page has 35 %."""
    return make_log(20_000, 3_000, share=0.35, seed=26)


def make_shuffled_log() -> Columns:
    """Return a log whose lines were exported in no order of time."""
    log = make_log(20_000, 500, seed=27)
    order = np.random.default_rng(27).permutation(20_000)
    return {name: column[order] for name, column in log.items()}


def make_backups() -> Columns:
    """Return a log in which 8 of 12 busy hosts share the names' beginning, on two servers."""
    return make_log(20_000, 400, share=0.7, seed=28)


def make_second_bursts() -> Columns:
    """Return 900 events a second of 3,000 hosts."""
    return make_log(36_000, 3_000, per_second=900, seed=29)


def make_shards() -> Columns:
    """Return events of users with ids that count up, and their number."""
    return {"number": np.arange(30_000), "ts": tick(30_000, 2)}


def make_night_and_day() -> Columns:
    """Return a week of events, ten times as many at noon as at midnight, of 3,000 users."""
    rng = np.random.default_rng(30)
    hour = np.arange(7 * 24)
    weight = 1.1 - np.cos(hour % 24 / 24 * 2 * np.pi)
    ts = np.sort(rng.choice(hour, 30_000, p=weight / weight.sum())) * 3_600 + START_S
    ts = np.sort(ts + rng.integers(0, 3_600, 30_000))
    return {"user": draw_names(rng, "u", 3_000, 30_000), "ts": ts}


def make_scrapes() -> Columns:
    """Return metrics that are all written once a second."""
    metric = np.tile(np.arange(400), 100)
    return {"host": np.char.mod("m%03d", metric), "ts": tick(40_000, 400), "id": np.arange(40_000)}


HOT: tuple[Recording, ...] = (
    Recording(
        "log by time", lambda: make_log(20_000, 500), "[ts][host]", take_sample(16), 8,
        ("moving_front",), (("[ts][host]", take_sample(64)), ("[ts][host]", take_sample(200))),
        "Every new row is later than all regions' starts but the last.",
    ),
    Recording(
        "newest first", lambda: make_log(12_000, 80, per_second=0.2), "[desc(ts)][host]",
        take_sample(12), 4, ("moving_front",), (("[desc(ts)][host]", take_sample(60)),),
        "As by time, in the first region.",
    ),
    Recording(
        "sales by date", lambda: make_days(60, 400), "[day][shop][receipt]", take_sample(20), 5,
        ("moving_front",), (("[day][shop][receipt]", take_sample(100)),),
        "A date in front is a clock that moves once a day.",
    ),
    Recording(
        "metrics by hour", lambda: make_log(30_000, 300, per_second=0.2),
        "[time_bucket(ts, 1h)][host][ts]", take_sample(24), 6, ("moving_front",),
        (("[time_bucket(ts, 1h)][host][ts]", take_sample(96)),),
        "The hour in front is a clock too.",
    ),
    Recording(
        "orders by number", lambda: make_log(20_000, 300), "[id]", take_sample(10), 5,
        ("moving_front",), (("[id]", take_sample(50)),),
        "Numbers that count up are a clock.",
    ),
    Recording(
        "sorted import", lambda: make_imports(20_000, is_sorted=True), "[sku]",
        [f"{n:02}" for n in range(4, 100, 4)], 3, ("moving_front",),
        (("[sku]", [f"{n:02}" for n in range(1, 100)]),),
        "Rows arrive in the order of their keys, one region after another.",
        {"arrival": "bulk_sorted"},
    ),
    Recording(
        "new users by code", lambda: make_new_users(24_000), "[code(user, width=4)][ts]",
        take_sample(16), 8, ("moving_front",), (("[code(user, width=4)][ts]", take_sample(64)),),
        "Codes are given by first appearance, and new users are the active ones.",
    ),
    Recording(
        "export in no order", make_shuffled_log, "[ts][host]", take_sample(16), 8,
        ("moving_front",), (("[ts][host]", take_sample(64)),),
        "The file is in no order, but the events were not: in order of time it is a front.",
    ),
    Recording(
        "remainder of whole hours", lambda: make_hourly_reports(50, 400),
        "[mod(ts, 16)][ts][host]", PER_BUCKET, 8, ("time_only_bucket",),
        (("[mod(ts, 48)][ts][host]", PER_BUCKET), ("[mod(ts, 7)][ts][host]", PER_BUCKET)),
        "3,600 is a multiple of 16, so all hours have the remainder 0.",
    ),
    Recording(
        "hashed seconds", make_second_bursts, "[bucket(ts, 16)][ts][host]", PER_BUCKET, 4,
        ("time_only_bucket",),
        (("[bucket(ts, 64)][ts][host]", PER_BUCKET), ("[mod(ts, 16)][ts][host]", PER_BUCKET)),
        "All 900 events of a second go to one bucket.",
    ),
    Recording(
        "remainder of scrapes", lambda: make_hourly_reports(60, 400, 300),
        "[mod(ts, 10)][host][ts]", PER_BUCKET, 5, ("time_only_bucket",),
        (("[mod(ts, 100)][host][ts]", PER_BUCKET), ("[bucket(ts, 64)][host][ts]", PER_BUCKET)),
        "Every 300 seconds leaves one of ten remainders.",
    ),
    Recording(
        "hashed minutes", lambda: make_log(60_000, 700, per_second=50),
        "[bucket(time_bucket(ts, 1m), 20)][host][ts]", PER_BUCKET, 10, ("time_only_bucket",),
        (("[bucket(time_bucket(ts, 1m), 80)][host][ts]", PER_BUCKET),),
        "All events of a minute go to one bucket.",
    ),
    Recording(
        "reversed milliseconds", make_minute_reports, "[reverse(ms)][host]", split_evenly(16), 8,
        ("time_only_bucket",), (("[reverse(ms)][host]", split_evenly(128)),),
        "A minute's reports have one time, whichever end of it comes first.",
    ),
    Recording(
        "one busy host", lambda: make_log(20_000, 400, share=0.4), "[bucket(host, 16)][host][ts]",
        PER_BUCKET, 8, ("hot_entity",),
        (("[bucket(host, 64)][host][ts]", PER_BUCKET), ("[host][ts]", take_sample(64))),
        "A hash moves a host and does not spread it.",
    ),
    Recording(
        "one giant tenant", make_tenants, "[user][ts][id]", take_sample(20), 5, ("hot_entity",),
        (("[user][ts][id]", take_sample(100)),),
        "The tenant spans many regions, but its new rows all go to the last of them.",
    ),
    Recording(
        "bursts in a third of the time", lambda: make_bursts(50, 400, 16),
        "[bucket(host, 16)][host][ts]", PER_BUCKET, 8, ("hot_entity",),
        (("[bucket(host, 64)][host][ts]", PER_BUCKET),),
        "Nothing but `batch` writes in 16 of 50 stretches.",
    ),
    Recording(
        "rush hour", lambda: make_rush_hours(14, 2_000), "[bucket(host, 12)][host][ts]",
        PER_BUCKET, 6, ("hot_entity",), (("[bucket(host, 48)][host][ts]", PER_BUCKET),),
        "One shop has 80 % of the hour in which half of the day's sales are made.",
    ),
    Recording(
        "users by Zipf", lambda: make_log(30_000, 5_000, theta=1.2),
        "[bucket(host, 32)][host][ts]", PER_BUCKET, 16, ("hot_entity",),
        (("[bucket(host, 128)][host][ts]", PER_BUCKET),),
        "The first of 5,000 users has a fifth of all events, three times a fair share.",
    ),
    Recording(
        "no session", lambda: make_sessions(0.45), "[bucket(session, 16)][session][ts]",
        PER_BUCKET, 8, ("hot_entity",),
        (("[bucket(session, 64)][session][ts]", PER_BUCKET),),
        "NULL is a value like any other and has 45 %.",
    ),
    Recording(
        "two hundred regions", lambda: make_log(50_000, 3_000, per_second=5, share=0.15),
        "[host][ts]", take_sample(200), 20, ("hot_entity",), (("[host][ts]", take_sample(400)),),
        "15 % of the events on one of 20 servers.",
    ),
    Recording(
        "two servers", make_backups, "[bucket(host, 2)][host][ts]", PER_BUCKET, 2, ("hot_entity",),
        (("[bucket(host, 16)][host][ts]", PER_BUCKET),),
        "70 % of the events on one of two servers.",
    ),
    Recording(
        "page counters", make_counters, "[bucket(host, 16)][host]", PER_BUCKET, 8, ("hot_row",),
        (("[bucket(host, 64)][host]", PER_BUCKET), ("[host]", take_sample(64))),
        "The page's views are one row.",
    ),
    Recording(
        "three airports", lambda: make_log(12_000, 3), "[bucket(host, 16)][host][ts]", PER_BUCKET,
        8, ("few_entities",),
        (("[bucket(host, 64)][host][ts]", PER_BUCKET), ("[host][ts]", ["h1", "h2"])),
        "Three values fill at most three of eight servers.",
    ),
    Recording(
        "eight machines", lambda: make_log(12_000, 8), "[bucket(host, 10)][host][ts]", PER_BUCKET,
        5, ("few_entities",),
        (("[bucket(host, 40)][host][ts]", PER_BUCKET),
         ("[host][ts]", [f"h{n}" for n in range(1, 8)])),
        "Of eight machines some server has two, and by chance another has none.",
    ),
    Recording(
        "few aircraft in the air", lambda: make_flights(1_000, 28, 100),
        "[bucket(host, 16)][host][ts]", PER_BUCKET, 8, ("few_entities",),
        (("[bucket(host, 64)][host][ts]", PER_BUCKET),
         ("[bucket(host, 512)][host][ts]", PER_BUCKET)),
        "There are thousands, but 28 at a time cannot fill 16 buckets evenly.",
    ),
    Recording(
        "four continents", make_continents, "[continent][user][ts]", PER_BUCKET, 8,
        ("few_entities", "integer_imbalance"), (),
        "Four values are four regions for eight servers: the same said twice.",
    ),
    Recording(
        "remainder of snowflakes", lambda: make_snowflakes(20_000), "[mod(id, 16)][id]",
        PER_BUCKET, 8, ("uneven_buckets",),
        (("[mod(id, 64)][id]", PER_BUCKET), ("[mod(id, 256)][id]", PER_BUCKET)),
        "The low twelve bits are 0, so all remainders are.",
    ),
    Recording(
        "weak hash of doubled digits", lambda: make_doubled_codes(20_000),
        "[bucket(host, 16, hash=java31)][host][ts]", PER_BUCKET, 8, ("uneven_buckets",),
        (("[bucket(host, 32, hash=java31)][host][ts]", PER_BUCKET),),
        "31 is -1 modulo 16 and 32, so two equal digits cancel.",
    ),
    Recording(
        "digest of one byte", lambda: make_log(30_000, 5_000), "[digest(host, 1)][host][ts]",
        split_evenly(512), 4, ("missed_splits",), (("[digest(host, 1)][host][ts]",
                                                    split_evenly(1_024)),),
        "A byte has 256 values, so every second of 512 regions is empty, on two of four servers.",
    ),
    Recording(
        "hexadecimal splits on names", lambda: make_names(20_000), "[host][ts]", split_hex(16), 8,
        ("missed_splits",), (("[host][ts]", split_hex(64)),),
        "All names begin with a letter after f.",
    ),
    Recording(
        "one prefix", make_prefixed_users, "[user][ts]", split_evenly(32), 8, ("missed_splits",),
        (("[user][ts]", split_evenly(256)),),
        "All keys begin with `user_`, so they lie in one of 32 regions.",
    ),
    Recording(
        "reversed numbers with zeros", make_stepped_orders, "[reverse(host)]",
        [str(n) for n in range(1, 10)], 5, ("missed_splits",),
        (("[reverse(host)]", [f"{n:02}" for n in range(1, 100)]),),
        "Numbers in steps of a thousand end with 000, so all reversed ones begin with it.",
    ),
    Recording(
        "sensors of a rollout", lambda: make_rollout(20_000), "[host][ts]", take_sample(16), 8,
        ("missed_splits",), (("[host][ts]", take_sample(64)),),
        "The splits follow the sensors of the first half, which are gone.",
    ),
    Recording(
        "articles of the season", lambda: make_orders(30_000, drift=0.5),
        "[country][article][ts][invoice]", take_sample(16), 8, ("missed_splits",),
        (("[country][article][ts][invoice]", take_sample(64)),),
        "The articles move on; the country with 91 % spans most regions and is no cause.",
    ),
    Recording(
        "ten buckets on eight servers", lambda: make_log(20_000, 5_000),
        "[bucket(host, ts, 10)][host][ts]", PER_BUCKET, 8, ("integer_imbalance",), (),
        "Two servers have two buckets, six have one.",
    ),
    Recording(
        "seven regions on five servers", lambda: make_log(20_000, 2_000), "[host][ts]",
        take_sample(7), 5, ("integer_imbalance",), (),
        "Two servers have two regions, three have one.",
    ),
    Recording(
        "one region", lambda: make_log(8_000, 600), "[host][ts]", None, 6, ("integer_imbalance",),
        (), "One region for six servers, and the hosts would fill more.",
    ),
)  # fmt: skip
"""Recordings with a cause."""


EVEN: tuple[Recording, ...] = (
    Recording("hashed hosts", lambda: make_log(20_000, 1_000, seed=40),
              "[bucket(host, 16)][host][ts]", PER_BUCKET, 8),
    Recording("salted log", lambda: make_log(20_000, 10, seed=41), "[salt(16)][ts][host]",
              PER_BUCKET, 8),
    Recording("hashed rows", lambda: make_log(20_000, 40, seed=42),
              "[bucket(host, ts, 16)][ts][host]", PER_BUCKET, 8),
    Recording("hosts by quantiles", lambda: make_log(20_000, 800, seed=43), "[host][ts]",
              take_sample(16), 8),
    Recording("digests", lambda: make_log(30_000, 20_000, seed=44), "[digest(host, 8)][ts]",
              split_evenly(64), 16),
    Recording("random identifiers", make_uuids, "[uuid]", split_evenly(32), 8),
    Recording("reversed counter", make_shards, "[reverse(number)]", split_evenly(16), 8),
    Recording("hashed snowflakes", lambda: make_snowflakes(20_000), "[bucket(id, 16)][id]",
              PER_BUCKET, 8),
    Recording("a busy host over eight buckets", lambda: make_log(20_000, 400, share=0.4),
              "[bucket(host, ts, 16, 8)][host][ts]", PER_BUCKET, 8, heavy={"host": ["hot"]}),
    Recording("mild Zipf", lambda: make_log(30_000, 20_000, theta=0.7, seed=45),
              "[bucket(host, 32)][host][ts]", PER_BUCKET, 8),
    Recording("remainder of a counter", make_shards, "[mod(number, 16)][number]", PER_BUCKET, 8),
    Recording("two buckets on two servers", lambda: make_log(10_000, 3_000, seed=46),
              "[bucket(host, 2)][host][ts]", PER_BUCKET, 2),
    Recording("two hundred regions on twenty servers",
              lambda: make_log(100_000, 30_000, per_second=20, seed=47), "[digest(host, 4)][ts]",
              split_evenly(200), 20),
    Recording("sparse log", lambda: make_log(2_000, 300, per_second=0.003, seed=48),
              "[bucket(host, 8)][host][ts]", PER_BUCKET, 4),
    Recording("articles of the year", lambda: make_orders(30_000, drift=0.0),
              "[country][article][ts][invoice]", take_sample(16), 8),
    Recording("shuffled import", lambda: make_imports(20_000, is_sorted=False), "[sku]",
              take_sample(16), 8),
    Recording("night and day", make_night_and_day, "[bucket(user, 24)][user][ts]", PER_BUCKET, 12),
    Recording("scrapes of a second", make_scrapes, "[host][ts]", take_sample(20), 5),
    Recording("one event a second in buckets of time", lambda: make_log(20_000, 300, seed=49),
              "[bucket(ts, 16)][ts][host]", PER_BUCKET, 8),
    Recording("hexadecimal digests", lambda: make_log(20_000, 9_000, seed=50),
              "[digest(host, 4, as=hex)][ts]", split_hex(16), 8),
    Recording("salted import", lambda: make_imports(20_000, is_sorted=True), "[salt(16)][sku]",
              PER_BUCKET, 8, writes={"arrival": "bulk_sorted"}),
    Recording("few without a session", lambda: make_sessions(0.02),
              "[bucket(session, 16)][session][ts]", PER_BUCKET, 8),
    Recording("all the time on one server", lambda: make_log(10_000, 100, seed=51), "[ts][host]",
              take_sample(4), 1),
)  # fmt: skip
"""Recordings without a cause."""
