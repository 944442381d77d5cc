"""Selectivity of conditions: the share of rows that meet them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import InvalidArgument
from rowkey.schema import Bound, Equal, FieldFacts, OneOf, Range, Value

if TYPE_CHECKING:
    from rowkey.keys import Field


def estimate_selectivity(field: Field, bound: Bound, facts: FieldFacts) -> float | None:
    """Return the share of rows that meet a condition, 0..1; None if too little is known.

    The heaviest values have their known shares, and the other values share the rest equally. A
    range has its part of the interval from the smallest value to the largest.

    Args:
        bound: the condition, with normal values.

    >>> from rowkey.keys import bind_key
    >>> from rowkey.schema import FieldFacts
    >>> host = bind_key("[host]", {"host": "text"}).fields["host"]
    >>> facts = FieldFacts(distinct_count=5, heaviest_values=(("a", 0.6),))
    >>> estimate_selectivity(host, Equal("b"), facts)
    0.1
    """
    match bound:
        case Equal(value):
            return _estimate_value_share(value, facts)
        case OneOf(values):
            shares = [_estimate_value_share(value, facts) for value in values]
            return min(sum(share or 0 for share in shares), 1.0) if None not in shares else None
        case Range():
            return _estimate_range_share(field, bound, facts)
    return None


def _estimate_value_share(value: Value, facts: FieldFacts) -> float | None:
    """Return the share of rows with a given value; None if unknown."""
    if value is None:
        return facts.null_share
    heaviest = dict(facts.heaviest_values)
    if value in heaviest:
        return float(heaviest[value])
    if not facts.distinct_count:
        return None
    others = facts.distinct_count - len(heaviest)
    left = 1 - facts.null_share - sum(heaviest.values())
    return max(left, 0.0) / others if others > 0 else 0.0


def _estimate_range_share(field: Field, bound: Range, facts: FieldFacts) -> float | None:
    """Return the share of a field's values that a range covers; None if unknown."""
    if not field.type.has_integer_form or facts.minimum is None or facts.maximum is None:
        return None
    try:
        minimum, maximum = (
            field.type.to_internal(facts.minimum),
            field.type.to_internal(facts.maximum),
        )
        low = minimum if bound.low is None else field.type.to_internal(bound.low)
        high = maximum if bound.high is None else field.type.to_internal(bound.high)
    except InvalidArgument:
        return None
    low += bound.low is not None and not bound.includes_low
    high -= bound.high is not None and not bound.includes_high
    inside = min(high, maximum) - max(low, minimum) + 1
    return float(max(inside, 0) / (maximum - minimum + 1) * (1 - facts.null_share))
