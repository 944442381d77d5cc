"""How many rows a read with a limit asks for at once, before it knows how many it needs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import accumulate

SPARE_ROWS = 3
"""Rows of each of several ranges that are expected beyond twice its share of a limit.

Derivation: shares that are Poisson distributed exceed this in less than 1 of 100 ranges, each of
which costs a further request.
"""
MAX_DECODED_ROWS = 1_024
"""Most rows that are decoded together: more are not faster."""


def count_first_rows(limit: int, range_count: int) -> int:
    """Return how many rows a merge asks of each of its ranges first: twice its share of a limit.

    >>> count_first_rows(50, 1), count_first_rows(50, 16), count_first_rows(2, 16)
    (50, 9, 2)
    """
    return limit if range_count == 1 else min(limit, 2 * limit // range_count + SPARE_ROWS)


def yield_group_sizes(limit: int | None) -> Iterator[int]:
    """Yield how many rows a read decodes together: first one, then twice as many each time.

    No more is read than the limit before it is known that some of these rows do not count, as
    they do not meet a condition; then no more than twice as many, and so on.

    Args:
        limit: the rows to return; None for all.

    >>> from itertools import islice
    >>> list(islice(yield_group_sizes(10), 6))
    [1, 2, 4, 3, 16, 4]
    """
    size, batch = 1, sys.maxsize if limit is None else limit
    left = batch
    while True:
        yield min(size, left)
        left -= min(size, left)
        size = min(2 * size, MAX_DECODED_ROWS)
        if not left:
            batch = left = 2 * batch


def count_decoded_rows(limit: int, needed: float) -> float:
    """Return how many rows a read has decoded once it has decoded those that it needs.

    Args:
        needed: the rows after which it has enough, with those that do not count.

    >>> count_decoded_rows(10, 10), count_decoded_rows(10, 25), count_decoded_rows(10, 1e9)
    (10, 26, 1000000000.0)
    """
    if needed > MAX_DECODED_ROWS**2:  # the last group is less than a thousandth
        return needed
    return next(rows for rows in accumulate(yield_group_sizes(limit)) if rows >= needed - 0.5)
