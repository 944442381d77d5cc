"""Causes of read hot spots are found where they are planted, and the keys of remedies help."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from hotspots.applied_remedies import apply_proposal
from rowkey.advise import judge_simulation
from rowkey.design import Design
from rowkey.hotspots import READ_CAUSES
from rowkey.keys import bind_key
from rowkey.proposals import KeyProposal
from rowkey.regions import to_string_binary
from rowkey.render import Redaction, build_report_document
from rowkey.simulate import Simulation, run
from rowkey.simulate.read_causes import ProposalTrials, build_read_load_result

if TYPE_CHECKING:
    from rowkey.hotspots import ReadLoadResult

ROOT = Path(__file__).parents[2]
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
FIELDS: dict[str, Any] = {
    "host": {"type": "text", "max_bytes": 8, "distinct": 500},
    "ts": "timestamp_ms",
    "line": {"type": "text", "max_bytes": 200},
}
USERS = {**FIELDS, "user": {"type": "text", "max_bytes": 8, "distinct": 500}}
POPULAR = {**FIELDS, "host": {**FIELDS["host"], "draw": {"kind": "zipf", "theta": 1.6}}}
"""Fields of which one of 500 hosts has nearly half of the events."""
START = 1_704_067_200_000
"""When generated events start, in milliseconds since 1970."""
HOST = {"where": "host = ?"}
POINT = {"where": "host = ? and ts = ?"}
LATEST = {"where": "host = ?", "order": "ts desc", "limit": 10}
WINDOW = {"where": "ts >= ? and ts < ?", "span": "1s", "limit": 20}
NEWEST = {"where": "ts >= ?", "span": "1s"}
OF_USER = {"where": "ts >= ? and ts < ? and user = ?", "span": "1s", "limit": 5, "rate": "2000/s"}
OF_HOST = {"where": "ts >= ? and ts < ? and host = ?", "span": "10ms"}


def key_of(key: str, **values: Any) -> bytes:
    """Return the row key of some values; others are empty."""
    return bind_key(key, FIELDS).encode({"host": "", **values})


def simulate(
    key: str,
    read: dict[str, Any],
    fields: dict[str, Any] = FIELDS,
    *others: dict[str, Any],
    servers: int = 4,
) -> Simulation:
    """Simulate a design with a read named `r`, and with others."""
    splits: Any = "per_bucket"
    if key.startswith("[ts]"):
        starts = [key_of(key, ts=START + 1_000 * second) for second in range(1, 8)]
        splits = [to_string_binary(one) for one in starts]
    elif key.startswith("[host]"):
        splits = [f"{60 * number:08}" for number in range(1, 8)]
    return run(
        Design(
            "logs",
            key,
            fields=fields,
            splits=splits,
            cluster={"servers": servers},
            writes={"rate": "300/s", "for": "8s"},
            reads=[
                {"name": "r", "rate": "100/s", **read},
                *({"name": f"other {number}", **one} for number, one in enumerate(others)),
            ],
        ),
        seed=5,
    )


CASES: list[tuple[str, dict[str, Any], dict[str, Any], str, str]] = [
    ("[ts][host]", NEWEST, FIELDS, "newest_region", r"^\[bucket\(.*host, 8\)\]\[ts\]\[host\]$"),
    ("[ts][host]", {**NEWEST, "limit": 3}, FIELDS, "newest_region", ""),
    ("[bucket(host, 8)][host][ts]", HOST, POPULAR, "popular_value", r"^\[bucket\(host, ts, 8, 4\)"),
    ("[bucket(host, 8)][host][ts]", POINT, POPULAR, "popular_value", ""),
    ("[bucket(host, 8)][host][ts]", LATEST, POPULAR, "popular_value", ""),
    ("[bucket(host, ts, 8)][host][ts]", HOST, FIELDS, "every_server", r"^\[bucket\(host, 8\)\]\["),
    ("[salt(8)][host][ts]", LATEST, FIELDS, "every_server", r"^\[bucket\(host, 8\)\]\[host\]\["),
    ("[bucket(host, 32)][ts][host]", WINDOW, FIELDS, "every_server", r"^\[bucket\(host, 4\)\]\["),
    ("[bucket(host, 4)][ts][host]", WINDOW, FIELDS, "every_server", ""),
    ("[host][ts]", POINT, FIELDS, "", ""),
    ("[bucket(host, 8)][host][ts]", HOST, FIELDS, "", ""),
]
"""A key, a read, the fields, the first cause, and the key of its remedy as a pattern, if any."""


@pytest.mark.parametrize(("key", "read", "fields", "code", "pattern"), CASES)
def test_a_cause_is_found_and_the_key_of_its_remedy_helps(
    key: str, read: dict[str, Any], fields: dict[str, Any], code: str, pattern: str
) -> None:
    """The busiest server has at least a tenth less to do for the read under the key."""
    found = simulate(key, read, fields)
    causes = found.read_causes["r"]
    assert code == (causes[0].code if causes else "")
    if not causes:
        return
    cause, proposal = causes[0], causes[0].evidence["proposal"]
    assert 0 < cause.explained_share <= 1
    assert bool(pattern) == (proposal is not None) == ("key = " in cause.remedy)
    if proposal is None:
        return
    assert re.search(pattern, proposal["key"])
    assert f'key = "{proposal["key"]}"' in cause.remedy
    assert 0.9 > compare_busiest(found, proposal)


def compare_busiest(found: Simulation, proposal: dict[str, Any]) -> float:
    """Return the busiest server's operations for all reads under a proposal, over those now."""
    splits = proposal["splits"] or found.design.declaration.splits
    changed = run(apply_proposal(found.design, {**proposal, "splits": splits}), seed=5)
    before, after = found.total_read_load, changed.total_read_load
    assert before is not None
    assert after is not None
    return float(after.servers.operations.max() / before.servers.operations.max())


@pytest.mark.parametrize("seed", range(200) if IS_LONG else range(4))
def test_keys_of_remedies_help_whatever_the_read(seed: int) -> None:
    """No remedy of a drawn design and read names a key under which a server has more to do."""
    chance = random.Random(seed)
    buckets = chance.choice((4, 8, 16))
    key = chance.choice((
        f"[bucket(host, {buckets})][host][ts]", f"[bucket(host, ts, {buckets})][host][ts]",
        f"[salt({buckets})][host][ts]", f"[bucket(host, {buckets})][ts][host]", "[ts][host]",
        "[host][ts]",
    ))  # fmt: skip
    read = dict(chance.choice((HOST, POINT, LATEST, WINDOW, NEWEST)))
    if chance.random() < 0.5:
        read["limit"] = chance.choice((1, 10, 100))
    fields = chance.choice((FIELDS, POPULAR))
    other = {**chance.choice((HOST, POINT, LATEST, WINDOW, NEWEST)),
             "rate": f"{chance.choice((1, 100, 2000))}/s"}  # fmt: skip
    found = simulate(key, read, fields, *([other] if chance.random() < 0.5 else []))
    for cause in found.read_causes["r"]:
        if cause.evidence["proposal"] is not None:
            assert 1 > compare_busiest(found, cause.evidence["proposal"]), (key, read, cause.remedy)


OTHER_READS: list[tuple[str, dict[str, Any], dict[str, Any], str, dict[str, Any]]] = [
    ("[bucket(user, 16)][ts][user][host]", OF_HOST, USERS, "every_server", OF_USER),
    ("[ts][host]", NEWEST, FIELDS, "newest_region", {**WINDOW, "limit": 1, "rate": "9000/s"}),
    ("[bucket(host, 8)][host][ts]", HOST, POPULAR, "popular_value", {**LATEST, "rate": "9000/s"}),
]
"""A key, a read whose remedy names a key, the fields, its cause, and a read with many answers whose
fan-out grows under that key."""


@pytest.mark.parametrize(("key", "read", "fields", "code", "other"), OTHER_READS)
def test_no_remedy_of_a_read_costs_the_others_more_than_it_saves(
    key: str, read: dict[str, Any], fields: dict[str, Any], code: str, other: dict[str, Any]
) -> None:
    """A key that helps one read is not named if servers have as much to do for all reads."""
    (alone, *_), (cause, *_) = (
        simulate(key, read, fields, *others).read_causes["r"] for others in ((), (other,))
    )
    assert (code, code) == (alone.code, cause.code)
    assert alone.evidence["proposal"] is not None
    assert cause.evidence["proposal"] is None
    assert "key = " not in cause.remedy


@pytest.mark.parametrize(("buckets", "servers", "has_key"), [(9, 8, False), (16, 8, True)])
def test_one_bucket_less_is_not_worth_a_new_table(
    buckets: int, servers: int, has_key: bool
) -> None:
    """Fewer buckets are proposed if the operations fall by a sixth, not by a tenth."""
    found = simulate(f"[bucket(host, {buckets})][ts][host]", WINDOW, servers=servers)
    (cause,) = found.read_causes["r"]
    assert "every_server" == cause.code
    assert has_key == (cause.evidence["proposal"] is not None)


@pytest.mark.parametrize(("term", "noun"), [("salt(16)", "salt"), ("bucket(host, 16)", "bucket")])
def test_fewer_buckets_or_salts_are_called_so(term: str, noun: str) -> None:
    """A remedy with fewer salts does not call them buckets."""
    (cause,) = simulate(f"[{term}][ts][host]", WINDOW).read_causes["r"]
    assert f"with one {noun} for each server, the fan-out falls from 16 to 4." in cause.remedy


def build_load_result(found: Simulation) -> ReadLoadResult:
    """Return the load of the first read of a simulation, in which causes are recognised."""
    read, cost, load = found.design.reads[0], found.reads[0], found.read_loads[0]
    return build_read_load_result(found, read, cost, load, ProposalTrials(found))


def test_many_regions_are_written_out() -> None:
    """An answer that asks more than a thousand regions has no power of ten in its reason."""
    result = build_load_result(simulate("[bucket(host, 32)][ts][host]", WINDOW))
    cause = READ_CAUSES["every_server"].recognise(replace(result, answer_regions=1_234.5))
    assert cause is not None
    assert cause.message.startswith("each answer asks 1,234 regions on all 4 servers")


@pytest.mark.parametrize(("key", "read", "fields", "code", "other"), OTHER_READS)
def test_a_proposed_key_is_measured_as_its_own_simulation(
    key: str, read: dict[str, Any], fields: dict[str, Any], code: str, other: dict[str, Any]
) -> None:
    """What all reads save under a key is what a replay of the events under it shows."""
    proposal = simulate(key, read, fields).read_causes["r"][0].evidence["proposal"]
    found = simulate(key, read, fields, other)
    heavy = {name: tuple(values) for name, values in proposal["heavy"].items()}
    named = KeyProposal(key=proposal["key"], splits="per_bucket", heavy_values=heavy)
    gain = ProposalTrials(found).measure_gain("r", named)
    assert gain is not None, code
    assert gain.busiest == pytest.approx(1 / compare_busiest(found, proposal))


@pytest.mark.parametrize("key", ["[host][ts]", "[ts][nobody]"])
def test_a_key_that_reads_cannot_use_saves_nothing(key: str) -> None:
    """There is no gain under a key for which a read scans the table, or that is not valid."""
    found = simulate("[ts][host]", NEWEST)
    assert ProposalTrials(found).measure_gain("r", KeyProposal(key=key)) is None


NEWEST_REASONS: list[tuple[dict[str, Any], tuple[dict[str, Any], ...], str]] = [
    ({**NEWEST, "limit": 3}, (), "hardly less to do for this read"),
    (
        NEWEST,
        ({**WINDOW, "limit": 1, "rate": "9000/s"},),
        "hardly less to do for all reads together",
    ),
]
"""A read, others, and why no key spreads the newest rows."""


@pytest.mark.parametrize(("read", "others", "reason"), NEWEST_REASONS)
def test_the_reason_why_newest_rows_stay_together_was_measured(
    read: dict[str, Any], others: tuple[dict[str, Any], ...], reason: str
) -> None:
    """The remedy blames this read or all reads, or gives no reason if no key can be measured."""
    result = build_load_result(simulate("[ts][host]", read, FIELDS, *others))
    cause = READ_CAUSES["newest_region"].recognise(result)
    assert cause is not None
    assert reason in cause.remedy
    unknown = replace(result, measure_gain=lambda _: None)
    cause = READ_CAUSES["newest_region"].recognise(unknown)
    assert cause is not None
    assert "Cache the newest rows, or ask for them less often." == cause.remedy


def simulate_recorded(key: str, where: str) -> Simulation:
    """Simulate a read of recorded events: 45 % of one host, 95 % INFO, 75 % without a tag.

    Half of the events with a tag have the same one.
    """
    chance = random.Random(1)
    rows = [
        {
            "host": f"h{0 if chance.random() < 0.45 else chance.randrange(1, 500):05d}",
            "ts": START + 2 * number,
            "level": "INFO" if chance.random() < 0.95 else "WARN",
            "tag": chance.choice((f"t{chance.randrange(50)}", "busy")) if number % 4 == 0 else None,
        }
        for number in range(4_000)
    ]
    text = {"type": "text", "max_bytes": 8}
    design = Design(
        "logs",
        key,
        fields={
            "host": text,
            "ts": "timestamp_ms",
            "level": text,
            "tag": {**text, "nullable": True},
        },
        splits="per_bucket",
        cluster={"servers": 4},
        writes={"rate": "300/s", "time": "ts"},
        reads=[{"name": "r", "rate": "100/s", "where": where, "limit": 50}],
    )
    schema = pa.schema([(name, pa.int64() if name == "ts" else pa.string()) for name in rows[0]])
    return run(design, pa.Table.from_pylist(rows, schema), seed=5)


RECORDED: list[tuple[str, str, list[str]]] = [
    ("[bucket(host, 8)][host][ts]", "host = ?", ["host"]),
    ("[bucket(host, 8)][host][ts]", "host = ? and level = ?", ["host"]),
    ("[bucket(host, 8)][host][ts]", "level = ? and host = ?", ["host"]),
    ("[bucket(host, 8)][host][level][ts]", "level = ? and host = ?", ["host"]),
    ("[bucket(host, 8)][level][host][ts]", "level = ? and host = ?", ["host"]),
    ("[bucket(host, 8)][host][ts]", "host = ? and tag = ?", ["host"]),
]
"""A key, a read of recorded events, and the fields that the cause names."""


@pytest.mark.parametrize(("key", "where", "names"), RECORDED)
def test_the_value_that_places_the_rows_is_the_popular_one(
    key: str, where: str, names: list[str]
) -> None:
    """A level that most rows have everywhere, and rows without a tag, explain no busy server."""
    (cause,) = simulate_recorded(key, where).read_causes["r"]
    assert ("popular_value", names) == (cause.code, cause.evidence["fields"])
    assert 0.4 < cause.evidence["row_share"] < 0.6
    assert "0%" not in re.findall(r"\d+%", cause.message)


def test_nobody_asks_for_rows_without_a_value() -> None:
    """Three quarters of the rows lack a tag and share a region: the cause is the busy tag."""
    found = simulate_recorded("[bucket(tag, 8)][tag][ts][host]", "tag = ?")
    rows, servers = build_load_result(found).answerable_rows
    assert 0 == rows.column("tag").null_count
    assert rows.num_rows == len(servers)
    (cause,) = found.read_causes["r"]
    assert cause.message.startswith("one tag takes")
    assert 0.5 == pytest.approx(cause.evidence["operation_share"], rel=0.01)


def test_the_region_of_the_nulls_is_left_out_of_ranges() -> None:
    """No range finds a null, so rows without a tag have no part in the popularity of a host."""
    found = simulate_recorded("[bucket(host, 8)][host][tag][ts]", "host = ? and tag > ?")
    rows, servers = build_load_result(found).answerable_rows
    assert (1_000, 0) == (rows.num_rows, rows.column("tag").null_count)
    assert rows.num_rows == len(servers)


def test_the_newest_row_in_a_busy_region_is_no_cause_by_itself() -> None:
    """Where the key begins with a host that the read gives, a popular host is the reason."""
    read = {"where": "host = ? and ts >= ?", "span": "1s", "limit": 10}
    found = simulate("[host][ts]", read, POPULAR)
    assert ["popular_value"] == [one.code for one in found.read_causes["r"]]


def test_a_fan_out_to_all_servers_is_told_in_the_verdict() -> None:
    """The assessment of an even read that wastes the cluster says why and names the key."""
    found = simulate("[salt(8)][host][ts]", {**LATEST, "rate": "2000/s"})
    verdict = judge_simulation(found).verdict
    (read,) = (one for one in verdict.assessments if one.topic == "read")
    assert "poor" == read.grade
    assert "each answer asks 8 regions on all 4 servers that have rows" in read.message
    assert 'Use key = "[bucket(host, 8)][host][ts]"' in read.remedy


@pytest.mark.parametrize("is_hiding", [False, True])
def test_hidden_values_are_not_in_causes(is_hiding: bool) -> None:
    """The popular host is named by the remedy, but not in a document that hides values."""
    judged = judge_simulation(simulate("[bucket(host, 8)][host][ts]", HOST, POPULAR))
    redaction = Redaction(b"0123456789abcdef") if is_hiding else Redaction()
    document = build_report_document([judged], redaction)["designs"][0]
    ((cause,),) = (read["causes"] for read in document["read_load"]["reads"])
    assert "popular_value" == cause["code"]
    assert "one host takes" in cause["message"]
    shown = json.dumps([document["read_load"], document["verdict"]])
    assert is_hiding == ('"00000000' not in shown)


PLUGIN = '''\
"""A cause of a package of its own."""

from rowkey.hotspots import ReadCause, ReadCauseFinding


class LargeAnswerCause(ReadCause):
    """An answer costs more than two operations."""

    name = "large_answer"
    concerns_even_load = True

    @classmethod
    def recognise(cls, result):
        if result.answer_operations <= 2:
            return None
        return ReadCauseFinding(cls.name, "its answers are large", "Ask for less.", 1.0)
'''
DESIGN = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
host = { type = "text", max_bytes = 8, distinct = 20 }
ts   = "timestamp_ms"

[cluster]
capacity = "200/s"

[writes]
rate = "1000/s"
for  = "2s"

[[reads]]
name  = "all of a host"
where = "host = ?"
rate  = "900/s"
"""
CODE = """
import sys
from rowkey.cli import main
from tools import docs
sys.argv = ["rowkey", "simulate", "logs.toml", "--progress", "none", "--fail-on", "never"]
try:
    main()
except SystemExit as left:
    print("exit", left.code)
sys.argv = ["docs.py", "--outside"]
docs.main()
"""


def test_a_cause_of_another_package_is_recognised_and_documented(tmp_path: Path) -> None:
    """A package offers a cause through the entry point, and nothing else names it."""
    information = tmp_path / "acme-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    (information / "entry_points.txt").write_text("[rowkey.kinds]\nx = acme:LargeAnswerCause\n")
    (tmp_path / "acme.py").write_text(PLUGIN)
    (tmp_path / "logs.toml").write_text(DESIGN)
    assert "large_answer" not in READ_CAUSES
    path = os.pathsep.join(map(str, (tmp_path, ROOT / "src", ROOT)))
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "1000"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (0, "") == (done.returncode, done.stderr)
    simulated, _, page = done.stdout.partition("exit 0\n")
    assert ": its answers are large\n" in simulated
    assert "Ask for less." in simulated
    assert "\n## large_answer\n\nAn answer costs more than two operations." in page
