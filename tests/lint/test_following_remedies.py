"""Remedies that are followed one after the other end, and those of one output do not exclude."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_counts import divide_examples
from lint.remedies import apply_remedy
from rowkey.advise import JudgedDesign
from rowkey.design import Design
from rowkey.lint import RULES, check_design

KEYS: dict[str, list[Any]] = {
    "[digest(host, 4)][host][time_slice(ts, 30d)]": [{"algorithm": "uniform", "regions": 8}],
    "[digest(host, 4, as=hex)][host][ts]": [["00", "30", "60"], "per_bucket"],
    "[bucket(host, 8)][host][ts]": ["per_bucket", {"algorithm": "uniform", "regions": 4}],
    "[bucket(host, ts, 8)][host][ts]": ["per_bucket"],
    "[bucket(host, ts, 64)][host][ts]": ["per_bucket"],
    "[bucket(host, 2)][ts][host]": ["per_bucket"],
    "[salt(8)][host][ts]": ["per_bucket"],
    "[mod(ts, 8)][ts][host]": ["per_bucket"],
    "[ts][host]": [[], ["\\x00\\x00\\x01"]],
    "[host][ts]": [["b", "d", "f"], []],
}
"""Keys with mistakes, and how their tables are split."""
HOSTS: list[dict[str, Any]] = [
    {"distinct": 6},
    {"distinct": 2_000},
    {"distinct": 500, "draw": {"kind": "hotspot", "values": 0.002, "events": 0.4}},
]
"""Who writes: few hosts, many, or one of many above all."""
READS: list[dict[str, Any]] = [
    {"where": "host = ?", "order": "ts desc", "limit": 20},
    {"where": "host = ? and ts >= ? and ts < ?", "span": "1h", "limit": 20},
    {"where": "ts >= ? and ts < ?", "span": "1m", "limit": 20},
]
MAX_STEPS = 6
"""Remedies that are followed, more than a design has mistakes."""


@st.composite
def mistaken_designs(draw: st.DrawFn) -> Design:
    """Draw a design with mistakes, on servers that bear few events, so that few are replayed."""
    key = draw(st.sampled_from(list(KEYS)))
    in_row = "time_slice" in key
    read_rates = draw(st.lists(st.sampled_from(["0.2/s", "20/s"]), max_size=2))
    return Design(
        "log",
        key,
        fields={
            "host": {"type": "text", "max_bytes": 16, **draw(st.sampled_from(HOSTS))},
            "ts": {"type": "timestamp_ms", "at": "qualifier"} if in_row else "timestamp_ms",
            "line": {"type": "text", "max_bytes": 200, "mean_bytes": 120},
        },
        splits=draw(st.sampled_from(KEYS[key])),
        families={"d": {"ttl": draw(st.sampled_from(["1d", "3650d"])), "compression": "ZSTD"}},
        cluster={"servers": 4, "capacity": "100/s"},
        writes={"rate": draw(st.sampled_from(["10/s", "60/s", "300/s"])), "for": "2m"},
        reads=[
            {"name": f"read {n}", "rate": rate, **draw(st.sampled_from(READS))}
            for n, rate in enumerate(read_rates)
        ],
    )


def list_named(pattern: str, remedies: list[str]) -> set[str]:
    """Return what the first group of a pattern matches in any remedy."""
    return {found for text in remedies for found in re.findall(pattern, text)}


def follow_remedies(judged: JudgedDesign) -> Iterator[tuple[str, Design]]:
    """Yield the designs that each remedy of a new key, other splits or servers writes out."""
    for finding in judged.lint_result.findings:
        if re.search(r"\bkey = |\bsplits = |Use \d|Write \[", finding.remedy):
            for design in apply_remedy(judged.design, finding)[:1]:
                yield finding.code, design


def identify(design: Design) -> tuple[str, str, int]:
    """Return what remedies change: the key, the splits and the servers."""
    return design.declaration.key, str(design.declaration.splits), design.cluster.servers


def assert_remedies_agree(judged: JudgedDesign) -> None:
    """Check that the findings, and the verdict, name one key, one way to split and one number."""
    findings = judged.lint_result.findings
    for remedies in (
        [one.remedy for one in findings],
        [one.remedy for one in judged.verdict.assessments],
    ):
        keys = list_named(r"\bkey = (\"[^\"]+\")", remedies)
        assert len(keys) <= 1, remedies
        splits = list_named(r"splits = (\{.*?\}|\"\w+\")", remedies)
        assert len(splits) <= 1 or any("in place of" in one for one in remedies), remedies
        assert len(list_named(r"Use ([\d,]+) servers", remedies)) <= 1, remedies
    rules = {rule.code: rule for rule in RULES.values()}
    if any("key = " in one.remedy for one in findings):
        kept = [one for one in findings if rules[one.code].concerns_regions]
        assert [] == [one.remedy for one in kept if "regions = " in one.remedy]


@pytest.mark.usefixtures("search_once")
@divide_examples(6)
@given(mistaken_designs())
def test_following_remedies_never_leads_back_to_an_earlier_design(design: Design) -> None:
    """No remedy leads back to a design seen before, and those of one output do not exclude."""
    seen, judged = {identify(design)}, JudgedDesign(design, names_keys=True)
    told: list[str] = []
    for _ in range(MAX_STEPS):
        assert_remedies_agree(judged)
        step = next(follow_remedies(judged), None)
        if step is None:
            return
        code, changed = step
        told.append(f"{code}: {changed.declaration.key} {changed.declaration.splits}")
        assert identify(changed) not in seen, told
        if changed.splits.needs_sample:
            return  # what comes next is told by a sample
        seen.add(identify(changed))
        judged = JudgedDesign(changed, names_keys=True)


def judge_text(text: str, **options: Any) -> JudgedDesign:
    """Judge a table of events of hosts, with the key that the search recommends."""
    host = {"type": "text", "max_bytes": 16, **options.pop("host", {})}
    columns = options.pop("columns", {"line": {"type": "text", "max_bytes": 200}})
    fields = {"host": host, "ts": "timestamp_ms", **columns} | options.pop("fields", {})
    cluster = options.pop("cluster", {"servers": 4, "capacity": "100/s"})
    return JudgedDesign(
        Design("log", text, fields=fields, cluster=cluster, **options), names_keys=True
    )


def test_regions_next_to_a_key_that_a_remark_names_are_said_to_be_for_the_present_key() -> None:
    """A remark may be left alone, so regions are told with what they are for."""
    judged = judge_text(
        "[digest(host, 4)][host][time_slice(ts, 30d)]",
        host={"distinct": 6},
        fields={"ts": {"type": "timestamp_ms", "at": "qualifier"}},
        splits={"algorithm": "uniform", "regions": 8},
        families={"d": {"ttl": "3650d", "compression": "ZSTD"}},
        writes={"rate": "20/s"},
    )
    remedies = {one.code: one.remedy for one in judged.lint_result.findings}
    assert "info" == next(o.severity for o in judged.lint_result.findings if o.code == "RK104")
    assert "key = " in remedies["RK104"]
    assert "This is for the present key; RK104 proposes another key" in remedies["RK802"]
    assert "This also holds for the key that RK104 proposes." in remedies["RK505"]


def test_without_a_sample_listed_splits_are_not_blamed() -> None:
    """Without a sample the verdict says that it is missing, not that listed splits are wrong."""
    options: dict[str, Any] = {"splits": ["d", "m", "t"], "writes": {"rate": "200/s", "for": "2m"}}
    judged = judge_text("[host][ts]", **options)
    writes = next(one for one in judged.verdict.assessments if one.topic == "writes")
    assert ("fair", True) == (writes.grade, "host" in writes.message)
    assert writes.remedy.startswith("Declare [sample]")
    assert [] == list(judged.simulation.causes)
    few = judge_text("[host][ts]", **{**options, "writes": {"rate": "10/s", "for": "2m"}})
    assert "good" == few.verdict.grade
    hashed = judge_text("[digest(host, 4, as=hex)][host][ts]", **options)
    assert "missed_splits" in {one.code for one in hashed.simulation.causes}


def test_a_verdict_asks_for_one_change_of_the_splits() -> None:
    """The number of regions is told once the splits are changed that the writes need."""
    judged = judge_text(
        "[digest(host, 4, as=hex)][host][ts]",
        columns={"line": {"type": "text", "max_bytes": 20_000, "mean_bytes": 10_000}},
        splits=["10", "20", "30", "40"],
        families={"d": {"ttl": "30d", "compression": "ZSTD"}},
        writes={"rate": "200/s", "for": "2m"},
    )
    remedies = {one.subject: one.remedy for one in judged.verdict.assessments}
    assert "splits = " in remedies["writes"]
    assert remedies["RK802"].startswith("First do what is proposed for the writes")


def test_quantiles_of_a_sample_are_not_judged_by_equal_steps() -> None:
    """Regions at quantiles of the sampled keys of buckets do not lead back to one a bucket."""
    chance = random.Random(3)
    hosts = [f"u{int(400 * chance.random() ** 2)}" for _ in range(3_000)]
    times = [1_700_000_000_000 + 60_000 * n for n in range(len(hosts))]
    events = pa.table({"host": hosts, "ts": times, "line": ["words"] * len(hosts)})
    design = judge_text(
        "[bucket(host, 16)][host][ts]",
        splits={"algorithm": "sample", "regions": 64},
        writes={"time": "ts"},
    ).design
    codes = {one.code for one in JudgedDesign(design, events).lint_result.findings}
    assert "RK201" not in codes


@pytest.mark.parametrize(("rate", "severity"), [("0.1/s", "info"), ("40/s", "warning")])
def test_needless_ranges_that_make_a_read_poor_are_a_warning(rate: str, severity: str) -> None:
    """Needless ranges that make a verdict on a read poor are a warning, and no remark."""
    read = {"name": "newest", "where": "host = ?", "limit": 5, "rate": rate}
    design = judge_text(
        "[bucket(host, ts, 8)][host][ts]",
        splits="per_bucket",
        writes={"rate": "10/s", "for": "2m"},
        reads=[read],
    ).design
    judged = JudgedDesign(design, select=["RK611"])
    assert [severity] == [one.severity for one in judged.lint_result.findings]
    assert (severity == "warning") == ("poor" == judged.verdict.find_grade("read"))


@pytest.mark.parametrize("key", ["[day][host]", "[host]"])
def test_a_few_counters_need_no_bucket(key: str) -> None:
    """Three counters are added up or divided among writers: no bucket spreads them."""
    judged = judge_text(
        key,
        host={"distinct": 3},
        columns={"n": "i64"},
        fields={"ts": "i64", "day": "date"} if "day" in key else {"ts": "i64"},
        writes={"rate": "50/s", "for": "2m"},
    )
    remedies = [one.remedy for one in judged.lint_result.findings]
    assert not any("bucket(" in one for one in remedies)
    found = [one for one in judged.lint_result.findings if one.code == "RK101"]
    assert ["Only 3 counters are written"] * len(found) == [one.remedy[:27] for one in found]


@pytest.mark.parametrize(("workers", "order"), [(400, "put [bucket(worker, 12)]"), (3, "add a")])
def test_a_busy_counter_is_divided_by_a_field_outside_of_the_key(workers: int, order: str) -> None:
    """Where no other order of the key's fields helps, a further field divides each row."""
    judged = judge_text(
        "[metric][ts]",
        fields={
            "metric": {"type": "choice", "of": ["hits", "errors", "bytes", "logins"]},
            "ts": "timestamp_s",
            "worker": {"type": "u16", "distinct": workers},
        },
        splits=["\\x01", "\\x02", "\\x03"],
        cluster={"servers": 6, "capacity": "100/s"},
        families={"d": {"ttl": "30d", "compression": "ZSTD"}},
        columns={"n": "u64"},
        writes={"rate": "180/s", "for": "2m"},
    )
    remedies = {one.code: one.remedy for one in judged.lint_result.findings}
    assert f"several rows, which a read adds up: {order}" in remedies["RK108"]
    assert order in remedies["RK104"]
    many = {"metric": {"type": "u32", "distinct": 4_000}}
    spread = judged.design.copy_with_options(
        fields={**judged.design.declaration.model_dump(by_alias=True)["fields"], **many},
        writes={"rate": "12000/s"},
    )
    (told,) = (one for one in check_design(spread).findings if one.code == "RK108")
    assert "increments of one row" in told.remedy
    if workers > 3:
        divided = judged.design.copy_with_options(
            key=f"[bucket(worker, 12)]{judged.design.declaration.key}", splits="per_bucket"
        )
        found = {one.code: one for one in JudgedDesign(divided).lint_result.findings}
        assert found.keys().isdisjoint({"RK101", "RK104", "RK105"})
        assert "of one row" in found["RK108"].remedy


def test_a_hot_row_of_many_columns_is_spread_by_its_heavy_value() -> None:
    """Only the heavy value is spread over several buckets, so that other reads ask one."""
    judged = judge_text(
        "[bucket(host, 8)][host]",
        host={"distinct": 500, "draw": {"kind": "hotspot", "values": 0.002, "events": 0.4}},
        fields={"ts": {"type": "timestamp_ms", "at": "qualifier"}},
        splits="per_bucket",
        writes={"rate": "200/s", "for": "2m"},
    )
    (found,) = (one for one in judged.lint_result.findings if one.code == "RK103")
    assert "[bucket(host, ts, 8, 4)] in front" in found.remedy


def test_a_remedy_that_brings_another_finding_gives_way_to_general_advice() -> None:
    """More regions than the values of the leading field can fill are not written out."""
    options: dict[str, Any] = {
        "fields": {
            "patient": {"type": "uuid", "distinct": 300},
            "ts": "timestamp_s",
            "bpm": {"type": "bytes", "max_bytes": 2_000, "mean_bytes": 1_000},
        },
        "splits": {"algorithm": "uniform", "regions": 8},
        "families": {"d": {"ttl": "365d", "compression": "SNAPPY"}},
        "cluster": {"servers": 4},
        "writes": {"rate": "100/s", "for": "1m"},
    }
    judged = JudgedDesign(Design("t", "[patient][ts]", **options), names_keys=True)
    (found,) = (one for one in judged.lint_result.findings if one.code == "RK802")
    assert "it brings RK104" in found.remedy
    assert "regions = " not in found.remedy
    options["fields"]["patient"]["distinct"] = 300_000
    many = JudgedDesign(Design("t", "[patient][ts]", **options), names_keys=True)
    assert any("regions = " in one.remedy for one in many.lint_result.findings)
    assert not any("it brings" in one.remedy for one in many.lint_result.findings)


def test_a_number_of_servers_is_named_although_regions_have_to_follow() -> None:
    """A remedy keeps its figures where it says itself what else is to be done."""
    judged = JudgedDesign(
        Design(
            "votes",
            "[bucket(voter, 24)][voter][ts]",
            fields={"voter": {"type": "u64", "distinct": 20_000_000}, "ts": "timestamp_ms"},
            families={"d": {"ttl": "30d", "compression": "SNAPPY"}},
            splits="per_bucket",
            cluster={"servers": 6, "capacity": "15000/s"},
            writes={"rate": "4000/s", "bursts": [{"at": "20m", "for": "5m", "times": 80}]},
        ),
        names_keys=True,
    )
    (found,) = (one for one in judged.lint_result.findings if one.code == "RK706")
    assert "Use 43 servers or more, and a multiple of that in regions" in found.remedy
    moved = judged.design.copy_with_options(cluster={"servers": 43, "capacity": "15000/s"})
    codes = {one.code for one in check_design(moved).findings}
    assert "RK706" not in codes
    assert {*RULES["writes_beyond_servers"].announced_codes} <= codes


@pytest.mark.parametrize(("heap", "expected"), [("4GiB", True), ("32GiB", False)])
def test_fewer_regions_come_with_a_larger_file_size_where_the_table_needs_it(
    heap: str, *, expected: bool
) -> None:
    """What memory allows may be fewer regions than the table fills at 10 GiB each."""
    size = 900 if expected else 90
    judged = JudgedDesign(
        Design(
            "documents",
            "[document]",
            fields={
                "document": {"type": "uuid", "distinct": 300_000_000},
                "head": {"type": "text", "family": "h", "mean_bytes": size},
                "lines": {"type": "text", "family": "l", "mean_bytes": size},
            },
            families={name: {"compression": "ZSTD"} for name in "hl"},
            splits={"algorithm": "uniform", "regions": 600},
            cluster={"servers": 6, "heap": heap},
            writes={"arrival": "random", "rate": "4000/s"},
        ),
        names_keys=True,
    )
    (found,) = (one for one in judged.lint_result.findings if one.code == "RK801")
    assert re.match(r"Use \d+ regions or fewer, as a multiple of 6[.,]", found.remedy)
    assert expected == ("and raise MAX_FILESIZE" in found.remedy)
