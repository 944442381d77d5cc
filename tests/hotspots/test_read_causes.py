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

from hotspots.applied_remedies import apply_remedy
from rowkey.advise import JudgedDesign, judge_simulation
from rowkey.design import Design
from rowkey.hotspots import READ_CAUSES
from rowkey.keys import bind_key
from rowkey.regions import to_string_binary
from rowkey.render import Redaction, build_report_document
from rowkey.simulate import Simulation, run

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


CASES: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("[ts][host]", NEWEST, FIELDS, "newest_region"),
    ("[ts][host]", {**NEWEST, "limit": 3}, FIELDS, "newest_region"),
    ("[bucket(host, 8)][host][ts]", HOST, POPULAR, "popular_value"),
    ("[bucket(host, 8)][host][ts]", POINT, POPULAR, "popular_value"),
    ("[bucket(host, 8)][host][ts]", LATEST, POPULAR, "popular_value"),
    ("[bucket(host, ts, 8)][host][ts]", HOST, FIELDS, "every_server"),
    ("[salt(8)][host][ts]", LATEST, FIELDS, "every_server"),
    ("[bucket(host, 32)][ts][host]", WINDOW, FIELDS, "every_server"),
    ("[bucket(host, 4)][ts][host]", WINDOW, FIELDS, "every_server"),
    ("[host][ts]", POINT, FIELDS, ""),
    ("[bucket(host, 8)][host][ts]", HOST, FIELDS, ""),
]
"""A key, a read, the fields, and the first cause, if any."""


@pytest.mark.parametrize(("key", "read", "fields", "code"), CASES)
def test_a_read_cause_has_a_remedy_under_the_present_key(
    key: str, read: dict[str, Any], fields: dict[str, Any], code: str
) -> None:
    """The cause has a remedy under this key, and leaves others to the search."""
    causes = simulate(key, read, fields).read_causes["r"]
    assert code == (causes[0].code if causes else "")
    for cause in causes:
        assert 0 < cause.explained_share <= 1
        assert cause.needs_key
        assert "." == cause.remedy[-1]
        assert "[" not in cause.remedy


@pytest.mark.parametrize("seed", range(200) if IS_LONG else range(2))
def test_no_remedy_names_a_key_under_which_a_read_costs_more(seed: int) -> None:
    """No remedy of a drawn design and read names a key under which reads cost more."""
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
    judged = JudgedDesign(found.design, seed=5, names_keys=True)
    for cause in judged.simulation.read_causes["r"]:
        better = apply_remedy(found.design, cause)
        if better is not None:
            assert JudgedDesign(better, seed=5).read_cost < judged.read_cost, (key, read)


def build_load_result(found: Simulation) -> ReadLoadResult:
    """Return the load of the first read of a simulation, in which causes are recognised."""
    read, cost, load = found.design.reads[0], found.reads[0], found.read_loads[0]
    return found._build_read_load_result(read, cost, load)


def test_thousands_of_regions_are_printed_without_a_power_of_ten() -> None:
    """An answer that asks more than a thousand regions has no power of ten in its reason."""
    result = build_load_result(simulate("[bucket(host, 32)][ts][host]", WINDOW))
    cause = READ_CAUSES["every_server"].recognise(replace(result, answer_regions=1_234.5))
    assert cause is not None
    assert cause.message.startswith("each answer asks 1,234 regions on all 4 servers")


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
def test_a_value_that_most_rows_have_everywhere_explains_no_busy_server(
    key: str, where: str, names: list[str]
) -> None:
    """A level that most rows have everywhere, and rows without a tag, explain no busy server."""
    (cause,) = simulate_recorded(key, where).read_causes["r"]
    assert ("popular_value", names) == (cause.code, cause.evidence["fields"])
    assert 0.4 < cause.evidence["row_share"] < 0.6
    assert "0%" not in re.findall(r"\d+%", cause.message)


def test_rows_without_a_tag_do_not_explain_a_busy_server() -> None:
    """Three quarters of the rows lack a tag and share a region: the cause is the busy tag."""
    found = simulate_recorded("[bucket(tag, 8)][tag][ts][host]", "tag = ?")
    rows, servers = build_load_result(found).answerable_rows
    assert 0 == rows.column("tag").null_count
    assert rows.num_rows == len(servers)
    (cause,) = found.read_causes["r"]
    assert cause.message.startswith("one tag takes")
    assert 0.5 == pytest.approx(cause.evidence["operation_share"], rel=0.01)


def test_rows_with_null_do_not_count_for_the_popularity_in_a_range() -> None:
    """No range finds a null, so rows without a tag have no part in the popularity of a host."""
    found = simulate_recorded("[bucket(host, 8)][host][tag][ts]", "host = ? and tag > ?")
    rows, servers = build_load_result(found).answerable_rows
    assert (1_000, 0) == (rows.num_rows, rows.column("tag").null_count)
    assert rows.num_rows == len(servers)


def test_the_newest_rows_are_no_cause_where_the_key_begins_with_a_given_host() -> None:
    """Where the key begins with a host that the read gives, a popular host is the reason."""
    read = {"where": "host = ? and ts >= ?", "span": "1s", "limit": 10}
    found = simulate("[host][ts]", read, POPULAR)
    assert ["popular_value"] == [one.code for one in found.read_causes["r"]]


def test_the_verdict_explains_a_read_that_asks_all_servers() -> None:
    """The assessment of an even read that wastes the cluster says why and what to do."""
    found = simulate("[salt(8)][host][ts]", {**LATEST, "rate": "2000/s"})
    verdict = judge_simulation(found).verdict
    (read,) = (one for one in verdict.assessments if one.topic == "read")
    assert "poor" == read.grade
    assert "each answer asks 8 regions on all 4 servers that have rows" in read.message
    assert "cache the answers" in read.remedy


@pytest.mark.parametrize("is_hiding", [False, True])
def test_no_document_that_hides_values_names_the_host_of_a_remedy(is_hiding: bool) -> None:
    judged = judge_simulation(simulate("[bucket(host, 8)][host][ts]", HOST, POPULAR))
    (named, *_) = judged.simulation.read_causes["r"]
    named = replace(named, remedy='Use heavy = ["busy-host"] under host.')
    vars(judged.simulation)["read_causes"] = {"r": [named]}
    redaction = Redaction(b"0123456789abcdef") if is_hiding else Redaction()
    document = build_report_document([judged], redaction)["designs"][0]
    ((cause,),) = (read["causes"] for read in document["read_load"]["reads"])
    assert "popular_value" == cause["code"]
    assert "one host takes" in cause["message"]
    shown = json.dumps([document["read_load"], document["verdict"]])
    assert is_hiding == ("busy-host" not in shown)


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
        return ReadCauseFinding(
            cls.name, "its answers are large", "Ask for less.", explained_share=1.0
        )
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


def test_a_cause_of_a_plugin_package_is_recognised_and_documented(tmp_path: Path) -> None:
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
