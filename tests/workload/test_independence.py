"""Generating and sampling use independent random numbers, so that no sample is biased."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rowkey.design import Design
from rowkey.workload import DISTRIBUTIONS, Reservoir, WorkloadGenerator
from rowkey.workload.contract import build_rng


def build_workload(draw: str, seed: int, more: bool = False) -> WorkloadGenerator:
    """Build a workload of 400,000 events over 500 values, with or without another field."""
    fields = {"metric": {"type": "u32", "distinct": 500, "draw": draw}, "ts": "timestamp_ms"}
    design = Design(
        "t",
        "[metric][ts]",
        fields={"extra": {"type": "u8", "distinct": 7}, **fields} if more else fields,
        writes={"rate": "10000/s", "for": "40s"},
    )
    wanted = design.fields if more else design.collect_needed_fields()
    return WorkloadGenerator(design.writes, wanted, seed, design.key)


def list_codes(workload: WorkloadGenerator) -> np.ndarray[Any, Any]:
    """Return the generated values in order."""
    batches = [events.rows.column("metric") for events in workload.generate_events()]
    return np.concatenate([metrics.to_numpy() for metrics in batches])


@pytest.mark.parametrize("draw", sorted(DISTRIBUTIONS))
@pytest.mark.parametrize("seed", [0, 7])
def test_sampled_events_have_values_as_often_as_they_occur(draw: str, seed: int) -> None:
    """With one seed for both, every value is sampled as often as it occurs."""
    reservoir, total = Reservoir(seed=seed), np.zeros(500)
    for events in build_workload(draw, seed).generate_events():
        reservoir.offer(events.rows)
        total += np.bincount(events.rows.column("metric").to_numpy(), minlength=500)
    kept = np.bincount(reservoir.collect_rows().column("metric").to_numpy(), minlength=500)
    shares = total / total.sum()
    expected = shares * kept.sum()
    came = expected > 0
    statistic = float(((kept[came] - expected[came]) ** 2 / expected[came]).sum())
    # 499 degrees of freedom: their standard deviation is 32.
    assert statistic < 499 + 5 * 32


def test_adding_a_field_does_not_change_the_generated_values_of_others() -> None:
    """The values of a field depend on the seed and its own name alone."""
    assert np.array_equal(
        list_codes(build_workload("zipf", 3)), list_codes(build_workload("zipf", 3, more=True))
    )


def test_each_purpose_and_seed_has_its_own_random_numbers() -> None:
    """Each purpose and seed has its own random numbers, which are reproducible."""
    first = build_rng("a", 1).random(1_000)
    assert first.tolist() == build_rng("a", 1).random(1_000).tolist()
    for other in (build_rng("b", 1), build_rng("a", 2), build_rng("aa", 1)):
        assert abs(float(np.corrcoef(first, other.random(1_000))[0, 1])) < 0.15


@pytest.mark.parametrize("kind", ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"])
def test_identifying_numbers_of_all_widths_are_generated(kind: str) -> None:
    """Values that identify an event are drawn for whole numbers of all widths."""
    fields = {"id": {"type": kind, "unique": True}, "ts": "timestamp_ms"}
    design = Design("t", "[id][ts]", fields=fields, writes={"rate": "100/s", "for": "10s"})
    workload = WorkloadGenerator(design.writes, design.collect_needed_fields(), 0, design.key)
    [events] = workload.generate_events()
    ids = events.rows.column("id").to_pylist()
    assert len(set(ids)) >= min(900, 2 ** int(kind[1:]) // 3)
