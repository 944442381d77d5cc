"""One verdict for a design: absolute load, rates of reads and findings decide, worst first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from rowkey.advise import DesignVerdict, JudgedDesign, judge_design
from rowkey.design import Design
from rowkey.keys import bind_key
from rowkey.lint import check_design
from rowkey.regions import to_string_binary
from rowkey.simulate import Verdict

FIELDS: dict[str, Any] = {
    "host": {"type": "text", "max_bytes": 8, "distinct": 500},
    "ts": "timestamp_ms",
    "line": {"type": "text", "max_bytes": 200},
}
SPREAD_KEY = "[bucket(host, 16)][host][ts]"
POINT_READ = {"name": "one", "where": "ts = ?", "limit": 1}


def judge(key: str, *reads: dict[str, Any], **options: Any) -> DesignVerdict:
    """Return the verdict on a design of log lines, with events generated from it."""
    splits = {"algorithm": "uniform", "regions": 8} if key.startswith("[ts]") else "per_bucket"
    writes = {"for": "10s", **options.pop("writes", {})}
    families = {"d": {"ttl": "1d", "compression": "ZSTD", "encoding": "FAST_DIFF"}}
    declared = {"fields": FIELDS, "splits": splits, "families": families, **options}
    return JudgedDesign(Design("logs", key, reads=list(reads), writes=writes, **declared)).verdict


@pytest.mark.parametrize(
    ("rate", "grade"),
    [("1000/s", "good"), ("2500/s", "good"), ("4000/s", "fair"), ("9500/s", "poor")],
)
def test_the_load_of_the_busiest_server_decides_the_grade(rate: str, grade: str) -> None:
    """All writes on one server are harmless up to a quarter of its capacity, poor above 0.9."""
    verdict = judge("[ts][host]", writes={"rate": rate}, cluster={"capacity": "10000/s"})
    [writes] = [one for one in verdict.assessments if one.subject == "writes"]
    assert grade == writes.grade
    assert pytest.approx(float(rate[:-2]) / 10_000) == writes.utilization
    assert ("uneven but harmless" in writes.message) == (grade == "good")
    assert "declared capacity: 10,000/s" in writes.message


def test_even_writes_above_the_capacity_are_poor() -> None:
    """A spread key is good at half of the capacity and poor above it."""
    few, many = (
        judge(SPREAD_KEY, writes={"rate": rate, "for": "4s"}, cluster={"servers": 2})
        for rate in ("8000/s", "30000/s")
    )
    assert ["good", "poor"] == [few.grade, many.grade]
    [writes] = [one for one in many.assessments if one.topic == "writes"]
    assert "Use 7 servers or more." == writes.remedy  # 30,000 a second, 5,000 each


def test_the_skew_decides_the_grade_if_no_rate_is_declared() -> None:
    """The message then names the rate that fills one server, at the assumed capacity."""
    verdict = judge("[ts][host]")
    assert ("poor", "writes") == (verdict.grade, verdict.decisive.subject)
    assert (
        "one server is full when the table gets 10,000/s (assumed capacity: 10,000/s)"
        in verdict.decisive.message
    )


@pytest.mark.parametrize(
    ("step_us", "time", "sample", "rate", "grade"),
    [
        (60_000_000, "timestamp_us", {}, "1/m", "good"),
        (86_400_000_000, "date", {}, "1/d", "good"),
        (100, "timestamp_us", {}, "10,000/s", "poor"),
        (200, "timestamp_us", {}, "5,000/s", "fair"),
        (20_000, "timestamp_us", {}, "50/s", "good"),
        (20_000, "timestamp_us", {"of": "events", "share": "1%"}, "5,000/s", "fair"),
        (20_000, "timestamp_us", {"of": "host", "share": "1%"}, "5,000/s", "fair"),
    ],
)
def test_the_recorded_rate_decides_the_grade_if_none_is_declared(
    step_us: int, time: str, sample: dict[str, str], rate: str, grade: str
) -> None:
    """An event a minute may go to one server; 5,000 a second, of which a share is sampled, not."""
    count = 12_000 if step_us < 1_000 else 4_000  # a second at least, or no rate is taken from it
    hosts, times = [f"h{n % 50}" for n in range(count)], [step_us * n for n in range(count)]
    instants = pa.array(times, pa.timestamp("us"))
    rows = pa.table({"host": hosts, "ts": instants.cast("date32") if time == "date" else instants})
    families = {"d": {"ttl": "1d", "compression": "ZSTD", "encoding": "FAST_DIFF"}}
    fields = {"host": FIELDS["host"], "ts": time}
    design = Design("logs", "[ts][host]", fields=fields, families=families, sample=sample)
    judged = JudgedDesign(design, rows)
    [writes] = [one for one in judged.verdict.assessments if one.subject == "writes"]
    is_good = grade == "good"
    assert grade == writes.grade
    assert f"the recording's own rate, {rate}, takes" in writes.message
    assert is_good is (judged.write_harm == 1)
    assert is_good is ("RK101" not in judged.warning_codes)
    alone = check_design(judged.design, judged.sample, select=["RK101"]).findings
    assert is_good is (alone[0].severity == "info")


@pytest.mark.parametrize(
    ("read", "grade"),
    [
        ({"name": "all", "where": "ts >= ?", "span": "1s", "rate": "1/d"}, "good"),
        ({"name": "all", "where": "ts >= ?", "span": "1s", "rate": "100/s"}, "poor"),
        ({"name": "all", "where": "ts >= ?", "span": "1s"}, "poor"),
        ({**POINT_READ, "rate": "1/d"}, "fair"),
        ({**POINT_READ, "rate": "100/s"}, "poor"),
    ],
)
def test_the_rate_of_a_full_scan_decides_its_grade(read: dict[str, Any], grade: str) -> None:
    """A scan once a day is good, and poor at 100 a second; one for a single row is never good."""
    verdict = judge(SPREAD_KEY, read, writes={"rate": "1000/s"})
    assert (grade, f"read {read['name']}") in [(v.grade, v.subject) for v in verdict.assessments]
    assert grade == verdict.grade


def test_a_read_with_a_warning_and_no_rate_is_fair() -> None:
    """A read that skips rows of other hosts in its range is fair, with the remedy of the rule."""
    read = {"name": "hour", "where": "host = ? and ts >= ? and ts < ?", "span": "1h"}
    [found] = [v for v in judge("[ts][host]", read).assessments if v.subject == "read hour"]
    assert "fair" == found.grade
    assert "Put host before ts in this key" in found.remedy


def test_a_get_that_asks_every_region_is_poor_at_a_high_rate() -> None:
    """A point get under a random salt asks every region; at a high rate that is poor."""
    key = "[salt(16)][host][ts]"
    read = {"name": "one", "where": "host = ? and ts = ?", "rate": "2000/s"}
    verdict = judge(key, read, writes={"rate": "100/s"})
    assert ("poor", "read one") == (verdict.grade, verdict.decisive.subject)


def test_findings_without_a_measured_load_grade_by_severity() -> None:
    """A read beyond the time to live is poor though its load is small; the worst comes first."""
    read = {"name": "week", "where": "host = ? and ts >= ?", "span": "7d", "rate": "30/m"}
    verdict = judge(SPREAD_KEY, read, writes={"rate": "1000/s"})
    assert ("poor", "RK612") == (verdict.grade, verdict.decisive.subject)
    assert "Give family d a ttl of 7d or more" in verdict.decisive.remedy
    ranks = [one.rank for one in verdict.assessments]
    assert sorted(ranks, reverse=True) == ranks


def test_loads_of_writes_and_reads_are_added() -> None:
    """Loads that are fair each are poor together, and the verdict says so."""
    read = {"name": "one", "where": "host = ? and ts = ?", "rate": "9000/s"}
    options: dict[str, Any] = {
        "writes": {"rate": "10000/s", "for": "4s"},
        "cluster": {"servers": 2},
    }
    verdict = judge(SPREAD_KEY, read, **options)
    assert ("poor", "load") == (verdict.grade, verdict.decisive.subject)


def test_a_read_is_judged_by_the_servers_of_regions_that_have_rows() -> None:
    """More servers than regions do not help a read: it is judged by those that have rows."""
    read = {"name": "one", "where": "host = ? and ts = ?", "rate": "9500/s"}
    declared = {"fields": FIELDS, "reads": [read], "cluster": {"servers": 4}}
    design = Design("logs", "[host][ts]", writes={"rate": "10/s", "for": "60s"}, **declared)
    verdict = JudgedDesign(design).verdict
    (found,) = (one for one in verdict.assessments if one.name == "one")
    assert "poor" == found.grade
    assert "of what the busiest server can do" in found.message


POPULAR_HOST: dict[str, Any] = {
    "fields": {**FIELDS, "host": {**FIELDS["host"], "draw": {"kind": "zipf", "theta": 1.6}}},
    "cluster": {"capacity": "1000/s"},
}
"""One of 500 hosts has nearly half of the events."""


def test_reads_of_a_popular_host_are_graded_by_the_load_of_its_server() -> None:
    """Reads of one popular host load its server, and the verdict names the field and a cure."""
    read = {"name": "one", "where": "host = ? and ts = ?", "rate": "900/s"}
    verdict = judge(SPREAD_KEY, read, writes={"rate": "100/s"}, **POPULAR_HOST)
    [found] = [one for one in verdict.assessments if one.subject == "read one"]
    assert "fair" == found.grade
    assert found.utilization is not None
    assert 0.4 < found.utilization < 0.6
    assert "one host takes 4" in found.message
    assert "Cache the answers for this host" in found.remedy
    calm = judge(SPREAD_KEY, {**read, "rate": "200/s"}, writes={"rate": "100/s"}, **POPULAR_HOST)
    assert "good" == next(one for one in calm.assessments if one.subject == "read one").grade


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ("zipf(1.6)", "the read asks for one host in 4"),
        ("uniform", ""),
    ],
)
def test_hosts_that_are_requested_more_often_are_named_as_popular(keys: str, reason: str) -> None:
    """Hosts that are asked for more than others are named even if all have as many rows."""
    read = {"name": "one", "where": "host = ?", "limit": 1, "rate": "900/s", "keys": keys}
    options = {"cluster": {"capacity": "1000/s"}, "fields": FIELDS}
    verdict = judge(SPREAD_KEY, read, writes={"rate": "100/s"}, **options)
    [found] = [one for one in verdict.assessments if one.subject == "read one"]
    assert reason in found.message
    assert bool(reason) == ("keys = " in found.message) == bool(found.remedy)


def test_a_full_scan_is_not_explained_by_a_popular_value() -> None:
    """Each answer of a scan reads the busiest server whole, whichever value it asks for."""
    read = {"name": "level", "where": "level = ?", "rate": "30/h"}
    level = {"type": "choice", "of": ["info", "warn", "error"]}
    options = {**POPULAR_HOST, "fields": {**POPULAR_HOST["fields"], "level": level}}
    verdict = judge(SPREAD_KEY, read, writes={"rate": "400/s"}, **options)
    [found] = [one for one in verdict.assessments if one.subject == "read level"]
    assert "asked for as often" not in found.message
    assert "rowkey advise searches for it" in found.remedy


def test_reads_of_the_last_second_are_graded_by_the_newest_region() -> None:
    """Reads of the last second load the region of the newest rows, which the verdict says."""
    start = 1_704_067_200_000
    key = bind_key("[ts][host]", FIELDS)
    starts = [key.encode({"ts": start + 1_000 * n, "host": ""}) for n in range(1, 8)]
    read = {"name": "new", "where": "ts >= ?", "span": "1s", "rate": "10/s"}
    design = Design(
        "logs", "[ts][host]", fields=FIELDS, splits=[to_string_binary(one) for one in starts],
        writes={"rate": "500/s", "for": "8s"}, reads=[read], cluster={"capacity": "1000/s"},
    )  # fmt: skip
    verdict = JudgedDesign(design).verdict
    [found] = [one for one in verdict.assessments if one.subject == "read new"]
    assert "the read asks for the newest rows, and region 7 holds them" in found.message
    assert "Cache the newest rows" in found.remedy


def test_writes_and_reads_are_added_for_each_server() -> None:
    """Writes and reads of one popular host are too much for its server, though not for all."""
    read = {"name": "one", "where": "host = ? and ts = ?", "rate": "900/s"}
    verdict = judge(SPREAD_KEY, read, writes={"rate": "950/s"}, **POPULAR_HOST)
    grades = {one.subject: one.grade for one in verdict.assessments}
    assert ("fair", "fair", "poor") == (grades["writes"], grades["read one"], grades["load"])
    by_subject = {one.subject: one for one in verdict.assessments}
    assert "of the busiest server" in by_subject["load"].message
    assert by_subject["writes"].remedy == by_subject["load"].remedy != ""


def test_more_servers_are_no_remedy_of_writes_that_move_on_together() -> None:
    """Of keys that begin with the time, more servers with more regions take no part."""
    read = {"name": "one", "where": "host = ? and ts = ?", "rate": "5000/s"}
    verdict = judge("[ts][host]", read, writes={"rate": "6000/s"})
    assert ("poor", "load") == (verdict.grade, verdict.decisive.subject)
    assert "servers or more" not in verdict.decisive.remedy


def test_writes_of_few_events_get_no_verdict() -> None:
    """Writes of few events are not good: the verdict says that they cannot be judged."""
    many = {"rate": "4000/s", "for": "5ms"}
    writes = JudgedDesign(Design("logs", "[host][ts]", fields=FIELDS, writes=many)).verdict.decisive
    assert ("fair", "20 events are too few to judge the writes") == (writes.grade, writes.message)
    assert "Give a sample of 100 events or more." == writes.remedy


def test_few_writes_that_one_server_bears_are_good() -> None:
    """Where all writes on one server are little, they need no judgement of where they go."""
    few = {"rate": "2/s", "for": "10s"}
    writes = JudgedDesign(Design("logs", "[host][ts]", fields=FIELDS, writes=few)).verdict.decisive
    assert ("good", "") == (writes.grade, writes.remedy)
    assert writes.message == (
        "at 2/s the writes are 0.02 % of what one server can do (assumed capacity: 10,000/s), "
        "wherever they go"
    )


def test_answers_that_are_too_large_are_not_blamed_on_the_key() -> None:
    """Where the rows returned fill all servers, the remedy is to return fewer of them."""
    read = {"name": "all", "where": "host = ? and ts >= ? and ts < ?", "span": "10s"}
    for rate, grade, remedy in [
        ("10/s", "good", ""),
        ("200000/s", "poor", "The rows that the read returns are the load: ask for fewer"),
    ]:
        verdict = judge(SPREAD_KEY, {**read, "rate": rate}, writes={"rate": "5000/s"})
        [found] = [one for one in verdict.assessments if one.name == "all"]
        assert grade == found.grade
        assert found.remedy[: len(remedy)] == remedy


def test_large_values_count_as_more_operations() -> None:
    """Writing 81 kB costs as much as three small events, and reading them three operations."""
    (writes, read), (large_writes, large_read) = (
        [
            one.utilization
            for one in judge(
                SPREAD_KEY,
                {"name": "one", "where": "host = ? and ts = ?", "rate": "1000/s"},
                writes={"rate": "4000/s"},
                fields={**FIELDS, "line": {"type": "text", "max_bytes": size}},
            ).assessments
            if one.utilization is not None
        ]
        for size in (200, 162_000)  # of which half is used on average
    )
    assert pytest.approx(3.0, rel=0.01) == large_writes / writes
    assert pytest.approx(3.05 / 1.05, rel=0.01) == large_read / read


def test_writes_that_chance_makes_uneven_are_not_called_even() -> None:
    """A skew far above that of an even design is no harm if chance explains it, and is said so."""
    judged = JudgedDesign(Design("logs", SPREAD_KEY, fields=FIELDS, splits="per_bucket",
                                 writes={"rate": "100/s", "for": "10s"}))  # fmt: skip
    for skew, words in ((1.3, "even, "), (1.9, "no more uneven than chance explains, ")):
        found = replace(judged.simulation)
        vars(found)["verdict"] = Verdict("even", skew, 1.2, "windows of 10 s", 10)
        writes = judge_design(found, []).assessments[0]
        assert ("good", True) == (writes.grade, writes.message.startswith(words))
