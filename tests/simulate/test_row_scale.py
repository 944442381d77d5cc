"""Rows within a time are those of the declared rate: predictions from a part of a known stream."""

from __future__ import annotations

import os
import random
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from rowkey.advise import JudgedDesign
from rowkey.design import Design
from rowkey.simulate import run

if TYPE_CHECKING:
    from rowkey.simulate import ReadCost

FIELDS: dict[str, Any] = {"user": {"type": "text", "max_bytes": 8}, "ts": "timestamp_ms"}
START_MS, SECONDS = 1_700_000_000_000, 3_000
RATE = 100 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 30
Event = tuple[str, int]


def make_stream(choose_user: Callable[[int], str]) -> list[Event]:
    """Return the events of fifty minutes."""
    return [
        (choose_user(number), START_MS + number * 1_000 // RATE) for number in range(RATE * SECONDS)
    ]


def measure_read(
    events: Sequence[Event], where: str, part: str = "events", **read: Any
) -> ReadCost:
    """Return the cost of a read, measured with a sample of a stream of `RATE` events a second."""
    users, times = zip(*events, strict=True)
    design = Design(
        "t", "[user][ts]", fields=FIELDS, writes={"rate": f"{RATE}/s", "time": "ts"},
        reads=[{"name": "it", "where": where, **read}], sample={"of": part},
    )  # fmt: skip
    (cost,) = run(design, pa.table({"user": users, "ts": times})).reads
    assert not cost.error
    return cost


def count_rows(events: Sequence[Event], span_ms: int) -> float:
    """Return how many rows a read of one user and a time finds in the stream, on average."""
    times: dict[str, list[int]] = {}
    for user, ts in events:
        times.setdefault(user, []).append(ts)
    latest = events[-1][1] - span_ms
    counts = [
        bisect_left(times[user], min(ts, latest) + span_ms)
        - bisect_left(times[user], min(ts, latest))
        for user, ts in random.Random(3).sample(events, 2_000)
    ]
    return sum(counts) / len(counts)


BUSY = "user = ? and ts >= ? and ts < ?"


@cache
def make_user_stream() -> list[Event]:
    """Return the events of 300 users, of whom some are busier."""
    chance = random.Random(7)
    return make_stream(lambda _: f"u{int(300 * chance.random() ** 2)}")


@pytest.mark.parametrize("every", [1, 10, 50])
def test_every_tenth_event_predicts_the_rows_of_the_stream(every: int) -> None:
    """Each tenth or fiftieth event predicts how many rows of a user come in ten minutes."""
    events = make_user_stream()
    expected = count_rows(events, 600_000)
    found = measure_read(events[::every], BUSY, span="10m")
    assert abs(expected - found.returned_rows) < 2 * found.margins.returned_rows < expected
    assert found.returned_rows == found.read_rows
    assert ("stands for" in found.assumption) is (every > 1)


def test_five_minutes_of_a_stream_predict_the_rows_of_forty() -> None:
    """Five minutes of the stream predict how many rows of a user come in forty."""
    events = make_user_stream()
    expected = count_rows(events, 2_400_000)
    found = measure_read(events[: RATE * 300], BUSY, span="40m")
    assert abs(expected - found.returned_rows) < found.margins.returned_rows < expected
    assert "the `span` of the read is 8 times the time of the sample" in found.assumption


def test_short_lived_values_get_no_more_rows_in_a_longer_time() -> None:
    """Four rows of an order stay four, at whatever rate and in whatever time."""
    events = make_stream(lambda number: f"o{number // 4}")[:4_000]
    found = measure_read(events[:2_000], BUSY, span="40m")
    assert (4.0, 4.0) == (found.returned_rows, found.read_rows)
    assert "" == found.assumption


def test_values_that_last_a_third_of_the_sample_get_few_more_rows() -> None:
    """Games that last a little more than a third of the sample are not taken to last for ever."""
    players, lasting, total = 20, 1_050, 3_000
    events = [
        (f"g{game // players}-{game % players}", START_MS + 1_000 * (game * 50 + second))
        for game in range(total // 50 * players)
        for second in range(0, lasting, 50)
    ]
    end_ms = START_MS + total * 1_000
    events = sorted((one for one in events if one[1] < end_ms), key=lambda one: one[1])
    found = measure_read(events, BUSY, "period", span="20d")
    assert lasting / 50 / 2 < found.returned_rows <= lasting / 50


@pytest.mark.parametrize("step_s", [1, 60])
def test_times_in_whole_minutes_have_the_rate_of_their_minutes(step_s: int) -> None:
    """Fifteen minutes in whole minutes are 900 s, so that a minute has the rows of its rate."""
    users = RATE * step_s
    events = [
        (f"u{user}", START_MS - START_MS % 60_000 + 1_000 * second)
        for second in range(0, 900, step_s)
        for user in range(users)
    ]
    found = measure_read(events, "ts >= ? and ts < ?", span=f"{step_s}s")
    assert pytest.approx(users, rel=0.001) == found.returned_rows


def test_a_quiet_first_half_counts_for_the_length_of_the_sample() -> None:
    """Few events in the first half of a day are no outliers: the time of the sample is a day."""
    quiet = [("u1", START_MS + n * 200_000) for n in range(216)]
    busy = [("u1", START_MS + 43_200_000 + n * 10_000) for n in range(4_320)]
    rate = len(quiet + busy) / 86_400
    found = measure_read(quiet + busy, BUSY, span="2d")
    assert f"the sample has {rate:.3g} and the `span` of the read is 2 times" in found.assumption


def test_a_time_range_read_has_the_rows_of_the_rate() -> None:
    """Ten minutes have the rows of their seconds at the rate; the key makes it a full scan."""
    events = make_user_stream()[::RATE]
    found = measure_read(events, "ts between ? and ?", span="10m")
    assert pytest.approx(600 * RATE, rel=0.05) == found.returned_rows
    assert found.is_full_scan
    assert found.read_rows >= found.returned_rows


def test_a_read_of_all_after_a_time_finds_the_latest_rows() -> None:
    """A read of all after a time that covers ten minutes finds what came in the last ten."""
    events = make_user_stream()
    late = [event for event in events if event[1] > events[-1][1] - 600_000]
    sizes: dict[str, int] = {}
    for user, _ in late:
        sizes[user] = sizes.get(user, 0) + 1
    expected = sum(sizes.get(user, 0) for user, _ in events) / len(events)
    found = measure_read(events[::10], "user = ? and ts >= ?", span="10m")
    assert abs(expected - found.returned_rows) < 2 * found.margins.returned_rows < expected


def test_wrong_timestamps_do_not_lengthen_the_recording() -> None:
    """A few events of 1970 change no prediction."""
    events = make_user_stream()[::RATE]
    right = measure_read(events, BUSY, span="10m").returned_rows
    wrong = [(user, 1_000 + n if n % 500 == 0 else ts) for n, (user, ts) in enumerate(events)]
    found = measure_read(wrong, BUSY, span="10m").returned_rows
    assert pytest.approx(right, rel=0.1) == found


def test_a_burst_in_quiet_times_does_not_shorten_the_recording() -> None:
    """Nearly all events of twenty minutes come within one; the others still tell their length."""
    burst = [("u1", START_MS + 240_000 + n) for n in range(20_000)]
    quiet = [("u1", START_MS + n * 10_000) for n in range(120)]
    rate = len(burst + quiet) / 1_190
    found = measure_read(sorted(quiet + burst, key=lambda event: event[1]), BUSY, span="10m")
    assert f"the sample has {rate:.3g}" in found.assumption


def test_times_far_from_all_others_are_reported() -> None:
    """One event weeks after all others neither makes the recording long nor goes unsaid."""
    events = [*make_user_stream()[::RATE], ("u1", START_MS + 40 * 86_400_000)]
    table = pa.table({"user": [one for one, _ in events], "ts": [ts for _, ts in events]})
    result = run(Design("t", "[user][ts]", fields=FIELDS, writes={"time": "ts"}), table)
    assert any("further from all others in time" in str(one) for one in result.remarks)
    result = run(result.design, table.slice(0, len(table) - 1))
    assert not any("further from all others in time" in str(one) for one in result.remarks)


def test_the_verdict_on_reads_counts_rows_at_the_declared_rate(tmp_path: Path) -> None:
    """A day of 8,000 events a second is not judged by the few rows of a sample."""
    path = tmp_path / "sample.csv"
    lines = [f"u{n % 50},{START_MS + n * 500}\n" for n in range(14_400)]
    path.write_text("user,ts\n" + "".join(lines))
    read = {"name": "day", "where": "ts between ? and ?", "span": "1d", "rate": "1/m"}
    design = Design(
        "t", "[bucket(user, 16)][ts][user]", fields=FIELDS, reads=[read],
        writes={"rate": "8000/s", "time": "ts"}, cluster={"servers": 3},
    )  # fmt: skip
    verdict = JudgedDesign(design, path).verdict
    (day,) = (one for one in verdict.assessments if one.topic == "read")
    assert "poor" == day.grade
    assert "an answer reads 691," in str(day.message)


def measure_day(key: str, span: str, **options: Any) -> ReadCost:
    """Return the cost of a read of a time, with a sample of a day of a table that keeps 30."""
    numbers = range(4_320)
    day = pa.table(
        {"user": [f"u{n % 40}" for n in numbers], "ts": [START_MS + n * 20_000 for n in numbers]}
    )
    design = Design(
        "t", key, fields=FIELDS,
        reads=[{"name": "it", "where": "ts >= ? and ts < ?", "span": span}],
        **{
            "families": {"d": {"ttl": "30d"}},
            "writes": {"rate": "0.05/s", "time": "ts"},
            **options,
        },
    )  # fmt: skip
    (cost,) = run(design, day).reads
    return cost


@pytest.mark.parametrize("span", ["1m", "12h", "1d", "10d"])
def test_a_full_scan_reads_all_rows_whatever_its_time_range(span: str) -> None:
    """A key that does not begin with the time reads all 129,600 rows for any time."""
    cost = measure_day("[user][ts]", span)
    assert cost.is_full_scan
    assert pytest.approx(129_600, rel=0.001) == cost.read_rows


@pytest.mark.parametrize(("rate", "rows"), [("0.05/s", 4_320), ("0.5/s", 43_200)])
def test_a_full_scan_of_a_growing_table_reads_what_the_rate_brings(rate: str, rows: int) -> None:
    """Without a ttl at least the rows count that the declared rate brings in the sample's time."""
    writes = {"rate": rate, "time": "ts"}
    cost = measure_day("[user][ts]", "1h", families={"d": {}}, writes=writes)
    assert pytest.approx(rows, rel=0.01) == cost.read_rows
    assert pytest.approx(rows / 24, rel=0.01) == cost.returned_rows


def test_a_read_of_an_hour_reads_the_whole_day_bucket() -> None:
    """An hour of a key that begins with the day reads that day."""
    cost = measure_day("[time_bucket(ts, 1d)][user][ts]", "1h")
    assert 180 == round(cost.returned_rows)
    assert 2_000 < cost.read_rows < 4_330


@pytest.mark.parametrize(("step", "rows"), [("10d", 43_200), ("30d", 129_600)])
def test_a_time_bucket_longer_than_the_sample_is_read_whole(step: str, rows: int) -> None:
    """An hour of a key that begins with ten or 30 days reads all of them, though a day was seen."""
    cost = measure_day(f"[time_bucket(ts, {step})][user][ts]", "1h")
    assert 180 == round(cost.returned_rows)
    assert pytest.approx(rows, rel=0.01) == cost.read_rows


def test_only_families_that_are_written_decide_how_long_rows_live() -> None:
    families: dict[str, Any] = {"d": {"ttl": "30d"}, "e": {}}
    cost = measure_day("[user][ts]", "1h", families=families)
    assert pytest.approx(129_600, rel=0.001) == cost.read_rows


def test_one_date_is_one_day_at_the_declared_rate(tmp_path: Path) -> None:
    """Two days of dates at the declared rate have the rows of the sample on each date."""
    path = tmp_path / "dates.csv"
    rows = [f"u{n % 20},2025-03-0{1 + n // 10_000},{n}\n" for n in range(20_000)]
    path.write_text("user,day,n\n" + "".join(rows))
    fields = {"user": "text", "day": "date", "n": "u64"}
    design = Design(
        "t", "[user][day][n]", fields=fields, families={"d": {"ttl": "400d"}},
        writes={"rate": "10000/d", "time": "day"},
        reads=[{"name": "it", "where": "user = ? and day = ?"}],
    )  # fmt: skip
    (cost,) = run(design, path).reads
    assert (500, "") == (round(cost.returned_rows), cost.assumption)


@pytest.mark.parametrize(("span", "rows"), [("1s", 300), ("60s", 18_000), ("10m", 72_000)])
def test_a_declared_burst_counts_once_in_the_rows(span: str, rows: int) -> None:
    """A declared burst counts as it was generated; the time after it has the declared rate."""
    bursts = [{"at": "0s", "for": "60s", "times": 3}]
    reads = [{"name": "it", "where": "ts >= ? and ts < ?", "span": span}]
    design = Design(
        "t", "[ts][user]", fields={**FIELDS, "user": {"type": "text", "distinct": 50}},
        writes={"rate": "100/s", "time": "ts", "for": "60s", "bursts": bursts}, reads=reads,
    )  # fmt: skip
    (cost,) = run(design).reads
    assert pytest.approx(rows, rel=0.05) == cost.returned_rows


@pytest.mark.parametrize("session_events", [4, 0])
def test_a_table_of_wide_rows_holds_the_events_of_its_ttl(
    tmp_path: Path, session_events: int
) -> None:
    """A table of sessions, and one of 40 users, holds the events of the time that it keeps."""
    path = tmp_path / "wide.csv"
    users = (n // session_events if session_events else n % 40 for n in range(4_320))
    path.write_text(
        "user,ts\n" + "".join(f"u{one},{START_MS + n * 20_000}\n" for n, one in enumerate(users))
    )
    fields: dict[str, Any] = {**FIELDS, "ts": {"type": "timestamp_ms", "at": "qualifier"}}
    design = Design(
        "t", "[user]", fields=fields, families={"d": {"ttl": "30d"}},
        writes={"rate": "0.05/s", "time": "ts"}, reads=[{"name": "it"}],
    )  # fmt: skip
    (cost,) = run(design, path).reads
    assert pytest.approx(0.05 * 30 * 86_400, rel=0.01) == cost.read_rows


@pytest.mark.parametrize("names", [("user", "n"), ("n", "user")])
def test_reading_the_latest_rows_of_a_user_does_not_cost_more_in_a_larger_table(
    names: tuple[str, str],
) -> None:
    """The latest 20 rows of a user lie as many rows back as they do now, however old rows get."""
    chance = random.Random(5)
    events: list[dict[str, Any]] = [
        {"user": f"u{int(5 * chance.random() ** 2)}", "at": 1_700_000_000 + n // 100, "n": n}
        for n in range(2_000)
    ]
    design = Design(
        "t", f"[desc(at)][{names[0]}][{names[1]}]",
        fields={"user": {"type": "text"}, "at": "timestamp_s", "n": "u64"},
        writes={"rate": "100/s", "time": "at"}, families={"d": {"ttl": "10d"}},
        reads=[{"name": "it", "where": "user = ?", "order": "at desc", "limit": 20}],
    )  # fmt: skip
    newest_first = sorted(events, key=lambda row: (-row["at"], *(row[name] for name in names)))
    users = [row["user"] for row in newest_first]
    ways = {one: [n + 1 for n, user in enumerate(users) if user == one][19] for one in set(users)}
    answers = [20 * (2**n - 1) for n in range(1, 8)]  # each has twice the rows of the one before
    asked = {user: min(rows for rows in answers if rows >= way) for user, way in ways.items()}
    expected = sum(asked[user] for user in users) / len(users)
    (cost,) = run(design, pa.Table.from_pylist(events)).reads
    assert cost.is_full_scan
    assert pytest.approx(expected, rel=0.05) == cost.read_rows
