"""The load of reads by region agrees with a loop over reads and rows, and its margins hold."""

from __future__ import annotations

import csv
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rowkey.design import Design
from rowkey.keys import bind_key
from rowkey.plan import plan_read
from rowkey.regions import to_string_binary
from rowkey.simulate import Simulation, run
from rowkey.simulate.read_load import AnswerLoad, TrialLoad
from rowkey.workload import count_read_operations
from simulate.naive import count_rows_by_region

HOUR = 3_600
FIELDS: dict[str, Any] = {
    "host": {"type": "text", "max_bytes": 8},
    "kind": {"type": "choice", "of": ["info", "warn", "error"]},
    "ts": "timestamp_s",
}
KEYS = ("[host][ts][kind]", "[bucket(host, 4)][host][ts][kind]", "[ts][host][kind]",
        "[kind][host][ts]")  # fmt: skip
READS: dict[str, dict[str, str]] = {
    "host": {"where": "host = ?"},
    "hour": {"where": "host = ? and ts >= ? and ts < ?", "span": "1h"},
    "window": {"where": "ts >= ? and ts < ?", "span": "1h"},
    "kind": {"where": "kind = 'warn'"},
}
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
DRAWS = 100 if IS_LONG else 40
"""Seeds of which 95 % must keep a margin."""
Row = dict[str, Any]


def simulate(
    folder: Path, rows: list[Row], key: str, *reads: dict[str, str], splits: list[str] | None = None
) -> Simulation:
    """Return a replay of rows on a design with some reads, of 4 servers."""
    path = folder / "rows.csv"
    with path.open("w", newline="") as file:
        out = csv.DictWriter(file, list(FIELDS))
        out.writeheader()
        out.writerows(rows)
    if splits is None:
        keys = sorted(bind_key(key, FIELDS).encode(row) for row in rows)
        splits = [to_string_binary(keys[len(keys) * n // 28]) for n in (1, 3, 6, 10, 15, 21)]
    design = Design(
        "t", key, fields=FIELDS, splits=splits, writes={"time": "ts", "sort": False},
        cluster={"servers": 4}, reads=[{"name": f"r{n}", **one} for n, one in enumerate(reads)],
    )  # fmt: skip
    return run(design, path)


def make_rows(count: int, hot_share: float = 0.0) -> list[Row]:
    """Return different rows over a day, of which one host may have more than the others."""
    chance = random.Random(7)
    return [
        {
            "host": "h4" if chance.random() < hot_share else f"h{chance.randrange(9)}",
            "kind": chance.choice(("info", "warn", "error")),
            "ts": 1_700_000_000 + number * 86_400 // count,
        }
        for number in range(count)
    ]


def choose_parameters(name: str, rows: list[Row], row: Row) -> list[Any]:
    """Return the values that a read of a row asks for; an hour ends within the sample."""
    times = [one["ts"] for one in rows]
    start = max(min(row["ts"], max(times) - HOUR), min(times))
    values = {"host": [row["host"]], "kind": [], "window": [start, start + HOUR]}
    return values.get(name, [row["host"], start, start + HOUR])


def count_operations(design: Design, name: str, rows: list[Row]) -> list[float]:
    """Return the mean operations by region if each row is asked for once."""
    keys = sorted(design.key.encode(row) for row in rows)
    regions = design.splits.compute_boundaries(design.key).regions
    operations = [0.0] * len(regions)
    for row in rows:
        values: dict[int | str, Any] = dict(enumerate(choose_parameters(name, rows, row)))
        plan = plan_read(design.key, design.reads[0].build_bounds(values))
        ranges = [(one.start, one.stop) for one in plan.ranges]
        for number, row_count in count_rows_by_region(ranges, keys, regions).items():
            operations[number] += count_read_operations(1, row_count)
    return [one / len(rows) for one in operations]


@pytest.mark.parametrize(
    ("key", "name"),
    [
        pytest.param(key, name, marks=pytest.mark.long if (number + place) % 2 else ())
        for number, key in enumerate(KEYS)
        for place, name in enumerate(READS)
    ],
)
def test_read_loads_equal_those_of_a_loop_over_reads_and_rows(
    tmp_path: Path, key: str, name: str
) -> None:
    """Where each of 100 rows is asked for once, operations by region and server are exact."""
    rows = make_rows(100)
    simulation = simulate(tmp_path, rows, key, {**READS[name], "rate": "30/m"})
    (load,), (cost,) = simulation.read_loads, simulation.reads
    expected = count_operations(simulation.design, name, rows)
    assert pytest.approx([one / 2 for one in expected]) == load.regions.operations.tolist()
    by_server = [0.0] * 4
    for region, one in zip(simulation.regions, expected, strict=True):
        by_server[region.server] += one / 2
    assert pytest.approx(by_server) == load.servers.operations.tolist()
    total = count_read_operations(cost.regions[0], cost.read_rows) / 2
    assert pytest.approx(total) == load.regions.total == pytest.approx(load.servers.total)


def test_loads_of_reads_are_added_at_their_rates(tmp_path: Path) -> None:
    """A read without a rate counts once a second, which the sum says."""
    rows = make_rows(300)
    reads = [{**READS["host"], "rate": "5/s"}, READS["window"]]
    simulation = simulate(tmp_path, rows, KEYS[0], *reads)
    first, second = simulation.read_loads
    assert (5.0, True, 1.0, False) == (
        first.rate, first.is_rate_declared, second.rate, second.is_rate_declared,
    )  # fmt: skip
    total = simulation.total_read_load
    assert total is not None
    assert (6.0, False) == (total.rate, total.is_rate_declared)
    expected = first.regions.operations + second.regions.operations
    assert pytest.approx(expected) == total.regions.operations
    assert simulate(tmp_path, rows, KEYS[0]).total_read_load is None


def test_reads_of_a_popular_host_load_its_region(tmp_path: Path) -> None:
    """A host with six tenths of the rows is asked for as often, in the region that holds it."""
    simulation = simulate(
        tmp_path,
        make_rows(2_000, 0.55),
        KEYS[0],
        {"where": "host = ? and ts = ?"},
        splits=[f"h{number}" for number in range(1, 9)],
    )
    (load,) = simulation.read_loads
    share, margin = load.regions.busiest_share
    writes = [region.writes for region in simulation.regions]
    assert writes.index(max(writes)) == load.regions.busiest_place
    written = max(writes) / 2_000
    assert pytest.approx(written, abs=1e-6) == share
    assert 0.01 < margin < 0.03
    assert "hot" == load.servers.level


def test_reads_of_the_latest_hour_load_one_region(tmp_path: Path) -> None:
    """All reads of the latest hour fall on the region of the newest rows."""
    simulation = simulate(
        tmp_path, make_rows(500), KEYS[2], {"where": "ts >= ?", "span": "1h", "rate": "1/s"}
    )
    (load,) = simulation.read_loads
    assert (1.0, len(simulation.regions) - 1) == (
        load.regions.busiest_share[0],
        load.regions.busiest_place,
    )
    assert "hot" == load.servers.level


def draw_answer(
    seed: int, shares: np.ndarray[Any, Any], costs: np.ndarray[Any, Any], row_count: int
) -> AnswerLoad:
    """Return the load of a read of random rows, of which every eleventh asks two regions.

    Args:
        seed: where randomness begins.
        shares: of the rows by region.
        costs: mean operations of an answer in its region.
        row_count: how many rows there are.
    """
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(shares), row_count, p=shares)
    trials = []
    for origin in rows[:: row_count // 100][:100].tolist():
        regions = {origin, rng.integers(len(shares))} if rng.random() < 1 / 11 else {origin}
        touched = np.array(sorted(regions))
        operations = costs[touched] * rng.uniform(0.5, 1.5)
        trials.append(TrialLoad(origin, touched, operations, operations))
    return AnswerLoad(
        tuple(trials), np.bincount(rows, minlength=len(shares)) / row_count, row_count
    )


@pytest.mark.parametrize("row_count", [100, 1_000])
def test_even_reads_are_not_called_uneven(row_count: int) -> None:
    """In 95 of 100 replays or more, chance is not called warm or hot."""
    shares, servers = np.full(16, 1 / 16), np.arange(16) % 8
    levels = [
        draw_answer(seed, shares, np.full(16, 1.5), row_count).estimate_load(servers, 8).level
        for seed in range(DRAWS)
    ]
    assert levels.count("even") >= 0.95 * DRAWS


@pytest.mark.parametrize("row_count", [300, 5_000])
def test_the_true_share_of_a_region_is_within_its_margin(row_count: int) -> None:
    """The true share of a region, and of a server, lies within the margin in 95 of 100 cases."""
    weights = np.arange(1, 17) ** -0.8
    shares, costs = weights / weights.sum(), np.linspace(1.0, 3.0, 16)
    own = shares * costs
    # An answer asks another region in 1 of 11 cases; it then is its own in 1 of 16.
    true_loads = own + costs / 16 / 11 - own / 16 / 11
    hits, cases = 0, 0
    for groups, count in ((np.arange(16), 16), (np.arange(16) % 4, 4)):
        expected = np.bincount(groups, true_loads, count) / true_loads.sum()
        for seed in range(DRAWS):
            load = draw_answer(seed, shares, costs, row_count).estimate_load(groups, count)
            is_near = np.abs(load.operations / load.total - expected) <= load.margins / load.total
            hits, cases = hits + int(is_near.sum()), cases + count
    assert 0.95 <= hits / cases
