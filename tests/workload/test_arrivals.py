"""Clock and order of generated events, for each type of arrival."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.design import Design
from rowkey.errors import InvalidArgument, InvalidDesign
from rowkey.workload import EventBatch, WorkloadGenerator

START_MS = 1_704_067_200_000
FIELDS: dict[str, Any] = {
    "host": {"type": "text", "max_bytes": 16, "distinct": 40},
    "id": {"type": "u32", "distinct": 300},
    "ts": "timestamp_ms",
}


def build_workload(
    seed: int = 0, key: str = "[host][id][ts]", fields: Any = FIELDS, **words: Any
) -> WorkloadGenerator:
    """Build a workload from options of [writes]; `lasting` stands for the option `for`."""
    writes = {{"lasting": "for"}.get(word, word): value for word, value in words.items()}
    design = Design("t", key, fields=fields, writes=writes)
    return WorkloadGenerator(design.writes, design.collect_needed_fields(), seed, design.key)


def collect_events(made: WorkloadGenerator) -> dict[str, Any]:
    """Return the clock of every event and the values of every field, times as numbers."""
    some: list[EventBatch] = list(made.generate_events())
    clocks = [events.clock_ms for events in some if events.clock_ms is not None]
    assert len(clocks) == len(some)
    found: dict[str, Any] = {"clock": np.concatenate(clocks)}
    for name in some[0].rows.schema.names:
        arrays = [_to_plain(events.rows.column(name)) for events in some]
        found[name] = pa.chunked_array(arrays).to_pylist()
    return found


def _to_plain(array: Any) -> Any:
    if isinstance(array.type, pa.DictionaryType):
        return array.cast(array.type.value_type)
    return array.cast(pa.int64()) if pa.types.is_timestamp(array.type) else array


# The clock


def test_events_arrive_evenly_at_the_declared_rate() -> None:
    """Events arrive evenly at the declared rate, each with the clock as its time."""
    found = collect_events(build_workload(rate="1000/s", lasting="5m"))
    assert (START_MS + np.arange(300_000)).tolist() == found["clock"].tolist() == found["ts"]


@pytest.mark.parametrize(
    ("rate", "lasting", "count"),
    [("5/s", "2m", 600), ("90/m", "10s", 15), ("1/h", "1s", 1), ("0.5/s", "10s", 5)],
)
def test_the_number_of_events_is_rate_times_duration(rate: str, lasting: str, count: int) -> None:
    """The number of events is rate times duration, but at least one."""
    made = build_workload(rate=rate, lasting=lasting)
    assert count == made.event_count == len(collect_events(made)["clock"])


def test_a_declared_share_of_events_is_late() -> None:
    """A fifth of the events is evenly up to ten minutes late, and the others are on time."""
    late = {"share": 0.2, "upto": "10m"}
    found = collect_events(build_workload(rate="500/s", late=late, lasting="2m"))
    delays = found["clock"] - np.array(found["ts"])
    assert 0 == delays.min()
    assert pytest.approx(600_000, rel=0.01) == delays.max() <= 600_000
    assert pytest.approx(0.2, abs=0.006) == (delays > 0).mean()
    assert pytest.approx(300_000, rel=0.02) == delays[delays > 0].mean()
    assert (np.diff(found["clock"]) >= 0).all()


def test_a_burst_multiplies_the_rate_for_its_duration() -> None:
    """A burst multiplies the rate for its duration and changes nothing else."""
    bursts = [
        {"at": "30s", "for": "20s", "times": 0.5}, {"at": "10s", "for": "10s", "times": 3},
    ]  # fmt: skip
    made = build_workload(rate="100/s", bursts=bursts, lasting="1m")
    seconds = Counter(((collect_events(made)["clock"] - START_MS) // 1_000).tolist())
    expected = [100] * 10 + [300] * 10 + [100] * 10 + [50] * 20 + [100] * 10
    assert expected == pytest.approx([seconds[n] for n in range(60)], abs=1)
    assert sum(expected) == made.event_count


def test_a_burst_after_the_end_adds_no_events() -> None:
    """A burst after the end adds no events, and one across the end is cut."""
    for at, count in (("2m", 6_000), ("50s", 7_000)):
        bursts = [{"at": at, "for": "1h", "times": 2}]
        assert count == build_workload(rate="100/s", bursts=bursts, lasting="1m").event_count


# Other arrivals


def test_old_data_has_times_in_random_order() -> None:
    """The times of old data are spread over the whole period in random order."""
    found = collect_events(build_workload(arrival="random", rate="1000/s", lasting="1m"))
    times = np.array(found["ts"]) - START_MS
    assert pytest.approx(6_000, rel=0.1) == np.bincount(times // 6_000, minlength=10)
    assert pytest.approx(0, abs=0.02) == np.corrcoef(times, np.arange(len(times)))[0, 1]
    assert (np.diff(found["clock"]) >= 0).all()


def test_a_burst_in_old_data_has_times_within_its_period() -> None:
    bursts = [{"at": "5s", "for": "50s", "times": 10}]
    found = collect_events(
        build_workload(arrival="random", rate="100/s", lasting="1m", bursts=bursts)
    )
    times = np.array(found["ts"]) - START_MS
    assert times.min() >= 0
    assert times.max() < 60_000


def test_in_a_sequence_every_field_counts_up_with_the_clock() -> None:
    """In a sequence every field except the time takes its values one after the other."""
    found = collect_events(build_workload(arrival="sequential", rate="10/s", lasting="1m"))
    first = found["id"][0]
    assert [first + n % 300 for n in range(600)] == found["id"]
    names = sorted(set(found["host"]))
    assert names * 15 == found["host"]
    assert (np.diff(found["ts"]) == 100).all()


def test_each_entity_sends_one_event_per_period() -> None:
    made = build_workload(arrival="per(host)", period="10s", lasting="2m")
    found = collect_events(made)
    assert (4.0, 4.0, 480) == (made.rate, made.writes.rate, made.event_count)
    times: dict[str, list[int]] = {}
    for host, time in zip(found["host"], found["clock"].tolist(), strict=True):
        times.setdefault(host, []).append(time)
    assert 40 == len(times)
    assert {10_000} == {b - a for one in times.values() for a, b in pairwise(one)}
    assert sorted(set(found["host"])) != found["host"][:40]


PER: dict[str, Any] = {"arrival": "per(host)", "period": "10s"}


@pytest.mark.parametrize(
    ("options", "drawn", "path", "message"),
    [
        (PER, "host", "fields.host.draw", 'draw has no effect: arrival = "per(host)" writes'),
        ({"arrival": "per(host)"}, "host", "fields.host.draw", "writes each value once a period"),
        ({**PER, "rate": "9/s"}, "id", "writes.rate", "the period 10s of each host"),
    ],
)
def test_an_option_that_the_arrival_decides_is_refused_next_to_it(
    options: dict[str, Any], drawn: str, path: str, message: str
) -> None:
    """A draw or a rate that the arrival itself decides is refused next to the arrival."""
    fields = {name: dict(FIELDS[name]) for name in ("host", "id")}
    fields[drawn]["draw"] = {"kind": "zipf", "theta": 1.3}
    with pytest.raises(InvalidDesign) as caught:
        build_workload(fields={**fields, "ts": "timestamp_ms"}, **options)
    found = [mistake for mistake in caught.value.mistakes if mistake.path == path]
    assert 1 == len(found) == len(caught.value.mistakes)
    assert message in found[0].problem
    assert found[0].remedy


def test_the_period_of_entities_follows_from_the_rate() -> None:
    """With per(field) and a rate, forty hosts take turns at this rate."""
    found = collect_events(build_workload(arrival="per(host)", rate="8/s", lasting="1m"))
    assert 480 == len(found["host"])
    assert found["host"][:40] * 12 == found["host"]


@pytest.mark.parametrize(
    "key", ["[host][id][ts]", "[bucket(host, 16)][id][ts]", "[desc(ts)][host]"]
)
def test_a_sorted_import_has_the_same_rows_in_key_order(key: str) -> None:
    """A sorted import has the same rows in key order, at an even clock."""
    words = {"rate": "1000/s", "lasting": "20s"}
    made = build_workload(7, key, arrival="bulk_sorted", **words)
    found, plain = collect_events(made), collect_events(build_workload(7, key, **words))
    assert found.pop("clock").tolist() == plain.pop("clock").tolist()
    rows = list(zip(*found.values(), strict=True))
    assert Counter(rows) == Counter(zip(*plain.values(), strict=True))
    bound = Design("t", key, fields=FIELDS).key
    keys = [bound.encode(dict(zip(found, row, strict=True))) for row in rows]
    assert sorted(keys) == keys


@given(
    seed=st.integers(0, 5),
    arrival=st.sampled_from(["clock", "random", "sequential", "per(host)", "bulk_sorted"]),
    late=st.sampled_from([None, {"share": 0.5, "upto": "5s"}]),
)
def test_the_same_seed_gives_the_same_events(seed: int, arrival: str, late: Any) -> None:
    """The same seed gives the same events, and another seed gives other random events."""
    words: dict[str, Any] = {"arrival": arrival, "rate": "100/s", "lasting": "3s", "late": late}
    made = build_workload(seed, **words)
    first = repr(collect_events(made))
    assert (
        first == repr(collect_events(made)) == repr(collect_events(build_workload(seed, **words)))
    )
    is_fixed = arrival == "sequential" and late is None
    assert is_fixed == (first == repr(collect_events(build_workload(seed + 1, **words))))


def test_clock_and_sequence_continue_from_block_to_block() -> None:
    """Clock and sequence continue from one block to the next, and blocks are small."""
    made = build_workload(arrival="sequential", rate="50000/s", lasting="10s")
    sizes = [len(events) for events in made.generate_events()]
    assert 500_000 == sum(sizes)
    assert 3 < len(sizes)
    found = collect_events(made)
    assert {1, -299} == set(np.diff(found["id"]).tolist())
    assert {0, 1} == set(np.diff(found["clock"]).tolist())


# What nobody declared


def test_a_missing_rate_or_number_of_values_gives_a_remark() -> None:
    """A missing rate and a missing number of values each give a remark."""
    made = build_workload(fields={"host": {"type": "text"}, "id": "u32", "ts": "timestamp_ms"})
    list(zip(made.generate_events(), range(1), strict=False))
    said = " ".join(made.assumptions)
    assert 5_000 == made.rate
    assert all(word in said for word in ("events a second", "host has 1,000", "id has 1,000,000"))
    assert len(set(made.assumptions)) == len(made.assumptions)


def test_a_complete_declaration_gives_no_remark() -> None:
    """A complete declaration gives no remark, and as many values as declared."""
    made = build_workload(rate="1000/s", lasting="30s")
    found = collect_events(made)
    assert [] == made.assumptions
    assert (40, 300) == (len(set(found["host"])), len(set(found["id"])))


@pytest.mark.parametrize(
    ("arrival", "rate", "lasting"),
    [("clock", "1000000000/s", "100d"), ("bulk_sorted", "100000/s", "1h")],
)
def test_a_workload_of_too_many_events_is_refused(arrival: str, rate: str, lasting: str) -> None:
    """A workload of too many events is refused before the first one is generated."""
    made = build_workload(arrival=arrival, rate=rate, lasting=lasting)
    with pytest.raises(InvalidArgument, match="at most"):
        next(made.generate_events())


@pytest.mark.parametrize(
    ("writes", "duration_s"),
    [
        ({"rate": "100000/s"}, 600),
        ({"rate": "1000000/s"}, 67),
        ({"rate": "10000000/s"}, 10),
        ({"rate": "1000000/s", "lasting": "2m"}, 120),
        ({"arrival": "per(id)", "period": "1ms"}, 223),
    ],
)
def test_a_high_rate_shortens_a_workload_of_undeclared_duration(
    writes: dict[str, Any], duration_s: int
) -> None:
    """A high rate shortens a workload to about 67 million events, not below 10 s, and says so."""
    workload = build_workload(**writes)
    assert duration_s * 1_000 == workload.writes.duration_ms
    is_said = any("ends after" in str(one) for one in workload.assumptions)
    assert is_said == (duration_s < 600 and "lasting" not in writes)
