"""Reads with declared `keys` and `age` fall where a loop over values and times says."""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from example_counts import thin_out
from rowkey.plan import plan_read
from rowkey.workload import count_read_operations
from simulate.naive import count_rows_by_region
from simulate.test_read_load import HOUR, IS_LONG, KEYS, Row, make_rows, simulate

if TYPE_CHECKING:
    from rowkey.simulate import ReadLoad, Simulation

SEEDS = 25 if IS_LONG else 4
TIMES = 40
"""Times of each value that the loop asks for."""
READS = {
    "hour": "host = ? and ts >= ? and ts < ?",
    "window": "ts >= ? and ts < ?",
    "since": "host = ? and ts > ?",
}
POPULARITIES = ("sample", "uniform", "zipf(1.2)")
AGES = ("latest", "uniform", "exp(2h)")


def compute_shares(counts: Sequence[float], keys: str) -> list[float]:
    """Return the share of the answers of each value, by its count, from the definition."""
    ranked = sorted(range(len(counts)), key=lambda place: (-counts[place], place))
    weights = {"sample": list(counts), "uniform": [1.0] * len(counts)}.get(keys)
    if weights is None:
        exponent = float(keys[5:-1])
        weights = [(ranked.index(place) + 1) ** -exponent for place in range(len(counts))]
    return [one / sum(weights) for one in weights]


def list_starts(rows: list[Row], age: str) -> list[int]:
    """Return where ranges of an hour begin, at equal steps of their distribution."""
    least, greatest = min(row["ts"] for row in rows), max(row["ts"] for row in rows)
    oldest, mean = greatest - HOUR - least, 2 * HOUR
    starts = []
    for number in range(TIMES):
        chance = (number + 0.5) / TIMES
        ages = {"latest": 0.0, "uniform": chance * oldest}
        exponential = -mean * math.log(1 - chance * (1 - math.exp(-oldest / mean)))
        starts.append(int(greatest - HOUR - ages.get(age, exponential)))
    return starts


def list_answers(
    rows: list[Row], name: str, keys: str, age: str
) -> Iterator[tuple[float, list[Any]]]:
    """Yield values of a read's parameters with the share of the answers that ask for them."""
    counts = Counter(row["host"] for row in rows)
    hosts = sorted(counts)
    shares = compute_shares([counts[host] for host in hosts], keys)
    values = [[host] for host in hosts] if "host" in READS[name] else [[]]
    for share, value in zip(shares if values[0] else [1.0], values, strict=True):
        for start in list_starts(rows, age):
            ends = [start] if name == "since" else [start, start + HOUR]
            yield share / TIMES, [*value, *ends]


def compute_loads(simulation: Simulation, rows: list[Row], *words: str) -> list[float]:
    """Return the operations of the mean answer by region."""
    design = simulation.design
    keys = sorted(design.key.encode(row) for row in rows)
    loads = [0.0] * len(simulation.regions)
    for share, values in list_answers(rows, *words):
        plan = plan_read(design.key, design.reads[0].build_bounds(dict(enumerate(values))))
        ranges = [(one.start, one.stop) for one in plan.ranges]
        regions = list(simulation.boundaries.regions)
        for number, count in count_rows_by_region(ranges, keys, regions).items():
            loads[number] += share * count_read_operations(1, count)
    return loads


def find_hits(load: ReadLoad, simulation: Simulation, loads: Sequence[float]) -> list[bool]:
    """Return for each region and server whether its share lies within the margin."""
    servers = [region.server for region in simulation.regions]
    hits = []
    for estimate, groups in ((load.regions, range(len(servers))), (load.servers, servers)):
        expected = np.bincount(list(groups), loads, len(estimate.operations)) / sum(loads)
        apart = np.abs(estimate.operations / estimate.total - expected)
        hits += (apart <= estimate.margins / estimate.total + 1e-9).tolist()
    return hits


@pytest.mark.parametrize("key", thin_out(KEYS, len(KEYS)))
def test_shares_by_declared_values_and_ages_are_within_their_margins(
    tmp_path: Path, key: str
) -> None:
    """Of values and times that are declared, 95 of 100 shares lie within their margins."""
    hits = []
    cases = [*(product(READS, AGES) if IS_LONG else zip(READS, AGES, strict=True))]
    for seed, (name, age) in enumerate(cases * (SEEDS // 4)):
        rows = make_rows(300, 0.3)
        keys = "sample" if name == "window" else POPULARITIES[seed % 3]
        words = {"keys": keys} if name != "window" else {}
        read = {"where": READS[name], "span": "1h", "age": age, **words}
        simulation = simulate(tmp_path, rows, key, read)
        (load,) = simulation.read_loads
        loads = compute_loads(simulation, rows, name, keys, age)
        hits += find_hits(load, simulation, loads)
        assert pytest.approx(sum(loads), rel=0.1) == load.regions.total
    assert 0.95 <= sum(hits) / len(hits)


@pytest.mark.parametrize(
    ("keys", "host_count"), thin_out(product([*POPULARITIES[1:], "zipf(0.8)"], [60, 300]), 3)
)
def test_shares_of_values_that_the_sample_hardly_has_are_within_their_margins(
    tmp_path: Path, keys: str, host_count: int
) -> None:
    """Values that 400 rows lack, or rank in another order than all rows, are in the margins."""
    splits = [f"h{number:03}" for number in range(40, 280, 40)]
    frequencies = [(number + 1) ** -0.8 for number in range(host_count)]
    hits = []
    for seed in range(2 * SEEDS):
        chance = random.Random(seed)
        hosts = [f"h{number * 300 // host_count:03}" for number in range(host_count)]
        chance.shuffle(hosts)
        drawn = chance.choices(hosts, frequencies, k=400)
        rows = [
            {"host": host, "kind": "info", "ts": 1_700_000_000 + number}
            for number, host in enumerate(drawn)
        ]
        read = {"where": "host = ?", "limit": 1, "keys": keys}
        simulation = simulate(tmp_path, rows, "[host][ts][kind]", read, splits=splits)  # type: ignore[arg-type]
        loads = [0.0] * len(simulation.regions)
        for host, share in zip(hosts, compute_shares(frequencies, keys), strict=True):
            loads[bisect_right(splits, host)] += share
        hits += find_hits(simulation.read_loads[0], simulation, loads)
    assert 0.93 <= sum(hits) / len(hits)


@pytest.mark.parametrize("keys", ["uniform", "zipf(0.2)"])
def test_rare_answers_with_many_rows_are_counted(tmp_path: Path, keys: str) -> None:
    """One host of 500 has half of the rows: few answers are of it, and most rows are."""
    hosts = [f"h{number:03}" for number in range(500)] + ["h250"] * 499
    rows = [
        {"host": host, "kind": "info", "ts": 1_700_000_000 + number}
        for number, host in enumerate(hosts)
    ]
    splits = [f"h{number:03}" for number in (100, 200, 300, 400)]
    read = {"where": "host = ?", "keys": keys}
    simulation = simulate(tmp_path, rows, "[host][ts][kind]", read, splits=splits)
    counts = Counter(hosts)
    values = sorted(counts)
    loads, mean_rows = [0.0] * len(simulation.regions), 0.0
    shares = compute_shares([counts[host] for host in values], keys)
    for host, share in zip(values, shares, strict=True):
        loads[bisect_right(splits, host)] += share * count_read_operations(1, counts[host])
        mean_rows += share * counts[host]
    ((load,), (cost,)) = simulation.read_loads, simulation.reads
    assert all(find_hits(load, simulation, loads))
    assert abs(cost.read_rows - mean_rows) <= cost.margins.read_rows
    assert pytest.approx(mean_rows, rel=0.1) == cost.read_rows


def test_declaring_keys_as_the_sample_changes_nothing(tmp_path: Path) -> None:
    """`keys = "sample"` is what is assumed without it."""
    rows = make_rows(300, 0.3)
    read = {"where": READS["hour"], "span": "1h"}
    first, second = simulate(tmp_path, rows, KEYS[1], read, {**read, "keys": "sample"}).read_loads
    assert first.regions.operations.tolist() == second.regions.operations.tolist()


def test_read_ages_are_drawn_under_a_random_salt(tmp_path: Path) -> None:
    """Ages of a read are drawn where the salt of a row is random, too."""
    read = {"where": READS["hour"], "span": "1h", "age": "exp(2h)"}
    splits = [f"\\x0{number}" for number in range(1, 4)]
    simulation = simulate(tmp_path, make_rows(300), "[salt(4)][host][ts]", read, splits=splits)
    (load,) = simulation.read_loads
    assert pytest.approx(1, rel=0.2) == load.regions.skew


@pytest.mark.parametrize(("age", "share"), [("exp(40h)", True), ("exp(1m)", False)])
def test_declared_ages_beyond_the_sample_are_reported(
    tmp_path: Path, age: str, share: bool
) -> None:
    """Where the sample is too short for the declared ages, the read says how many it lacks."""
    read = {"where": READS["hour"], "span": "1h", "age": age}
    [cost] = simulate(tmp_path, make_rows(300), KEYS[1], read).reads
    assert share is (f"of the ages {age} lie before the oldest row" in cost.assumption)
