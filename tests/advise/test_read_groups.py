"""Reads are grouped by the tables that serve them for the least work."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.advise.read_groups import MAX_GROUPED_READS, MAX_TABLES, group_reads

COSTS = st.integers(1, 4).flatmap(
    lambda reads: st.lists(
        st.lists(st.integers(0, 1_000), min_size=reads, max_size=reads), min_size=1, max_size=5
    )
)


def compute_cost(costs: list[list[int]], groups: list[tuple[int, ...]], table_cost: float) -> float:
    """Return what some groups of reads cost, each with its best key."""
    best = (min(sum(row[read] for read in group) for row in costs) for group in groups)
    return sum(best) + table_cost * (len(groups) - 1)


def find_least_cost(costs: list[list[int]], table_cost: float) -> float:
    """Return the least cost of all ways to group the reads, found by trying each."""
    reads = range(len(costs[0]))
    labellings = product(range(MAX_TABLES), repeat=len(reads))
    return min(
        compute_cost(
            costs,
            [
                tuple(read for read in reads if labels[read] == label)
                for label in sorted(set(labels))
            ],
            table_cost,
        )
        for labels in labellings
    )


@given(costs=COSTS, table_cost=st.integers(0, 1_500))
def test_read_groups_hold_each_read_once_and_cost_the_least(
    costs: list[list[int]], table_cost: int
) -> None:
    """The groups hold each read once and cost as little as the best of all groupings."""
    groups = group_reads(np.array(costs, np.float64), float(table_cost))
    assert list(range(len(costs[0]))) == sorted(read for group in groups for read in group)
    assert len(groups) <= MAX_TABLES
    assert find_least_cost(costs, table_cost) == compute_cost(costs, groups, float(table_cost))


@pytest.mark.parametrize("read_count", [0, 1, MAX_GROUPED_READS + 1])
def test_reads_stay_in_one_table_if_there_are_none_one_or_too_many(read_count: int) -> None:
    """Without a read, with one, and with more than can be grouped, there is one table."""
    costs = np.eye(max(read_count, 1), read_count) * -9 + 10
    assert [tuple(range(read_count))] == group_reads(costs, 0.0)
