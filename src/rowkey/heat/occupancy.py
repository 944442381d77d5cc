"""How many regions some values would fill by chance, and how many values some events would show."""

from __future__ import annotations

from math import exp, lgamma, log

UNLIKELY = 0.001
"""Odds below which so few places were not filled by chance. Source: as in the verdict."""


def is_far_too_few(things: int, places: int, filled: int) -> bool:
    """Whether chance would hardly ever throw some things into so few places.

    Args:
        things: how many are thrown, each into any place alike.
        places: how many places there are.
        filled: how many of them got any.

    Source: the union bound: all of n things fall into some u of k places with a chance of at most
    C(k, u) · (u / k)^n.

    >>> is_far_too_few(40, 16, 2), is_far_too_few(40, 16, 14), is_far_too_few(3, 16, 1)
    (True, False, False)
    """
    if not 0 < filled < places:
        return False
    ways = lgamma(places + 1) - lgamma(filled + 1) - lgamma(places - filled + 1)
    return exp(min(ways + things * log(filled / places), 0.0)) < UNLIKELY
