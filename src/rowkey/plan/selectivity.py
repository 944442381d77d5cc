"""Which share of rows meets a condition, from what is known of a field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import Refused
from rowkey.schema import Equal, OneOf, Range

if TYPE_CHECKING:
    from rowkey.keys import Field
    from rowkey.schema import Bound, Facts, Value


def share_of(field: Field, bound: Bound, facts: Facts) -> float | None:
    """The share of rows that meet a condition, 0..1; None where too little is known.

    The heaviest values have the share that was seen, the others the same part each of what is
    left; a range has its part of the stretch from the least value to the greatest.

    Args:
        field: the field.
        bound: what is asked of it, in normal values.
        facts: what is known of it.

    >>> from rowkey.keys import bind_key
    >>> from rowkey.schema import Facts
    >>> host = bind_key("[host]", {"host": "text"}).fields["host"]
    >>> share_of(host, Equal("b"), Facts(distinct=5, heaviest=(("a", 0.6),)))
    0.1
    """
    match bound:
        case Equal(value):
            return _share_of_value(value, facts)
        case OneOf(values):
            shares = [_share_of_value(value, facts) for value in values]
            return min(sum(share or 0 for share in shares), 1.0) if None not in shares else None
        case Range():
            return _share_of_range(field, bound, facts)
    return None


def _share_of_value(value: Value, facts: Facts) -> float | None:
    if value is None:
        return facts.nulls
    heaviest = dict(facts.heaviest)
    if value in heaviest:
        return float(heaviest[value])
    if not facts.distinct:
        return None
    others = facts.distinct - len(heaviest)
    left = 1 - facts.nulls - sum(heaviest.values())
    return max(left, 0.0) / others if others > 0 else 0.0


def _share_of_range(field: Field, bound: Range, facts: Facts) -> float | None:
    """The part of the stretch of values that a range covers; of whole numbers both ends count."""
    if not field.type.counts or facts.least is None or facts.greatest is None:
        return None
    try:
        least, greatest = field.type.hold(facts.least), field.type.hold(facts.greatest)
        low = least if bound.low is None else field.type.hold(bound.low)
        high = greatest if bound.high is None else field.type.hold(bound.high)
    except Refused:
        return None
    low += bound.low is not None and not bound.with_low
    high -= bound.high is not None and not bound.with_high
    inside = min(high, greatest) - max(low, least) + 1
    return float(max(inside, 0) / (greatest - least + 1) * (1 - facts.nulls))
