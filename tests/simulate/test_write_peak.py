"""The busiest minute of a recording decides what its declared rate asks of a server."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from rowkey.advise import estimate_resources, judge_design
from rowkey.design import Design
from rowkey.simulate import Simulation, run

START_MS = 1_700_000_400_000 // 3_600_000 * 3_600_000
BY_HOST, BY_ID = "[bucket(host, 16)][host][ts][id]", "[bucket(id, 16)][id][host][ts]"


def simulate_events(
    times_ms: np.ndarray, hosts: np.ndarray, key: str, rate: str, splits: Any = "per_bucket"
) -> Simulation:
    """Return the simulation of events in the order of their times, on eight servers."""
    order = np.argsort(times_ms, kind="stable")
    design = Design(
        "t",
        key,
        fields={"host": {"type": "text", "max_bytes": 12}, "ts": "timestamp_ms", "id": "u64"},
        splits=splits,
        cluster={"servers": 8},
        writes={"rate": rate},
    )
    columns = {
        "host": np.char.add("h", hosts[order].astype(str)),
        "ts": START_MS + times_ms[order].astype(np.int64),
        "id": np.arange(len(order)),
    }
    return run(design, pa.table(columns))


def generate_burst() -> tuple[np.ndarray, np.ndarray]:
    """Return an hour of 400 hosts; three minutes have 4.2 times the mean, 80 % of it on host 7."""
    chance = np.random.default_rng(3)
    calm, burst = round(60_000 * (1 - 3 * 4.2 / 60)), round(60_000 * 3 * 4.2 / 60)
    minutes = np.concatenate([np.arange(20), np.arange(23, 60)])
    times = np.concatenate(
        [
            (chance.choice(minutes, calm) + chance.random(calm)) * 60_000,
            (20 + 3 * chance.random(burst)) * 60_000,
        ]
    )
    hosts = chance.integers(0, 400, len(times))
    hosts[calm:][chance.random(burst) < 0.8] = 7
    return times, hosts


def test_a_burst_of_one_host_counts_on_its_server_at_its_time() -> None:
    """At a mean of 20,000/s one server gets 67,000/s and its share of the rest, as counted."""
    times, hosts = generate_burst()
    simulation = simulate_events(times, hosts, BY_HOST, "20000/s")
    first = simulation.write_peak
    assert first is not None
    minute = times // 60_000 == (first.start_ms - START_MS) // 60_000
    counted = first.server_share * np.count_nonzero(minute) / (len(times) / 60) * 8
    assert pytest.approx(counted, rel=0.05) == first.server_factor
    assert pytest.approx(4.2, rel=0.1) == first.factor
    writes = judge_design(simulation, []).decisive
    assert writes.grade == "poor"
    assert pytest.approx(6.9, rel=0.1) == writes.utilization
    servers = estimate_resources(simulation).servers
    assert servers.value is None
    assert "the busiest region" in servers.reason


@pytest.mark.parametrize("shift_minutes", [5, 30, 39])
def test_a_burst_is_found_if_only_half_of_the_sample_is_replayed(shift_minutes: int) -> None:
    """The busiest minute is found where only the second half of the events is replayed, too."""
    times, hosts = generate_burst()
    times = (times + shift_minutes * 60_000) % 3_600_000
    by_bucket = simulate_events(times, hosts, BY_HOST, "20000/s").write_peak
    sampled = {"algorithm": "sample", "regions": 16}
    by_sample = simulate_events(times, hosts, BY_HOST, "20000/s", sampled).write_peak
    assert by_bucket is not None
    assert by_sample is not None
    assert abs(by_sample.start_ms - by_bucket.start_ms) < 180_000
    assert pytest.approx(by_bucket.factor) == by_sample.factor
    assert by_sample.server_share >= 0.8


def test_an_even_key_needs_servers_for_a_burst_of_all_hosts() -> None:
    """The cluster is full while the burst lasts, though the mean is a quarter of it."""
    simulation = simulate_events(*generate_burst(), BY_ID, "20000/s")
    writes = judge_design(simulation, []).decisive
    assert pytest.approx(1.05, rel=0.1) == writes.utilization
    resources = estimate_resources(simulation)
    assert pytest.approx(84_000, rel=0.1) == resources.operations_per_s.value


@pytest.mark.parametrize("seed", range(12))
def test_random_events_at_a_steady_rate_have_no_busiest_minute(seed: int) -> None:
    """Events that come at random at a steady rate have no busiest minute, many or few."""
    chance = np.random.default_rng(seed)
    count = int(10 ** chance.uniform(3, 4.7))
    times = chance.random(count) * 10 ** chance.uniform(6, 8)
    simulation = simulate_events(times, chance.integers(0, 5_000, count), BY_ID, "20000/s")
    assert simulation.write_peak is None


def test_meters_that_all_write_at_the_full_hour_fill_servers_then() -> None:
    """1,000 meters in the first minute of each hour are 60 times their mean rate in it."""
    chance = np.random.default_rng(1)
    hours, meters = np.repeat(np.arange(24), 1_000), np.tile(np.arange(1_000), 24)
    times = hours * 3_600_000 + chance.integers(0, 60, len(hours)) * 1_000
    key = "[bucket(host, 16)][host][ts][id]"
    peak = simulate_events(times, meters, key, "1000/s").write_peak
    assert peak is not None
    assert pytest.approx(60 * 23 / 24, rel=0.05) == peak.factor


def test_times_in_whole_hours_have_no_busiest_minute() -> None:
    """Where all times are whole hours, nothing says in which minute an event came."""
    hours, meters = np.repeat(np.arange(24), 4_000), np.tile(np.arange(4_000), 24)
    simulation = simulate_events(hours * 3_600_000, meters, BY_ID, "1000/s")
    assert simulation.write_peak is None


@pytest.mark.parametrize(("rate", "is_told"), [("0.005/s", True), ("500/s", False)])
def test_an_outage_in_a_sparse_log_predicts_no_peak_at_higher_rates(
    rate: str, is_told: bool
) -> None:
    """Of 2,000 lines in 26 days 1,600 came in one hour, which is no rule of another cluster."""
    chance = np.random.default_rng(8)
    times = np.concatenate([chance.random(400) * 26 * 24, 300 + chance.random(1_600)]) * 3_600_000
    simulation = simulate_events(times, chance.integers(0, 80, len(times)), BY_ID, rate)
    [writes] = [one for one in judge_design(simulation, []).assessments if one.topic == "writes"]
    assert is_told is (simulation.write_peak is not None)
    assert is_told is not ("cannot be told: declare [[writes.bursts]]" in writes.message)
    assert is_told or writes.grade == "good"


@pytest.mark.parametrize(
    ("distinct", "busiest"),
    [
        (None, 960.0),  # more products of the same pace
        (200_000, 960.0),
        (20_000, 144.0),  # each 6.7 times as often: more imports a night
        (1_000, 7.2),
    ],
)
def test_more_imports_of_as_many_products_come_at_other_times(
    distinct: int | None, busiest: float
) -> None:
    """What the declared values leave of the rate comes at other times than one import."""
    nights = np.concatenate([night * 86_400 + np.arange(1_000) / 100 for night in range(3)])
    design = Design(
        "products", "[bucket(sku, 16)][sku]", splits="per_bucket",
        fields={"sku": {"type": "u32"} | ({"distinct": distinct} if distinct else {}),
                "ts": "timestamp_ms"},
        cluster={"servers": 8}, writes={"rate": f"{200_000 / 86_400:.6f}/s", "time": "ts"},
    )  # fmt: skip
    rows = {
        "sku": np.tile(np.arange(1_000) * 977, 3),
        "ts": START_MS + (nights * 1_000).astype(int),
    }
    peak = run(design, pa.table(rows)).write_peak
    assert peak is not None
    assert peak.factor == pytest.approx(busiest, rel=0.4)


def test_busy_hours_stay_busy_if_the_same_users_write_more() -> None:
    """Busy hours stay busy, also if the declared users write twice as often as in the sample."""
    chance = np.random.default_rng(4)
    hours = chance.choice(24, 60_000, p=1 / 24 + np.sin(np.arange(24) / 24 * 2 * np.pi) / 30)
    times = (hours + chance.random(60_000)) * 3_600_000
    users = chance.integers(0, 3_000, 60_000)
    peaks = []
    for rate in (60_000 / 86_400, 120_000 / 86_400):
        order = np.argsort(times)
        design = Design(
            "t", "[bucket(user, 16)][user][ts]", splits="per_bucket",
            fields={"user": {"type": "u32", "distinct": 3_000}, "ts": "timestamp_ms"},
            cluster={"servers": 8}, writes={"rate": f"{rate:.6f}/s", "time": "ts"},
        )  # fmt: skip
        rows = {"user": users[order], "ts": START_MS + times[order].astype(np.int64)}
        peaks.append(run(design, pa.table(rows)).write_peak)
    assert peaks[0] is not None
    assert peaks[0] == peaks[1]
