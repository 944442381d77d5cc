"""What a design shows before any event: the causes that its declaration alone implies."""

from __future__ import annotations

from typing import Any

import pytest

from rowkey.design import Design
from rowkey.heat import foreseen
from rowkey.regions import Boundaries
from rowkey.schema import Facts

HOSTS = {"type": "text", "max_bytes": 16, "distinct": 1_000}
FIELDS: dict[str, Any] = {
    "host": HOSTS,
    "sensor": {"type": "text", "max_bytes": 16, "distinct": 47},
    "tenant": {"type": "text", "max_bytes": 16, "distinct": 1},
    "whale": {**HOSTS, "draw": {"kind": "zipf", "theta": 1.2}},
    "status": {"type": "choice", "of": ["new", "paid", "sent"], "distinct": 3},
    "id": {"type": "u64", "distinct": 1_000_000},
    "ts": "timestamp_s",
    "ms": "timestamp_ms",
}
DECIMAL = [f"{n}0" for n in range(1, 10)]
UNIFORM = {"algorithm": "uniform", "regions": 16}


def design_of(key: str, splits: Any = "per_bucket", writes: Any = None) -> Design:
    """A design over the record."""
    words = {"time": "ts", **(writes or {})}
    return Design("t", key, fields=FIELDS, splits=splits, writes=words, cluster={"servers": 8})


CASES: list[tuple[str, Any, Any, dict[str, float]]] = [
    ("[ts][host]", UNIFORM, None, {"moving_front": 8}),
    ("[desc(ts)][host]", UNIFORM, None, {"moving_front": 8}),
    ("[time_bucket(ts, 1h)][host][ts]", UNIFORM, None, {"moving_front": 8}),
    ("[tenant][ts]", ["a", "b", "c", "d", "e", "f", "g"], None, {"moving_front": 8}),
    ("[ts][host]", ["a"], None, {"moving_front": 8}),
    ("[id]", UNIFORM, {"arrival": "sequential"}, {"moving_front": 8}),
    ("[host][ts]", "sample", None, {}),
    ("[ts][host]", "sample", None, {"moving_front": 8}),
    ("[ts][host]", {"algorithm": "uniform"}, None, {"moving_front": 8}),
    ("[bucket(sensor, 16)][sensor]", {"algorithm": "uniform"}, None, {}),
    ("[ts][host]", UNIFORM, {"arrival": "random"}, {}),
    ("[ts][host]", UNIFORM, {"arrival": "per(host)", "period": "1m"}, {"moving_front": 8}),
    ("[bucket(host, 16)][host][ts]", "per_bucket", {"arrival": "bulk_sorted"}, {"moving_front": 8}),
    ("[salt(16)][host][ts]", "per_bucket", {"arrival": "bulk_sorted"}, {}),
    ("[bucket(host, 16)][host][ts]", "per_bucket", None, {}),
    ("[bucket(host, ts, 16)][ts]", "per_bucket", None, {}),
    ("[salt(16)][ts]", "per_bucket", None, {}),
    ("[mod(ts, 16)][ts][host]", "per_bucket", None, {"time_only_bucket": 8}),
    ("[mod(ms, 16)][ms][host]", "per_bucket", None, {}),
    ("[bucket(ts, 16)][ts][host]", "per_bucket", None, {"time_only_bucket": 8}),
    ("[bucket(time_bucket(ms, 1m), 16)][ms]", "per_bucket", None, {"time_only_bucket": 8}),
    ("[digest(ts, 4)][host]", UNIFORM, None, {"time_only_bucket": 8}),
    ("[mod(ts, 16)][ts]", "per_bucket", {"arrival": "random"}, {}),
    ("[bucket(sensor, 16)][sensor][ts]", "per_bucket", None, {"few_entities": 1.627}),
    ("[bucket(status, id, 16)][id]", "per_bucket", None, {}),
    ("[status][id]", "per_bucket", None, {"few_entities": 8 / 3, "integer_imbalance": 8 / 3}),
    ("[bucket(whale, 16)][whale][ts]", "per_bucket", None, {"hot_entity": 8 * 0.2312}),
    ("[bucket(whale, ts, 16)][whale][ts]", "per_bucket", None, {}),
    ("[salt(16)][whale]", "per_bucket", None, {}),
    ("[whale]", ["0001", "0002"], None, {"integer_imbalance": 8 / 3, "hot_row": 1.85}),
    ("[whale]", [f"{n:08}" for n in range(1, 16)], None, {"hot_row": 1.85}),
    ("[bucket(host, 10)][host][ts]", "per_bucket", None, {"integer_imbalance": 1.6}),
    ("[bucket(host, 3)][host][ts]", "per_bucket", None, {"integer_imbalance": 8 / 3}),
    ("[ts][host]", ["a", "b"], None, {"moving_front": 8}),
    ("[status][host]", UNIFORM, None, {"missed_splits": 8}),
    ("[bucket(host, 256, as=hex)][host]", DECIMAL, None, {"missed_splits": 3.5}),
    ("[bucket(host, 16)][host]", ["0", "8", "@"], None, {"missed_splits": 8}),
    ("['log-'][digest(host, 4)][ts]", UNIFORM, None, {"missed_splits": 8}),
    ("[digest(host, 4)][ts]", UNIFORM, None, {}),
]  # fmt: skip


@pytest.mark.parametrize(("key", "splits", "writes", "expected"), CASES)
def test_causes_are_foreseen_from_the_declaration(
    key: str, splits: Any, writes: Any, expected: dict[str, float]
) -> None:
    """Exactly the causes that are true of the declaration, each with the skew it explains."""
    found = {one.code: one.bound for one in foreseen(design_of(key, splits, writes))}
    assert pytest.approx(expected, rel=0.01) == found


@pytest.mark.parametrize(
    ("step", "n", "reached"),
    [(3_600, 16, 1), (300, 16, 4), (300, 10, 1), (86_400, 7, 7), (1, 16, 16)],
)
def test_steps_of_times_that_a_sample_showed_are_used(step: int, n: int, reached: int) -> None:
    """What is known of the times says how many remainders they reach, before any replay."""
    facts = {"ts": Facts(seen=100, distinct=90, step=step, rising=1.0)}
    (cause,) = (
        one
        for one in foreseen(design_of(f"[mod(ts, {n})][ts][host]"), facts)
        if one.code == "time_only_bucket"
    )
    assert (reached, step) == (cause.evidence["reached"], cause.evidence["step_s"])
    if reached < n:
        assert f"they reach {reached} of {n} numbers" in cause.message
    else:
        assert f"all events of the same {step:,} s meet in one of {n} numbers" in cause.message


def test_the_largest_comes_first() -> None:
    """Causes are sorted by the skew that they explain."""
    bounds = [one.bound for one in foreseen(design_of("[whale]", ["0001", "0002"]))]
    assert 2 == len(bounds)
    assert sorted(bounds, reverse=True) == bounds


def test_a_time_that_a_sample_showed_in_no_order_is_no_front() -> None:
    """A recording in no order of time moves nowhere, unless it is sorted before it is replayed."""
    facts = {"ts": Facts(seen=1_000, distinct=900, rising=0.01)}
    unsorted = design_of("[ts][host]", UNIFORM)
    ordered = design_of("[ts][host]", UNIFORM, {"sort": True})
    assert [] == foreseen(unsorted, facts)
    assert ["moving_front"] == [one.code for one in foreseen(ordered, facts)]


@pytest.mark.parametrize(
    ("key", "cut", "expected"),
    [
        ("[whale][id]", [b"00000000\0\0\0\0\0\0\0\0\7"], []),
        ("[whale:raw][id]", [b"00000000\0\0\0\0\0\0\0\7"], []),
        ("[whale][id]", [b"00000001"], ["hot_entity"]),
        ("[whale][ts]", [b"00000000\0\0\0\0\0\0\0\0\7"], ["hot_entity"]),
        ("[bucket(whale, 2)][whale][id]", [b"\1"], ["hot_entity"]),
    ],
)
def test_a_heavy_value_is_not_in_one_region_if_boundaries_part_it(
    key: str, cut: list[bytes], expected: list[str]
) -> None:
    """What stands behind it parts its rows, unless that is a time, which parts moments only."""
    design = design_of(key, splits=["0"])
    splits = (*cut, *(f"{n:08d}".encode() for n in range(100, 800, 100)))
    found = foreseen(design, None, Boundaries(tuple(sorted(splits))))
    assert expected == [one.code for one in found if one.code == "hot_entity"]
