"""Explanation of a read that one of several tables serves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rowkey.explanations.explanation import Explanation
from rowkey.explanations.read_explanation import explain_read
from rowkey.keys import Key
from rowkey.plan import BoundRead, Plan, choose_plan, plan_read
from rowkey.schema import FieldFacts


def explain_chosen_read(
    keys: Mapping[str, Key],
    read: BoundRead,
    *,
    limit: int | None = None,
    facts: Mapping[str, FieldFacts] | None = None,
) -> Explanation:
    """Explain how a read runs on the one of several tables that serves it, and why on that one.

    Args:
        keys: the bound row key of each table by its name, that of the main table first.
        read: the bounds and the requested order.
        limit: the maximum number of rows, or None for all.
        facts: statistics of the fields, to estimate the rows read.

    >>> from rowkey.keys import bind_key
    >>> from rowkey.plan import BoundRead
    >>> from rowkey.schema import Equal
    >>> fields = {"user": "text", "number": "u64"}
    >>> keys = {"orders": bind_key("[user][number]", fields),
    ...     "orders_by_number": bind_key("[number][user]", fields)}
    >>> found = explain_chosen_read(keys, BoundRead({"number": Equal(7)}))
    >>> print(found.table, found.table_reason, sep="\\n")
    orders_by_number
    it reads a part of its rows, and orders would read all
    """
    plans = [plan_read(key, read.bounds, read.order) for key in keys.values()]
    main_key, *_ = keys.values()
    fields = main_key.declared_fields
    are_indexes = [key.declared_fields.keys() < fields.keys() for key in keys.values()]
    chosen = choose_plan(plans, are_indexes)
    name = list(keys)[chosen]
    explanation = explain_read(keys[name], read, limit=limit, facts=facts, fields=fields)
    return explain_table_choice(
        explanation, list(keys), plans, chosen, is_index=are_indexes[chosen]
    )


def explain_table_choice(
    explanation: Explanation,
    names: Sequence[str],
    plans: Sequence[Plan],
    chosen: int,
    *,
    is_index: bool,
) -> Explanation:
    """Return the explanation of a read with the table that serves it, and why it does.

    Args:
        names: the names of the tables, the main table first.
        plans: the plan of the read in each.
        chosen: the number of the chosen one, from 0.
        is_index: whether its rows only lead to those of the main table.
    """
    reason = _describe_plan_choice(names, plans, chosen)
    if is_index:
        reason += f"; it is an index, so each row that it reads is one get of {names[0]} more"
    return replace(explanation, table=names[chosen], table_reason=reason)


def _describe_plan_choice(names: Sequence[str], plans: Sequence[Plan], chosen: int) -> str:
    """Return why the plan of one table was chosen, as a sentence."""
    plan, main_plan, main = plans[chosen], plans[0], names[0]
    if not plan.fan_out:
        return "no row can meet the conditions"
    if not chosen:
        if plan.is_point:
            return "the row key is given, so the main table is read"
        return "no companion would read less"
    if main_plan.is_full_scan and not plan.is_full_scan:
        return f"it reads a part of its rows, and {main} would read all"
    if len(main_plan.residual_fields) > len(plan.residual_fields):
        more = sorted({*main_plan.residual_fields} - {*plan.residual_fields})
        return f"its key narrows {', '.join(more)}, which {main} would test row by row"
    if main_plan.needs_sort and not plan.needs_sort:
        return f"its key gives the order, and {main} would sort the rows in memory"
    return f"it reads {plan.fan_out:,} of its ranges, and {main} would read {main_plan.fan_out:,}"
