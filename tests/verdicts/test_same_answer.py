"""Every command says the same of one design: the same words, remedies and figures."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from cli.command import run
from example_counts import IS_LONG, cover_each, thin_out
from rowkey.advise import JudgedDesign, search
from rowkey.advise.key_remedy import NO_KEY_REMEDY, KeyRemedy
from rowkey.design import Design
from rowkey.lint import RULES, check_design

pytestmark = pytest.mark.usefixtures("search_once")

DESIGN = """\
table  = "orders"
key    = "[bucket(user, 16)][user][desc(at)]"
splits = "per_bucket"

[fields]
user   = { type = "text", max_bytes = 8 }
at     = "timestamp_s"
number = "u64"
amount = { type = "decimal", precision = 9, scale = 2 }

[families.d]
compression = "ZSTD"
encoding    = "FAST_DIFF"
ttl         = "90d"

[writes]
rate = "500/s"

[[reads]]
name  = "by number"
where = "number = ?"
rate  = "100/s"

[[reads]]
name  = "of a user"
where = "user = ?"
limit = 20
rate  = "50/s"
"""
REMEDY = (
    'Write each event to 2 tables: key = "[bucket(number, 16)][number][user][desc(at)]" and '
    'splits = "per_bucket"; key = "[user][desc(at)][number]" and splits = "sample".'
)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the JSON output of each command on one design and sample, and the page of report."""
    folder = tmp_path_factory.mktemp("orders")
    chance = random.Random(5)
    rows = [
        f"u{chance.randrange(3_000)},{1_700_000_000 + 3 * n},{n},{chance.randrange(9_999) / 100}"
        for n in range(2_000)
    ]
    sample, one = folder / "orders.csv", folder / "one.toml"
    sample.write_text("\n".join(["user,at,number,amount", *rows]) + "\n")
    one.write_text(DESIGN)
    from_sample = ("--sample", sample)
    found = {
        name: json.loads(run(name, one, *more, *from_sample, "-f", "json").out)
        for name, more in (("check", ()), ("simulate", ()), ("explain", ()), ("compare", (one,)))
    }
    run("report", one, *from_sample, "-o", folder / "page.html")
    return {**found, "report": (folder / "page.html").read_text()}


def find_assessment(verdict: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the assessment of the read with a name."""
    (found,) = (one for one in verdict["assessments"] if one["name"] == name)
    return dict(found)


def test_every_command_proposes_the_same_second_table(answers: dict[str, Any]) -> None:
    """The table that would serve a read is proposed in the same words everywhere."""
    (finding,) = (one for one in answers["check"]["findings"] if one["code"] == "RK601")
    (plan,) = (one for one in answers["explain"]["reads"] if one["name"] == "by number")
    remedies = {
        finding["remedy"],
        plan["proposal"]["remedy"],
        find_assessment(answers["simulate"]["verdict"], "by number")["remedy"],
        find_assessment(answers["compare"]["designs"][0]["verdict"], "by number")["remedy"],
    }
    assert {REMEDY} == remedies
    assert REMEDY.replace('"', "&#34;") in answers["report"]


def test_every_command_prints_the_same_verdict(answers: dict[str, Any]) -> None:
    """Grades, sentences and figures of the writes and of each read are equal."""
    simulated = answers["simulate"]
    compared = answers["compare"]["designs"][0]
    assert "poor" == simulated["verdict"]["grade"]
    assert simulated["verdict"] == compared["verdict"]
    assert simulated["writes"] == compared["writes"]
    (measure,) = (one for one in answers["compare"]["measures"] if one["name"] == "event_bytes")
    counted = measure["figures"]["A"]["value"]
    assert pytest.approx(counted, rel=0.002) == simulated["bytes"]["event"]
    for one in simulated["verdict"]["assessments"]:
        if one["topic"] != "finding":
            assert one["message"] in answers["report"].replace("&#39;", "'")


def test_ranges_of_a_read_are_labelled_as_mean_maximum_or_example(answers: dict[str, Any]) -> None:
    """Ranges are a mean and a maximum in a simulation, and an example in a plan and a check."""
    (cost,) = (one for one in answers["simulate"]["reads"] if one["name"] == "of a user")
    assert (1.0, 0.0, 1) == tuple(cost["fan_out"][name] for name in ("mean", "margin", "most"))
    (checked,) = (one for one in answers["check"]["reads"] if one["name"] == "of a user")
    (plan,) = (one for one in answers["explain"]["reads"] if one["name"] == "of a user")
    assert checked["fan_out"] == plan["fan_out"] == cost["fan_out"]["most"]


def test_a_file_listed_by_user_is_no_front(tmp_path: Path) -> None:
    """Ratings that are listed by user came by time: no user moves with the clock."""
    lines = [
        f"{user},{n},{1_700_000_000 + (user * 7_919 + n * 104_729) % 864_000}"
        for user in range(300)
        for n in range(20)
    ]
    (tmp_path / "ratings.csv").write_text("\n".join(["user,film,ts", *lines]) + "\n")
    design = Design(
        "ratings",
        "[user][film]",
        fields={"user": "u32", "film": "u32", "ts": "timestamp_s"},
        splits={"algorithm": "sample", "regions": 32},
        writes={"time": "ts", "rate": "20000/s"},
    )
    judged = JudgedDesign(design, tmp_path / "ratings.csv")
    codes = {one.code for one in judged.warnings}
    assert not codes & {"RK101", "RK706"}
    assert "moving_front" not in {one.code for one in judged.simulation.causes}


ARRIVALS: dict[str, Callable[[int, random.Random], str]] = {
    "one set after the other": lambda n, _: f"set{7 * (n // 600) % 11:02}",
    "all sets at once": lambda n, _: f"set{n % 11:02}",
    "half of one set": lambda n, chance: "set05" if chance.random() < 0.5 else f"set{n % 997:03}",
    "many sets": lambda n, _: f"set{n * 7_919 % 997:03}",
}
"""How the events of data sets arrive."""
KEYS = {
    "[set][item]": "sample",
    "[bucket(set, 8)][set][item]": "per_bucket",
    "[bucket(set, item, 8)][set][item]": "per_bucket",
    "[bucket(set, item, 2)][set][item]": "per_bucket",
    "[item][set]": "uniform",
}
"""Keys, and how their tables are split."""


@pytest.mark.parametrize(
    ("key", "arrival", "rate"), cover_each([*KEYS], [*ARRIVALS], [None, 2, 4_000], rounds=4)
)
def test_check_warns_of_uneven_writes_exactly_if_a_replay_shows_harm(
    arrival: str, key: str, rate: int | None
) -> None:
    """The rules warn of uneven writes if, and only if, the replay grades them less than good."""
    chance = random.Random(3)
    rows = pa.table(
        {
            "set": [ARRIVALS[arrival](n, chance) for n in range(6_000)],
            "item": pa.array([n * 2_654_435_761 % 2**32 for n in range(6_000)], pa.uint32()),
            "at": [1_700_000_000 + n // 4 for n in range(6_000)],
        }
    )
    splits: Any = KEYS[key]
    judged = JudgedDesign(
        Design(
            "lookups",
            key,
            fields={"set": {"type": "text", "max_bytes": 6}, "item": "u32", "at": "timestamp_s"},
            splits={"algorithm": splits, "regions": 8} if splits != "per_bucket" else splits,
            cluster={"servers": 4},
            families={"d": {"ttl": "30d"}},
            writes={"time": "at"} | ({"rate": f"{rate}/s"} if rate else {}),
        ),
        rows,
    )
    measured = {rule.code for rule in RULES.values() if rule.measured_by == "writes"}
    is_warned = any(one.code in measured for one in judged.warnings)
    is_uneven = judged.simulation.verdict.level != "even"
    assert is_warned == (is_uneven and judged.verdict.find_grade("writes") != "good")


@pytest.mark.parametrize(
    ("rate", "key"),
    thin_out(
        product(
            ["", "3/s", "900/s"],
            ["[user][at]", "[salt(4)][at][user]", "[user][time_slice(at, 1m)]"],
        ),
        8,
    ),
)
def test_a_read_finds_the_rows_of_both_halves_of_a_sample(rate: str, key: str) -> None:
    """Where boundaries are from the first half of a sample, reads still find the rows of both."""
    chance = random.Random(2)
    events = pa.table(
        {
            "user": [f"u{int(90 * chance.random() ** 2)}" for _ in range(3_000)],
            "at": pa.array([1_700_000_000 + n // 3 for n in range(3_000)], pa.int64()),
            "number": pa.array(range(3_000), pa.uint64()),
        }
    )
    design = Design(
        "orders",
        key,
        fields={"user": {"type": "text", "max_bytes": 8}, "at": "timestamp_s", "number": "u64"},
        splits={"algorithm": "uniform", "regions": 8},
        writes={"time": "at", **({"rate": rate} if rate else {})},
        reads=[
            {"name": "number", "where": "number = ?"},
            {"name": "user", "where": "user = ?", "order": "at desc", "limit": 20},
            {"name": "minute", "where": "user = ? and at between ? and ?", "span": "1m"},
        ],
    )
    sampled = design.copy_with_options(splits={"algorithm": "sample", "regions": 8})
    whole, half = JudgedDesign(design, events), JudgedDesign(design, events, second_half=True)
    judged = [whole, half, JudgedDesign(sampled, events)]
    if IS_LONG:
        judged.append(search(design, events).declared)
    assert (0, 1_500) == (whole.source.first_replayed, half.source.first_replayed)
    for one in judged:
        assert list_rows(whole) == list_rows(one)
    if not rate:
        (number, *_) = whole.simulation.reads
        assert number.is_full_scan
        assert whole.simulation.operation_count >= number.read_rows > 0.9 * 3_000


def list_rows(judged: JudgedDesign) -> list[tuple[float, float, float]]:
    """Return the ranges of each read, and the rows that it reads and returns."""
    return [
        (cost.fan_out[0], cost.read_rows, cost.returned_rows) for cost in judged.simulation.reads
    ]


def test_a_read_by_a_column_outside_the_key_is_said_to_need_a_second_table() -> None:
    """Where the key lacks all that a read gives, no other key is sought in vain."""
    judged = JudgedDesign(
        Design(
            "members",
            "[bucket(member, 8)][member]",
            fields={"member": "u32", "mail": {"type": "text", "max_bytes": 40}},
            splits="per_bucket",
            writes={"rate": "20/s"},
            reads=[{"name": "login", "where": "mail = ?", "rate": "8/s"}],
        ),
        names_keys=True,
    )
    [remedy] = [one.remedy for one in judged.warnings if one.code == "RK601"]
    assert "a second table too, whose key begins with mail;" in remedy


@pytest.mark.parametrize(("where", "is_named"), [("name starts with ?", True), ("at > ?", False)])
def test_a_field_is_to_replace_its_digest_in_front(where: str, *, is_named: bool) -> None:
    """Where no key is found for a read that gives fields of the key, they are named; no time is."""
    design = Design(
        "people",
        "[digest(name, 4)][name][at]",
        fields={"name": {"type": "text", "max_bytes": 40, "distinct": 4_000}, "at": "timestamp_s"},
        splits={"algorithm": "uniform", "regions": 4},
        cluster={"servers": 4},
        writes={"rate": "50/s", "for": "20s"},
        reads=[{"name": "it", "where": where, "limit": 10, "rate": "5/s"}],
    )
    judged = JudgedDesign(design, names_keys=True)
    remedies = [one.remedy for one in judged.lint_result.findings if one.code == "RK601"]
    assert remedies
    named = "with name in place of digest(name, 4), which keeps no order"
    assert is_named == any(named in one for one in remedies)


@pytest.mark.parametrize(
    ("cost", "read_cost", "is_named"),
    [(0.9, 1.0, True), (1.0, 1.0, False), (1.1, 1.0, False), (1.0, 0.3, True), (1.1, 0.3, False)],
)
def test_no_key_is_named_for_writes_that_it_does_not_spread(
    cost: float, read_cost: float, *, is_named: bool
) -> None:
    """A finding on writes names the recommended key only if their load or that of reads falls."""
    fields = {"at": "timestamp_s", "metric": {"type": "u32", "distinct": 4}}
    declared = Design("t", "[metric][at]", fields=fields, splits=["\\x01", "\\x02", "\\x03"])
    better = Design("t", "[bucket(metric, at, 12)][metric][at]", fields=fields)

    def judge(design: Design, write_cost: float, read_cost: float) -> SimpleNamespace:
        source, verdict = SimpleNamespace(first_replayed=0), SimpleNamespace(skew=write_cost)
        return SimpleNamespace(
            design=design,
            write_cost=write_cost,
            read_cost=read_cost,
            lint_result=SimpleNamespace(findings=()),
            simulation=SimpleNamespace(source=source, verdict=verdict, reads=(), design=design),
        )

    advice: Any = SimpleNamespace(
        declared=judge(declared, 1.0, 1.0), recommendation=(judge(better, cost, read_cost),)
    )
    found = check_design(declared, select=["RK104"])
    assert found.findings
    completed = KeyRemedy(advice).complete_findings(found).findings
    assert [is_named] * len(completed) == [one.remedy != NO_KEY_REMEDY for one in completed]


def test_the_rate_of_a_recording_does_not_depend_on_the_replayed_half() -> None:
    """The own rate of a recording is that of all of it, also where its second half is replayed."""
    times = [1_700_000_000 + 60 * n for n in range(2_000)]
    times += [times[-1] + 6 * n for n in range(1, 2_001)]
    rows = pa.table({"user": [f"u{n % 7 % 5}" for n in range(4_000)], "at": times})
    text = {"type": "text", "max_bytes": 8}
    design = Design("t", "[user][at]", fields={"user": text, "at": "timestamp_s"},
                    splits={"algorithm": "uniform", "regions": 8},
                    writes={"time": "at"})  # fmt: skip
    for judged in (JudgedDesign(design, rows), JudgedDesign(design, rows, second_half=True)):
        said = judged.verdict.assessments[0].message
        assert ["1.82/m"] == re.findall(r"own rate, ([^ ]+),", said)


@pytest.mark.parametrize("gaps", [(10, 1), (1, 10)])
@pytest.mark.parametrize("key", ["[at][user]", "[bucket(user, 4)][user][at]"])
@pytest.mark.parametrize("capacity", ["1/s", "5000/s"])
def test_declaring_the_rate_of_a_recording_changes_no_figure(
    capacity: str, key: str, gaps: tuple[int, int]
) -> None:
    """A recording asks the same of a server, its own rate declared or not, all replayed or half."""
    times, now = [], 1_700_000_000
    for number in range(8_000):
        now += gaps[number // 4_000]
        times.append(now)
    rows = pa.table({"user": [f"u{n * 7 % 997}" for n in range(8_000)], "at": times})
    text = {"type": "text", "max_bytes": 8}
    judged = []
    for rate in ("", f"{8_000 / (times[-1] - times[0] + 1):.6f}/s"):
        design = Design("t", key, fields={"user": text, "at": "timestamp_s"},
                        splits={"algorithm": "uniform", "regions": 4},
                        cluster={"servers": 4, "capacity": capacity},
                        families={"d": {"ttl": "30d", "compression": "ZSTD"}},
                        reads=[{"name": "all", "where": "at > ? and at < ?", "span": "1m"}],
                        writes={"time": "at", **({"rate": rate} if rate else {})})  # fmt: skip
        # The first half of a recording that slows down has its peak, which the second one lacks.
        halves = (False, True)[: 1 + (gaps[0] > gaps[1])]
        judged += [JudgedDesign(design, rows, second_half=half) for half in halves]
    loads = [
        writes.utilization
        for one in judged
        for writes in one.verdict.assessments
        if writes.topic == "writes"
    ]
    assert loads == pytest.approx([loads[0]] * len(judged), rel=0.15)
    findings = [[(f.code, f.severity) for f in one.lint_result.findings] for one in judged]
    assert findings == [findings[0]] * len(judged)
    assert all(len({*one}) == len(one) for one in findings)


def test_events_of_a_single_date_give_no_rate() -> None:
    """A file of one day with dates alone took no single millisecond."""
    text = {"type": "text", "max_bytes": 8}
    users, at = [f"u{n % 7 % 5}" for n in range(4_000)], [1_700_000_000_000] * 4_000
    rows = pa.table({"user": users, "at": at, "n": range(4_000)})
    design = Design("t", "[user][n]", fields={"user": text, "at": "timestamp_ms", "n": "u32"},
                    splits={"algorithm": "uniform", "regions": 8},
                    writes={"time": "at"})  # fmt: skip
    judged = JudgedDesign(design, rows)
    assert "own rate" not in judged.verdict.assessments[0].message
    assert judged.simulation.recorded_rate is None


@pytest.mark.parametrize(
    ("count", "seconds"), [(2, 0.001), (9, 3_600), (4_000, 0.9), (9, 0.2), (10, 2), (400, 1.5)]
)
def test_a_recording_of_few_events_or_under_a_second_gives_no_rate(
    count: int, seconds: float
) -> None:
    """Fewer than ten events, or those of less than a second, are no rate, and it is said so."""
    last = 1_000 * seconds - 1
    at = [1_700_000_000_000 + round(n * last / (count - 1)) for n in range(count)]
    rows = pa.table({"user": [f"u{n % 5}" for n in range(count)], "at": at, "n": range(count)})
    text = {"type": "text", "max_bytes": 8}
    design = Design("t", "[user][at][n]", fields={"user": text, "at": "timestamp_ms", "n": "u32"},
                    splits={"algorithm": "uniform", "regions": 8},
                    writes={"time": "at"})  # fmt: skip
    simulation = JudgedDesign(design, rows).simulation
    is_short = count < 10 or seconds < 1
    assert is_short == (simulation.recorded_rate is None)
    assert is_short == any("too short to tell a rate" in one for one in simulation.remarks)


@pytest.mark.parametrize(
    ("key", "capacity", "expected"),
    [
        ("[bucket(user, 16)][user][at]", "0.6/s", "fair"),
        ("[bucket(user, 16)][user][at]", "0.3/s", "poor"),
        ("[at][user]", "2/s", "fair"),
        ("[at][user]", "1/s", "poor"),
    ],
)
def test_a_recorded_rate_is_graded_as_a_declared_one(
    key: str, capacity: str, expected: str
) -> None:
    """A recorded rate of 1/s, even on two servers or all on one of them, is graded as declared."""
    text = {"type": "text", "max_bytes": 8}
    splits: Any = "per_bucket" if "bucket" in key else {"algorithm": "uniform", "regions": 16}
    at = range(1_700_000_000, 1_700_008_000)
    rows = pa.table({"user": [f"u{n * 7 % 997}" for n in range(8_000)], "at": at})
    found = []
    for writes in ({}, {"rate": "1/s"}):
        design = Design("t", key, fields={"user": text, "at": "timestamp_s"},
                        splits=splits, cluster={"servers": 2, "capacity": capacity},
                        writes={"time": "at", **writes})  # fmt: skip
        [one] = [
            one for one in JudgedDesign(design, rows).verdict.assessments if one.topic == "writes"
        ]
        assert f"declared capacity: {capacity}" in one.message
        found.append((one.grade, one.remedy))
    assert expected == found[0][0]
    assert found[0] == found[1]


@pytest.mark.parametrize("has_peak", [False, True])
def test_buckets_are_proposed_for_a_peak_although_the_mean_is_low(*, has_peak: bool) -> None:
    """Ten times 5/s are little for a server; a minute of 60 times that rate is not."""
    text, start = {"type": "text", "max_bytes": 8}, 1_700_000_040
    at = [start + (n % 60 if has_peak and n % 2 else n) for n in range(8_000)]
    rows = pa.table({"user": [f"u{n * 7 % 997}" for n in range(8_000)], "at": sorted(at)})
    design = Design("t", "[bucket(user, 16)][user][at]", splits="per_bucket",
                    fields={"user": text, "at": "timestamp_s"},
                    writes={"time": "at", "rate": "5/s"},
                    reads=[{"name": "all", "where": "at > ? and at < ?"}])  # fmt: skip
    found = [one.code for one in JudgedDesign(design, rows).lint_result.findings]
    assert has_peak is ("RK123" not in found)
