"""The remedies of causes are valid keys under which the same events are less skewed."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from example_counts import thin_out
from hotspots.applied_remedies import apply_remedy
from rowkey.advise import JudgedDesign
from rowkey.advise.key_remedy import NO_KEY_REMEDY
from rowkey.design import Design
from rowkey.hotspots import CAUSES, build_declared_facts, predict_causes
from rowkey.schema import FieldFacts
from rowkey.simulate import run
from rowkey.workload import record_sample

if TYPE_CHECKING:
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


def test_the_remedy_for_a_hot_wide_row_moves_qualifier_fields_into_the_key(
    sample_path: Path,
) -> None:
    fields = {"host": "text", "id": {"type": "u32", "at": "qualifier"}, "ts": FIELDS["ts"]}
    design = Design("t", "[bucket(host, 16)][host]", fields=fields, splits="per_bucket")
    cause = find_hot_entity(run(design, sample_path))
    assert "put id into the key" in cause.remedy
    key = "[bucket(host, id, 16)][host][id]"
    cool = run(Design("t", key, fields=FIELDS, splits="per_bucket"), sample_path)
    assert [] == cool.causes


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
def test_every_remedy_is_a_sentence_and_names_no_untried_key(name: str) -> None:
    """Each remedy is a sentence, and names no key that nothing has been replayed under."""
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
    assert "key = " not in cause.remedy


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
CASES = [one for n, one in enumerate(ALL_CASES) if IS_LONG or n % 32 == 7]
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


@pytest.mark.parametrize(("hosts", "key", "splits", "servers"), thin_out(CASES, 2))
def test_no_remedy_raises_the_skew_of_the_same_events(
    samples: dict[str, RecordedSample], hosts: str, key: str, splits: Any, servers: int
) -> None:
    """The same events are less skewed under the key or number that a remedy names, if any."""
    sample = samples[hosts]
    kind = {"type": "choice", "of": ["a", "b", "c"]}
    fields = {"host": {"type": "text", "max_bytes": 8}, "kind": kind, "ts": "timestamp_s"}
    design = Design(
        "t", key, fields=fields, splits=splits, cluster={"servers": servers}, writes={"time": "ts"}
    )
    found = JudgedDesign(design, sample, second_half=True, names_keys=True).simulation
    for cause in found.causes:
        better = apply_remedy(design, cause)
        if better is None:  # a counter is divided by those who count
            assert cause.code == "hot_row" or cause.remedy == NO_KEY_REMEDY, cause.remedy
            continue
        cooler = run(better, sample, second_half=True).verdict
        over = cooler.skew / cooler.even_skew
        assert over <= 1.02 * found.verdict.skew / found.verdict.even_skew, cause.remedy
