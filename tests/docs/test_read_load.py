"""Mixes of reads fall where plans and `simulate` say, on an embedded engine and as measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tools import proof, read_load

RESULTS: dict[str, Any] = json.loads(proof.READ_LOAD.read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", read_load.DESIGNS)
def test_each_read_load_measurement_is_of_the_current_design(case: str, tmp_path: Path) -> None:
    """Each measurement is of the current design, recording and versions."""
    design = read_load.write_design(case, tmp_path)
    assert proof.is_current(RESULTS[case], read_load.compute_fingerprint(case, design))


def test_every_region_counted_the_reads_that_its_plans_cause() -> None:
    """No region of the cluster counted fewer reads than its plans cause, or more than allowed."""
    assert set(read_load.DESIGNS) == set(RESULTS)
    assert [0] * len(RESULTS) == [one["wrong"] for one in RESULTS.values()]
    assert all(one["expected"] <= one["counted"] <= one["most"] for one in RESULTS.values())


def test_95_of_100_measured_shares_are_within_their_margins() -> None:
    """Of the measured shares of regions and servers 95 of 100 lie within their margins."""
    figures = [figure for one in RESULTS.values() for figure in one["figures"]]
    hits = [proof.is_within(figure, has_draw=True) for figure in figures]
    assert 0.95 <= sum(hits) / len(hits)


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[pytest.mark.long] * (case != "orders")) for case in RESULTS],
)
def test_an_embedded_engine_counts_reads_in_the_predicted_shares(case: str, tmp_path: Path) -> None:
    """Regions of an embedded engine count the rows of the plans, in the predicted shares."""
    design = read_load.write_design(case, tmp_path)
    found = read_load.measure_design(design, f"memory:mix-{case}", 0, rounds=2, answers=60)
    assert (found["regions"], 0) == (found["exact"], found["wrong"])
    assert found["expected"] == found["counted"] == found["most"]
    hits = [proof.is_within(figure, has_draw=True) for figure in found["figures"]]
    assert 0.9 <= sum(hits) / len(hits)


def test_the_standard_error_of_a_share_agrees_with_repeated_draws() -> None:
    """The standard error of a share agrees with the spread of shares of many mixes."""
    rng, strata = np.random.default_rng(5), np.array([0] * 200 + [1] * 100)
    shares, errors = [], []
    for _ in range(200):
        reads = np.zeros((300, 3))
        reads[np.arange(200), rng.choice(3, 200, p=[0.6, 0.3, 0.1])] = rng.integers(1, 20, 200)
        reads[np.arange(200, 300), rng.choice(3, 100, p=[0.1, 0.1, 0.8])] = 30
        mix = read_load.Mix(reads, reads.sum(axis=0) * 0, strata, reads.sum(axis=0))
        shares.append(reads.sum(axis=0) / reads.sum())
        errors.append(mix.compute_share_deviations(np.arange(3), 3))
    assert pytest.approx(np.std(shares, axis=0), rel=0.2) == np.mean(errors, axis=0)
