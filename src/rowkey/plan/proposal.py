"""The order of fields that would serve a read which the key does not serve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.errors import Mistakes
from rowkey.keys import Source, asks_for_null, bound_key
from rowkey.plan.ordering import once_each
from rowkey.plan.ranges import Plan, plan_read
from rowkey.schema import Call, Constant, Equal, FieldRef, OneOf, print_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rowkey.keys import Key
    from rowkey.schema import Bounds, Ordering, Term


@dataclass(frozen=True, slots=True)
class Proposal:
    """A key that would serve one read; what it does to the others is not looked at.

    Args:
        key: in bracket notation.
        fan_out: ranges it would read.
        backwards: whether it would read them from their ends.
        residual: fields that would still be tested row by row.
        moved: fields that it holds and that lie in columns now.
    """

    key: str
    fan_out: int
    backwards: bool
    residual: tuple[str, ...]
    moved: tuple[str, ...]


def proposed_key(key: Key, bounds: Bounds, order: Sequence[Ordering]) -> Proposal | None:
    """A key under which a read is no full scan and needs no sort; None if none is worth proposing.

    What spreads stays in front, unless it is computed from what is asked in stretches alone: that
    would tear each stretch apart. Nothing is proposed whose rows would then be spread by nothing
    but their time, for all writes would meet at its end.

    Behind what spreads stand fields with one value, then those with a few, then the fields of the
    order, or the first field of which a stretch is asked where no order is; then the fields that
    the key has besides, so that its rows stay apart.

    Args:
        key: the key as it is.
        bounds: what is asked of each field, in normal values.
        order: the order asked for.

    >>> from rowkey.keys import bind_key
    >>> from rowkey.schema import parse_order
    >>> fields = {"host": "text", "user": "text", "ts": "timestamp_ms"}
    >>> key = bind_key("[bucket(host, 16)][host][ts]", fields)
    >>> proposed_key(key, {"user": Equal("ada")}, parse_order("ts desc")).key
    '[bucket(host, 16)][user][desc(ts)][host]'
    """
    found = serving_key(key, bounds, order)
    if found is None or _is_front(found[0]):
        return None
    return _proposal(key, *found)


def serving_key(key: Key, bounds: Bounds, order: Sequence[Ordering]) -> tuple[Key, Plan] | None:
    """A key under which a read is no full scan and needs no sort, whatever else it does.

    Args:
        key: the key as it is.
        bounds: what is asked of each field, in normal values.
        order: the order asked for.

    Returns:
        The key and the plan of the read under it; None if there is no such key.
    """
    wanted = [one for one in once_each(order) if not isinstance(bounds.get(one.field), Equal)]
    terms = tuple(_terms(key, bounds, wanted))
    proposed = bound_key(terms, key.all_fields, Mistakes()) if terms else None
    if proposed is None:
        return None
    plan = plan_read(proposed, bounds, order)
    if plan.needs_sort or (plan.is_full_scan and bounds):
        return None
    return proposed, plan


def _is_front(key: Key) -> bool:
    """Whether a key begins with times, so that all rows of a moment lie at one end."""
    first = key.parts[0]
    is_timed = all(key.all_fields[name].type.tick is not None for name in first.fields)
    return bool(first.fields) and is_timed and (first.order.ascends or first.order.descends)


def _proposal(key: Key, proposed: Key, plan: Plan) -> Proposal:
    return Proposal(
        key=print_key(proposed.terms),
        fan_out=plan.fan_out,
        backwards=plan.is_backwards,
        residual=plan.residual,
        moved=tuple(name for name in proposed.fields if name not in key.fields),
    )


def _terms(key: Key, bounds: Bounds, order: Sequence[Ordering]) -> Iterator[Term]:
    """The terms of the proposed key, each field once behind what spreads."""
    stretches = {name for name, bound in bounds.items() if not isinstance(bound, Equal | OneOf)}
    stretches |= {one.field for one in order}
    spread = leading(key)
    if any(part.fields and stretches.issuperset(part.fields) for part in key.parts[:spread]):
        spread = 0
    yield from key.terms[:spread]
    told = dict.fromkeys(_pinned(bounds))
    told |= dict.fromkeys(one.field for one in order)
    if not order:
        told |= dict.fromkeys([name for name in bounds if name not in told][:1])
    ordered = {one.field: one for one in order}
    for name in told:
        yield _ordering_term(key, ordered[name]) if name in ordered else _own_term(key, name)
    whole = set(told)
    for term, part in zip(key.terms[spread:], key.parts[spread:], strict=True):
        left = [name for name in part.fields if name not in whole]
        if left:
            yield from (term,) if part.framing.closed else map(FieldRef, left)
        whole.update(name for name in left if part.residue(name).nothing)


def _ordering_term(key: Key, ordering: Ordering) -> Term:
    """A field that rows are ordered by, the way round that is asked for."""
    whole = _own_term(key, ordering.field)
    bare = whole.terms[0] if isinstance(whole, Call) else whole
    return Call("desc", (bare,)) if ordering.descending else bare


def _pinned(bounds: Bounds) -> list[str]:
    """The fields that have one value, then those that have a few; none that may be null."""
    listed = [name for name in bounds if not asks_for_null(bounds, name)]
    one = [name for name in listed if isinstance(bounds[name], Equal)]
    return one + [name for name in listed if isinstance(bounds[name], OneOf)]


def leading(key: Key) -> int:
    """How many parts at the front are there to spread rows: buckets, salts, what stands by them.

    Other than `spreading` they need not repeat what stands behind them, for it is put there.

    >>> from rowkey.keys import bind_key
    >>> leading(bind_key("[salt(3)]['-'][n]", {"n": "u8"}))
    2
    """
    count = 0
    for index, (term, part) in enumerate(zip(key.terms, key.parts, strict=True)):
        if isinstance(term, Constant):
            count = count and index + 1
            continue
        orders = part.order.ascends or part.order.descends
        drawn = part.source is Source.CHANCE
        if orders or isinstance(term, FieldRef) or not (drawn or part.images({}).points):
            break
        count = index + 1
    return count


def _own_term(key: Key, name: str) -> Term:
    """A field as the key has it, if it holds the whole of it and ends; else in its default form.

    Returns:
        The field in an encoding, or `desc` of that.
    """
    for term, part in zip(key.terms, key.parts, strict=True):
        inner = term.terms[0] if isinstance(term, Call) and part.order.descends else term
        is_it = isinstance(inner, FieldRef) and inner.name == name
        if is_it and part.framing.closed and part.order.is_strict and part.residue(name).nothing:
            return term
    return FieldRef(name)
