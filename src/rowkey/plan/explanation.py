"""How a read runs and what it costs, told before it is run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, product
from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused
from rowkey.plan.narration import lines_of
from rowkey.plan.proposal import Proposal, proposed_key, serving_key
from rowkey.plan.ranges import KeyRange, Plan, plan_read
from rowkey.plan.selectivity import share_of
from rowkey.schema import Equal, OneOf, Range, StartsWith

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rowkey.keys import Field, Key
    from rowkey.plan.asking import Asked
    from rowkey.schema import Bound, Bounds, Facts, Value

SHOWN = 3
"""Ranges that are named; the others are counted."""
LISTED = 5
"""Values of a list that are named."""

FULL_SCAN = "nothing in the key narrows it: every row of the table is read"
SORTED = (
    "the key gives this order neither way: all rows of the answer are read and sorted in memory "
    "before the first is returned"
)
NO_KEY = "no one key both narrows this read and gives its order"


@dataclass(frozen=True, slots=True)
class RangeShown:
    """One range of row keys, named.

    Args:
        start: the first possible key.
        stop: the first key behind it, or b"".
        words: what its keys hold, as a person would name it.
    """

    start: bytes
    stop: bytes
    words: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a read runs.

    Args:
        key: the row key in bracket notation.
        conditions: what is asked, a condition each.
        order: the order asked for.
        limit: rows wanted, or None for all.
        runs: `nothing`, `get`, `scan` or `full scan`.
        fan_out: ranges read for one answer.
        ranges: the first of them.
        pinned: the parts of the key that have constant bytes in each range.
        narrowed: the part behind them of which a stretch is read, or an empty string.
        residual: fields whose conditions are tested row by row after reading.
        served: how rows come in the order asked for: `forwards`, `backwards`, `sorted`, or `free`
            if none was asked for.
        comes_in: the order in which merged rows come by themselves.
        rows_read: rows read for each row of the answer; None where too little is known.
        warnings: what it costs, as sentences.
        proposal: a key that would serve it, where this one does not.
    """

    key: str
    conditions: tuple[str, ...]
    order: tuple[str, ...]
    limit: int | None
    runs: str
    fan_out: int
    ranges: tuple[RangeShown, ...]
    pinned: tuple[str, ...]
    narrowed: str
    residual: tuple[str, ...]
    served: str
    comes_in: tuple[str, ...]
    rows_read: float | None
    warnings: tuple[str, ...]
    proposal: Proposal | None

    def __str__(self) -> str:
        """The explanation as text, a dozen lines or so."""
        return "\n".join(lines_of(self))


def explain(
    key: Key, asked: Asked, *, limit: int | None = None, facts: Mapping[str, Facts] | None = None
) -> Explanation:
    """How a read runs, what it costs, and which key would serve it where this one does not.

    Args:
        key: the bound row key.
        asked: what is asked, and the order wanted.
        limit: rows wanted, or None for all.
        facts: what is known of the fields, for the rows read.

    Cost: that of one plan, and of another for a proposed key.

    >>> from rowkey.keys import bind_key
    >>> from rowkey.plan import Asked
    >>> key = bind_key("[bucket(host, 16)][host][ts]", {"host": "text", "ts": "timestamp_ms"})
    >>> found = explain(key, Asked({"host": Equal("web-1")}))
    >>> found.runs, found.fan_out, found.pinned
    ('scan', 1, ('bucket(host, 16)', 'host'))
    """
    plan = plan_read(key, asked.bounds, asked.order)
    runs = _runs(plan)
    served = _served(plan, asked)
    proposal = _proposal(key, plan, asked) if runs != "nothing" else None
    return Explanation(
        key=str(key),
        conditions=tuple(_said(key.all_fields[n], bound) for n, bound in asked.bounds.items()),
        order=tuple(map(str, asked.order)),
        limit=limit,
        runs=runs,
        fan_out=plan.fan_out,
        ranges=tuple(_shown(key, plan, one) for one in islice(plan.ranges, SHOWN)),
        pinned=tuple(map(str, key.terms[: plan.pinned])) if runs != "nothing" else (),
        narrowed=_narrowed(key, plan),
        residual=plan.residual,
        served=served,
        comes_in=tuple(map(str, plan.orders)),
        rows_read=_rows_read(key, plan, asked.bounds, facts or {}),
        warnings=tuple(_warnings(key, plan, asked, runs, served, limit)),
        proposal=proposal,
    )


def _runs(plan: Plan) -> str:
    if not plan.fan_out:
        return "nothing"
    if plan.is_full_scan:
        return "full scan"
    return "get" if plan.is_point else "scan"


def _served(plan: Plan, asked: Asked) -> str:
    if not asked.order:
        return "free"
    if plan.needs_sort:
        return "sorted"
    return "backwards" if plan.is_backwards else "forwards"


def _proposal(key: Key, plan: Plan, asked: Asked) -> Proposal | None:
    """A key that serves what this one does not; nothing else was asked of a scan of all rows."""
    is_slow = plan.is_full_scan and asked.bounds
    if not (is_slow or plan.needs_sort) or plan.is_point:
        return None
    return proposed_key(key, asked.bounds, asked.order)


def _narrowed(key: Key, plan: Plan) -> str:
    """The part of which a stretch is read, if one is."""
    is_whole = all(not one.low and not one.high for one in plan.intervals)
    if is_whole or not plan.fan_out or plan.pinned == len(key.terms):
        return ""
    return str(key.terms[plan.pinned])


def _warnings(
    key: Key, plan: Plan, asked: Asked, runs: str, served: str, limit: int | None
) -> Iterator[str]:
    if runs == "nothing":
        return
    is_slow = bool(plan.is_full_scan and asked.bounds)
    if is_slow:
        yield FULL_SCAN
    if served == "sorted" and not plan.is_point:
        saved = "" if limit is None else f"; the limit of {limit:,} spares none of them"
        yield f"{SORTED}{saved}"
    is_hard = is_slow or (served == "sorted" and not plan.is_point)
    if is_hard and serving_key(key, asked.bounds, asked.order) is None:
        yield NO_KEY


def _shown(key: Key, plan: Plan, one: KeyRange) -> RangeShown:
    """A range as a person would name it: what its keys share, and the stretch behind that."""
    front = _front(plan, one)
    shared = key.show(front)
    if plan.is_point:
        return RangeShown(one.start, one.stop, shared)
    low = _past(key, shared, one.start) if one.start != front else ""
    is_inside = one.stop.startswith(front) and one.stop
    high = _past(key, shared, one.stop) if is_inside else ""
    ends = [f"from {low}"] if low else []
    ends += [f"up to {high}"] if high else []
    words = ", ".join(filter(None, (shared, " ".join(ends))))
    return RangeShown(one.start, one.stop, words or "every row")


def _front(plan: Plan, one: KeyRange) -> bytes:
    """The bytes of the pinned parts in a range; those it is merged without are their beginning."""
    if plan.is_point or plan.merged == plan.pinned:
        return one.start if plan.is_point else one.prefix
    fronts = map(b"".join, product(*plan.pieces))
    return max((front for front in fronts if one.start.startswith(front)), key=len)


def _past(key: Key, shared: str, end: bytes) -> str:
    """What an end of a range says besides what all its keys share."""
    return key.show(_whole(key, end)).removeprefix(f"{shared}, ")


def _whole(key: Key, end: bytes) -> bytes:
    """An end of a range with the zeros that its last part lacks: no key lies between the two."""
    at = 0
    for part in key.parts:
        width = part.framing.width
        if at < len(end) and width is not None and len(end) < at + width:
            return end.ljust(at + width, b"\0")
        try:
            at = part.measure(end, at)
        except Refused:
            break
    return end


def _said(field: Field, bound: Bound) -> str:
    """A condition in words, with its values as people write them."""
    name = field.name
    match bound:
        case Equal(value):
            return f"{name} = {_value(field, value)}"
        case OneOf(values):
            more = [f"… {len(values):,} in all"] if len(values) > LISTED else []
            return f"{name} in ({', '.join([_value(field, v) for v in values[:LISTED]] + more)})"
        case StartsWith(prefix):
            return f"{name} starts with {_quoted(prefix)}"
    assert isinstance(bound, Range)
    low = f"{name} {'>=' if bound.with_low else '>'} {_value(field, bound.low)}"
    high = f"{name} {'<=' if bound.with_high else '<'} {_value(field, bound.high)}"
    ends = [text for end, text in ((bound.low, low), (bound.high, high)) if end is not None]
    return " and ".join(ends)


def _value(field: Field, value: Value) -> str:
    if value is None:
        return "null"
    return _quoted(value) if isinstance(value, str | bytes) else field.type.show(value)


def _quoted(value: str | bytes) -> str:
    """Text and bytes between quotes, bytes in hexadecimal."""
    text = value if isinstance(value, str) else value.hex()
    return "'" + text.replace("'", "''") + "'"


def _rows_read(key: Key, plan: Plan, bounds: Bounds, facts: Mapping[str, Facts]) -> float | None:
    """Rows read for each that meets what is tested of it, if the conditions are independent.

    A field that the ranges narrow without deciding it tells nothing of the rows left in them.
    """
    if not plan.fan_out:
        return None
    reached = key.parts[: plan.pinned + 1] if not plan.is_full_scan else ()
    touched = {name for part in reached for name in part.fields}
    share = 1.0
    for name in plan.residual:
        known: Any = facts.get(name)
        one = share_of(key.all_fields[name], bounds[name], known) if known else None
        if one is None or name in touched:
            return None
        share *= one
    return 1 / share if share else None
