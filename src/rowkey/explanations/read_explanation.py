"""Explains reads: how a read runs and what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product
from typing import Any

from rowkey.errors import InvalidArgument
from rowkey.explanations.explanation import Explanation, FormattedRange
from rowkey.keys import Field, Key
from rowkey.messages import Message
from rowkey.plan import BoundRead, KeyRange, Plan, plan_read
from rowkey.schema import Bound, Bounds, Equal, FieldFacts, OneOf, Range, StartsWith, Value

MAX_SHOWN_RANGES = 3
"""Maximum number of ranges that are described."""
MAX_LISTED_VALUES = 5
"""Maximum number of values of a list that are shown."""

FULL_SCAN_WARNING = "nothing in the key narrows this read: every row of the table is read"
SORT_WARNING = (
    "the key gives this order in neither direction: all rows of the answer are read and sorted in "
    "memory before the first is returned"
)


def explain_read(
    key: Key,
    read: BoundRead,
    *,
    limit: int | None = None,
    facts: Mapping[str, FieldFacts] | None = None,
    fields: Mapping[str, Field] | None = None,
) -> Explanation:
    """Explain how a read runs, what it costs, and whether another key would serve it better.

    Args:
        key: the bound row key.
        read: the bounds and the requested order.
        limit: the maximum number of rows, or None for all.
        facts: statistics of the fields, to estimate the rows read.
        fields: the fields of the rows that are returned, where a row of an index leads to them;
            None for those of the key's design.

    Cost: one plan.

    >>> from rowkey.keys import bind_key
    >>> from rowkey.plan import BoundRead
    >>> key = bind_key("[bucket(host, 16)][host][ts]", {"host": "text", "ts": "timestamp_ms"})
    >>> found = explain_read(key, BoundRead({"host": Equal("web-1")}))
    >>> found.access_type, found.fan_out, found.pinned_parts
    ('scan', 1, ('bucket(host, 16)', 'host'))
    """
    plan = plan_read(key, read.bounds, read.order)
    fields = key.declared_fields if fields is None else fields
    access_type = _find_access_type(plan)
    order_method = _find_order_method(plan, read)
    is_slow = (plan.is_full_scan and bool(read.bounds)) or plan.needs_sort
    return Explanation(
        key=str(key),
        conditions=tuple(
            _format_condition(fields[name], bound) for name, bound in read.bounds.items()
        ),
        order=tuple(map(str, read.order)),
        limit=limit,
        access_type=access_type,
        fan_out=plan.fan_out,
        ranges=tuple(
            _format_range(key, plan, key_range)
            for key_range in islice(plan.ranges, MAX_SHOWN_RANGES)
        ),
        pinned_parts=(
            tuple(map(str, key.terms[: plan.pinned_count])) if access_type != "nothing" else ()
        ),
        narrowed_part=_find_narrowed_part(key, plan),
        residual_fields=plan.residual_fields,
        order_method=order_method,
        natural_order=tuple(map(str, plan.row_order)),
        rows_read=_estimate_rows_read(key, fields, plan, read.bounds, facts or {}),
        warnings=tuple(_build_warnings(plan, read, access_type, order_method, limit)),
        needs_key=is_slow and not plan.is_point and access_type != "nothing",
    )


def _find_access_type(plan: Plan) -> str:
    """Return how a plan reads the table: `nothing`, `get`, `scan` or `full scan`."""
    if not plan.fan_out:
        return "nothing"
    if plan.is_full_scan:
        return "full scan"
    return "get" if plan.is_point else "scan"


def _find_order_method(plan: Plan, read: BoundRead) -> str:
    """Return how the rows get their order: `free`, `sorted`, `forwards` or `backwards`."""
    if not read.order:
        return "free"
    if plan.needs_sort:
        return "sorted"
    return "backwards" if plan.is_backwards else "forwards"


def _find_narrowed_part(key: Key, plan: Plan) -> str:
    """Return the key part that the read limits to a range; empty if there is none."""
    is_whole = all(not one.low and not one.high for one in plan.intervals)
    if is_whole or not plan.fan_out or plan.pinned_count == len(key.terms):
        return ""
    return str(key.terms[plan.pinned_count])


def _build_warnings(
    plan: Plan, read: BoundRead, access_type: str, order_method: str, limit: int | None
) -> Iterator[str]:
    if access_type == "nothing":
        return
    if plan.is_full_scan and read.bounds:
        yield FULL_SCAN_WARNING
    if order_method == "sorted" and not plan.is_point:
        saved = "" if limit is None else f"; the limit of {limit:,} does not reduce them"
        yield f"{SORT_WARNING}{saved}"


def _format_range(key: Key, plan: Plan, key_range: KeyRange) -> FormattedRange:
    front = _find_pinned_bytes(plan, key_range)
    shared = key.format_prefix(front)
    if plan.is_point:
        return FormattedRange(key_range.start, key_range.stop, shared)
    low = _format_range_end(key, shared, key_range.start) if key_range.start != front else ""
    is_inside = key_range.stop.startswith(front) and key_range.stop
    high = _format_range_end(key, shared, key_range.stop) if is_inside else ""
    return FormattedRange(key_range.start, key_range.stop, _describe_range(shared, low, high))


def _describe_range(shared: str, low: str, high: str) -> str:
    """Describe a range of row keys by the common prefix of its keys and by its ends."""
    ends = ""
    if low and high:
        ends = Message("range.from_to", "from {low} up to {high}", low=low, high=high)
    elif low:
        ends = Message("range.from", "from {low}", low=low)
    elif high:
        ends = Message("range.to", "up to {high}", high=high)
    if shared and ends:
        return Message("range.within", "{shared}, {ends}", shared=shared, ends=ends)
    return shared or ends or Message("range.all", "every row")


def _find_pinned_bytes(plan: Plan, key_range: KeyRange) -> bytes:
    """Return the bytes of the pinned key parts at the start of a range."""
    if plan.is_point or plan.merge_prefix_count == plan.pinned_count:
        return key_range.start if plan.is_point else key_range.prefix
    fronts = map(b"".join, product(*plan.pinned_values))
    return max((front for front in fronts if key_range.start.startswith(front)), key=len)


def _format_range_end(key: Key, shared: str, end: bytes) -> str:
    """Describe one end of a range, without the prefix that all its keys share."""
    return key.format_prefix(_pad_range_end(key, end)).removeprefix(f"{shared}, ")


def _pad_range_end(key: Key, end: bytes) -> bytes:
    """Return a range end with its last key part padded with zero bytes."""
    at = 0
    for part in key.parts:
        width = part.framing.width
        if at < len(end) and width is not None and len(end) < at + width:
            return end.ljust(at + width, b"\0")
        try:
            at = part.find_end(end, at)
        except InvalidArgument:
            break
    return end


def _format_condition(field: Field, bound: Bound) -> str:
    """Return the bound of a field as a condition of a design file."""
    name = field.name
    match bound:
        case Equal(value):
            return f"{name} = {_format_value(field, value)}"
        case OneOf(values):
            listed = [_format_value(field, one) for one in values[:MAX_LISTED_VALUES]]
            more = [f"… {len(values):,} in all"] if len(values) > MAX_LISTED_VALUES else []
            return f"{name} in ({', '.join(listed + more)})"
        case StartsWith(prefix):
            return f"{name} starts with {_quote_value(prefix)}"
    assert isinstance(bound, Range)
    low = f"{name} {'>=' if bound.includes_low else '>'} {_format_value(field, bound.low)}"
    high = f"{name} {'<=' if bound.includes_high else '<'} {_format_value(field, bound.high)}"
    ends = [text for end, text in ((bound.low, low), (bound.high, high)) if end is not None]
    return " and ".join(ends)


def _format_value(field: Field, value: Value) -> str:
    if value is None:
        return "null"
    return _quote_value(value) if isinstance(value, str | bytes) else field.type.format_value(value)


def _quote_value(value: str | bytes) -> str:
    """Return text in quotes, or bytes as quoted hexadecimal digits."""
    text = value if isinstance(value, str) else value.hex()
    return "'" + text.replace("'", "''") + "'"


def _estimate_rows_read(
    key: Key,
    fields: Mapping[str, Field],
    plan: Plan,
    bounds: Bounds,
    facts: Mapping[str, FieldFacts],
) -> float | None:
    """Estimate the rows read per row of the answer; None if too little is known.

    It is unknown if the ranges narrow a field but its condition is also tested row by row.
    """
    if not plan.fan_out:
        return None
    reached = key.parts[: plan.pinned_count + 1] if not plan.is_full_scan else ()
    touched = {name for part in reached for name in part.fields}
    share = 1.0
    for name in plan.residual_fields:
        known: Any = facts.get(name)
        one = _estimate_selectivity(fields[name], bounds[name], known) if known else None
        if one is None or name in touched:
            return None
        share *= one
    return 1 / share if share else None


def _estimate_selectivity(field: Field, bound: Bound, facts: FieldFacts) -> float | None:
    """Return the share of rows that meet a condition, 0..1; None if too little is known.

    The heaviest values have their known shares, and the other values share the rest equally. A
    range has its part of the interval from the smallest value to the largest.

    Args:
        bound: the condition, with normal values.

    >>> from rowkey.keys import bind_key
    >>> from rowkey.schema import FieldFacts
    >>> host = bind_key("[host]", {"host": "text"}).fields["host"]
    >>> facts = FieldFacts(distinct_count=5, heaviest_values=(("a", 0.6),))
    >>> _estimate_selectivity(host, Equal("b"), facts)
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
