"""The load of a table, estimated from a part of it, is that of the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from rowkey.advise import judge_simulation
from rowkey.design import Design
from rowkey.simulate import Simulation, run

START_MS = 1_700_006_400_000
HOURS = 48


def simulate_events(
    entities: np.ndarray,
    seconds: np.ndarray,
    rate: float,
    sample: dict[str, Any] | None = None,
    grows: str | None = None,
) -> Simulation:
    """Return the simulation of events on eight servers, of which each can do 40 % of the rate."""
    order = np.argsort(seconds, kind="stable")
    design = Design(
        "t",
        "[bucket(entity, 16)][entity][ts][id]",
        fields={
            "entity": {"type": "text", "max_bytes": 12},
            "ts": "timestamp_ms",
            "id": "u64",
        },
        splits="per_bucket",
        families={"d": {"ttl": f"{HOURS}h"}},
        cluster={"servers": 8, "capacity": f"{0.4 * rate:.6f}/s"},
        writes={"rate": f"{rate:.6f}/s", "time": "ts"} | ({"grows": grows} if grows else {}),
        **({"sample": sample} if sample else {}),
    )
    columns = {
        "entity": np.char.add("e", entities[order].astype(str)),
        "ts": START_MS + (seconds[order] * 1_000).astype(np.int64),
        "id": np.arange(len(order)),
    }
    return run(design, pa.table(columns))


def generate_bursts(chance: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return 6,000 devices of which each reports 20 events within a minute, twice a day."""
    entities = np.repeat(np.arange(6_000), 2 * HOURS // 24 * 20)
    begins = np.repeat(chance.random(6_000 * 2 * HOURS // 24) * HOURS * 3_600, 20)
    return entities, begins + chance.random(len(begins)) * 60


def generate_batch(chance: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return 40,000 accounts that all get their postings in two hours of each night."""
    entities = np.tile(np.repeat(np.arange(40_000), 3), HOURS // 24)
    nights = np.repeat(np.arange(HOURS // 24) * 86_400, 120_000)
    return entities, nights + chance.random(len(entities)) * 7_200


@pytest.mark.parametrize("generate", [generate_bursts, generate_batch])
@pytest.mark.parametrize("part", ["events", "entity"])
@pytest.mark.parametrize("seed", [1, 2])
def test_part_shows_the_peak_of_the_whole(generate: Any, part: str, seed: int) -> None:
    """One event in fifty, or all events of one entity in fifty, show how busy a server gets."""
    chance = np.random.default_rng(seed)
    entities, seconds = generate(chance)
    rate = len(entities) / HOURS / 3_600
    count = int(entities.max()) + 1
    draws = chance.random(len(entities) if part == "events" else count)
    kept = (draws if part == "events" else draws[entities]) < 0.02
    whole = simulate_events(entities, seconds, rate).write_peak
    found = simulate_events(
        entities[kept], seconds[kept], rate, {"of": part, "share": "2%"}
    ).write_peak
    assert whole is not None
    assert found is not None
    assert whole.width_s == found.width_s
    assert pytest.approx(whole.server_factor, rel=0.3) == found.server_factor


@pytest.mark.parametrize("part", ["events", "entity"])
def test_part_of_an_even_load_shows_an_even_one(part: str) -> None:
    """Few events, or few entities, are uneven by chance; the table is not."""
    chance = np.random.default_rng(3)
    entities, seconds = chance.integers(0, 20_000, 2_000_000), chance.random(2_000_000)
    draws = chance.random(2_000_000 if part == "events" else 20_000)
    kept = (draws if part == "events" else draws[entities]) < 0.01
    found = simulate_events(
        entities[kept],
        seconds[kept] * HOURS * 3_600,
        2_000_000 / HOURS / 3_600,
        {"of": part, "share": "1%"},
    )
    assert "even" == found.verdict.level
    assert found.verdict.skew <= 1.1
    assert float(found.write_shares.max()) <= 1.1 / 8
    assert found.write_peak is None or found.write_peak.factor < 1.2


def test_a_burst_of_one_value_does_not_grow_with_their_number() -> None:
    """An invoice of 675 lines at one time is as long where seventeen times as many are written."""
    chance = np.random.default_rng(4)
    sizes = chance.geometric(1 / 20, 5_000)
    sizes[0] = 675
    entities = np.repeat(np.arange(5_000), sizes)
    begins = (chance.random(5_000) * HOURS * 3_600)[entities]
    own_rate = len(entities) / HOURS / 3_600
    once = simulate_events(entities, begins, own_rate).write_peak
    many = simulate_events(entities, begins, 17 * own_rate, grows="entities").write_peak
    busier = simulate_events(entities, begins, 17 * own_rate, grows="rows").write_peak
    assert once is not None
    assert many is not None
    assert busier is not None
    # The true peak: 17 tables of which each has such an invoice at another time.
    minutes = np.floor((begins[:, np.newaxis] + chance.random(17) * HOURS * 3_600) / 60)
    minutes %= HOURS * 60
    servers = chance.integers(0, 8, (5_000, 17))[entities]
    cells = (minutes * 8 + servers).astype(np.int64)
    truth = np.bincount(cells.ravel()).max() / (17 * own_rate * 60) * 8
    assert once.server_factor > 3 * truth
    assert pytest.approx(truth, rel=0.25) == many.server_factor
    assert busier.server_factor > 3 * many.server_factor


def test_a_large_value_keeps_its_share_where_others_grow_in_number() -> None:
    """A tenant with half of the events is as busy where there are twenty times as many others."""
    chance = np.random.default_rng(5)
    entities = chance.integers(1, 2_000, 40_000) * (chance.random(40_000) < 0.5)
    seconds = chance.random(40_000) * HOURS * 3_600
    found = simulate_events(entities, seconds, 20 * 40_000 / HOURS / 3_600, grows="entities")
    assert pytest.approx(0.5 + 0.5 / 8, abs=0.03) == found.write_shares.max()
    assert "hot" == found.verdict.level


def test_twelve_equal_stations_are_no_large_values() -> None:
    """Each has a twelfth of the events; a hundred times as many stations load servers evenly."""
    chance = np.random.default_rng(6)
    stations, seconds = chance.integers(0, 12, 30_000), chance.random(30_000) * HOURS * 3_600
    rate = 100 * 30_000 / HOURS / 3_600
    found = simulate_events(stations, seconds, rate, grows="entities")
    assert float(found.write_shares.max()) < 1.25 / 8
    assert "even" == found.verdict.level


def test_two_ways_to_grow_with_different_grades_are_both_said() -> None:
    """Twenty times the rate is good as more users, and too much for one server as busier ones."""
    chance = np.random.default_rng(7)
    users, seconds = chance.integers(0, 10, 20_000), chance.random(20_000) * HOURS * 3_600
    rate = 20 * 20_000 / HOURS / 3_600
    verdict = judge_simulation(simulate_events(users, seconds, rate)).verdict
    (said,) = (one for one in verdict.assessments if one.topic == "growth")
    declared = {
        grows: judge_simulation(simulate_events(users, seconds, rate, grows=grows)).verdict
        for grows in ("entities", "rows")
    }
    assert declared["entities"].grade == verdict.grade == "good"
    assert (declared["rows"].grade,) == verdict.other_grades
    assert "GOOD if the declared rate" in said.message
    assert f"{declared['rows'].grade.upper()} if the same values" in said.message
    assert "[writes] grows" in said.remedy


def test_an_hour_is_said_to_show_no_wave_of_the_day() -> None:
    """Room for the writes of this hour is none for twice as many at another one."""
    chance = np.random.default_rng(8)
    users, seconds = chance.integers(0, 100_000, 400_000), chance.random(400_000) * 3_600
    verdict = judge_simulation(simulate_events(users, seconds, 400_000 / 3_600)).verdict
    (said,) = (one for one in verdict.assessments if one.topic == "growth")
    assert "good" == verdict.grade
    assert ("fair",) == verdict.other_grades
    assert "which lasts 1 h" in said.message
