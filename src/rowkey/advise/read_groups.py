"""Groups the reads of a design by the tables that serve them for the least work."""

from __future__ import annotations

from functools import cache
from typing import Any

from rowkey.array_libraries import np

MAX_TABLES = 3
"""Tables that one stream of events is written to at most."""
MAX_GROUPED_READS = 8
"""Reads that are grouped; of more, all stay in one group."""


def group_reads(
    costs: np.ndarray[Any, Any], table_cost: float, max_tables: int = MAX_TABLES
) -> list[tuple[int, ...]]:
    """Return the groups of reads, one for each table, for which the total cost is least.

    Args:
        costs: the cost of each read (column) under each key (row).
        table_cost: what one more table costs.
        max_tables: groups at most.

    >>> import numpy as np
    >>> costs = np.array([[1.0, 900.0, 2.0], [800.0, 1.0, 700.0]])
    >>> group_reads(costs, 100.0)
    [(0, 2), (1,)]
    >>> group_reads(costs, 1000.0)
    [(0, 1, 2)]

    Cost: grows with 3 to the power of the number of reads.
    """
    read_count = costs.shape[1]
    everything = tuple(range(read_count))
    if read_count > MAX_GROUPED_READS:
        return [everything]

    @cache
    def measure(group: tuple[int, ...]) -> float:
        return float(costs[:, list(group)].sum(axis=1).min())

    @cache
    def divide(reads: tuple[int, ...], table_count: int) -> tuple[float, list[tuple[int, ...]]]:
        """Return the least cost of some reads, and their groups."""
        best = measure(reads), [reads]
        if table_count == 1:
            return best
        first, *others = reads
        for chosen in range(2 ** len(others) - 1):
            group = (first, *(one for at, one in enumerate(others) if chosen >> at & 1))
            rest = tuple(one for one in others if one not in group)
            rest_cost, rest_groups = divide(rest, table_count - 1)
            total = measure(group) + table_cost + rest_cost
            if total < best[0]:
                best = total, [group, *rest_groups]
        return best

    return divide(everything, max_tables)[1] if read_count else [everything]
