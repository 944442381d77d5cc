"""Proposals of a row key that spreads heavy values over several buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.errors import InvalidDesign
from rowkey.proposals.bucket_fields import can_spread, find_sliced_fields, plan_example_reads
from rowkey.proposals.key_proposal import PER_BUCKET, KeyProposal, apply_proposal
from rowkey.proposals.spreading_terms import (
    BUCKET_TRANSFORM,
    BUCKETS_PER_SERVER,
    count_heavy_buckets,
    is_heavy,
    strip_spreading_terms,
)
from rowkey.schema import Constant, FieldRef, FunctionCall, format_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.design import Design
    from rowkey.schema import FieldFacts, Term

MAX_HEAVY_VALUES = 8
"""Most heavy values that a proposal lists, because the list is part of the bytes of a table."""


def list_heavy_values(
    facts: Mapping[str, FieldFacts], name: str, servers: int
) -> list[tuple[Any, float]]:
    """Return the values of a field that are heavy by its facts, each with its share."""
    known = facts[name].heaviest_values if name in facts else ()
    return [one for one in known if is_heavy(one[1], servers)][:MAX_HEAVY_VALUES]


def propose_heavy_key(
    design: Design,
    facts: Mapping[str, FieldFacts],
    names: Sequence[str],
    heavy_values: Sequence[tuple[Any, float]],
) -> KeyProposal | None:
    """Propose a key that spreads heavy values over several buckets; None if none is valid.

    It is never applied by itself, because the list of heavy values is part of the bytes of a table.

    Args:
        design: the design.
        facts: the facts of its fields.
        names: the fields whose values are heavy; only one field has a list.
        heavy_values: the heavy values, each with its share of the events.
    """
    name = names[0]
    values = [value for value, _ in heavy_values if isinstance(value, str | int | float)]
    extra_terms = tuple(map(FieldRef, _find_distinguishing_fields(design, facts, name)))
    if len(names) > 1 or not values or len(values) < len(heavy_values) or not extra_terms:
        return None
    listed = [*dict.fromkeys([*design.fields[name].heavy_values, *values])]
    servers, share = design.cluster.servers, max(share for _, share in heavy_values)
    terms = design.key.terms
    place, is_bucket = _find_bucket(terms, name)
    old = terms[place]
    buckets, options = BUCKETS_PER_SERVER * servers, {}
    declared: list[int] = []
    first: Term = FieldRef(name)
    if is_bucket and isinstance(old, FunctionCall) and isinstance(old.scalars[0], int):
        first, buckets, options = old.terms[0], old.scalars[0], old.options
        declared = [scalar for scalar in old.scalars[1:] if isinstance(scalar, int)]
    spread = min(max([count_heavy_buckets(share, servers, buckets), *declared]), buckets)
    new = FunctionCall(BUCKET_TRANSFORM, (first, *extra_terms), (buckets, spread), options)
    # Terms that only spread are dropped: a bucket before a bucket would divide the rows twice.
    remaining_terms = strip_spreading_terms(design.key, place + is_bucket)
    proposal = KeyProposal(
        key=format_key((*terms[:place], new, *remaining_terms)),
        splits=PER_BUCKET,
        heavy_values={name: tuple(listed)},
    )
    return proposal if _is_valid(design, proposal) else None


def _is_valid(design: Design, proposal: KeyProposal) -> bool:
    """Return whether a design is valid with what a proposal changes."""
    try:
        apply_proposal(design, proposal)
    except InvalidDesign:
        return False
    return True


def _find_distinguishing_fields(
    design: Design, facts: Mapping[str, FieldFacts], name: str
) -> tuple[str, ...]:
    """Return the fewest fields that divide the rows of one value and that its reads give."""
    candidates = [candidate for candidate in design.key.fields if candidate != name]
    read_fields = [
        one.given_fields - {name}
        for one in plan_example_reads(design, facts)
        if name in one.given_fields
    ]
    sets = [
        *([set.intersection(*read_fields)] if read_fields else []),
        set(candidates) - find_sliced_fields(design.key),
    ]
    for one in sets:
        selection = tuple(candidate for candidate in candidates if candidate in one)
        if can_spread(design, facts, selection):
            return selection
    return tuple(candidates)


def _find_bucket(terms: Sequence[Term], name: str) -> tuple[int, bool]:
    """Return the index of a field's bucket in the key, or where it would be inserted."""
    place = next(n for n, term in enumerate(terms) if not isinstance(term, Constant))
    term = terms[place]
    if not isinstance(term, FunctionCall) or term.name != BUCKET_TRANSFORM or not term.terms:
        return place, False
    first = term.terms[0]
    is_whole = isinstance(first, FieldRef) and first.name == name
    return place, is_whole and (len(term.terms) == 1 or len(term.scalars) > 1)
