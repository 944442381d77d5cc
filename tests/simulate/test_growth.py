"""Rows of a read in the table, from a sample: by declaration, by key, and against known truth."""

from __future__ import annotations

import json
import random
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from tools.growth import __main__ as trials
from tools.growth.processes import PROCESSES, TABLE_S, Process

from rowkey import Design
from rowkey.advise import JudgedDesign, search
from rowkey.errors import InvalidDesign
from rowkey.simulate import run

if TYPE_CHECKING:
    from rowkey.simulate import ReadCost

START_MS = 1_700_000_000_000
HOUR_MS = 3_600_000


def judge_users(
    sample: dict[str, Any] | None = None,
    grows: str | None = None,
    rate: int = 50,
    reads_per_s: int | None = None,
    distinct: int | None = None,
) -> JudgedDesign:
    """Return a judged table of users' days; the sample has an hour of an event a second."""
    return _judge_users(json.dumps(sample), grows, rate, reads_per_s, distinct)


@cache
def _judge_users(
    sample: str, grows: str | None, rate: int, reads_per_s: int | None, distinct: int | None
) -> JudgedDesign:
    chance = random.Random(1)
    users = [f"u{chance.randrange(100)}" for _ in range(3_600)]
    times = [START_MS + number * 1_000 for number in range(len(users))]
    user = {"type": "text", "max_bytes": 8} | ({"distinct": distinct} if distinct else {})
    design = Design(
        "t", "[user][ts]", fields={"user": user, "ts": "timestamp_ms"},
        families={"d": {"ttl": "1d"}},
        writes={"rate": f"{rate}/s", "time": "ts"} | ({"grows": grows} if grows else {}),
        reads=[{"name": "it", "where": "user = ?"}
               | ({"rate": f"{reads_per_s}/s"} if reads_per_s else {})],
        **({"sample": json.loads(sample)} if sample != "null" else {}),
    )  # fmt: skip
    return JudgedDesign(design, pa.table({"user": users, "ts": times}), names_keys=True)


def measure_users(
    sample: dict[str, Any] | None = None, grows: str | None = None, rate: int = 50
) -> ReadCost:
    """Return the cost of a read of a user's day."""
    (cost,) = judge_users(sample, grows, rate).simulation.reads
    assert not cost.error
    return cost


DAY_ROWS = 36 * 24 + 1
"""Rows of a day that a user of the sample has, at his own pace."""


@pytest.mark.parametrize(
    ("sample", "grows", "expected"),
    [
        (None, None, DAY_ROWS),
        ({"of": "user"}, None, DAY_ROWS),
        (None, "entities", DAY_ROWS),
        ({"of": "events"}, None, DAY_ROWS * 50),
        ({"of": "events", "share": "2%"}, None, DAY_ROWS * 50),
        (None, "rows", DAY_ROWS * 50),
    ],
)
def test_a_declaration_says_whether_a_higher_rate_means_more_or_busier_users(
    sample: dict[str, Any] | None, grows: str | None, expected: float
) -> None:
    """Fifty times the rate are more users, unless all of them are in the file or are busier."""
    cost = measure_users(sample, grows)
    assert pytest.approx(expected, rel=0.05) == cost.returned_rows
    assert cost.margins.returned_rows < expected


def measure_minutes_of_users(of: str, **options: Any) -> ReadCost:
    """Return the cost of a read of ten minutes of a user, of whom there are 2,000.

    Args:
        of: of what the sample has a fiftieth: `events` or a `user`; it has all if empty.
        options: those of the design.
    """
    chance = np.random.default_rng(5)
    users, times = chance.integers(0, 2_000, 400_000), np.sort(chance.integers(0, 3_600, 400_000))
    kept = users < 40 if of == "user" else chance.random(len(users)) < (0.02 if of else 1)
    rows = {"user": users[kept], "ts": times[kept], "n": np.arange(len(users))[kept]}
    design = Design(
        "t",
        "[user][ts][n]",
        fields={"user": "u32", "ts": "timestamp_s", "n": "u32"},
        reads=[{"name": "it", "where": "user = ? and ts >= ? and ts < ?", "span": "10m"}],
        **options,
    )
    (cost,) = run(design, pa.table(rows)).reads
    return cost


@pytest.mark.parametrize("of", ["events", pytest.param("user", marks=pytest.mark.long)])
def test_a_declared_share_of_the_table_is_as_good_as_the_rate(of: str) -> None:
    """A read finds the rows of the whole table, of which the sample is declared to have a part."""
    whole = measure_minutes_of_users("")
    part = measure_minutes_of_users(of, sample={"of": of, "share": "2%"})
    rated = measure_minutes_of_users(of, sample={"of": of, "share": "2%"}, writes={"rate": "111/s"})
    assert pytest.approx(whole.returned_rows, rel=0.1) == part.returned_rows
    assert pytest.approx(rated.returned_rows, rel=0.05) == part.returned_rows
    assert (of == "events") is (f"the sample has 2 % of all {of}" in part.assumption)


@pytest.mark.parametrize("span", ["10m", "40m", "1h", "3h"])
@pytest.mark.parametrize("away_s", [-1_700_000_000, 20 * 3_600])
def test_a_few_wrong_timestamps_do_not_change_a_time_range_read(span: str, away_s: int) -> None:
    """A few times far from all others do not move what a range of time finds."""
    chance = np.random.default_rng(3)
    users, times = chance.integers(0, 40, 3_600), np.arange(3_600) + START_MS // 1_000
    costs: list[ReadCost] = []
    for strays in (0, 10):
        when = np.sort(np.concatenate([times[strays:], np.arange(strays) + times[0] + away_s]))
        design = Design(
            "t", "[user][ts]", fields={"user": "u32", "ts": "timestamp_s"},
            writes={"time": "ts", "rate": "50/s"}, cluster={"servers": 4},
            reads=[{"name": "it", "where": "user = ? and ts >= ? and ts < ?", "span": span}],
        )  # fmt: skip
        costs += run(design, pa.table({"user": users, "ts": when})).reads
    without, with_strays = (cost.returned_rows for cost in costs)
    assert pytest.approx(without, rel=0.1) == with_strays


def test_an_undeclared_growth_of_the_rate_asks_for_a_declaration() -> None:
    """Fifty times the rate of the sample need a declaration, as many or a little more do not."""
    wanted = "declare sample.of or writes.grows"
    assert wanted in measure_users().assumption
    assert "50 times that of the sample" in measure_users().assumption
    assert wanted not in measure_users({"of": "events"}).assumption
    assert wanted not in measure_users(grows="rows").assumption
    assert wanted not in measure_users(rate=2).assumption


def test_both_possible_grades_are_printed_if_undeclared_growth_decides() -> None:
    """One line has the grade that the design gets with either declaration; else there is none."""
    said = judge_users(reads_per_s=10).verdict.open_growth
    more_users, busier_users = (
        judge_users(grows=grows, reads_per_s=10).verdict for grows in ("entities", "rows")
    )
    assert said is not None
    assert ("good", "poor") == (more_users.grade, busier_users.grade)
    assert "if more values make that rate, the verdict is GOOD" in said
    assert "if the same values write more often, POOR (decided by: read it)" in said
    for one in (
        more_users,
        busier_users,
        judge_users({"of": "events"}, reads_per_s=10).verdict,
        judge_users(distinct=5_000, reads_per_s=10).verdict,  # fifty times those of the sample
        judge_users(rate=1, reads_per_s=10).verdict,
        judge_users().verdict,
    ):
        assert one.open_growth is None


def test_the_margin_of_a_doubled_rate_covers_more_users_and_busier_users() -> None:
    """Twice the rate may be more users, or the same ones more often: the margin holds both."""
    cost = measure_users(rate=2)
    assert pytest.approx(DAY_ROWS, rel=0.05) == cost.returned_rows
    assert cost.returned_rows + cost.margins.returned_rows >= 2 * DAY_ROWS * 0.95


def test_a_growth_declaration_of_an_unknown_field_is_a_mistake() -> None:
    """`of` names a period, events, or a field, and its mistakes name what is near."""
    with pytest.raises(InvalidDesign, match=r"'usr' is no field.*Did you mean user"):
        measure_users({"of": "usr"})


@pytest.mark.parametrize("declared", [{"of": "meter"}, {}, {"of": "events"}])
def test_hourly_meters_have_720_rows_a_month_whatever_the_rate(declared: dict[str, Any]) -> None:
    """A meter that writes each hour has 720 rows of a month, whatever rate is declared."""
    meters, hours = 200, 48
    design = Design(
        "t", "[meter][hour]", fields={"meter": "u32", "hour": "timestamp_s"},
        families={"d": {"ttl": "30d"}}, writes={"rate": "1000/s", "time": "hour"},
        reads=[{"name": "it", "where": "meter = ?"}], sample={"of": "period"} | declared,
    )  # fmt: skip
    events = {
        "meter": list(range(meters)) * hours,
        "hour": [1_700_000_000 // 3_600 * 3_600 + 3_600 * hour for hour in range(hours)] * meters,
    }
    events["hour"].sort()
    (cost,) = run(design, pa.table(events)).reads
    assert 700 <= cost.returned_rows <= 720
    assert cost.returned_rows + cost.margins.returned_rows <= 720 * 1.15


@pytest.mark.long
def measure_one_hour(
    meter: dict[str, Any], key: str = "[meter][desc(ts)]", *, is_numbered: bool = False
) -> list[ReadCost]:
    """Return the costs of reads of a meter by the first hour of two days of 2,000 hourly meters.

    Those of all its rows, of the latest 50, and of half an hour.

    Args:
        meter: options of the field.
        is_numbered: whether the values rise in the order of time, as those of orders do.
    """
    chance = np.random.default_rng(4)
    times = START_MS + np.sort(chance.integers(0, HOUR_MS, 2_000))
    order = np.arange(2_000) if is_numbered else chance.permutation(2_000)
    rows = pa.table({"meter": [f"m{one:05d}" for one in order], "ts": times})
    design = Design(
        "t", key, fields={"meter": {"type": "text", "max_bytes": 8} | meter, "ts": "timestamp_ms"},
        families={"d": {"ttl": "2d"}},
        writes={"rate": "2000/h", "time": "ts"},
        reads=[{"name": "all", "where": "meter = ?"},
               {"name": "latest", "where": "meter = ?", "order": "ts desc", "limit": 50},
               {"name": "span", "where": "meter = ? and ts >= ? and ts < ?", "span": "30m"}],
    )  # fmt: skip
    return list(JudgedDesign(design, rows).simulation.reads)


def test_a_sample_without_a_repeated_value_does_not_claim_that_values_never_return() -> None:
    """The truth is 48 rows of a meter; the sample shows one, as it would of unique numbers."""
    *entire, span = measure_one_hour({})
    for cost in entire:
        assert pytest.approx(1, abs=0.2) == cost.returned_rows
        assert pytest.approx(48, rel=0.01) == cost.returned_rows + cost.margins.returned_rows
        assert "an answer has 48 rows; declare distinct or unique of meter" in cost.assumption
    assert span.margins.returned_rows < 1
    assert "come again" not in span.assumption


def test_declared_distinct_values_tell_how_often_each_returns() -> None:
    """2,000 meters have 48 rows each of the rows of two days, though the sample has one of each."""
    for cost in measure_one_hour({"distinct": 2_000})[:2]:
        assert pytest.approx(48, rel=0.01) == cost.returned_rows
        assert "come again" not in cost.assumption
    for cost in measure_one_hour({"distinct": 4_000})[:2]:
        assert pytest.approx(24, rel=0.01) == cost.returned_rows


@pytest.mark.parametrize(
    ("meter", "key", "is_numbered"),
    [({"unique": True}, "[meter][ts]", False), ({}, "[meter]", False), ({}, "[meter][ts]", True)],
)
def test_values_that_do_not_return_have_one_row(
    meter: dict[str, Any], key: str, is_numbered: bool
) -> None:
    """Because they are declared to be unique, are the whole key, or are running numbers."""
    cost = measure_one_hour(meter, key, is_numbered=is_numbered)[0]
    assert pytest.approx((1, 0)) == (cost.returned_rows, cost.margins.returned_rows)
    assert "come again" not in cost.assumption


def test_an_answer_reads_at_least_the_rows_it_returns() -> None:
    """Sessions of few events, of which a sample has a part: no row is returned that is not read."""
    (process,) = [one for one in PROCESSES if one.name == "sessions of 5 events in 2 minutes"]
    sessions, times = process.generate(np.random.default_rng(3))
    design = trials.build_design(process, len(times) / TABLE_S)
    judged = trials.judge(design, sessions, times, {"of": "period"})
    for cost in judged.simulation.reads:
        assert cost.read_rows >= cost.returned_rows


def test_no_trial_of_a_read_asks_for_null() -> None:
    """Half of the rows have no customer: an answer has the 20 rows of a customer."""
    design = Design(
        "t", "[cust][id]",
        fields={"cust": {"type": "text", "max_bytes": 8, "nullable": True}, "id": "u64"},
        reads=[{"name": "it", "where": "cust = ?"}],
    )  # fmt: skip
    customers = [None if number % 2 else f"c{number // 2 % 500}" for number in range(20_000)]
    (cost,) = run(design, pa.table({"cust": customers, "id": range(20_000)})).reads
    assert 20 == cost.returned_rows


def test_rows_without_a_value_become_no_more_values() -> None:
    """Where the table grows by customers, those without one stay as large a part of all events."""
    chance = np.random.default_rng(5)
    design = Design(
        "t", "[cust][at][id]",
        fields={"cust": {"type": "text", "max_bytes": 8, "nullable": True}, "at": "timestamp_s",
                "id": "u64"},
        splits=["\\x01c2", "\\x01c4", "\\x01c6", "\\x01c8"],
        cluster={"servers": 5}, writes={"rate": "9000/s", "grows": "entities", "time": "at"},
    )  # fmt: skip
    customers = [
        None if chance.random() < 0.7 else f"c{chance.integers(0, 9_999)}" for _ in range(8_000)
    ]
    times = [START_MS // 1_000 + number // 10 for number in range(8_000)]
    verdict = run(design, pa.table({"cust": customers, "at": times, "id": range(8_000)})).verdict
    assert "hot" == verdict.level
    assert pytest.approx(0.7 * 5, abs=0.4) == verdict.skew


@pytest.mark.parametrize("keys", ["sample", "uniform"])
def test_a_limited_answer_of_a_frequent_value_has_about_the_limit(keys: str) -> None:
    """Of values with at least twenty rows, an answer with a limit of twenty has about twenty."""
    chance = np.random.default_rng(4)
    users = np.repeat(np.arange(2_000), chance.integers(20, 200, 2_000))
    times = chance.integers(0, 100 * HOUR_MS, len(users))
    order = np.argsort(times)
    kept = order[::40]
    design = Design(
        "t", "[user][ts]", fields={"user": "u32", "ts": "timestamp_ms"},
        families={"d": {"ttl": "100h"}},
        writes={"rate": f"{len(users) / 360_000:.6f}/s", "time": "ts"}, sample={"of": "events"},
        reads=[{"name": "it", "where": "user = ?", "order": "ts", "limit": 20, "keys": keys}],
    )  # fmt: skip
    (cost,) = run(design, pa.table({"user": users[kept], "ts": START_MS + times[kept]})).reads
    assert pytest.approx(20, rel=0.1) == cost.returned_rows


@cache
def judge_entities(key: str, share: float, declared: str = "share") -> JudgedDesign:
    """Return a design judged by all events of some of 20,000 users, some of whom write much.

    Args:
        key: its key.
        share: the share of the users that the sample has.
        declared: whether this `share` is declared, or that the table `grows` by more of them, or
            how many there are by `distinct`.
    """
    chance = np.random.default_rng(6)
    paces = chance.lognormal(0, 1.2, 20_000)
    users = chance.choice(len(paces), 300_000, p=paces / paces.sum())
    times = np.sort(chance.integers(0, TABLE_S * 1_000, len(users)))
    kept = (chance.random(len(paces)) < share)[users]
    design = trials.build_design(PROCESSES[0], len(users) / TABLE_S)
    sample: dict[str, object] = {"of": "period"}
    if share < 1 and declared == "share":
        sample = {"of": "entity", "share": share}
    elif share < 1 and declared == "grows":
        design["writes"] = {**design["writes"], "grows": "entities"}
    elif share < 1:
        design["fields"]["entity"]["distinct"] = len(paces)
    design |= {"key": key, "splits": "sample"}
    return trials.judge(design, users[kept], times[kept], sample)


@pytest.mark.parametrize("declared", ["share", "grows", "distinct"])
def test_many_users_load_servers_evenly_although_a_few_do_not(declared: str) -> None:
    """One user in a hundred loads servers unevenly; a hundred times as many do not."""
    key = "[bucket(entity, 16)][entity][ts]"
    part, whole = judge_entities(key, 0.01, declared), judge_entities(key, 1.0)
    assert ("good", "good") == (whole.verdict.grade, part.verdict.grade)
    assert ("even", "even") == (whole.simulation.verdict.level, part.simulation.verdict.level)
    assert part.simulation.verdict.skew <= 1.25
    assert float(part.simulation.write_shares.max()) <= 1.25 / 8


@pytest.mark.parametrize("whale_share", [0.3, 0.55])
@pytest.mark.parametrize("declared", ["nothing", "number", "more", "more, and number", "part"])
def test_a_heavy_value_keeps_its_share_in_a_larger_table(whale_share: float, declared: str) -> None:
    """A third or half of all lines are of one node, also of a table of many more, if not told."""
    chance = np.random.default_rng(7)
    nodes = np.where(chance.random(40_000) < whale_share, 0, chance.integers(1, 300, 40_000))
    times = np.sort(chance.integers(0, 40_000, 40_000))
    node = {"type": "u32"} | ({"distinct": 300_000} if "number" in declared else {})
    design = Design(
        "t",
        "[bucket(node, 16)][node][ts][n]",
        splits="per_bucket",
        fields={"node": node, "ts": "timestamp_s", "n": "u32"},
        writes={"rate": "1000/s", "time": "ts"}
        | ({"grows": "entities"} if "more" in declared else {}),
        sample={"of": "node"} if declared == "part" else {},
        cluster={"servers": 8},
        reads=[{"name": "it", "where": "node = ? and ts >= ? and ts < ?", "span": "1h"}],
    )
    rows = {"node": nodes, "ts": START_MS // 1_000 + times, "n": np.arange(len(nodes))}
    result = run(design, pa.table(rows))
    (cost,) = result.reads
    own = 3_600 * (whale_share**2 + (1 - whale_share) ** 2 / 299)
    if declared not in {"nothing", "number"}:
        told = {"more": "taken as more values of node", "part": ""}
        assert told.get(declared, "the declared 300,000 values") in cost.assumption
        assert "even" == result.verdict.level
        assert pytest.approx(own, rel=0.1) == cost.returned_rows
    else:
        expected = 8 * (whale_share + (1 - whale_share) / 8)
        assert pytest.approx(expected, rel=0.1) == result.verdict.skew
        assert cost.returned_rows > 100 * own


def measure_meters(metric: dict[str, Any], unit: dict[str, Any]) -> ReadCost:
    """Return the cost of a read of a day of one measure; the sample has two units of seven."""
    hours = np.repeat(np.arange(24 * 60), 14)
    events = pa.table(
        {
            "metric": [f"m{n % 7}" for n in range(len(hours))],
            "unit": [n // 7 % 2 for n in range(len(hours))],
            "ts": START_MS // 1_000 // 3_600 * 3_600 + 3_600 * hours,
        }
    )
    design = Design(
        "grid", "[metric][ts][unit]",
        fields={"metric": {"type": "text", **metric}, "unit": {"type": "u32", **unit},
                "ts": "timestamp_s"},
        writes={"time": "ts", "rate": "3000/s", "grows": "entities"},
        reads=[{"name": "day", "where": "unit = ? and metric = ? and ts >= ? and ts < ?",
                "span": "1d"}],
    )  # fmt: skip
    (cost,) = run(design, events).reads
    return cost


@pytest.mark.parametrize(
    ("metric", "unit", "fields"),
    [
        ({}, {"distinct": 1_542_857}, ""),
        ({"distinct": 7}, {}, "unit"),
        ({}, {}, "metric and unit"),
    ],
)
def test_a_declaration_of_one_field_does_not_change_the_predictions_for_others(
    metric: dict[str, Any], unit: dict[str, Any], fields: str
) -> None:
    """A day of a measure has the rows of a million units, of which a read wants one."""
    cost = measure_meters(metric, unit)
    assert pytest.approx(24, abs=1.5) == cost.returned_rows
    assert pytest.approx(3_000 * 86_400 / 7, rel=0.1) == cost.read_rows
    told = cost.assumption.partition("more entities are taken as more values of ")[2]
    assert fields == told.partition(";")[0]


@pytest.mark.parametrize("rate", ["0.5/s", "5/s", "500/s"])
def test_a_field_of_listed_values_does_not_change_the_number_of_users(rate: str) -> None:
    """A field of listed values beside them changes neither a user's rows nor their margin."""
    chance = np.random.default_rng(2)
    events = pa.table(
        {
            "user": chance.integers(0, 300, 4_000),
            "kind": ["view"] * 4_000,
            "ts": START_MS // 1_000 + np.arange(4_000),
        }
    )
    kinds = [{"type": "choice", "of": ["view", "buy"]}, {"type": "text", "max_bytes": 8}]
    listed, free = (
        run(
            Design(
                "t", "[user][ts][kind]", fields={"user": "u32", "ts": "timestamp_s", "kind": kind},
                writes={"time": "ts", "rate": rate}, families={"d": {"ttl": "1d"}},
                reads=[{"name": "it", "where": "user = ?"}],
            ),
            events,
        ).reads[0]
        for kind in kinds
    )  # fmt: skip
    assert pytest.approx(free.returned_rows) == listed.returned_rows
    assert pytest.approx(free.margins.returned_rows) == listed.margins.returned_rows


def test_a_value_with_nearly_all_events_keeps_its_share_of_more_entities() -> None:
    """Of more sessions as many are of one protocol; the few protocols are no entities."""
    chance = np.random.default_rng(5)
    count = 20_000
    events = pa.table(
        {
            "protocol": np.where(chance.random(count) < 0.96, 0, chance.integers(1, 6, count)),
            "session": np.arange(count),
            "ts": START_MS // 1_000 + np.sort(chance.integers(0, 86_400, count)),
        }
    )
    design = Design(
        "logins", "[protocol][ts][session]", splits=["\\x01", "\\x02", "\\x03"],
        cluster={"servers": 4},
        fields={"protocol": "u8", "session": "u32", "ts": "timestamp_s"},
        writes={"time": "ts", "rate": "40/s", "grows": "entities"},
        reads=[{"name": "it", "where": "protocol = ? and ts >= ? and ts < ?", "span": "10m"}],
    )  # fmt: skip
    result = run(design, events)
    (cost,) = result.reads
    assert pytest.approx(0.96**2 * 40 * 600, rel=0.1) == cost.returned_rows
    assert pytest.approx(4 * 0.97, rel=0.03) == result.verdict.skew


@pytest.mark.parametrize("slices", ["[time_slice(ts, 1d)]", "[time_bucket(ts, 1d)][ts]"])
def test_a_read_of_time_slices_scans_no_more_rows_than_there_are_times(slices: str) -> None:
    """Stations that write each hour have at most 48 events in the two days of a read."""
    hours = np.repeat(np.arange(24 * 60), 12)
    events = pa.table(
        {
            "station": [f"s{n % 12}" for n in range(len(hours))],
            "ts": START_MS // 1_000 + 3_600 * hours,
        }
    )
    design = Design(
        "air",
        f"[bucket(station, 16)][station]{slices}",
        fields={"station": "text", "ts": "timestamp_s"},
        splits="per_bucket",
        writes={"time": "ts", "rate": "24000/s", "grows": "entities"},
        reads=[
            {"name": "day", "where": "station = ? and ts >= ? and ts < ?", "span": "1d"},
        ],
    )
    judged = JudgedDesign(design, events)
    (cost,) = judged.simulation.reads
    assert cost.returned_rows <= 25
    assert cost.read_rows <= 52
    assert "RK505" not in {one.code for one in judged.warnings}


@pytest.mark.parametrize(("share", "declared"), [(0.5, "share"), (0.1, "share"), (0.5, "more")])
def test_a_sample_of_the_users_shows_the_load_of_a_popular_film(
    share: float, declared: str
) -> None:
    """Few films load servers as unevenly by some of the users, if more entities are more users."""
    chance = np.random.default_rng(3)
    users = chance.integers(0, 4_000, 60_000)
    films = np.minimum(chance.zipf(1.7, len(users)), 3_000)
    times = START_MS + np.sort(chance.integers(0, TABLE_S * 1_000, len(users)))
    events = pa.table({"user": users, "film": films, "ts": times})
    options: dict[str, Any] = {
        "fields": {"user": "u32", "film": "u32", "ts": "timestamp_ms"},
        "splits": "per_bucket",
    }
    key = "[bucket(film, 16)][film][user]"
    own: dict[str, Any] = {"time": "ts"}
    whole = run(Design("ratings", key, writes=own, **options), events).verdict
    some = Design("ratings", key, sample={"of": "user", "share": share}, writes=own, **options)
    if declared == "more":
        rate = f"{len(users) / TABLE_S:.5f}/s"
        some = Design("ratings", key, writes={**own, "rate": rate, "grows": "entities"}, **options)
    part = run(some, events.filter(pa.array(users < 4_000 * share))).verdict
    assert whole.level == part.level == "hot"
    assert pytest.approx(whole.skew, rel=0.05) == part.skew


def test_a_time_first_key_is_hot_by_a_few_users_too() -> None:
    """A key that begins with the time has one front, whatever part of the users is judged."""
    assert "hot" == judge_entities("[ts][entity]", 0.01).simulation.verdict.level


FAST = ["40 machines of equal rates"]


@pytest.mark.parametrize(
    "process",
    [
        pytest.param(one, marks=[pytest.mark.long] * (one.name not in FAST), id=one.name)
        for one in PROCESSES
    ],
)
def test_growth_trials_give_the_committed_results(process: Process) -> None:
    """The trials of the growth model are those of the committed file."""
    committed = [one for one in trials.read_trials() if one.process == process.name]
    for expected, found in zip(committed, trials.judge_process(process), strict=True):
        assert expected.sampling == found.sampling
        assert pytest.approx(expected.true_rows, rel=1e-6) == found.true_rows
        assert pytest.approx(expected.rows, rel=1e-3) == found.rows
        assert pytest.approx(expected.margin, rel=1e-2, abs=1e-2) == found.margin
        assert (expected.grade, expected.true_grade) == (found.grade, found.true_grade)


def test_the_page_on_growth_shows_the_committed_trials() -> None:
    """The table of the page is that of the committed trials."""
    assert "\n".join(trials.build_summary(trials.read_trials())) in trials.PAGE.read_text()


def test_a_sample_of_users_without_the_largest_tenant_warns_of_it() -> None:
    """A hundredth of 5,000 users, without the one with 60 % of the events, tells of his rows."""
    chance = random.Random(2)
    seconds, rate = 86_400, 5
    count = int(seconds * rate * 0.4 / 100)
    times = sorted(chance.randrange(seconds) for _ in range(count))
    design = Design(
        "t",
        "[user][ts][id]",
        fields={"user": {"type": "text", "max_bytes": 8}, "ts": "timestamp_s", "id": "u32"},
        families={"d": {"ttl": "1d"}},
        sample={"of": "user", "share": "1%"},
        writes={"rate": f"{rate}/s", "time": "ts"},
        reads=[{"name": "it", "where": "user = ?"}],
    )
    columns = {
        "user": [f"u{chance.randrange(50)}" for _ in times],
        "ts": [START_MS // 1_000 + one for one in times],
        "id": list(range(count)),
    }
    (cost,) = run(design, pa.table(columns)).reads
    truth = 0.6 * 0.6 * seconds * rate
    assert 1 / 1.3 <= cost.returned_rows / truth <= 1.3
    assert abs(cost.returned_rows - truth) <= cost.margins.returned_rows


def test_a_share_of_a_sample_with_all_events_of_its_time_is_refused() -> None:
    """A file with all events of some time has no share of them."""
    with pytest.raises(InvalidDesign, match=r"sample\.share"):
        measure_users({"share": 0.5})


@pytest.mark.parametrize(
    ("key", "read", "expected"),
    [
        ("[meter][hour]", {"where": "meter = ?"}, 720),
        ("[meter][hour]", {"where": "meter = ?", "order": "hour desc", "limit": 50}, 50),
        (
            "[meter][hour]",
            {"where": "meter = ? and hour >= ? and hour < ?", "span": "1d"},
            24,
        ),
        ("[meter]", {"where": "meter = ?"}, 1),
    ],
)
def test_generated_meters_have_a_row_for_each_period(
    key: str, read: dict[str, Any], expected: float
) -> None:
    """Ten generated minutes have one row of a meter at most, and a month has one of each hour."""
    design = Design(
        "t",
        key,
        fields={"hour": "timestamp_s", "meter": {"type": "u32", "distinct": 100_000}},
        families={"d": {"ttl": "30d"}},
        writes={"arrival": "per(meter)", "period": "1h", "time": "hour"},
        reads=[{"name": "it", **read}],
    )
    (cost,) = run(design).reads
    assert expected == cost.returned_rows
    assert "because" not in cost.assumption


@pytest.mark.parametrize("hours", [6, 24])
@pytest.mark.parametrize("meters", [1, 3])
@pytest.mark.parametrize(
    ("time", "step_h"),
    [("[time_slice(ts, 1h)]", 1), ("[time_slice(ts, 6h)]", 6), ("[ts]", 0), ("", 72)],
)
def test_a_read_of_generated_meters_reads_the_slices_of_its_time(
    time: str, step_h: int, meters: int, hours: int
) -> None:
    """As many events as those counted in all events of a table of three days."""
    chance = random.Random(1)
    meter = {"type": "u32", "distinct": 2_000}
    where = "meter = ?" if meters == 1 else "meter in (?, ?, ?)"
    design = Design(
        "t",
        f"[bucket(meter, 4)][meter]{time or '[number]'}",
        fields={"ts": "timestamp_s", "meter": meter, "number": "u32"},
        families={"d": {"ttl": "3d"}},
        writes={"arrival": "per(meter)", "period": "30s", "time": "ts"},
        reads=[{"name": "it", "where": f"{where} and ts between ? and ?", "span": f"{hours}h"}],
    )
    day = [chance.randrange(30) + 30 * number for number in range(3 * 24 * 120)]
    step = step_h * 3_600 or 1
    starts = [chance.randrange(3 * 86_400 - hours * 3_600) for _ in range(300)]
    read = [
        sum(start // step <= at // step <= (start + hours * 3_600) // step for at in day)
        for start in starts
    ]
    (cost,) = run(design).reads
    assert meters * hours * 120 == cost.returned_rows
    assert pytest.approx(meters * sum(read) / len(read), rel=0.03) == cost.read_rows


@pytest.mark.parametrize(("distinct", "expected"), [(5_000, DAY_ROWS), (1_000, DAY_ROWS * 5)])
def test_declared_distinct_values_decide_between_more_and_busier_users(
    distinct: int, expected: float
) -> None:
    """Fifty times the rate over fifty times the users is their pace; over ten times it is five."""
    chance = random.Random(1)
    times = [START_MS + number * 1_000 for number in range(3_600)]
    user = {"type": "text", "max_bytes": 8, "distinct": distinct}
    design = Design(
        "t",
        "[user][ts]",
        fields={"user": user, "ts": "timestamp_ms"},
        families={"d": {"ttl": "1d"}},
        writes={"rate": "50/s", "time": "ts"},
        reads=[{"name": "it", "where": "user = ?"}],
    )
    users = [f"u{chance.randrange(100)}" for _ in times]
    (cost,) = run(design, pa.table({"user": users, "ts": times})).reads
    assert pytest.approx(expected, rel=0.1) == cost.returned_rows
    assert f"the declared {distinct:,} values" in cost.assumption
    assert "sample.of" not in cost.assumption


@pytest.mark.parametrize("ttl", ["", "2h", "30d"])
@pytest.mark.parametrize("rate", ["", "1/s", "50/s", "20000/s"])
def test_a_key_search_expects_the_rows_that_a_full_scan_reads(ttl: str, rate: str) -> None:
    """What keys are compared by is the table that reads are measured on, with a ttl and without."""
    rows = pa.table({"user": [f"u{n % 97}" for n in range(3_600)],
                     "ts": [START_MS + n * 1_000 for n in range(3_600)]})  # fmt: skip
    design = Design(
        "t", "[user][ts]", fields={"user": {"type": "text", "max_bytes": 8}, "ts": "timestamp_ms"},
        families={"d": {"ttl": ttl} if ttl else {}},
        writes={"time": "ts"} | ({"rate": rate} if rate else {}),
        reads=[{"name": "it", "where": "ts = ?"}],
    )  # fmt: skip
    judged = JudgedDesign(design, rows)
    (cost,) = judged.simulation.reads
    assert cost.is_full_scan
    assert cost.read_rows == pytest.approx(judged.source.estimate_rows(design), rel=0.01)


@pytest.mark.long
@pytest.mark.parametrize(
    ("node", "level"), [("Incident Zip", "Type: a/b"), ("node", "level"), ("节点", "级别")]
)
def test_a_full_scan_of_a_growing_table_gets_a_second_table(node: str, level: str) -> None:
    """Without a ttl too, and with columns of any name, a scan of all rows needs another table."""
    chance = random.Random(2)
    rows = pa.table({node: [f"n{chance.randrange(400)}" for _ in range(3_000)],
                     level: [chance.choice("ABCD") for _ in range(3_000)],
                     "ts": [START_MS + n * 60_000 for n in range(3_000)],
                     "id": pa.array(range(3_000), pa.uint64())})  # fmt: skip
    text = {"type": "text", "max_bytes": 8}
    design = Design(
        "t", f'[bucket("{node}", 16)]["{node}"][ts][id]', splits="per_bucket",
        fields={node: text, level: text, "ts": "timestamp_ms", "id": "u64"},
        writes={"time": "ts", "rate": "20/s"},
        reads=[{"name": "node", "where": f'"{node}" = ?', "limit": 9, "rate": "20/s"},
               {"name": "hour", "where": f'"{level}" = ? and ts >= ? and ts < ?', "span": "1h",
                "rate": "2/m"}],
    )  # fmt: skip
    assert 2 == len(search(design, rows).tables)


@pytest.mark.parametrize("kind", ["AB", "ABCD", "bool"])
@pytest.mark.parametrize("grows", [None, "entities"])
def test_the_rate_of_listed_values_is_their_share_of_the_declared_rate(
    kind: str, grows: str | None
) -> None:
    """An hour of one of two values has its share of the declared rate, whatever else is listed."""
    chance, count = random.Random(4), 4_000
    values = [chance.random() < 0.75 for _ in range(count)]
    table = pa.table(
        {
            "kind": values if kind == "bool" else ["AB"[one] for one in values],
            "ts": [START_MS + number * 10_000 for number in range(count)],
            "id": list(range(count)),
        }
    )
    listed: Any = kind if kind == "bool" else {"type": "choice", "of": [*kind]}
    design = Design(
        "t", "[kind][ts][id]", fields={"kind": listed, "ts": "timestamp_ms", "id": "u32"},
        writes={"rate": "1000/s", "time": "ts"} | ({"grows": grows} if grows else {}),
        reads=[{"name": "it", "where": "kind = ? and ts >= ? and ts < ?", "span": "1h"}],
    )  # fmt: skip
    (cost,) = run(design, table).reads
    assert pytest.approx((0.75**2 + 0.25**2) * 3_600_000, rel=0.05) == cost.returned_rows
    assert f"kind has the declared {len(kind) if kind.isupper() else 2} values" in cost.assumption
    assert "more values" not in cost.assumption


@pytest.mark.parametrize(
    "kind", [{"type": "choice", "of": ["A", "B", "C"]}, {"type": "text", "distinct": 3}]
)
def test_the_scaling_of_rows_to_declared_values_is_explained(kind: Any) -> None:
    """A sentence on what a row stands for names why, also where no rate and no ttl is declared."""
    design = Design("t", "[kind][id]", fields={"kind": kind, "ts": "timestamp_ms", "id": "u32"},
                    writes={"time": "ts"}, reads=[{"name": "it", "where": "kind = ?"}])  # fmt: skip
    times = [START_MS + number * 1_000 for number in range(1_000)]
    rows = pa.table({"kind": ["A", "B"] * 500, "ts": times, "id": range(1_000)})
    (cost,) = run(design, rows).reads
    if "distinct" in kind:
        assert cost.assumption.endswith("because kind has the declared 3 values")
    else:
        assert (500, "") == (cost.returned_rows, cost.assumption)


def judge_meters(declared: dict[str, Any]) -> JudgedDesign:
    """Return a judged table of hourly meters in eight buckets; the sample has twelve of them."""
    numbers = range(12_000)
    table = pa.table(
        {
            "meter": [f"site{7 * (number % 12)}" for number in numbers],
            "ts": [START_MS + number // 12 * HOUR_MS for number in numbers],
        }
    )
    meter = {"type": "text", "max_bytes": 8} | declared.get("meter", {})
    design = Design(
        "t", "[bucket(meter, 8)][meter][ts]", splits="per_bucket",
        fields={"meter": meter, "ts": "timestamp_ms"},
        families={"d": {"ttl": "30d"}}, sample=declared.get("sample", {}),
        writes={"rate": "12000/s", "time": "ts"} | declared.get("writes", {}),
    )  # fmt: skip
    return JudgedDesign(design, table, names_keys=True)


@pytest.mark.parametrize(
    "declared",
    [
        {},
        {"writes": {"grows": "entities"}},
        {"sample": {"of": "meter", "share": "0.01%"}},
        {"sample": {"of": "meter"}},
        {"meter": {"distinct": 120_000}},
    ],
    ids=["nothing", "more", "share", "part", "number"],
)
def test_more_declared_values_than_sampled_ones_fill_the_servers(declared: dict[str, Any]) -> None:
    """Twelve meters leave servers idle; those of which they are declared a part do not."""
    judged = judge_meters(declared)
    is_full = bool(declared)
    assert ("even" if is_full else "hot") == judged.simulation.verdict.level
    assert is_full is ("RK104" not in {one.code for one in judged.lint_result.findings})
    assert is_full is ("few_entities" not in {one.code for one in judged.simulation.causes})


@pytest.mark.parametrize("has_stray", [False, True])
def test_a_stray_timestamp_of_1970_does_not_hide_an_hourly_step(has_stray: bool) -> None:
    """Meters that write each hour have no busy minute; a stray time is not in their step."""
    meters, hours = 200, 100
    times = START_MS // HOUR_MS * HOUR_MS + np.repeat(np.arange(hours), meters) * HOUR_MS
    times[5] = 123 if has_stray else times[5]
    design = Design(
        "t", "[meter][hour]", fields={"meter": "u32", "hour": "timestamp_ms"},
        writes={"rate": "100/s", "time": "hour"},
    )  # fmt: skip
    result = run(design, pa.table({"meter": np.tile(np.arange(meters), hours), "hour": times}))
    assert result.time_density is not None
    assert 3_600 * 10**9 == result.time_density.step_ns
    assert result.write_peak is None
    assert has_stray is any("do not count for the time" in one for one in result.remarks)


@pytest.mark.parametrize("rate", [1, 100])
def test_events_of_a_single_date_are_spread_by_the_declared_rate(rate: int) -> None:
    """A file with one date took as long as its events take: margins hold a day of a user."""
    chance = np.random.default_rng(2)
    design = Design(
        "t", "[user][ts][id]", fields={"user": "u32", "ts": "timestamp_ms", "id": "u32"},
        writes={"rate": f"{rate}/s", "time": "ts"}, families={"d": {"ttl": "1d"}},
        reads=[{"name": "user", "where": "user = ?"},
               {"name": "hour", "where": "user = ? and ts >= ? and ts < ?", "span": "1h"}],
    )  # fmt: skip
    columns = {"user": chance.integers(0, 50, 3_000), "ts": [START_MS] * 3_000, "id": range(3_000)}
    result = run(design, pa.table(columns))
    assert result.write_peak is None
    for cost, seconds in zip(result.reads, (86_400, 3_600), strict=True):
        truth = rate * seconds / 50
        assert abs(cost.returned_rows - truth) <= cost.margins.returned_rows + 0.05 * truth
        assert "the sample has" not in cost.assumption


def test_splits_from_a_sample_of_one_event_are_refused() -> None:
    """The first half of one event is none: the error says how many are needed."""
    design = Design("t", "[n]", fields={"n": "u32"}, splits={"algorithm": "sample", "regions": 4})
    with pytest.raises(InvalidDesign, match=r"no row keys to place regions by.*two events or more"):
        run(design, pa.table({"n": [1]}))


def test_declared_users_load_all_servers_although_few_are_sampled() -> None:
    """Four users write to half of the servers; the many that are declared load all alike."""
    count = 3_000
    rows = pa.table(
        {
            "user": np.random.default_rng(2).integers(0, 4, count),
            "ts": START_MS // 1_000 + np.arange(count),
            "id": range(count),
        }
    )
    design = Design(
        "t", "[bucket(user, 16)][user][ts][id]", splits="per_bucket",
        fields={"user": "u32", "ts": "timestamp_s", "id": "u32"},
        writes={"time": "ts", "rate": "60000/s", "grows": "entities"}, cluster={"servers": 8},
    )  # fmt: skip
    judged = JudgedDesign(design, rows)
    assert 4 <= judged.simulation.empty_region_count
    assert pytest.approx(1.0, abs=0.05) == judged.simulation.verdict.skew
    (writes,) = [one for one in judged.verdict.assessments if one.topic == "writes"]
    assert ("fair", "Use 13 servers or more.") == (writes.grade, writes.remedy)
