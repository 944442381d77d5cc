"""The remedies of causes are valid keys under which the same events are less skewed."""

from __future__ import annotations

import os
import random
import re
from typing import TYPE_CHECKING, Any

import pytest

from hotspots.applied_remedies import apply_proposal, apply_remedy
from rowkey.design import Design
from rowkey.hotspots import CAUSES, build_declared_facts, predict_causes
from rowkey.keys import bind_key
from rowkey.schema import FieldFacts
from rowkey.simulate import run
from rowkey.workload import record_sample

if TYPE_CHECKING:
    from pathlib import Path

    from rowkey.hotspots import CauseFinding
    from rowkey.simulate import Simulation
    from rowkey.workload import RecordedSample

FIELDS: dict[str, Any] = {
    "host": {"type": "text", "max_bytes": 16},
    "id": "u32",
    "ts": "timestamp_s",
}
START = 1_704_067_200
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
WRITES = {"rate": "4000/s" if IS_LONG else "2000/s", "for": "1m"}


@pytest.fixture
def sample_path(tmp_path: Path) -> Path:
    """A sample in which one host takes a third of the events, and two more an eighth each."""
    chance = random.Random(1)
    shares = {"hot": 0.33, "warm-1": 0.125, "warm-2": 0.125}
    hosts = [*shares, *(f"h{n}" for n in range(400))]
    weights = [*shares.values(), *[(1 - sum(shares.values())) / 400] * 400]
    lines = [
        f"{host},{n},{START + n}" for n, host in enumerate(chance.choices(hosts, weights, k=6_000))
    ]
    found = tmp_path / "rows.csv"
    found.write_text("\n".join(["host,id,ts", *lines]))
    return found


def find_hot_entity(found: Simulation) -> CauseFinding:
    """Return the hot-entity cause of a simulation."""
    return next(cause for cause in found.causes if cause.code == "hot_entity")


@pytest.mark.parametrize(
    ("key", "splits", "expected"),
    [
        ("[bucket(host, 16)][host][ts]", "per_bucket", "[bucket(host, ts, 16, 8)][host][ts]"),
        ("[bucket(host, 32, hash=crc32)][host][id][ts]", "per_bucket",
         "[bucket(host, id, ts, 32, 8, hash=crc32)][host][id][ts]"),
        ("[host][ts]", ["h2", "h3", "hp", "w"], "[bucket(host, ts, 16, 8)][host][ts]"),
        ("['log-'][digest(host, 4)][ts][host]", [f"log-\\x{n}0" for n in "3579BD"],
         "['log-'][bucket(host, ts, 16, 8)][digest(host, 4)][ts][host]"),
    ],
)  # fmt: skip
def test_whales_are_proposed_over_several_buckets(
    sample_path: Path, key: str, splits: Any, expected: str
) -> None:
    """The proposal lists the hot hosts, prints its key, and removes the cause."""
    design = Design("t", key, fields=FIELDS, splits=splits)
    before = design.dumps()
    found = run(design, sample_path)
    cause = find_hot_entity(found)
    proposal = cause.evidence["proposal"]
    assert (expected, "per_bucket") == (proposal["key"], proposal["splits"])
    assert ["hot", "warm-1", "warm-2"] == sorted(proposal["heavy"]["host"])
    assert f'key = "{expected}"' in cause.remedy
    assert '"warm-2"' in cause.remedy
    assert before == found.design.dumps()
    cooler = run(apply_proposal(design, proposal), sample_path)
    assert [] == [one for one in cooler.causes if one.code == "hot_entity"]
    assert 0.6 * found.server_shares.total > cooler.server_shares.total
    assert found.verdict.skew > cooler.verdict.skew


def test_hosts_listed_before_stay_listed(sample_path: Path) -> None:
    """A hot host is added to the declared list, and the number of buckets stays."""
    fields = {**FIELDS, "host": {"type": "text", "heavy": ["old", "hot"]}}
    key = "[bucket(host, ts, 16, 8)][host][ts]"
    found = run(Design("t", key, fields=fields, splits="per_bucket"), sample_path)
    proposal = find_hot_entity(found).evidence["proposal"]
    assert ["old", "hot"] == proposal["heavy"]["host"][:2]
    assert ["warm-1", "warm-2"] == sorted(proposal["heavy"]["host"][2:])
    assert "[bucket(host, ts, 16, 8)][host][ts]" == proposal["key"]


def test_numbers_are_listed_as_numbers(sample_path: Path) -> None:
    """Proposed heavy values have the type of their field."""
    text = sample_path.read_text().replace("hot,", "7,").replace("warm-", "1000").replace("h", "9")
    sample_path.write_text("host,id,ts\n" + text.partition("\n")[2])
    design = Design("t", "[bucket(host, 16)][host][ts]", fields={"host": "u32", "ts": FIELDS["ts"]},
                    splits="per_bucket")  # fmt: skip
    proposal = find_hot_entity(run(design, sample_path)).evidence["proposal"]
    assert [7, 10001, 10002] == sorted(proposal["heavy"]["host"])
    assert apply_proposal(design, proposal).fields["host"].heavy_values


def test_two_fields_have_no_list(sample_path: Path) -> None:
    """For a hot pair the remedy is a bucket over all fields, since a pair cannot be listed."""
    fields = {**FIELDS, "rack": {"type": "text", "max_bytes": 9, "from": "host"}}
    key = "[bucket(host, rack, 16)][host][rack][ts]"
    cause = find_hot_entity(run(Design("t", key, fields=fields, splits="per_bucket"), sample_path))
    assert cause.evidence["proposal"] is None
    assert "[bucket(host, rack, ts, 16)]" in cause.remedy


def test_a_row_of_many_events_is_spread_by_what_stands_in_its_qualifiers(sample_path: Path) -> None:
    """The remedy for a hot wide row moves the fields of its qualifiers into the key."""
    fields = {"host": "text", "id": {"type": "u32", "at": "qualifier"}, "ts": FIELDS["ts"]}
    design = Design("t", "[bucket(host, 16)][host]", fields=fields, splits="per_bucket")
    cause = find_hot_entity(run(design, sample_path))
    assert "put id into the key and [bucket(host, id, 16)] in front" in cause.remedy
    key = "[bucket(host, id, 16)][host][id]"
    cool = run(Design("t", key, fields=FIELDS, splits="per_bucket"), sample_path)
    assert [] == cool.causes


def test_a_whale_is_proposed_before_any_event() -> None:
    """The heaviest value of a skewed declared draw is proposed without a sample."""
    fields = {"host": {"type": "text", "distinct": 1_000, "draw": {"kind": "zipf", "theta": 1.2}},
              "ts": "timestamp_ms"}  # fmt: skip
    design = Design(
        "t", "[bucket(host, 16)][host][ts]", fields=fields, splits="per_bucket", writes=WRITES
    )
    (cause,) = predict_causes(design)
    hot, cool = run(design), run(apply_proposal(design, cause.evidence["proposal"]))
    cooler = run(apply_proposal(design, find_hot_entity(hot).evidence["proposal"]))
    assert hot.verdict.skew > cool.verdict.skew > cooler.verdict.skew


DESIGNS: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "moving_front": ("[ts][host]", {"algorithm": "uniform", "regions": 16}, {}),
    "time_only_bucket": ("[mod(ts, 16)][ts][host]", "per_bucket", {}),
    "few_entities": ("[bucket(sensor, 16)][sensor][ts]", "per_bucket", {}),
    "hot_entity": ("[bucket(whale, 16)][whale][ts]", "per_bucket", {}),
    "uneven_buckets": ("[mod(ids, 16)][ids]", "per_bucket", {}),
    "hot_row": ("[whale]", [f"{n:08}" for n in range(1, 16)], {}),
    "integer_imbalance": ("[bucket(host, 10)][host][ts]", "per_bucket", {}),
    "missed_splits": (
        "['log-'][digest(host, 4)][ts]",
        {"algorithm": "uniform", "regions": 16},
        {},
    ),
}


@pytest.mark.parametrize("name", sorted(CAUSES))
def test_every_cause_has_a_remedy_that_binds(name: str) -> None:
    """Each remedy is a sentence, and each key it shows is valid for the design's fields."""
    key, splits, writes = DESIGNS[name]
    fields = {
        "host": {"type": "text", "distinct": 1_000},
        "sensor": {"type": "text", "distinct": 20},
        "whale": {"type": "text", "distinct": 1_000, "draw": {"kind": "zipf", "theta": 1.2}},
        "ids": "u64",
        "ts": "timestamp_s",
    }
    design = Design("t", key, fields=fields, splits=splits, writes=writes)
    facts = {**build_declared_facts(design), "ids": FieldFacts(step=4_096)}
    (cause,) = (one for one in predict_causes(design, facts) if one.code == name)
    assert cause.remedy[0].isupper()
    assert "." == cause.remedy[-1]
    for part in re.findall(r"\[\w+\([^\]]*\)\]", cause.remedy):
        if "heavy" not in cause.remedy:
            bound = bind_key(part + key, {n: f.declaration for n, f in design.fields.items()})
            assert bound.is_decodable


@pytest.mark.parametrize("key", ["[ts][host]", "[mod(ts, 16)][ts][host]", "[ts]"])
def test_what_is_put_in_front_cools(key: str) -> None:
    """The bucket or salt that a remedy puts in front spreads a front and hot seconds."""
    fields = {"host": {"type": "text", "distinct": 1_000}, "ts": "timestamp_s"}
    used = {name: words for name, words in fields.items() if name in key}
    splits: Any = "per_bucket" if "mod" in key else {"algorithm": "uniform", "regions": 16}
    design = Design("t", key, fields=used, splits=splits, writes=WRITES)
    hot = run(design)
    (front,) = re.findall(r"\[\w+\([^\]]*\)\]", hot.causes[0].remedy)
    words = {"fields": used, "splits": "per_bucket", "writes": WRITES}
    cooler = run(Design("t", front + key, **words))
    assert [] == cooler.causes
    assert 1.3 > (cooler.skews[0].server_skew or 9) < (hot.skews[0].server_skew or 0)


@pytest.mark.parametrize(
    ("host", "reads", "expected", "named"),
    [
        ({"distinct": 1_000}, [], "bucket(ts, host, id, 16)", ""),
        ({"distinct": 1_000}, ["host = ?"], "bucket(host, 16)", ""),
        ({}, ["host = ?"], "bucket(host, 16)", ""),
        ({"distinct": 1_000}, ["host = ? and id = ?", "host = ?"], "bucket(host, 16)", ""),
        ({"distinct": 1_000}, ["ts = ? and host = ?"], "bucket(ts, host, 16)", ""),
        ({"distinct": 12}, ["host = ?"], "bucket(ts, host, id, 16)", ""),
        ({"distinct": 1_000, "draw": {"kind": "zipf", "theta": 1.2}}, ["host = ?"],
         "bucket(ts, host, id, 16)", ""),
        ({"distinct": 1_000}, ["ts = ?"], "bucket(ts, host, id, 16)", "as read 0 does"),
    ],
)  # fmt: skip
def test_a_front_is_spread_by_what_reads_give(
    host: dict[str, Any], reads: list[str], expected: str, named: str
) -> None:
    """A front gets a bucket of fields that reads give, else of all fields, with the cost named."""
    fields = {"host": {"type": "text", **host}, "id": "u32", "ts": "timestamp_s"}
    asked = [{"name": f"read {n}", "where": where} for n, where in enumerate(reads)]
    design = Design("t", "[ts][host][id]", fields=fields, reads=asked, writes=WRITES)
    (cause,) = (one for one in predict_causes(design) if one.code == "moving_front")
    assert f"Put [{expected}] in front and set" in cause.remedy
    assert (named or "asks every bucket.") in cause.remedy


SIXTEEN_REGIONS = {"algorithm": "sample", "regions": 16}
TEN_REGIONS = {"algorithm": "sample", "regions": 10}
HOSTS: dict[str, list[float]] = {
    "three": [1.0] * 3,
    "twelve": [1.0] * 12,
    "sensors": [1.0] * 47,
    "many": [1.0] * 2_000,
    "whale": [200.0, *[1.0] * 400],
    "zipf": [1 / rank for rank in range(1, 501)],
}
ALL_CASES: list[tuple[str, str, Any, int]] = [
    (hosts, key, splits, servers)
    for hosts in HOSTS
    for key, splits in (
        ("[bucket(host, 16)][host][ts]", "per_bucket"),
        ("[bucket(host, 8)][host][ts]", "per_bucket"),
        ("[bucket(host, 10)][host][ts]", "per_bucket"),
        ("[bucket(host, ts, 10)][ts][host]", "per_bucket"),
        ("[salt(5)][ts][host]", "per_bucket"),
        ("[bucket(host, 3)][host]", "per_bucket"),
        ("[host][ts]", SIXTEEN_REGIONS),
        ("[host]", SIXTEEN_REGIONS),
        ("[ts][host]", TEN_REGIONS),
        ("[digest(host, 4)][ts]", SIXTEEN_REGIONS),
        ("[digest(host, 4)][ts]", {"algorithm": "uniform", "regions": 10}),
        ("[host][ts]", {"algorithm": "uniform", "regions": 16}),
        ("[kind][ts][host]", "per_bucket"),
    )
    for servers in (2, 8)
]
CASES = [one for n, one in enumerate(ALL_CASES) if IS_LONG or n % 16 == 7]
"""Most keys under a distribution of hosts."""


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RecordedSample]:
    """Return a sample for each distribution of hosts, read once for all designs."""
    folder = tmp_path_factory.mktemp("samples")
    for hosts, weights in HOSTS.items():
        chance = random.Random(4)
        picked = chance.choices(range(len(weights)), weights, k=16_000 if IS_LONG else 4_000)
        kinds = [chance.choice("abc") for _ in picked]
        numbers = enumerate(zip(picked, kinds, strict=True))
        lines = (f"h{host},{kind},{START + n}" for n, (host, kind) in numbers)
        (folder / f"{hosts}.csv").write_text("host,kind,ts\n" + "\n".join(lines))
    recordings = {hosts: record_sample(folder / f"{hosts}.csv") for hosts in HOSTS}
    for recording in recordings.values():
        recording.request_columns(["host", "kind", "ts"])
    return recordings


@pytest.mark.parametrize(("hosts", "key", "splits", "servers"), CASES)
def test_no_remedy_makes_it_hotter(
    samples: dict[str, RecordedSample], hosts: str, key: str, splits: Any, servers: int
) -> None:
    """The same events are no more skewed under the key or number that a remedy names."""
    sample = samples[hosts]
    kind = {"type": "choice", "of": ["a", "b", "c"]}
    fields = {"host": {"type": "text", "max_bytes": 8}, "kind": kind, "ts": "timestamp_s"}
    design = Design(
        "t", key, fields=fields, splits=splits, cluster={"servers": servers}, writes={"time": "ts"}
    )
    found = run(design, sample, second_half=True)
    for cause in found.causes:
        better = apply_remedy(design, cause)
        if cause.code == "hot_row":  # a counter is divided by those who count
            assert better is None, cause.remedy
            continue
        assert better is not None, cause.remedy
        cooler = run(better, sample, second_half=True).verdict
        over = cooler.skew / cooler.even_skew
        assert over <= 1.02 * found.verdict.skew / found.verdict.even_skew, cause.remedy


FULL_KEY = "[bucket(host, 16)][host][disk][ts]"
READS = {
    "of a host": "host = ? and ts >= ? and ts < ?",
    "of a host and a disk": "host = ? and disk = ? and ts >= ? and ts < ?",
    "of a disk": "disk = ? and ts >= ? and ts < ?",
}


@pytest.mark.parametrize(
    ("key", "reads", "expected"),
    [
        ("[bucket(host, 16)][host][disk][ts]", [], "[bucket(host, disk, ts, 16)]"),
        (
            "[bucket(host, 16)][host][disk][ts]",
            ["of a host and a disk"],
            "[bucket(host, disk, 16)]",
        ),
        ("[bucket(host, 16)][host][disk][ts]", ["of a disk"], "[bucket(disk, 16)]"),
        ("[bucket(host, 16)][host][disk][time_slice(ts, 1h)]", [], "[bucket(host, disk, 16)]"),
        ("[bucket(host, 16)][host][time_slice(ts, 1h)]", [], "[bucket(host, ts, 16)]"),
        ("[bucket(host, ts, 3)][host][time_slice(ts, 1h)]", [], "[bucket(host, ts, 8)]"),
    ],
)
@pytest.mark.parametrize("shares", ["few", "hot"])
def test_a_remedy_takes_no_more_fields_than_it_needs(
    tmp_path: Path, key: str, reads: list[str], expected: str, shares: str
) -> None:
    """A proposed bucket has the fields of reads if they suffice, and sliced times last."""
    chance = random.Random(7)
    hosts = chance.choices(range(6 if shares == "few" else 600), k=4_000)
    path = tmp_path / "rows.csv"
    lines = (
        f"h{0 if shares == 'hot' and n % 5 < 2 else host},d{chance.randrange(500)},{START + n}"
        for n, host in enumerate(hosts)
    )
    path.write_text("host,disk,ts\n" + "\n".join(lines))
    fields = {"host": {"type": "text", "max_bytes": 8}, "disk": {"type": "text", "max_bytes": 8},
              "ts": "timestamp_s"}  # fmt: skip
    asked = [{"name": name, "where": READS[name]} for name in reads]
    design = Design(
        "t", key, fields=fields, splits="per_bucket", reads=asked, writes={"time": "ts"}
    )
    found = run(design, path)
    for cause in found.causes:
        better = apply_remedy(design, cause)
        assert better is not None
        assert better.declaration.key.count("bucket(") == 1, cause.remedy
        if not cause.evidence.get("proposal"):
            assert expected in better.declaration.key
        elif reads == ["of a host and a disk"] or (not reads and "[disk][time_slice" in key):
            assert "[bucket(host, disk, 16, 8)]" in better.declaration.key
        cooler = run(better, path)
        assert (
            cooler.verdict.skew / cooler.verdict.even_skew
            < found.verdict.skew / found.verdict.even_skew
        )
