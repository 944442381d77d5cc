"""What chance alone makes of an even design: the skew that is nobody's fault.

Throwing n events at k places evenly still leaves one place with more than n/k. A skew means
something only above that.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=256)
def _largest_of(places: int) -> tuple[float, float, float]:
    """Mean, variance and mean square of the largest of k standard normal numbers.

    By numerical integration of its density k phi(x) Phi(x)^(k-1).
    """
    import numpy as np

    x = np.linspace(-9.0, 12.0, 40_001)
    phi = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    below = np.cumsum(phi) * (x[1] - x[0])
    density = places * phi * np.minimum(below, 1.0) ** (places - 1)
    density /= density.sum()
    mean = float((x * density).sum())
    square = float((x * x * density).sum())
    return mean, square - mean * mean, square


def even_share(events: Any, places: int) -> Any:
    """Expected events in the fullest of k even places, as a multiple of their mean.

    Args:
        events: events in a window; a number or an array.
        places: how many servers or regions they fall on.

    Returns:
        1 and above; `places` where there is one event.

    Cost: a few operations a window.
    Source: the largest of k multinomial counts, by the normal approximation with the first
    correction for the Poisson counts' asymmetry (Cornish and Fisher, 1938). Within 1 % of simulated
    values from 35 events over 8 places on.

    >>> [round(float(even_share(n, 8)), 2) for n in (400, 1600, 6400)]
    [1.21, 1.1, 1.05]
    """
    import numpy as np

    mean_count = np.maximum(np.asarray(events, np.float64) / places, 1e-9)
    if places == 1:
        return np.ones_like(mean_count)
    mean, _, square = _largest_of(places)
    share = 1 + mean / np.sqrt(mean_count) + (square - 1) / 6 / mean_count
    return np.clip(share, np.minimum(1 / mean_count, places), places)


def even_spread(events: Any, places: int) -> Any:
    """The standard deviation of the same, as a multiple of the mean.

    Args:
        events: events in a window; a number or an array.
        places: how many servers or regions they fall on.
    """
    import numpy as np

    mean_count = np.maximum(np.asarray(events, np.float64) / places, 1e-9)
    if places == 1:
        return np.zeros_like(mean_count)
    _, variance, _ = _largest_of(places)
    return np.sqrt(max(variance - 1 / places, 0) / mean_count)
