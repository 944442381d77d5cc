"""The values that a sample of a hundredth of them lacks are estimated from what is missing."""

from __future__ import annotations

import numpy as np
import pytest

from rowkey.workload import estimate_missing_values

SHARE = 0.01


def list_zipf(exponent: float) -> np.ndarray:
    """Return the shares of 20,000 values of a power law."""
    sizes: np.ndarray = np.arange(1, 20_001) ** -exponent
    shares: np.ndarray = sizes / sizes.sum()
    return shares


def list_whale(share: float) -> np.ndarray:
    """Return the shares of a tenant with much and of 5,000 equal ones."""
    return np.append(share, np.full(5_000, (1 - share) / 5_000))


@pytest.mark.parametrize(
    "values", [list_zipf(1.1), list_zipf(0.9), list_whale(0.4), list_whale(0.8)]
)
def test_the_estimated_mean_square_of_missing_values_is_within_a_factor_of_3(
    values: np.ndarray,
) -> None:
    """What a hundredth of the values lacks is told within a factor of 3, whale or power law."""
    found, truths = [], []
    for seed in range(40):
        chosen = np.random.default_rng(seed).random(len(values)) < SHARE
        chosen[values > 0.05] = False
        missing = 1 - values[chosen].sum() / SHARE
        if missing <= 0.02:
            continue
        estimate = estimate_missing_values(SHARE, missing, values[chosen])
        found.append(float((estimate.likely_shares**2).sum()))
        larger = values[values > values[chosen].max()]
        truths.append(float(larger @ larger))
    assert len(found) > 20
    ratio = np.median(np.array(found) / np.array(truths))
    assert 1 / 3 <= ratio <= 3


def test_the_shares_of_missing_values_sum_to_what_the_sample_lacks() -> None:
    """Whatever the number of values, they have all that the sample lacks."""
    missing = estimate_missing_values(SHARE, 0.3, np.linspace(1e-5, 1e-4, 200))
    for shares in (missing.likely_shares, *missing.other_shares):
        assert pytest.approx(0.3) == shares.sum()
