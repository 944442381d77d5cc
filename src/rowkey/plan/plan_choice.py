"""Choice of the table that serves a read, of several that hold the same rows under other keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rowkey.plan.ranges import Plan

PlanCost = tuple[bool, bool, int, bool, int]


def compute_plan_cost(plan: Plan) -> PlanCost:
    """Return a tuple that is smaller for a plan that reads less.

    Nothing and points come first; then ranges, and last scans of the whole table. Of ranges those
    are better that leave fewer conditions to test row by row, then those that need no sort, then
    the fewest.

    >>> from rowkey.keys import bind_key
    >>> from rowkey.plan import plan_read
    >>> from rowkey.schema import Equal
    >>> fields = {"user": "text", "number": "u64"}
    >>> plans = [plan_read(bind_key(key, fields), {"number": Equal(7)})
    ...     for key in ("[user][number]", "[number][user]")]
    >>> list(map(compute_plan_cost, plans))
    [(True, True, 1, False, 0), (True, False, 0, False, 1)]
    """
    if plan.is_point or not plan.fan_out:
        return False, False, 0, False, 0
    fan_out = 0 if plan.is_full_scan else plan.fan_out
    return True, plan.is_full_scan, len(plan.residual_fields), plan.needs_sort, fan_out


def choose_plan(plans: Sequence[Plan]) -> int:
    """Return the index of the plan that reads the least; of equal ones, of the first."""
    costs = [compute_plan_cost(plan) for plan in plans]
    return costs.index(min(costs))
