"""Skew is shown at four window widths, here of one workload under seven keys.

Four million writes in 600 s by 1,000 hosts (Zipf 0.99) over eight servers, buckets round robin;
`make test` writes a quarter of them.
Source: a table measured by a prototype; rows that depend on a hash's luck are counted directly.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

import mmh3
import numpy as np
import pytest

from rowkey.design import Design
from rowkey.simulate import run
from rowkey.workload import WorkloadGenerator

SERVERS = 8
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
EVENTS = 4_000_000 if IS_LONG else 1_000_000
WRITES = {"rate": f"{EVENTS // 10}/m", "for": "10m", "time": "ts"}
ANY_MILLISECOND = {**WRITES, "late": {"share": 1.0, "upto": "99ms"}}
"""The prototype's events fell on any millisecond, ours come evenly: so they are late by some."""


def build_design(key: str, unit: str = "timestamp_ms", writes: Any = WRITES) -> Design:
    """Build the design of the workload under a key."""
    fields = {
        "host": {"type": "text", "distinct": 1_000, "draw": {"kind": "zipf", "theta": 0.99}},
        "ts": unit,
    }
    leads = key.partition("]")[0].removeprefix("[")
    by_itself = {"algorithm": "uniform", "regions": 64}
    splits = by_itself if leads in fields else "per_bucket"
    return Design(
        "t", key, fields=fields, splits=splits, writes=writes, cluster={"servers": SERVERS}
    )


def compute_skews(design: Design) -> list[float]:
    """Return the skew over servers in windows of 1, 10, 60 and 600 s."""
    found = run(design)
    assert EVENTS == found.operation_count
    return [skew.server_skew or 0.0 for skew in found.skews]


TABLE = [
    pytest.param(
        "[ts][host]", "timestamp_ms", WRITES, (8.00, 8.00, 8.00, 8.00), marks=pytest.mark.long
    ),
    ("[mod(ts, 100)][ts][host]", "timestamp_s", WRITES, (8.00, 1.61, 1.07, 1.04)),
    pytest.param(
        "[mod(ts, 100)][ts][host]", "timestamp_ms", ANY_MILLISECOND, (1.08, 1.05, 1.04, 1.04),
        marks=pytest.mark.long,
    ),
    pytest.param(
        "[bucket(host, ts, 64)][ts][host]", "timestamp_ms", WRITES, (1.05, 1.02, 1.01, 1.00),
        marks=pytest.mark.long,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("key", "unit", "writes", "expected"), TABLE)
def test_a_leading_time_is_hot_at_every_window_width(
    key: str, unit: str, writes: Any, expected: tuple[float, ...]
) -> None:
    """A leading time is hot at every width, a remainder of seconds only at short widths."""
    assert pytest.approx(expected, rel=0.03) == compute_skews(build_design(key, unit, writes))


@lru_cache
def list_events() -> tuple[Any, Any, Any]:
    """Return second, host and minute of every event of the generator."""
    design = build_design("[host][ts]")
    seconds, hosts = [], []
    for events in WorkloadGenerator(design.writes, design.fields).generate_events():
        assert events.clock_ms is not None
        seconds.append(events.clock_ms // 1_000)
        hosts.append(np.array(events.rows.column("host").indices))
    return np.concatenate(seconds), np.concatenate(hosts), 1_000


def recount_skews(servers: Any) -> list[float]:
    """Return the skew at each width, counted from the server of every event."""
    second, _, _ = list_events()
    found = []
    for width in (1, 10, 60, 600):
        window = second // width - second[0] // width
        cells = np.bincount(window * SERVERS + servers, minlength=SERVERS * (window[-1] + 1))
        loads = cells.reshape(-1, SERVERS)
        found.append(SERVERS * loads.max(axis=1).sum() / len(second))
    return found


def test_a_hash_of_the_host_has_the_skew_of_a_direct_count() -> None:
    """A hash of the host has the skew of a direct count, at least that of the heaviest host."""
    _, hosts, distinct = list_events()
    names = [f"{host:08}".encode() + b"\0" for host in range(distinct)]
    bucket = np.array([mmh3.hash(name, 0, False) % 10 for name in names])
    expected = recount_skews(bucket[hosts] % SERVERS)
    found = compute_skews(build_design("[bucket(host, 10)][host][ts]"))
    heaviest = np.bincount(hosts).max() / len(hosts)
    assert pytest.approx(expected, rel=1e-9) == found
    assert pytest.approx(0.129, abs=0.002) == heaviest
    assert min(found) >= SERVERS * heaviest


@pytest.mark.long
def test_a_hash_of_the_minute_is_hot_in_windows_up_to_a_minute() -> None:
    """A hash of the minute is hot up to windows of a minute, and less so over ten minutes."""
    second, _, _ = list_events()
    starts = (np.unique(second // 60) * 60_000).astype(">u8")
    bucket = np.array([mmh3.hash(start.tobytes(), 0, False) % 64 for start in starts])
    servers = bucket[second // 60 - second[0] // 60] % SERVERS
    found = compute_skews(build_design("[bucket(time_bucket(ts, 1m), 64)][ts][host]"))
    assert pytest.approx(recount_skews(servers), rel=1e-9) == found
    assert [8.0, 8.0, 8.0] == found[:3]
    assert found[3] < 8
