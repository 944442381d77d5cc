"""Proposals of a row key for a read that the current key does not serve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.design import count_combined_values
from rowkey.errors import Mistakes
from rowkey.keys import build_key, is_null_requested
from rowkey.plan import count_spreading_parts, drop_repeated_orderings, plan_read
from rowkey.proposals.bucket_fields import find_sliced_fields
from rowkey.proposals.key_proposal import PER_BUCKET, KeyProposal
from rowkey.proposals.spreading_terms import (
    BUCKETS_PER_SERVER,
    build_bucket,
    build_ordering_term,
    count_spreading_terms,
    has_only_times,
)
from rowkey.schema import (
    Equal,
    FieldFacts,
    FieldRef,
    FunctionCall,
    OneOf,
    find_field_refs,
    format_key,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rowkey.keys import Field, Key
    from rowkey.plan import Plan
    from rowkey.schema import Bounds, Ordering, Term


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadKeyProposal(KeyProposal):
    """A proposed key that would serve one read; other reads are not considered.

    Args:
        fan_out: ranges it would read.
        is_backwards: whether it would read them from their ends.
        residual_fields: fields that would still be tested row by row.
        moved_fields: fields that it holds and that lie in columns now.
        remedy: the proposal as a sentence, where it is more than a second table for this read.
    """

    fan_out: int
    is_backwards: bool
    residual_fields: tuple[str, ...]
    moved_fields: tuple[str, ...]
    remedy: str = ""

    def format_remedy(self) -> str:
        """Return the proposal as a sentence, the same in every command."""
        return self.remedy or f"A second table with {self.toml_text} would serve this read."


def propose_read_key(key: Key, bounds: Bounds, order: Sequence[Ordering]) -> ReadKeyProposal | None:
    """Propose a key that spares a read its full scan or sort; None if there is none.

    Salts and buckets stay in front, unless a bucket is computed from fields that the read asks for
    in a range or sorts by: their rows would then lie in many buckets. After them come the fields
    for which the read gives one value, those for which it gives a few, the fields of its order (or
    without an order the first field that it asks for in a range), and last the other fields of the
    key, which keep its rows apart. A key that would start with a time is not proposed, because one
    region would take all writes.

    Args:
        key: the key as it is.
        bounds: the condition on each field, with normal values.
        order: the requested order.

    >>> from rowkey.keys import bind_key
    >>> from rowkey.schema import parse_order
    >>> fields = {"host": "text", "user": "text", "ts": "timestamp_ms"}
    >>> key = bind_key("[bucket(host, 16)][host][ts]", fields)
    >>> propose_read_key(key, {"user": Equal("ada")}, parse_order("ts desc")).key
    '[bucket(host, 16)][user][desc(ts)][host]'
    """
    key_and_plan = find_serving_key(key, bounds, order)
    if key_and_plan is None or _has_leading_time(key_and_plan[0]):
        return None
    return _build_proposal(key, *key_and_plan)


def propose_read_table(
    key: Key,
    bounds: Bounds,
    order: Sequence[Ordering],
    servers: int,
    facts: Mapping[str, FieldFacts],
) -> ReadKeyProposal | None:
    """Return the key and splits of a second table that serves a read; None if none is known.

    A bucket of the fields to which the read gives one value spreads its rows, unless these fields
    are all times, which are equal for the events of one moment; then the parts in front of the
    present key do. If they have fewer values than there are servers, or a value with one and a half
    times a server's fair share of the rows, the other fields of the key are hashed with them, so
    that the read has one range in each bucket.

    Args:
        key: the present key, which does not serve the read.
        bounds: the bounds of the read, in internal values.
        order: the order of the read.
        servers: region servers, for the number of buckets.
        facts: what is known of the fields.
    """
    served = find_serving_key(key, bounds, order)
    if served is None or _has_leading_time(served[0]):
        return None
    proposed, plan = served
    pinned = [name for name, bound in bounds.items() if isinstance(bound, Equal)]
    if not key.is_salted and not has_only_times(key.declared_fields, pinned):
        tail = proposed.terms[count_spreading_parts(proposed) :]
        names = list(pinned)
        if _is_one_server_too_busy(key.declared_fields, facts, pinned, servers):
            sliced = find_sliced_fields(key)  # their rows hold whole intervals of time
            names += [name for name in key.fields if name not in pinned and name not in sliced]
        bucket = build_bucket(names, BUCKETS_PER_SERVER * servers)
        bucketed = build_key((bucket, *tail), key.declared_fields, Mistakes())
        if bucketed is None:
            return None
        new_plan = plan_read(bucketed, bounds, order)
        return _build_proposal(key, bucketed, new_plan, splits=PER_BUCKET)
    leading_names = [ref.name for ref in find_field_refs(proposed.terms[0])]
    if has_only_times(key.declared_fields, leading_names):
        return None
    return _build_proposal(key, proposed, plan)


def _is_one_server_too_busy(
    fields: Mapping[str, Field],
    facts: Mapping[str, FieldFacts],
    names: Sequence[str],
    servers: int,
) -> bool:
    """Return whether a bucket of some fields is known to overload a server."""
    certain_facts = {
        name: facts[name].replace_uncertain(FieldFacts()) for name in names if name in facts
    }
    values = count_combined_values(fields, certain_facts, names)
    shares = [certain_facts.get(name, FieldFacts()).heaviest_share or 0.0 for name in names]
    # The values that are most frequent in each field meet in this share of the rows at least.
    heaviest_share = 1 - sum(1 - share for share in shares)
    return (values is not None and values < servers) or heaviest_share > 1.5 / servers


def find_serving_key(
    key: Key, bounds: Bounds, order: Sequence[Ordering]
) -> tuple[Key, Plan] | None:
    """Return a key that spares a read its full scan or sort, with the new plan; else None.

    Args:
        key: the key as it is.
        bounds: the condition on each field, with normal values.
        order: the requested order.

    Returns:
        The key and the plan of the read under it; None if there is no such key.
    """
    remaining_order = [
        one
        for one in drop_repeated_orderings(order)
        if not isinstance(bounds.get(one.field), Equal)
    ]
    terms = tuple(_build_terms(key, bounds, remaining_order))
    proposed = build_key(terms, key.declared_fields, Mistakes()) if terms else None
    if proposed is None:
        return None
    plan = plan_read(proposed, bounds, order)
    if plan.needs_sort or (plan.is_full_scan and bounds):
        return None
    return proposed, plan


def _has_leading_time(key: Key) -> bool:
    """Return whether a key starts with a time, so that one region takes all writes."""
    first = key.parts[0]
    is_timed = bool(first.fields) and has_only_times(key.declared_fields, first.fields)
    return is_timed and (first.order.is_ascending or first.order.is_descending)


def _build_proposal(key: Key, proposed: Key, plan: Plan, splits: str = "") -> ReadKeyProposal:
    """Return the proposal to replace a key by another one."""
    return ReadKeyProposal(
        key=format_key(proposed.terms),
        splits=splits,
        fan_out=plan.fan_out,
        is_backwards=plan.is_backwards,
        residual_fields=plan.residual_fields,
        moved_fields=tuple(name for name in proposed.fields if name not in key.fields),
    )


def _build_terms(key: Key, bounds: Bounds, order: Sequence[Ordering]) -> Iterator[Term]:
    """Yield the terms of the proposed key: spreading terms first, then each field once."""
    stretches = {name for name, bound in bounds.items() if not isinstance(bound, Equal | OneOf)}
    stretches |= {one.field for one in order}
    spread = count_spreading_terms(key)
    if any(part.fields and stretches.issuperset(part.fields) for part in key.parts[:spread]):
        spread = 0
    yield from key.terms[:spread]
    leading_names = dict.fromkeys(_list_pinned_fields(bounds))
    leading_names |= dict.fromkeys(one.field for one in order)
    if not order:
        leading_names |= dict.fromkeys([name for name in bounds if name not in leading_names][:1])
    ordered = {one.field: one for one in order}
    for name in leading_names:
        yield _build_ordering_term(key, ordered[name]) if name in ordered else _find_term(key, name)
    complete_names = set(leading_names)
    for term, part in zip(key.terms[spread:], key.parts[spread:], strict=True):
        missing_names = [name for name in part.fields if name not in complete_names]
        if missing_names:
            yield from (term,) if part.framing.is_self_delimiting else map(FieldRef, missing_names)
        complete_names.update(name for name in missing_names if part.residue(name).is_empty)


def _build_ordering_term(key: Key, ordering: Ordering) -> Term:
    """Return the key term that sorts a field in the requested direction."""
    whole = _find_term(key, ordering.field)
    bare = whole.terms[0] if isinstance(whole, FunctionCall) else whole
    return build_ordering_term(bare, descending=ordering.descending)


def _list_pinned_fields(bounds: Bounds) -> list[str]:
    """Return the fields with one value, then those with a few values."""
    listed = [name for name in bounds if not is_null_requested(bounds, name)]
    one = [name for name in listed if isinstance(bounds[name], Equal)]
    return one + [name for name in listed if isinstance(bounds[name], OneOf)]


def _find_term(key: Key, name: str) -> Term:
    """Return the key's own term of a field if it holds the full value, else the field itself.

    Returns:
        The field in an encoding, or `desc` of that.
    """
    for term, part in zip(key.terms, key.parts, strict=True):
        inner = (
            term.terms[0] if isinstance(term, FunctionCall) and part.order.is_descending else term
        )
        is_it = isinstance(inner, FieldRef) and inner.name == name
        if (
            is_it
            and part.framing.is_self_delimiting
            and part.order.is_strict
            and part.residue(name).is_empty
        ):
            return term
    return FieldRef(name)
