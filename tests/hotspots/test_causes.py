"""Each cause is found in a workload that has it, with figures that are counted directly here.

A cause must be specific: each test asks for exactly the causes that are true of its workload.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from rowkey.design import Design
from rowkey.hotspots import CAUSES, CauseFinding
from rowkey.keys import bind_key
from rowkey.lint import check_design
from rowkey.simulate import run
from samples import summarize_sample

if TYPE_CHECKING:
    from rowkey.simulate import Simulation

FIELDS: dict[str, Any] = {
    "host": {"type": "text", "max_bytes": 16},
    "id": "u32",
    "ts": "timestamp_s",
}
START = 1_700_000_000 // 86_400 * 86_400
SIXTEEN = {"algorithm": "sample", "regions": 16}
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
EVENTS, MANY_EVENTS = 5_000, 20_000 if IS_LONG else 10_000
"""Events in which a cause must be found, and in which none may be found."""
WINDOW = EVENTS // 50
"""Events of a window, of which a replay has 50."""
Row = tuple[str, int, int]


def simulate_rows(
    key: str,
    rows: Sequence[Row],
    splits: Any = "per_bucket",
    fields: Mapping[str, Any] = FIELDS,
    **words: Any,
) -> Simulation:
    """Simulate a design on rows of host, id and time."""
    return run(Design("t", key, fields=fields, splits=splits, **words), build_table(rows))


def build_table(rows: Sequence[Row]) -> pa.Table:
    """Return rows of host, id and time as a table, which needs no reading of text."""
    return pa.table(dict(zip(("host", "id", "ts"), zip(*rows, strict=True), strict=True)))


def get_only_cause(found: Simulation, code: str) -> CauseFinding:
    """Return the cause of a simulation that found exactly one."""
    assert [code] == [cause.code for cause in found.causes]
    return found.causes[0]


def make_even_hosts(count: int = EVENTS, hosts: int = 400, seed: int = 1) -> list[Row]:
    """Return one event a second from hosts that are all equally busy."""
    return list(_draw_even_hosts(count, hosts, seed))


@cache
def _draw_even_hosts(count: int, hosts: int, seed: int) -> tuple[Row, ...]:
    chance = random.Random(seed)
    return tuple((f"h{chance.randrange(hosts)}", n, START + n) for n in range(count))


def compute_mean_share(regions: list[int]) -> float:
    """Return the mean of the busiest region's share of 50 windows, counted directly."""
    size = len(regions) / 50
    windows = [regions[round(n * size) : round((n + 1) * size)] for n in range(50)]
    return mean(max(Counter(one).values()) / len(one) for one in windows)


# Moving front


@pytest.mark.parametrize(
    ("key", "direction"),
    [
        ("[ts][host]", "rise"),
        ("[desc(ts)][host]", "fall"),
        ("[time_bucket(ts, 10m)][host]", "rise"),
        ("[ts:calendar][host]", "rise"),
        ("[id]", "rise"),
        ("['log-'][desc(id)]", "fall"),
    ],
)
def test_a_key_that_begins_with_rising_values_is_a_moving_front(key: str, direction: str) -> None:
    """Keys that begin with the time or with a rising number are a moving front and nothing else."""
    found = simulate_rows(key, make_even_hosts(), SIXTEEN)
    cause = get_only_cause(found, "moving_front")
    assert (direction, 1.0) == (cause.evidence["direction"], cause.evidence["steps"])
    assert 1.0 == cause.evidence["share"]
    assert 0.01 >= cause.evidence["spread"]
    assert 8.0 == cause.bound


@pytest.mark.parametrize(
    ("key", "splits", "skew"),
    [
        ("[time_bucket(ts, 1d)][host][ts]", {"algorithm": "uniform", "regions": 16}, 8.0),
        ("[desc(time_bucket(ts, 1d))][host][ts]", {"algorithm": "uniform", "regions": 16}, 8.0),
        ("[time_bucket(ts, 1d)][host][ts]", SIXTEEN, 8.0),
        ("[time_bucket(ts, 1h)][host][ts]", SIXTEEN, 5.2),
    ],
)
def test_a_key_that_begins_with_the_day_or_hour_is_a_moving_front(
    key: str, splits: Any, skew: float
) -> None:
    """Keys of one day or hour are a front, also where region boundaries divide this one day."""
    found = simulate_rows(key, make_even_hosts(), splits, writes={"time": "ts"})
    cause = get_only_cause(found, "moving_front")
    assert ("hot", skew) == (found.verdict.level, found.verdict.skew)
    assert "ts, which moves with" in cause.message
    assert cause.needs_key


def test_step_spread_and_share_of_a_front_agree_with_a_direct_count() -> None:
    """Step, spread and share of a front agree with a count of sorted lists."""
    rows = delay_rows(make_even_hosts(), 0.2, EVENTS // 5)
    splits = [_escape_time(START + n * EVENTS // 16) for n in range(1, 16)]
    found = simulate_rows("[ts][host]", rows, splits)
    figures = get_only_cause(found, "moving_front").evidence
    times = sorted(time for *_, time in rows)
    first = {time: n for n, time in reversed(list(enumerate(times)))}
    counts = Counter(times)
    place = {time: (first[time] + counts[time] / 2) / len(times) for time in first}
    stretches = [rows[n * WINDOW : (n + 1) * WINDOW] for n in range(50)]
    ordered = [sorted(place[time] for *_, time in some) for some in stretches]
    halves = [_find_narrowest_span(one, len(one) // 2 + 1) for one in ordered]
    spread = median(half[-1] - half[0] for half in halves)
    middles = [median(half) for half in halves]
    steps = sum(a <= b for a, b in pairwise(middles)) / 49
    regions = [(time - START) * 16 // EVENTS for *_, time in rows]
    assert pytest.approx(spread, abs=1e-6) == figures["spread"]
    assert pytest.approx(steps) == figures["steps"]
    assert pytest.approx(compute_mean_share(regions)) == figures["share"]


def _escape_time(seconds: int) -> str:
    return "".join(f"\\x{byte:02X}" for byte in seconds.to_bytes(8, "big"))


def _find_narrowest_span(ordered: list[float], many: int) -> list[float]:
    spans = [ordered[at : at + many] for at in range(len(ordered) - many + 1)]
    return min(spans, key=lambda span: span[-1] - span[0])


def delay_rows(rows: list[Row], share: float, most: int) -> list[Row]:
    """Return the rows with the times of a share of them moved back by up to some seconds."""
    chance = random.Random(2)
    return [
        (host, n, max(time - chance.randrange(most), START) if chance.random() < share else time)
        for host, n, time in rows
    ]


@pytest.mark.parametrize("share", [0.1, 0.3])
@pytest.mark.parametrize("most", [300, EVENTS // 2])
def test_a_front_is_found_although_three_events_in_ten_are_late(share: float, most: int) -> None:
    """A front is found although three events in ten are late, even by half of all the time."""
    found = simulate_rows("[ts][host]", delay_rows(make_even_hosts(), share, most), SIXTEEN)
    assert "rise" == get_only_cause(found, "moving_front").evidence["direction"]


def test_a_log_shuffled_within_each_minute_is_still_a_front() -> None:
    """A log whose lines are shuffled within each minute is still a front."""
    rows, chance, ordered = [], random.Random(3), make_even_hosts()
    for at in range(0, EVENTS, 60):
        some = ordered[at : at + 60]
        chance.shuffle(some)
        rows += some
    cause = get_only_cause(simulate_rows("[ts][host]", rows, SIXTEEN), "moving_front")
    assert "rise" == cause.evidence["direction"]


@pytest.mark.parametrize(
    ("key", "splits"),
    [
        ("[host][ts]", SIXTEEN),
        ("[salt(16)][ts][host]", "per_bucket"),
        ("[bucket(host, 16)][ts]", "per_bucket"),
        ("[bucket(host, ts, 16)][ts][host]", "per_bucket"),
        ("[reverse(id)]", {"algorithm": "uniform", "regions": 16}),
    ],
)
def test_a_time_after_a_spreading_part_is_no_hot_front(key: str, splits: Any) -> None:
    """A time after a spreading part of the key moves too, but is not a hot front."""
    assert [] == simulate_rows(key, make_even_hosts(MANY_EVENTS), splits).causes


def test_rows_that_arrive_in_no_order_of_time_make_no_front() -> None:
    """A key that begins with the time is even for rows that arrive in no order of time."""
    rows = make_even_hosts(MANY_EVENTS)
    random.Random(4).shuffle(rows)
    found = simulate_rows("[ts][host]", rows, SIXTEEN, writes={"sort": False})
    assert [] == found.causes


def test_rows_exported_in_no_order_are_replayed_in_the_order_of_their_times() -> None:
    """Rows that were exported in no order make a front in the order of their times."""
    rows = make_even_hosts()
    random.Random(4).shuffle(rows)
    found = simulate_rows("[ts][host]", rows, SIXTEEN)
    assert 8.0 == get_only_cause(found, "moving_front").bound
    assert any("replayed in the order of time" in one for one in found.remarks)
    told = check_design(found.design, summarize_sample(found.design, build_table(rows)))
    assert "RK101" in {one.code for one in told.findings}


def test_a_field_of_one_value_before_the_time_does_not_prevent_a_front() -> None:
    """A field with a single value before the time does not spread the rows."""
    rows = [("only", number, time) for _, number, time in make_even_hosts()]
    cause = get_only_cause(simulate_rows("[host][ts][id]", rows, SIXTEEN), "moving_front")
    assert ["host", "ts"] == cause.evidence["fields"]


# Time-only bucket


@pytest.mark.parametrize(
    ("step", "n", "reached"), [(3_600, 16, 1), (300, 16, 4), (300, 10, 1), (60, 16, 4), (7, 21, 3)]
)
def test_stepped_times_reach_n_over_gcd_remainders(step: int, n: int, reached: int) -> None:
    """Times with a step reach n / gcd(step, n) remainders, as a direct count shows."""
    # Only of many events is it sure that three remainders are more than chance makes.
    count = 20_000 if step == 7 else EVENTS
    at_once = count // 500
    rows = [(host, k, START + k // at_once * step) for host, k, _ in make_even_hosts(count)]
    found = simulate_rows(f"[mod(ts, {n})][ts][host]", rows)
    cause = get_only_cause(found, "time_only_bucket")
    came = Counter(time % n for *_, time in rows)
    figures = cause.evidence
    assert (step, reached, n) == (figures["step_s"], figures["reached"], figures["buckets"])
    assert (len(came), reached) == (figures["came"], len(came))
    assert pytest.approx(max(came.values()) / count) == figures["share"]
    assert n - reached == found.empty_region_count
    # Each of 50 windows has ten moments, of which two come to the fullest of eight servers.
    assert pytest.approx(1.6) == cause.bound
    assert max(8 / reached, 1) <= cause.explained_skew <= found.verdict.skew


def test_milliseconds_of_whole_seconds_reach_two_of_16_remainders() -> None:
    """Whole seconds in milliseconds reach two of 16 remainders, as 1000 modulo 16 is 8."""
    fields = {**FIELDS, "ts": "timestamp_ms"}
    rows = [(host, k, time * 1_000) for host, k, time in make_even_hosts()]
    found = simulate_rows("[mod(ts, 16)][ts][host]", rows, fields=fields)
    figures = get_only_cause(found, "time_only_bucket").evidence
    assert (1.0, 2, 2, 14) == (
        figures["step_s"],
        figures["reached"],
        figures["came"],
        found.empty_region_count,
    )


@pytest.mark.parametrize(
    "key",
    [
        "[bucket(time_bucket(ts, 1h), 16)][ts][host]",
        "[mod(time_bucket(ts, 1h), 7)][ts][host]",
        "[digest(time_bucket(ts, 1h), ts, 4)][host]",
    ],
)
def test_a_hash_of_the_hour_is_hot_in_short_windows(key: str) -> None:
    """A hash of the hour puts all its events into one region, so short windows are hot."""
    splits = {"algorithm": "uniform", "regions": 16} if "digest" in key else "per_bucket"
    rows = [(host, k, START + k // (EVENTS // 10) * 3_600) for host, k, _ in make_even_hosts()]
    found = simulate_rows(key, rows, splits)
    cause = get_only_cause(found, "time_only_bucket")
    assert (3_600, 8.0) == (cause.evidence["step_s"], cause.bound)
    assert 1.0 == found.region_shares.mean


def test_a_remainder_of_seconds_is_hot_only_in_short_windows() -> None:
    """A remainder of seconds is even over a minute, and its hot seconds are found as a cause."""
    fields = {"host": {"type": "text", "distinct": 500}, "ts": "timestamp_s"}
    design = Design(
        "t", "[mod(ts, 16)][ts][host]", fields=fields, splits="per_bucket",
        writes={"rate": "2000/s", "for": "2m"},
    )  # fmt: skip
    found = run(design)
    assert "time_only_bucket" in [cause.code for cause in found.causes]
    assert (8.0, True) == (found.skews[0].server_skew, (found.skews[2].server_skew or 9) < 1.2)


@pytest.mark.parametrize("key", ["[mod(ts, 16)][ts][host]", "[bucket(ts, 16)][ts][host]"])
def test_one_event_a_second_makes_no_key_by_remainders_hot(key: str) -> None:
    """Each remainder of the time gets as many events, so no cause of a hot spot is found."""
    assert [] == simulate_rows(key, make_even_hosts(MANY_EVENTS)).causes


# Hot entity


def make_skewed_hosts(share: float, count: int = EVENTS) -> list[Row]:
    """Return events of which one host has a given share."""
    chance = random.Random(5)
    return [
        ("hot" if chance.random() < share else host, n, time)
        for host, n, time in make_even_hosts(count)
    ]


@pytest.mark.parametrize(
    ("key", "splits"),
    [
        ("[bucket(host, 16)][host][ts]", "per_bucket"),
        ("[host][ts]", SIXTEEN),
        ("[digest(host, 4)][ts][host]", {"algorithm": "uniform", "regions": 16}),
    ],
)
def test_a_host_with_a_third_of_all_events_is_named_as_the_cause(key: str, splits: Any) -> None:
    """A host with a third of all events is found as the cause, whether the key hashes it or not."""
    rows = make_skewed_hosts(0.33)
    found = simulate_rows(key, rows, splits)
    cause = get_only_cause(found, "hot_entity")
    replayed = [host for host, *_ in rows][-found.operation_count :]
    share = replayed.count("hot") / len(replayed)
    assert ("host hot", None) == (cause.evidence["value"], cause.evidence["windows"])
    assert pytest.approx(share) == cause.evidence["share"]
    assert pytest.approx(8 * share) == cause.bound
    region = cause.evidence["region"]
    assert found.regions[region].writes == max(one.writes for one in found.regions)


@pytest.mark.parametrize("key", ["[bucket(host, ts, 16)][host][ts]", "[salt(16)][host][ts]"])
def test_a_busy_host_that_buckets_spread_is_no_cause(key: str) -> None:
    """Buckets over more fields than the host spread its rows, and no cause is found."""
    assert [] == simulate_rows(key, make_skewed_hosts(0.33, MANY_EVENTS)).causes


def test_a_bounded_spread_cools_a_heavy_host() -> None:
    """A host listed as heavy lies in 8 of 16 buckets; in one bucket its skew would be 2.6."""
    fields = {**FIELDS, "host": {"type": "text", "max_bytes": 16, "heavy": ["hot"]}}
    found = simulate_rows(
        "[bucket(host, ts, 16, 8)][host][ts]",
        make_skewed_hosts(0.33, MANY_EVENTS),
        fields=fields,
    )
    assert [] == found.causes
    assert "hot" != found.verdict.level


def make_bursts(windows: int = 50, size: int = WINDOW) -> list[Row]:
    """Return events of which another host takes two thirds in each window of equal counts."""
    chance = random.Random(6)
    rows = []
    for n in range(windows * size):
        is_busy = chance.random() < 2 / 3
        host = f"w{n // size}" if is_busy else f"h{chance.randrange(400)}"
        rows.append((host, n, START + n))
    return rows


@pytest.mark.parametrize("key", ["[bucket(host, 16)][host][ts]", "[host][ts]"])
def test_bursts_of_a_different_host_in_each_window_are_named(key: str) -> None:
    """Where a different host fills each window, the worst of these bursts is found as the cause."""
    rows = make_bursts()
    splits: Any = "per_bucket" if key.startswith("[bucket") else ["h3", "h7", "w2", "w4"]
    found = simulate_rows(
        key, rows, splits, cluster={"servers": 5 if splits != "per_bucket" else 8}
    )
    cause = get_only_cause(found, "hot_entity")
    tops = [
        Counter(host for host, *_ in rows[at : at + WINDOW]).most_common(1)[0]
        for at in range(0, EVENTS, WINDOW)
    ]
    worst = max(range(50), key=lambda n: tops[n][1])
    figures = cause.evidence
    assert (f"host {tops[worst][0]}", tops[worst][1] / EVENTS) == (
        figures["value"], figures["share"],
    )  # fmt: skip
    mean = sum(count for _, count in tops) / EVENTS
    assert {
        "width_s": None,
        "worst": worst,
        "worst_share": tops[worst][1] / WINDOW,
        "mean_share": pytest.approx(mean),
    } == figures["windows"]
    assert pytest.approx(found.design.cluster.servers * mean) == cause.bound


def test_ten_second_bursts_are_found_in_windows_of_time() -> None:
    """A hundred bursts of ten seconds are found in windows of time alone."""
    rows = [(host, n, START + n // 40) for host, n, _ in make_bursts(100, 400)]
    chance = random.Random(9)
    mixed = []
    for at in range(0, len(rows), 3_200):
        some = rows[at : at + 3_200]
        chance.shuffle(some)
        mixed += some
    servers = {"servers": 2}
    found = simulate_rows(
        "[bucket(host, 16)][host][ts]", mixed, cluster=servers, writes={"sort": True}
    )
    figures = get_only_cause(found, "hot_entity").evidence["windows"]
    tops = Counter[int]()
    for (_, ten), count in Counter((host, time // 10) for host, _, time in mixed).items():
        tops[ten] = max(tops[ten], count)
    assert 10 == figures["width_s"]
    assert pytest.approx(sum(tops.values()) / len(rows), rel=0.03) == figures["mean_share"]


def test_bursts_shuffled_over_the_whole_time_are_not_found_as_bursts() -> None:
    """Events of bursts that are shuffled over the whole time are not found as bursts."""
    rows = make_bursts(size=MANY_EVENTS // 50)
    random.Random(7).shuffle(rows)
    found = simulate_rows("[bucket(host, 16)][host][ts]", rows, writes={"sort": False})
    assert [] == found.causes


def test_busy_hosts_in_one_bucket_are_named_with_their_total_share() -> None:
    """Three busy hosts in one of eight buckets are found as a collision, with their total share."""
    bucket = bind_key("[bucket(host, 8)]", {"host": "text"})
    met = [host for host in (f"b{n}" for n in range(99)) if b"\2" == bucket.encode({"host": host})]
    busy, chance = met[:3], random.Random(12)
    hosts = [*busy, *(f"h{n}" for n in range(400))]
    weights = [0.1, 0.09, 0.08, *[0.73 / 400] * 400]
    picked = chance.choices(hosts, weights, k=EVENTS)
    rows = [(host, n, START + n) for n, host in enumerate(picked)]
    found = simulate_rows("[bucket(host, 8)][host][ts]", rows)
    cause = get_only_cause(found, "hot_entity")
    assert "hot" == found.verdict.level
    assert (f"host {busy[0]}", 2) == (cause.evidence["value"], cause.evidence["region"])
    assert [f"host {host}" for host in busy[1:]] == [one["value"] for one in cause.evidence["met"]]
    together = sum(host in busy for host in picked) / EVENTS
    assert cause.bound == pytest.approx(1, abs=0.01)  # other buckets would separate them
    assert 8 * together < cause.explained_skew <= found.verdict.skew
    assert f"{together:.1%} together: that is {8 * together:.3f}"[:-1] in cause.message
    assert all(f"host {host}" in cause.message for host in busy)


def test_a_host_with_a_seventh_of_the_events_is_a_cause() -> None:
    """A host with a seventh of the events fills less than 1.5 of 8 regions and is still a cause."""
    rows = make_skewed_hosts(0.15)
    cause = get_only_cause(simulate_rows("[bucket(host, 8)][host][ts]", rows), "hot_entity")
    assert "host hot" == cause.evidence["value"]


# Hot row


def test_a_row_with_a_fifth_of_the_writes_is_a_hot_row_and_no_hot_entity() -> None:
    rows = make_skewed_hosts(0.2)
    cause = get_only_cause(simulate_rows("[host]", rows, SIXTEEN), "hot_row")
    replayed = [host for host, *_ in rows][EVENTS // 2 :]
    assert (b"hot\0".hex(), replayed.count("hot") / len(replayed)) == (
        cause.evidence["row"], cause.evidence["share"],
    )  # fmt: skip
    assert pytest.approx(8 * replayed.count("hot") / len(replayed)) == cause.bound


def test_a_busy_host_with_the_time_in_its_key_is_no_hot_row() -> None:
    """With the time after it in the key, a busy host is a hot entity with many rows."""
    cause = get_only_cause(
        simulate_rows("[host][ts]", make_skewed_hosts(0.2), SIXTEEN), "hot_entity"
    )
    assert "row" not in cause.evidence


def test_a_busy_host_with_many_events_per_time_slice_is_no_hot_row() -> None:
    """A busy host whose time slices hold many events a row is a hot entity, not a hot row."""
    found = simulate_rows("[host][time_slice(ts, 1d)]", make_skewed_hosts(0.3), SIXTEEN)
    assert ["hot_entity"] == [cause.code for cause in found.causes]


@pytest.mark.parametrize("splits", ["sample", "per_bucket"])
def test_the_share_of_a_cause_is_of_the_replayed_events(splits: str) -> None:
    """A host that wakes up late has another share of what is replayed than of the recording."""
    chance = random.Random(2)
    hosts = [
        "h1" if number >= 6_000 and chance.random() < 0.7 else f"h{chance.randrange(400)}"
        for number in range(2 * 6_000)
    ]
    key = "[host][ts]" if splits == "sample" else "[bucket(host, 16)][host][ts]"
    found = simulate_rows(
        key, [(host, n, START + n) for n, host in enumerate(hosts)],
        SIXTEEN if splits == "sample" else splits,
    )  # fmt: skip
    told = next(one.message for one in found.causes if one.code == "hot_entity")
    counted = hosts[6_000:] if splits == "sample" else hosts
    what = "events of the second half" if splits == "sample" else "events"
    assert f"takes {counted.count('h1') / len(counted):.1%} of the {what}, " in told


# Few entities


@pytest.mark.parametrize(
    ("values", "key"), [(47, "[bucket(host, 16)][host][ts]"), (5, "[host][ts]")]
)
def test_too_few_entities_leave_regions_empty_as_counted(values: int, key: str) -> None:
    """47 equally busy sensors leave some of 16 regions empty, and the figures are those counted."""
    rows = [(f"s{n % values}", n, START + n) for n in range(2 * EVENTS)]
    splits = "per_bucket" if "bucket" in key else [f"s{n}" for n in range(1, 16)]
    splits = sorted(splits) if isinstance(splits, list) else splits
    found = simulate_rows(key, rows, splits)
    cause = get_only_cause(found, "few_entities")
    written = sum(region.writes > 0 for region in found.regions)
    assert (values, 16, written) == (
        cause.evidence["values"], cause.evidence["regions"], cause.evidence["used"],
    )  # fmt: skip
    assert written < 16


@pytest.mark.parametrize(("distinct", "is_enough"), [(None, False), (5, False), (400, True)])
def test_too_few_declared_values_are_named_as_the_cause(
    distinct: int | None, is_enough: bool
) -> None:
    """Three hosts of a sample stand for 400 that fill 16 regions, or for five that do not."""
    host = {"type": "text", "max_bytes": 12, **({"distinct": distinct} if distinct else {})}
    rows = [(f"s{n % 3}", n, START + n) for n in range(2 * EVENTS)]
    found = simulate_rows("[bucket(host, 16)][host][ts]", rows, fields={**FIELDS, "host": host})
    assert ([] if is_enough else ["few_entities"]) == [cause.code for cause in found.causes]
    told = check_design(found.design, summarize_sample(found.design, build_table(rows))).causes
    assert ([] if is_enough else [distinct or 3]) == [
        one.evidence["values"] for one in told if one.code == "few_entities"
    ]


def test_twelve_pairs_leave_4_of_16_regions_empty() -> None:
    """Twelve pairs leave 4 of 16 regions empty and give two servers twice the load of others."""
    chance = random.Random(11)
    fields = {"a": "u32", "b": "u32", "ts": "timestamp_s"}
    a, b = (chance.choices(range(count), k=40_000) for count in (3, 4))
    rows = pa.table({"a": a, "b": b, "ts": range(START, START + 40_000)})
    found = run(Design("t", "[a][b][ts]", fields=fields, splits=SIXTEEN), rows)
    cause = get_only_cause(found, "few_entities")
    assert "even" != found.verdict.level
    assert (12, 12, 4) == (
        cause.evidence["values"],
        cause.evidence["used"],
        found.empty_region_count,
    )
    assert 1 < cause.bound <= found.verdict.skew


def test_three_values_with_a_region_each_get_no_remedy_of_more_regions(tmp_path: Path) -> None:
    """Where each of three values has its region, no larger number of regions is proposed."""
    fields = {"kind": {"type": "choice", "of": ["a", "b", "c"]}, "ts": "timestamp_s"}
    path = tmp_path / "rows.csv"
    path.write_text("kind,ts\n" + "".join(f"{'abc'[n % 3]},{START + n}\n" for n in range(3_000)))
    found = run(Design("t", "[kind][ts]", fields=fields, splits="per_bucket"), path)
    assert {"few_entities", "integer_imbalance"} == {cause.code for cause in found.causes}
    assert pytest.approx([8 / 3, 8 / 3], rel=0.01) == [cause.bound for cause in found.causes]
    assert all(cause.needs_key for cause in found.causes)


def test_the_skew_explained_by_few_entities_is_that_of_a_direct_count() -> None:
    """The explained skew is that of equally busy values in their regions, counted directly."""
    rows = [(f"d{n % 12}", n, START + n) for n in range(EVENTS // 12 * 12)]
    found = simulate_rows("[bucket(host, 16)][host][ts]", rows)
    cause = get_only_cause(found, "few_entities")
    by_server = Counter[int]()
    for region in found.regions:
        by_server[region.server] += round(12 * region.writes / found.operation_count)
    assert pytest.approx(8 * max(by_server.values()) / 12) == cause.explained_skew
    assert pytest.approx(8 * 2 / 12) == cause.bound


def test_sixteen_values_of_which_one_is_busy_are_found_as_few_and_as_hot() -> None:
    """Sixteen values of which one takes a fifth are found both as few and as hot."""
    chance = random.Random(8)
    rows = [
        ("UA" if chance.random() < 0.2 else f"c{chance.randrange(15)}", n, START + n)
        for n in range(EVENTS)
    ]
    found = simulate_rows("[bucket(host, 16)][host][ts]", rows)
    assert ["few_entities", "hot_entity"] == sorted(cause.code for cause in found.causes)


def test_a_thousand_hosts_are_enough_for_16_hashed_regions() -> None:
    rows = make_even_hosts(MANY_EVENTS, hosts=1_000)
    assert [] == simulate_rows("[bucket(host, 16)][host][ts]", rows).causes


def test_few_values_before_the_host_are_no_cause_if_regions_lie_between_hosts() -> None:
    """Three kinds before the host are no cause where the boundaries lie between hosts."""
    fields = {**FIELDS, "kind": {"type": "text", "max_bytes": 4, "from": "host"}}
    rows = make_even_hosts(MANY_EVENTS)
    found = simulate_rows("[truncate(host, 1)][host][ts]", rows, SIXTEEN, fields=fields)
    assert [] == found.causes


# Integer imbalance


def test_ten_even_regions_on_eight_servers_have_a_skew_of_1_6() -> None:
    """Ten even regions on eight servers have a skew of at least 1.6, as two servers hold two."""
    rows = make_even_hosts(20_000, hosts=5_000)
    found = simulate_rows("[bucket(host, ts, 10)][host][ts]", rows)
    cause = get_only_cause(found, "integer_imbalance")
    figures = cause.evidence
    assert (10, 8, 1.6) == (figures["regions"], figures["servers"], figures["bound"])
    assert 1.6 == cause.explained_skew
    assert 1.55 < cause.bound <= 1.6  # a server may have the two regions with the least load
    by_server = Counter[int]()
    for region in found.regions:
        by_server[region.server] += region.writes
    skew = 8 * max(by_server.values()) / found.operation_count
    assert pytest.approx(1.6, rel=0.05) == skew == pytest.approx(8 * found.server_shares.total)


def test_three_regions_leave_five_of_eight_servers_idle() -> None:
    rows = make_even_hosts(hosts=5_000)
    cause = get_only_cause(
        simulate_rows("[bucket(host, ts, 3)][host][ts]", rows), "integer_imbalance"
    )
    assert "5 servers have nothing to do" in cause.message


@pytest.mark.parametrize("key", ["[ts][host]", "[bucket(host, 10)][host][ts]"])
def test_the_number_of_regions_is_no_cause_next_to_a_front(key: str) -> None:
    """Ten regions are not found as a cause next to a front or a hot host."""
    is_front = key.startswith("[ts]")
    rows = make_even_hosts() if is_front else make_skewed_hosts(0.5)
    splits = {"algorithm": "sample", "regions": 10} if is_front else "per_bucket"
    found = simulate_rows(key, rows, splits)
    assert ["moving_front" if is_front else "hot_entity"] == [cause.code for cause in found.causes]


# Missed splits

DECIMAL = [f"{n}0" for n in range(1, 10)]


def test_decimal_splits_put_most_hexadecimal_keys_into_the_last_region() -> None:
    """Decimal splits put 43.75 % of hexadecimal keys, those from 9 on, into the last region."""
    rows = [(f"host-{n}", n, START + n) for n in range(EVENTS)]
    found = simulate_rows("[digest(host, 4, as=hex)][ts]", rows, DECIMAL, cluster={"servers": 10})
    cause = get_only_cause(found, "missed_splits")
    assert pytest.approx(0.4375, abs=0.01) == cause.evidence["share"]
    assert found.regions[-1].writes / found.operation_count == cause.evidence["share"]
    assert pytest.approx(10 * cause.evidence["share"]) == cause.bound


def test_hexadecimal_buckets_under_decimal_splits_are_predicted_exactly() -> None:
    """Of 256 buckets in two hexadecimal digits, the predicted 112 begin with 9 or a letter."""
    rows = make_even_hosts(hosts=5_000)
    found = simulate_rows(
        "[bucket(host, ts, 256, as=hex)][ts]", rows, DECIMAL, cluster={"servers": 10}
    )
    cause = get_only_cause(found, "missed_splits")
    assert cause.message.startswith("43.75% of all keys fall into one of 10 regions. Keys lie ")


def test_ids_of_small_numbers_lie_in_one_region_of_byte_wide_splits() -> None:
    """Ids below 2^24 begin with 00, so splits of the whole byte range leave all in one region."""
    found = simulate_rows(
        "[code(host, width=3)][ts]",
        make_even_hosts(),
        {"algorithm": "uniform", "regions": 16},
    )
    cause = get_only_cause(found, "missed_splits")
    assert (15, 16, 1.0) == (
        cause.evidence["empty"], cause.evidence["regions"], cause.evidence["share"],
    )  # fmt: skip
    assert 8.0 == cause.bound


def test_regions_split_by_time_within_buckets_get_no_new_rows() -> None:
    """Of four regions a bucket that are split by time, three get no rows."""
    found = simulate_rows(
        "[bucket(host, 16)][ts][host]",
        make_even_hosts(),
        {"algorithm": "per_bucket", "regions": 64},
    )
    assert (
        48 == get_only_cause(found, "missed_splits").evidence["empty"] == found.empty_region_count
    )


UNIFORM = {"algorithm": "uniform", "regions": 16}
HEX_STRING = {"algorithm": "hex_string", "regions": 16}


@pytest.mark.parametrize("splits", [UNIFORM, HEX_STRING])
@pytest.mark.parametrize(
    "values", [6, *(pytest.param(n, marks=pytest.mark.long) for n in (12, 30)), 60]
)
@pytest.mark.parametrize("hot", [0.0, 0.4])
def test_names_with_one_beginning_are_blamed_on_the_splits(
    values: int, splits: Any, hot: float
) -> None:
    """Names with one beginning lie in one of 16 regions because of the splits, not their number."""
    chance = random.Random(values)
    rows = [
        (f"web-{0 if chance.random() < hot else chance.randrange(values)}", n, START + n)
        for n in range(EVENTS)
    ]
    found = simulate_rows("[host][ts]", rows, splits)
    codes = [cause.code for cause in found.causes]
    assert ["missed_splits", *["hot_entity"] * (hot > 0)] == codes
    assert (15, 1.0, 8.0) == (
        found.causes[0].evidence["empty"], found.causes[0].evidence["share"], found.causes[0].bound,
    )  # fmt: skip
    told = {
        one.code
        for one in check_design(
            found.design, summarize_sample(found.design, build_table(rows))
        ).findings
    }
    assert ("RK201" in told, "RK104" in told) == (True, False)


@pytest.mark.parametrize("values", [2, 5, 30])
def test_few_values_with_a_region_each_are_named_as_the_cause(values: int) -> None:
    """Where each of the first values has its own region, too few values are the cause."""
    rows = [(f"s{n % values:02}", n, START + n) for n in range(EVENTS)]
    splits = [f"s{n:02}" for n in range(1, 16)]
    codes = [cause.code for cause in simulate_rows("[host][ts]", rows, splits).causes]
    assert "missed_splits" not in codes
    assert "few_entities" in codes


@pytest.mark.parametrize(
    ("key", "splits"),
    [
        ("[digest(host, 4, as=hex)][ts]", {"algorithm": "hex_string", "regions": 16}),
        ("[digest(host, 4)][ts]", {"algorithm": "uniform", "regions": 16}),
        ("[bucket(host, 16)][host][ts]", "per_bucket"),
        ("[code(host, width=3)][ts]", SIXTEEN),
    ],
)
def test_splits_of_the_alphabet_of_the_keys_are_no_cause(key: str, splits: Any) -> None:
    """Splits of the keys' own alphabet, from a list or from the sample, are no cause."""
    assert [] == simulate_rows(key, make_even_hosts(MANY_EVENTS), splits).causes


def test_the_remedy_for_keys_beyond_sampled_splits_is_not_to_sample_again() -> None:
    """The remedy for keys that left their sampled splits is not to sample such splits again."""
    rows = [("x" if n < 10_000 else f"y{n % 997}", n, START + n) for n in range(20_000)]
    rows = [(f"h{n % 499}" if host == "x" else host, n, time) for host, n, time in rows]
    cause = get_only_cause(simulate_rows("[host][ts]", rows, SIXTEEN), "missed_splits")
    assert cause.needs_key
    assert "sample" not in cause.remedy


# Uneven buckets


def test_multiples_of_four_reach_four_of_16_remainders() -> None:
    """Multiples of four have four of 16 remainders, which is predicted and recognised."""
    rows = [(host, 4 * n, time) for n, (host, _, time) in enumerate(make_even_hosts())]
    found = simulate_rows("[mod(id, 16)][id]", rows)
    cause = get_only_cause(found, "uneven_buckets")
    assert (4, 16, 0.25) == tuple(cause.evidence[one] for one in ("reached", "buckets", "share"))
    assert "they come in steps of 4" in cause.message
    assert cause.needs_key
    told = check_design(found.design, summarize_sample(found.design, build_table(rows))).causes
    assert ["uneven_buckets"] == [one.code for one in told]


@pytest.mark.parametrize("hash_name", ["murmur3", "crc32", "md5", "java31"])
def test_every_hash_but_the_weak_one_spreads_doubled_digits(hash_name: str) -> None:
    """Texts of doubled digits fill 16 buckets of each hash but the weak one."""
    chance = random.Random(9)
    digits = [chance.choices("0123456789", k=5) for _ in range(MANY_EVENTS)]
    rows = [("".join(a + a for a in some), n, START + n) for n, some in enumerate(digits)]
    found = simulate_rows(f"[bucket(host, 16, hash={hash_name})][host][ts]", rows)
    expected = ["uneven_buckets"] * (hash_name == "java31")
    assert expected == [cause.code for cause in found.causes]


# One region


@pytest.mark.parametrize("key", ["[ts][host]", "[desc(ts)][host]", "[id]"])
def test_a_front_in_one_region_is_not_blamed_on_the_number_of_regions(key: str) -> None:
    """For a front in one region the cause is the front, not the number of regions."""
    cause = get_only_cause(simulate_rows(key, make_even_hosts(), None), "moving_front")
    assert "more regions would not change that" in cause.message
    assert 8.0 == cause.bound


def test_too_few_regions_are_the_cause_for_hosts_in_no_order() -> None:
    """For hosts in no order, too few regions are the cause, since more regions are cooler."""
    cause = get_only_cause(
        simulate_rows("[host][ts]", make_even_hosts(), None), "integer_imbalance"
    )
    assert "integer_imbalance" == cause.code
    assert 1 == cause.evidence["regions"]


# Few events


@pytest.mark.parametrize("events", [20, 60, 99])
def test_no_cause_is_claimed_of_too_few_events(events: int) -> None:
    """A few events of one host are hot, no cause is claimed, and a remark says so."""
    rows = [(f"h{n // 99}", n, START + n) for n in range(events)]
    found = simulate_rows("[bucket(host, 16)][host][ts]", rows)
    assert ("hot", []) == (found.verdict.level, found.causes)
    assert [
        f"{events} events replayed; causes of hot spots are searched from 100 events on"
    ] == list(found.remarks)


@pytest.mark.parametrize("events", [120, 400])
def test_few_events_of_many_hosts_do_not_show_that_hosts_are_few(events: int) -> None:
    """A few events of different hosts are no evidence that there are few hosts."""
    rows = [(f"h{n}", n, START + n) for n in range(events)]
    found = simulate_rows("[bucket(host, 256)][host][ts]", rows)
    told = check_design(found.design, summarize_sample(found.design, build_table(rows))).causes
    assert [] == [one for one in (*found.causes, *told) if one.code == "few_entities"]


# What needs no explanation


@pytest.mark.parametrize("key", ["[ts][host]", "[bucket(host, 16)][host][ts]", "[host]"])
def test_on_one_server_no_cause_is_found(key: str) -> None:
    """On one server no cause is found, however uneven the regions are."""
    rows = make_skewed_hosts(0.3)
    splits: Any = "per_bucket" if "bucket" in key else SIXTEEN
    found = simulate_rows(key, rows, splits, cluster={"servers": 1})
    assert ("even", []) == (found.verdict.level, found.causes)


def test_two_events_on_eight_servers_have_no_cause() -> None:
    """Two events lie on at most two of eight servers by chance, and no cause is found."""
    rows = [("a", 1, START), ("b", 2, START + 1)]
    found = simulate_rows("[bucket(host, 16)][host][ts]", rows)
    assert ("even", []) == (found.verdict.level, found.causes)


def test_every_cause_is_tested_documented_and_named() -> None:
    """Each cause is expected by a test of this file, and has a docstring and its own name."""
    text = Path(__file__).read_text(encoding="utf-8")
    assert [] == [name for name in CAUSES if f'"{name}")' not in text]
    for name, cause in CAUSES.items():
        assert name == cause.name
        assert (cause.__doc__ or "").strip()


def test_events_of_a_single_date_make_a_front() -> None:
    """Events of one date lie within one step of it, though a date has no unit of time."""
    rows = {"day": ["2024-03-01"] * EVENTS, "id": [n * 7919 % 1_000 for n in range(EVENTS)]}
    design = Design(
        "t", "[day][id]", fields={"day": "date", "id": "u32"}, splits=SIXTEEN,
        writes={"time": "day", "arrival": "clock", "rate": "50000/s", "sort": True},
    )  # fmt: skip
    found = run(design, pa.table(rows))
    assert ("hot", 8.0) == (found.verdict.level, found.verdict.skew)
    assert ["moving_front"] == [cause.code for cause in found.causes]
