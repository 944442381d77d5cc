"""The busiest minute of a table, estimated from a part of it, is that of the whole."""

from __future__ import annotations

import re
import tracemalloc
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from example_counts import thin_out
from rowkey.advise import judge_simulation
from rowkey.design import Design
from rowkey.simulate import Simulation, run
from rowkey.simulate.part_peak import CommonLoad, PartGrowth, PartLoad

START_MS = 1_700_006_400_000
HOURS = 48
SERVERS = 8


def simulate_events(
    entities: np.ndarray,
    seconds: np.ndarray,
    rate: float,
    sample: dict[str, Any] | None = None,
    entity: dict[str, Any] | str = "u32",
    hours: float = HOURS,
) -> Simulation:
    """Return the simulation of events on eight servers, of which each can do 40 % of the rate."""
    order = np.argsort(seconds, kind="stable")
    design = Design(
        "t",
        "[bucket(entity, 16)][entity][ts][id]",
        fields={"entity": entity, "ts": "timestamp_ms", "id": "u64"},
        splits="per_bucket",
        families={"d": {"ttl": f"{hours}h"}},
        cluster={"servers": SERVERS, "capacity": f"{0.4 * rate:.6f}/s"},
        writes={"rate": f"{rate:.6f}/s", "time": "ts"},
        **({"sample": sample} if sample else {}),
    )
    columns = {
        "entity": entities[order],
        "ts": START_MS + (seconds[order] * 1_000).astype(np.int64),
        "id": np.arange(len(order)),
    }
    return run(design, pa.table(columns))


def generate_bursts(chance: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return 3,000 devices of which each reports 20 events within a minute, twice a day."""
    entities = np.repeat(np.arange(3_000), 2 * HOURS // 24 * 20)
    begins = np.repeat(chance.random(3_000 * 2 * HOURS // 24) * HOURS * 3_600, 20)
    return entities, begins + chance.random(len(begins)) * 60


def generate_batch(chance: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return 20,000 accounts that all get their postings in two hours of each night."""
    entities = np.tile(np.repeat(np.arange(20_000), 3), HOURS // 24)
    nights = np.repeat(np.arange(HOURS // 24) * 86_400, 60_000)
    return entities, nights + chance.random(len(entities)) * 7_200


@pytest.mark.parametrize("generate", [generate_bursts, generate_batch])
def test_a_part_of_the_sample_shows_the_peak_of_the_whole(generate: Any) -> None:
    """One event in fifty, or all events of one entity in fifty, show how busy a server gets."""
    chance = np.random.default_rng(1)
    entities, seconds = generate(chance)
    rate = len(entities) / HOURS / 3_600
    whole = simulate_events(entities, seconds, rate).write_peak
    assert whole is not None
    for part in ("events", "entity"):
        draws = chance.random(len(entities) if part == "events" else int(entities.max()) + 1)
        kept = (draws if part == "events" else draws[entities]) < 0.02
        sample = {"of": part, "share": "2%"}
        found = simulate_events(entities[kept], seconds[kept], rate, sample).write_peak
        assert found is not None
        assert found.factor_range is not None
        assert whole.width_s == found.width_s
        assert pytest.approx(whole.server_factor, rel=0.3) == found.server_factor
        assert found.factor_range[0] <= whole.server_factor <= found.factor_range[1]


@pytest.mark.parametrize("part", ["events", "entity"])
def test_a_part_of_an_even_load_is_judged_even(part: str) -> None:
    """Few events, or few entities, are uneven by chance; the table is not."""
    chance = np.random.default_rng(3)
    entities, seconds = chance.integers(0, 20_000, 1_000_000), chance.random(1_000_000)
    draws = chance.random(1_000_000 if part == "events" else 20_000)
    kept = (draws if part == "events" else draws[entities]) < 0.01
    found = simulate_events(
        entities[kept],
        seconds[kept] * HOURS * 3_600,
        1_000_000 / HOURS / 3_600,
        {"of": part, "share": "1%"},
    )
    assert "even" == found.verdict.level
    assert found.write_peak is None
    assert "good" == judge_simulation(found).verdict.grade


def test_a_burst_of_one_value_does_not_grow_with_the_number_of_values() -> None:
    """An invoice of 675 lines at one time is as long where seventeen times as many are written."""
    chance = np.random.default_rng(4)
    sizes = chance.geometric(1 / 20, 5_000)
    sizes[0] = 675
    entities = np.repeat(np.arange(5_000), sizes)
    begins = (chance.random(5_000) * HOURS * 3_600)[entities]
    own_rate = len(entities) / HOURS / 3_600
    once = simulate_events(entities, begins, own_rate).write_peak
    sample = {"of": "entity", "share": 1 / 17}
    many = simulate_events(entities, begins, 17 * own_rate, sample).write_peak
    assert once is not None
    assert many is not None
    # The true peak: 17 tables of which each has such an invoice at another time.
    minutes = np.floor((begins[:, np.newaxis] + chance.random(17) * HOURS * 3_600) / 60)
    minutes %= HOURS * 60
    servers = chance.integers(0, SERVERS, (5_000, 17))[entities]
    cells = (minutes * SERVERS + servers).astype(np.int64)
    truth = np.bincount(cells.ravel()).max() / (17 * own_rate * 60) * SERVERS
    assert once.server_factor > 3 * truth
    assert pytest.approx(truth, rel=0.25) == many.server_factor


@pytest.mark.parametrize(
    ("entity", "grade"),
    [
        ({"type": "u32", "distinct": 3}, "poor"),
        ({"type": "choice", "of": ["a", "b", "c"]}, "poor"),
        ({"type": "u32", "distinct": 2_000}, "good"),
        ("u32", "good"),
    ],
)
def test_a_field_of_three_values_loads_three_servers_whatever_part_was_sampled(
    entity: Any, grade: str
) -> None:
    """Three kinds of three are on three servers, however small a part they were taken for."""
    chance = np.random.default_rng(5)
    numbers = chance.integers(0, 3 if grade == "poor" else 40, 10_000)
    is_choice = isinstance(entity, dict) and "of" in entity
    kinds = np.array(["a", "b", "c"])[numbers] if is_choice else numbers
    seconds = chance.random(10_000) * HOURS * 3_600
    sample = {"of": "entity", "share": "1%"}
    found = simulate_events(kinds, seconds, 100 * 10_000 / HOURS / 3_600, sample, entity)
    assert grade == judge_simulation(found).verdict.grade
    if grade == "poor":
        assert found.verdict.skew > 2.5


@pytest.mark.parametrize("part", thin_out(["events", "entity"], 2))
def test_nightly_peaks_are_found_in_a_recording_of_a_month(part: str) -> None:
    """Thirty nightly bursts are as bad in a month as in a day, at the minute when they come."""
    chance = np.random.default_rng(6)
    entities = chance.integers(0, 20_000, 20_000)
    nights = np.repeat(np.arange(30), 200) * 86_400 + 7_200 + chance.random(6_000) * 60
    seconds = np.concatenate([nights, chance.random(14_000) * 30 * 86_400])
    sample = {"of": part, "share": "10%"}
    rate = 200_000 / 30 / 86_400
    found = simulate_events(entities, seconds, rate, sample, hours=30 * 24)
    peak = found.write_peak
    assert peak is not None
    assert 60 == peak.width_s
    assert 7_200 == (peak.start_ms - START_MS) / 1_000 % 86_400
    assert pytest.approx(0.3 * 24 * 60, rel=0.25) == peak.factor
    assert "poor" == judge_simulation(found).verdict.grade


each_key = pytest.mark.parametrize(
    "key", thin_out(["[user][item]", "[bucket(user, 16)][user][item]"], 2)
)


@each_key
def test_sessions_of_single_users_are_no_busy_time_of_all(key: str) -> None:
    """A user's items come within a minute, whatever else the key has beside the user."""
    users, seconds = generate_bursts(np.random.default_rng(10))
    rate = len(users) / HOURS / 3_600
    kept = users % 20 == 0
    part = simulate_items(key, users[kept], seconds[kept], rate, {"of": "user", "share": "5%"})
    whole = simulate_events(users, seconds, rate).write_peak
    assert part.write_peak is not None
    assert whole is not None
    assert pytest.approx(whole.server_factor, rel=0.4) == part.write_peak.server_factor


@each_key
def test_sessions_of_more_users_are_at_different_times(key: str) -> None:
    """A recording of far fewer events than declared has few sessions of many; the table all."""
    chance, sessions, items = np.random.default_rng(11), 2_000, 400
    users = np.repeat(chance.integers(0, 500, sessions), items)
    seconds = np.repeat(chance.random(sessions) * 400 * 86_400, items)
    seconds += chance.random(len(seconds)) * 60
    part = simulate_items(key, users, seconds, 1_000)
    busier_values = part.assume_growth("rows").write_peak
    assert busier_values is not None
    assert busier_values.server_factor > 1_000
    # Sessions of a million users level out; but one server may have them all, as in the sample.
    assert part.write_peak is not None
    assert part.write_peak.server_factor < 1.5 * SERVERS
    (writes,) = (one for one in judge_simulation(part).verdict.assessments if one.topic == "writes")
    assert re.search(r"the table has 4\d,\d{3} times as many values", writes.message)


@each_key
def test_more_users_are_spread_over_all_servers(key: str) -> None:
    """The few users of a recording who are busy in a minute are on few servers; many are on all."""
    chance = np.random.default_rng(12)
    users, begins = np.repeat(np.arange(2_400), 50), np.repeat(chance.random(2_400) * 3_600, 50)
    seconds, rate = begins + chance.random(len(users)) * 60, len(users) / 3_600
    kept = users % 16 == 0
    part = simulate_items(key, users[kept], seconds[kept], rate).write_peak
    whole = simulate_items(key, users, seconds, rate).write_peak
    assert part is not None
    assert part.factor_range is not None
    assert whole is not None
    assert part.factor_range[0] <= whole.server_factor <= part.factor_range[1]


def simulate_items(
    key: str,
    users: np.ndarray,
    seconds: np.ndarray,
    rate: float,
    sample: dict[str, Any] | None = None,
) -> Simulation:
    """Return the simulation of users' items on eight servers."""
    order = np.argsort(seconds, kind="stable")
    design = Design(
        "t", key,
        fields={"user": "u16", "item": "u64", "ts": "timestamp_ms"},
        splits="per_bucket" if "bucket" in key else {"algorithm": "uniform", "regions": 16},
        cluster={"servers": SERVERS, "capacity": f"{2 * rate:.6f}/s"},
        writes={"rate": f"{rate:.6f}/s", "time": "ts"},
        **({"sample": sample} if sample else {}),
    )  # fmt: skip
    columns = {
        "user": users[order] * 21,
        "item": np.arange(len(order)),
        "ts": START_MS + (seconds[order] * 1_000).astype(np.int64),
    }
    return run(design, pa.table(columns))


def test_the_memory_of_a_replay_does_not_grow_with_its_time() -> None:
    """Windows of a century take no more than those of a day."""
    chance = np.random.default_rng(7)
    groups, places = chance.integers(0, 5_000, 10_000), chance.random(10_000)
    peaks = []
    for count in (1_440, 1_440 * 36_500):
        tracemalloc.start()
        windows = (places * count).astype(np.int64)
        common_load = CommonLoad(groups, windows, count)
        load = PartLoad(groups, common_load, windows, count, PartGrowth(1, 0.01))
        load.estimate_maximum(np.full(SERVERS, 1 / SERVERS))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0] < 1e8


def draw_table(chance: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the entities of events and their windows in a day of ten minutes each, of any kind."""
    count = int(chance.integers(1_000, 8_000))
    paces = chance.gamma(chance.choice([0.5, 2.0, 100.0]), 1, count)
    sizes = chance.geometric(1 / chance.choice([1, 3, 20]), int(chance.integers(1_000, 8_000)))
    owners = chance.choice(count, len(sizes), p=paces / paces.sum())
    hours = chance.random(24) ** chance.choice([0, 1, 3]) + 0.1
    begins = (
        chance.choice(24, len(sizes), p=hours / hours.sum()) * 6 + chance.random(len(sizes)) * 6
    )
    return np.repeat(owners, sizes), np.repeat(begins.astype(np.int64), sizes)


@pytest.mark.long
def test_the_printed_range_holds_the_true_peak() -> None:
    """The true peak lies in it in 93 of 100 tables with any paces, bursts and hours, and more."""
    chance, held, tables = np.random.default_rng(8), 0, 100
    for number in range(tables):
        entities, windows = draw_table(chance)
        share = chance.choice([0.05, 0.1, 0.2])
        count = int(entities.max()) + 1
        servers = chance.integers(0, SERVERS, count)[entities]
        truth = np.bincount(windows * SERVERS + servers, minlength=144 * SERVERS).max()
        has_events = number % 2 == 0
        draws = chance.random(len(entities) if has_events else count)
        kept = (draws if has_events else draws[entities]) < share
        growth = PartGrowth(1, share) if has_events else PartGrowth(1 / share, 1)
        common_load = CommonLoad(entities[kept], windows[kept], 144)
        load = PartLoad(entities[kept], common_load, windows[kept], 144, growth)
        shares = np.bincount(servers[kept], minlength=SERVERS) / np.count_nonzero(kept)
        even = np.full(SERVERS, 1 / SERVERS)
        found = load.estimate_maximum(shares if has_events else even)
        held += found.low <= truth <= found.high
    assert held >= 0.93 * tables
