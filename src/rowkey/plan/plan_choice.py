"""Choice of the table that serves a read, of several that hold the same rows under other keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rowkey.plan.ranges import Plan

PlanCost = tuple[bool, bool, bool, int, bool, bool, int]


def compute_plan_cost(plan: Plan, *, is_index: bool = False) -> PlanCost:
    """Return a tuple that is smaller for a plan that reads less.

    Nothing and points come first, then ranges, then scans of the whole table. Last are those that
    must sort all rows, or get all rows of an index only to test them. Of ranges those are better
    that leave fewer conditions to test row by row, then those of whole rows, as an index needs a
    get for each, then those that need no sort, then the fewest.

    Args:
        is_index: whether the rows that it reads only lead to those of the main table.

    >>> from rowkey.keys import bind_key
    >>> from rowkey.plan import plan_read
    >>> from rowkey.schema import Equal
    >>> fields = {"user": "text", "number": "u64"}
    >>> plans = [plan_read(bind_key(key, fields), {"number": Equal(7)})
    ...     for key in ("[user][number]", "[number][user]")]
    >>> list(map(compute_plan_cost, plans))
    [(True, True, False, 1, False, False, 0), (True, False, False, 0, False, False, 1)]
    """
    if plan.is_point or not plan.fan_out:
        return False, False, False, 0, is_index, False, 0
    fan_out = 0 if plan.is_full_scan else plan.fan_out
    residual_count = len(plan.residual_fields)
    is_costly = plan.needs_sort or (is_index and residual_count > 0)
    return (
        True,
        plan.is_full_scan,
        plan.is_full_scan and is_costly,
        residual_count,
        is_index,
        plan.needs_sort,
        fan_out,
    )


def choose_plan(plans: Sequence[Plan], are_indexes: Sequence[bool]) -> int:
    """Return the number of the plan that reads the least, from 0; of equal ones, of the first.

    Args:
        are_indexes: whether each is the plan of an index.
    """
    costs = [
        compute_plan_cost(plan, is_index=is_index)
        for plan, is_index in zip(plans, are_indexes, strict=True)
    ]
    return costs.index(min(costs))
