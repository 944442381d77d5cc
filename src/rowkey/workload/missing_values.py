"""The few large values that a sample of some values lacks.

A sample with all events of one user in a hundred has hardly ever the largest ones. That the table
has more events than a hundred times those of the sample shows how many are theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np

if TYPE_CHECKING:
    Floats = np.ndarray[Any, np.dtype[np.float64]]

CHANCES = (0.975, 0.5, 0.025)
"""Chances that a sample has none of the larger values, for the least, the likely and the largest
number of them."""
MIN_TAIL_VALUES, TAIL_SHARE = 10, 0.1
"""How many of the largest values of a sample tell the power law, at least and as a share."""
MAX_EXPONENT = 100.0
"""Exponent of a power law in which the largest value has all."""
MAX_RANKS = 1_000_000
_ROUNDS = 60


@dataclass(frozen=True, slots=True)
class MissingValues:
    """Values that are larger than all of a sample, as shares of all events of the table.

    Args:
        share: of all of them together.
        likely_shares: of each; empty if the sample may lack none.
        other_shares: of each, if they were fewer, more, or nearer to each other.
    """

    share: float
    likely_shares: Floats
    other_shares: tuple[Floats, ...]


def estimate_missing_values(
    sample_share: float, missing_share: float, value_shares: Floats
) -> MissingValues:
    """Return the values that a sample lacks.

    The values above the largest one of the sample follow the power law of those below it. If they
    then have less than the sample lacks, one value has the rest.

    Args:
        sample_share: share of all values that are in the sample.
        missing_share: share of all events of the table that are of larger values.
        value_shares: of each value of the sample, in the same unit.

    Source: Hill, A simple general approach to inference about the tail of a distribution (1975).

    >>> import numpy as np
    >>> missing = estimate_missing_values(0.01, 0.8, np.full(50, 0.00004))
    >>> round(float(missing.likely_shares.max()), 2)
    0.8
    """
    sizes = np.sort(value_shares)[::-1]
    smallest, shares = float(sizes[0]), []
    for chance in CHANCES:
        law = _continue_power_law(sample_share, chance, sizes)
        rest = missing_share - float(law.sum())
        count = len(law)
        shares.append(_fit_shares(count, missing_share, smallest) if rest < 0 else [*law, rest])
    shares.append(_fit_shares(count, missing_share, smallest))
    least, likely, *others = (np.array(one) for one in shares)
    return MissingValues(missing_share, likely, (least, *others))


def bound_missing_values(
    sample_share: float, missing_share: float, value_shares: Floats
) -> MissingValues:
    """Return a bound on what a sample lacks: values above its largest one, by its power law.

    Args:
        sample_share: share of all values that are in the sample.
        missing_share: share of all events of the table that larger values have at most.
        value_shares: of each value of the sample, in the same unit.
    """
    law = _continue_power_law(sample_share, CHANCES[1], np.sort(value_shares)[::-1])
    if law.sum() > missing_share:
        law = _fit_shares(len(law), missing_share, float(value_shares.max()))
    return MissingValues(float(law.sum()), np.empty(0), (law,))


def _continue_power_law(sample_share: float, chance: float, sizes: Floats) -> Floats:
    """Return the values above the largest one of a sample by the power law of those below it.

    Args:
        sample_share: share of all values that are in the sample.
        chance: that a sample has none of them.
        sizes: the values of the sample, descending.
    """
    tail = min(max(MIN_TAIL_VALUES, int(len(sizes) * TAIL_SHARE)), len(sizes) - 1)
    exponent = float(np.log(sizes[:tail] / sizes[tail]).mean()) if tail else 0.0
    count = min(max(round(log(chance) / log(1 - sample_share)), 1), MAX_RANKS)
    law: Floats = sizes[0] * (count / np.arange(1, count + 1)) ** exponent
    return law


def _fit_shares(count: int, total: float, smallest: float) -> Floats:
    """Return the shares of some values that follow a power law of a given sum."""
    if count * smallest >= total:
        count = max(int(total / smallest), 1)
        return np.full(count, total / count)
    logs = np.log(count / np.arange(1, count + 1))
    low, high = 0.0, MAX_EXPONENT
    for _ in range(_ROUNDS):
        exponent = (low + high) / 2
        if smallest * np.exp(np.minimum(exponent * logs, 700)).sum() > total:
            high = exponent
        else:
            low = exponent
    powers = np.exp(low * logs)
    shares: Floats = powers * (total / powers.sum())
    return shares
