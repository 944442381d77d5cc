"""The distribution of the means of Poisson numbers, and each mean given its number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np

if TYPE_CHECKING:
    Floats = np.ndarray[Any, np.dtype[np.float64]]

ROUND_COUNT = 100
MIN_LIKELIHOOD = 1e-100
"""No mean excludes a number, for numbers lie between the means that are told apart."""


def estimate_mixture(numbers: Floats, factors: Floats, weights: Floats, means: Floats) -> Floats:
    """Return which share of some numbers has each mean, so that the numbers are the most likely.

    Args:
        numbers: Poisson numbers, which need not be whole.
        factors: for each, how many times smaller than in `means` its mean was.
        weights: for each, how often it stands.
        means: the means that are told apart.

    Source: Laird, Nonparametric maximum likelihood estimation of a mixing distribution (1978).
    """
    (numbers, factors), places = np.unique(
        np.stack([numbers, factors]), axis=1, return_inverse=True
    )  # most numbers are alike
    counts = np.bincount(places.ravel(), weights).astype(np.float64)
    likelihoods = compute_likelihoods(numbers, means / factors[:, np.newaxis])
    shares = np.full(len(means), 1 / len(means))
    for _ in range(ROUND_COUNT):
        chances = likelihoods * shares
        shares = counts @ (chances / chances.sum(1, keepdims=True)) / counts.sum()
    return shares


def compute_likelihoods(numbers: Floats, means: Floats) -> Floats:
    """Return how likely each of some Poisson numbers is for each of some means, by a factor."""
    numbers = numbers[:, np.newaxis]
    logs = numbers * np.log(np.maximum(means, 1e-300)) - means
    likelihoods: Floats = np.exp(logs - logs.max(1, keepdims=True))
    return np.maximum(likelihoods, MIN_LIKELIHOOD)
