"""Causes of read hot spots are found where they are planted, and the keys of remedies help."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hotspots.applied_remedies import apply_proposal
from rowkey.advise import judge_simulation
from rowkey.design import Design
from rowkey.hotspots import READ_CAUSES
from rowkey.keys import bind_key
from rowkey.regions import to_string_binary
from rowkey.render import Redaction, build_report_document
from rowkey.simulate import Simulation, run

ROOT = Path(__file__).parents[2]
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
FIELDS: dict[str, Any] = {
    "host": {"type": "text", "max_bytes": 8, "distinct": 500},
    "ts": "timestamp_ms",
    "line": {"type": "text", "max_bytes": 200},
}
POPULAR = {**FIELDS, "host": {**FIELDS["host"], "draw": {"kind": "zipf", "theta": 1.6}}}
"""Fields of which one of 500 hosts has nearly half of the events."""
START = 1_704_067_200_000
"""When generated events start, in milliseconds since 1970."""
HOST = {"where": "host = ?"}
POINT = {"where": "host = ? and ts = ?"}
LATEST = {"where": "host = ?", "order": "ts desc", "limit": 10}
WINDOW = {"where": "ts >= ? and ts < ?", "span": "1s", "limit": 20}
NEWEST = {"where": "ts >= ?", "span": "1s"}


def key_of(key: str, **values: Any) -> bytes:
    """Return the row key of some values; others are empty."""
    return bind_key(key, FIELDS).encode({"host": "", **values})


def simulate(key: str, read: dict[str, Any], fields: dict[str, Any] = FIELDS) -> Simulation:
    """Simulate a design with one read."""
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
            cluster={"servers": 4},
            writes={"rate": "300/s", "for": "8s"},
            reads=[{"name": "r", "rate": "100/s", **read}],
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
    """Return the busiest server's operations for the read under a proposal, over those now."""
    splits = proposal["splits"] or found.design.declaration.splits
    changed = run(apply_proposal(found.design, {**proposal, "splits": splits}), seed=5)
    (before,), (after,) = found.read_loads, changed.read_loads
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
    found = simulate(key, read, chance.choice((FIELDS, POPULAR)))
    for cause in found.read_causes["r"]:
        if cause.evidence["proposal"] is not None:
            assert 1 > compare_busiest(found, cause.evidence["proposal"]), (key, read, cause.remedy)


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
