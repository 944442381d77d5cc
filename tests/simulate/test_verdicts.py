"""The verdicts on real data: skews under six keys agree with measured figures.

Method: events sorted by time; the key is text, 00, eight bytes of seconds; the bucket is the number
of the first four bytes of an MD5 digest modulo 16; 16 regions, split at the quantiles of the first
half, or one region a salt; the second half is replayed in 50 windows of equal numbers of events.
The figures are the share of the busiest region: of all, of the median window, of the worst.

Source: the table was measured by a script of its own, not by this program; the clients of the
Apache log are random tokens, so its figures are those of our copy.
"""

from __future__ import annotations

import os
from collections import Counter
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import rowkey
from rowkey.design import Design
from rowkey.simulate import run
from rowkey.workload import open_sample, record_sample

if TYPE_CHECKING:
    from rowkey.simulate import Simulation
    from rowkey.workload import RecordedSample

DATA = Path(__file__).parent.parent / "data"
EXAMPLES = Path(str(resources.files(rowkey))) / "examples"
SALTED = {"[bucket(digest(e, 4), 16, hash=be)][e][ts]", "[mod(ts, 16)][ts][e]",
          "[bucket(digest(e, ts, 4), 16, hash=be)][ts][e]"}  # fmt: skip
SAMPLES: dict[str, tuple[Path, str, str]] = {
    "nab": (DATA / "nab_real_streams.csv.gz", "sensor", "timestamp"),
    "cdnow": (DATA / "CDNOW_master.txt.gz", "customer_id", "date"),
    "tail": (EXAMPLES / "flights.parquet", "tailnum", "time_hour"),
    "carrier": (EXAMPLES / "flights.parquet", "carrier", "time_hour"),
    "apache": (EXAMPLES / "apache_access.log.gz", "client", "time"),
}
KEYS = (
    "[ts][e]",
    "[e][ts]",
    "[reverse(e)][ts]",
    "[bucket(digest(e, 4), 16, hash=be)][e][ts]",
    "[mod(ts, 16)][ts][e]",
    "[bucket(digest(e, ts, 4), 16, hash=be)][ts][e]",
)
TABLE: dict[str, tuple[tuple[float, float, float], ...]] = {
    "nab": (
        (1.0, 1.0, 1.0), (0.66, 0.70, 0.96), (0.63, 0.70, 0.70),
        (0.20, 0.20, 0.48), (0.23, 0.25, 0.27), (0.06, 0.07, 0.07),
    ),
    "cdnow": (
        (1.0, 1.0, 1.0), (0.08, 0.09, 0.11), (0.07, 0.08, 0.09),
        (0.07, 0.08, 0.10), (1.0, 1.0, 1.0), (0.07, 0.08, 0.10),
    ),
    "tail": (
        (1.0, 1.0, 1.0), (0.07, 0.08, 0.09), (0.07, 0.08, 0.09),
        (0.07, 0.08, 0.09), (1.0, 1.0, 1.0), (0.06, 0.07, 0.07),
    ),
    "carrier": (
        (1.0, 1.0, 1.0), (0.17, 0.18, 0.19), (0.23, 0.23, 0.24),
        (0.31, 0.30, 0.35), (1.0, 1.0, 1.0), (0.07, 0.08, 0.10),
    ),
    "apache": (
        (1.0, 1.0, 1.0), (0.17, 0.24, 0.64), (0.13, 0.25, 0.58),
        (0.12, 0.24, 0.58), (0.07, 0.11, 0.15), (0.07, 0.11, 0.15),
    ),
}  # fmt: skip
SHORT_SAMPLES = ("apache",)
TOLERANCE = 0.02
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
CASES = [(name, n) for name in TABLE for n in range(len(KEYS)) if IS_LONG or name in SHORT_SAMPLES]
"""Each sample under each key, in `make test` the short one; recordings that are made have the
other causes, in `hotspots/test_recordings.py`."""
OVERWRITTEN = {"nab": 49, "cdnow": 2_068, "tail": 1_583, "carrier": 276_634, "apache": 773}
"""Rows of the whole files that would overwrite another under the key (entity, time).
Source: as above; an awk count for the Apache log."""


def build_design(name: str, key: str, splits: Any) -> Design:
    """Build a design over the two fields of a sample."""
    _, entity, time = SAMPLES[name]
    fields = {
        "e": {"type": "text", "from": entity},
        "ts": {"type": "timestamp_s", "from": time},
    }
    return Design(
        "t", key, fields=fields, splits=splits, writes={"sort": True}, cluster={"servers": 8}
    )


@cache
def record_columns(name: str) -> RecordedSample:
    """Return the two columns of a sample, read once for all keys."""
    _, entity, time = SAMPLES[name]
    recording = record_sample(SAMPLES[name][0])
    recording.request_columns([entity, time])
    return recording


@cache
def simulate_key(name: str, key: str) -> Simulation:
    """Return the simulation of a sample under a key."""
    splits = "per_bucket" if key in SALTED else {"algorithm": "sample", "regions": 16}
    return run(build_design(name, key, splits), record_columns(name), second_half=key in SALTED)


@pytest.mark.parametrize(
    ("name", "key", "expected"),
    [(name, KEYS[n], TABLE[name][n]) for name, n in CASES],
)
def test_shares_of_the_busiest_region_are_those_of_the_table(
    name: str, key: str, expected: tuple[float, float, float]
) -> None:
    """Total, median and worst share of the busiest region are within 0.02 of the table."""
    found = simulate_key(name, key)
    counts = found.replay.equal_windows.counts
    median = float(np.median(counts.max(axis=1) / counts.sum(axis=1)))
    shares = (found.region_shares.total, median, found.region_shares.worst)
    assert pytest.approx(expected, abs=TOLERANCE + 0.005) == shares


CAUSES: dict[tuple[str, str], list[str]] = {
    **{(name, KEYS[0]): ["moving_front"] for name in TABLE},
    # The sensors of the first half, whose quantiles are the splits, are others than the second's.
    **{("nab", key): ["missed_splits"] for key in KEYS[1:3]},
    ("nab", KEYS[3]): ["few_entities"],
    **{("carrier", key): ["few_entities", "hot_entity"] for key in KEYS[1:4]},
    **{("apache", key): ["hot_entity"] for key in KEYS[1:4]},
    **{(name, KEYS[4]): ["time_only_bucket"] for name in ("nab", "cdnow", "tail", "carrier")},
}


@pytest.mark.parametrize(("name", "key"), [(name, KEYS[n]) for name, n in CASES])
def test_each_hot_verdict_has_the_causes_of_its_data(name: str, key: str) -> None:
    """Each hot verdict has the causes of its data, and each even one has none."""
    found = simulate_key(name, key)
    expected = CAUSES.get((name, key), [])
    assert expected == sorted(cause.code for cause in found.causes)
    assert bool(expected) == (found.verdict.level != "even")


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=() if one in SHORT_SAMPLES else pytest.mark.long) for one in SAMPLES],
)
def test_overwritten_rows_equal_a_direct_count(name: str) -> None:
    """Overwritten rows are those counted by a set of entity and time pairs."""
    design = build_design(name, "[e][ts]", ["m"])
    sample = open_sample(SAMPLES[name][0], design.collect_needed_fields(), design.writes.time)
    pairs: Counter[tuple[Any, Any]] = Counter()
    for events in sample.read_events():
        times = events.rows.column("ts").cast("int64")
        pairs.update(zip(events.rows.column("e").to_pylist(), times.to_pylist(), strict=True))
    found = run(design, SAMPLES[name][0])
    assert OVERWRITTEN[name] == sum(pairs.values()) - len(pairs) == found.overwrite_count
    assert found.is_overwrite_exact


def test_the_worst_burst_of_the_apache_log_is_named() -> None:
    """The client, window and shares of the worst burst are those of a direct count."""
    found = simulate_key("apache", "[e][ts]")
    rows = []
    design = found.design
    for events in open_sample(
        SAMPLES["apache"][0], design.collect_needed_fields(), None
    ).read_events():
        rows += events.rows.to_pylist()
    rows.sort(key=lambda row: row["ts"])
    half = [row["e"] for row in rows[len(rows) // 2 :]]
    windows = [Counter(half[at : at + 100]).most_common(1)[0] for at in range(0, 5_000, 100)]
    worst = max(range(50), key=lambda n: windows[n][1])
    client, count = windows[worst]
    figures = found.causes[0].evidence
    assert (f"e {client}", half.count(client) / 5_000) == (figures["value"], figures["share"])
    assert {
        "width_s": None,
        "worst": worst,
        "worst_share": count / 100,
        "mean_share": pytest.approx(sum(count for _, count in windows) / 5_000),
    } == figures["windows"]


@pytest.mark.long
def test_flights_at_whole_hours_reach_one_of_sixteen_remainders() -> None:
    """Times in steps of an hour reach one of 16 remainders: all rows are in one region."""
    found = simulate_key("tail", KEYS[4])
    hours = {
        int(time.timestamp()) % 16
        for time in (datetime(2013, 1, 1, 10, tzinfo=UTC), datetime(2013, 7, 4, 23, tzinfo=UTC))
    }
    figures = found.causes[0].evidence
    assert (1, 3_600, 1, 16) == (
        len(hours),
        figures["step_s"],
        figures["reached"],
        figures["buckets"],
    )
    assert 15 == found.empty_region_count
