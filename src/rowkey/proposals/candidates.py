"""Candidate row keys of a design: every key that is worth an estimate.

A candidate has a front and a tail. The tail holds the fields that tell rows apart and that reads
ask for, in one order. The front spreads the rows: a bucket, a salt, or nothing, where a sample can
say at which keys regions begin.

    [bucket(host, 16)]  [host][desc(ts)]
          front               tail
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, permutations, product
from typing import TYPE_CHECKING, Any, NamedTuple

from rowkey.design import Design
from rowkey.errors import InvalidDesign, Mistakes
from rowkey.keys import Determinant, Field, Key, Order, Part, build_key
from rowkey.proposals.bucket_fields import ExampleRead, find_sliced_fields, plan_example_reads
from rowkey.proposals.key_proposal import PER_BUCKET, KeyProposal, apply_proposal
from rowkey.proposals.spreading_terms import (
    BUCKETS_PER_SERVER,
    build_bucket,
    build_ordering_term,
    build_salt,
    has_only_times,
    is_heavy,
    strip_spreading_terms,
)
from rowkey.proposals.unique_fields import list_unique_fields
from rowkey.schema import (
    Constant,
    FieldFacts,
    FieldRef,
    FunctionCall,
    Term,
    find_field_refs,
    format_key,
)

if TYPE_CHECKING:
    Terms = tuple[Term, ...]

MAX_PERMUTED_TERMS = 4
"""Terms of a key of which every order is tried; of more, those that put the fields of a read first
and leave the others in their order."""
MAX_CANDIDATES = 20_000
"""Candidates beyond which no more are tried."""
MAX_HEAVY_VALUES = 8
"""Most heavy values that a proposal lists, because the list is part of the bytes of a table."""
BUCKET_FACTORS = (1, 2, 4)
"""Multiples of the usual number of buckets that are tried."""
QUANTILES = "sample"
"""The split algorithm that takes the boundaries from a sample."""


@dataclass(frozen=True, kw_only=True)
class Candidate(KeyProposal):
    """A key that a design could have.

    Args:
        bound_key: the key, bound to the fields of the design.
        front: the first term, which spreads rows; None without such a term.
        distinguishing_fields: the fields at the end that only keep rows apart.
    """

    bound_key: Key
    front: FunctionCall | None
    distinguishing_fields: tuple[str, ...] = ()

    @cached_property
    def kind(self) -> tuple[str, ...]:
        """Return how its rows are spread, whatever the number of buckets of a light value.

        Keys of a unique field alone are a kind of their own: only they serve a read as a get.
        """
        is_alone = {*self.unique_fields} == {*self.bound_key.fields}
        unique = (*self.unique_fields, "alone" if is_alone else "")
        if self.front is None:
            return ("", self.leading_term, *unique)
        heavy = "heavy" if self.heavy_values else ""
        fields = sorted({ref.name for ref in find_field_refs(self.front)})
        return (self.front.name, heavy, *map(str, self.front.scalars[1:]), *fields, *unique)

    @property
    def bucket_count(self) -> object:
        """Return the number of buckets or salts in front; None without any."""
        return None if self.front is None else self.front.scalars[0]

    @cached_property
    def tail(self) -> tuple[str, ...]:
        """Return the terms of the key behind its front."""
        return tuple(str(term) for term in self.bound_key.terms if term != self.front)

    @cached_property
    def leading_term(self) -> str:
        """Return the term that decides where its writes go: its front, or the first one without."""
        terms = (term for term in self.bound_key.terms if not isinstance(term, Constant))
        return str(self.front or next(terms))


class _TailFields(NamedTuple):
    """The fields by which a tail keeps all rows apart.

    Args:
        distinguishing: those at its end that do nothing else.
        unique: the one that is to be declared as unique for it, if any.
    """

    distinguishing: tuple[str, ...]
    unique: tuple[str, ...]


def list_candidates(
    design: Design,
    facts: Mapping[str, FieldFacts],
    *,
    has_sample: bool,
    added_fields: Collection[str],
    find_distinguishing: Callable[[frozenset[str]], tuple[str, ...]] | None = None,
) -> list[Candidate]:
    """Return the keys that a design could have, each once, in a fixed order.

    They are the first `MAX_CANDIDATES` combinations of a tail behind a front, then every tail
    behind a bucket that spreads only heavy values. A tail holds the fields of the present key, so
    that it keeps as many rows apart, or a unique field, by which it does without those that no read
    asks for. No part of a key follows from those before it.

    Args:
        has_sample: whether boundaries can be taken from a sample, which keys without a front need.
        added_fields: the further fields that a key may hold, if a read gives them or sorts by
            them; none where events update rows, since a changed value would leave the old row.
        find_distinguishing: returns the fields that keep the rows of a key with some fields apart,
            which then end it; None if no rows are to be kept apart.
    """
    reads = list(plan_example_reads(design, facts))
    tails = _list_tails(design, facts, reads, added_fields, find_distinguishing or (lambda _: ()))
    found: dict[str, Candidate] = {}
    combinations = (
        (front, tail)
        for tail in tails
        for front in _list_fronts(design, tail, reads)
        if has_sample or front is not None
    )
    for front, tail in islice(combinations, MAX_CANDIDATES):
        terms = tail if front is None else (front, *tail)
        key = build_key(terms, design.fields, Mistakes())
        if key is not None and not _is_spread_twice(key, front):
            text = format_key(terms)
            splits = QUANTILES if front is None else PER_BUCKET
            found.setdefault(
                text,
                Candidate(
                    key=text,
                    splits=splits,
                    unique_fields=tails[tail].unique,
                    bound_key=key,
                    front=front,
                    distinguishing_fields=tails[tail].distinguishing,
                ),
            )
    return [*found.values(), *_list_heavy_candidates(design, facts, tails)]


def _list_tails(
    design: Design,
    facts: Mapping[str, FieldFacts],
    reads: Sequence[ExampleRead],
    added_fields: Collection[str],
    find_distinguishing: Callable[[frozenset[str]], tuple[str, ...]],
) -> dict[Terms, _TailFields]:
    """Return the tails of all candidates, each with the fields by which it keeps rows apart."""
    own_fields = {*design.key.fields}
    given = {name for read in reads for name in read.single_value_fields} & {*added_fields}
    unique = list_unique_fields(design, facts, own_fields | given)
    tails: dict[Terms, _TailFields] = {
        (FieldRef(name),): _TailFields((), (name,)) for name in unique if name in given
    }
    for order in _list_orders(design, reads, added_fields, next(iter(unique), None)):
        names = frozenset(name for term in order for name in _list_names(term))
        distinguishing = find_distinguishing(names)
        # Without a field of the present key, only a unique one keeps rows apart.
        needed = () if own_fields <= names.union(distinguishing) else tuple(unique[:1])
        tail = (*order, *map(FieldRef, distinguishing))
        tails.setdefault(tail, _TailFields(distinguishing, needed))
    return tails


def _is_spread_twice(key: Key, front: FunctionCall | None) -> bool:
    """Return whether a term in front spreads the values that a digest after it spreads already."""
    if front is None:
        return False
    next_part = next(part for part in key.parts[1:] if part.fields)
    fields = {ref.name for ref in find_field_refs(front)}
    is_digest = all(next_part.residue(name).is_total for name in next_part.fields)
    return is_digest and next_part.order == Order.NONE and fields == set(next_part.fields)


def _list_heavy_candidates(
    design: Design, facts: Mapping[str, FieldFacts], tails: Mapping[Terms, _TailFields]
) -> Iterator[Candidate]:
    """Yield the keys whose front spreads only the heavy values of their first field."""
    fields: dict[str, Mapping[str, Field]] = {}  # by the field whose heavy values are declared
    buckets = BUCKETS_PER_SERVER * design.cluster.servers
    for tail, fields_of_tail in tails.items():
        names = list(dict.fromkeys(name for term in tail for name in _list_names(term)))
        heavy = _find_heavy_values(facts.get(names[0]), design.cluster.servers)
        if not heavy or len(names) == 1:
            continue
        spread = 2
        while spread <= buckets:
            front = build_bucket(names, buckets, spread)
            proposal = KeyProposal(
                key=format_key((front, *tail)), splits=PER_BUCKET, heavy_values={names[0]: heavy}
            )
            try:
                if names[0] not in fields:
                    fields[names[0]] = apply_proposal(design, proposal).fields
            except InvalidDesign:
                break
            key = build_key((front, *tail), fields[names[0]], Mistakes())
            if key is None:
                break
            yield Candidate(
                key=proposal.key,
                splits=PER_BUCKET,
                heavy_values=proposal.heavy_values,
                unique_fields=fields_of_tail.unique,
                bound_key=key,
                front=front,
                distinguishing_fields=fields_of_tail.distinguishing,
            )
            spread *= 2


def _find_heavy_values(facts: FieldFacts | None, servers: int) -> tuple[Any, ...]:
    """Return the values that are too heavy for one bucket, if a design can list them.

    Most of the values are not listed: the list would be out of date with the next value.
    """
    found = () if facts is None else facts.heaviest_values
    heavy = tuple(value for value, share in found if is_heavy(share, servers))
    if facts is not None and 2 * len(heavy) > (facts.distinct_count or 2 * len(heavy)):
        return ()
    is_listable = all(isinstance(value, str | int) for value in heavy)
    return heavy if is_listable and len(heavy) <= MAX_HEAVY_VALUES else ()


def _list_orders(
    design: Design,
    reads: Sequence[ExampleRead],
    added_fields: Collection[str],
    unique_field: str | None,
) -> Iterator[Terms]:
    """Yield the terms of the present key, with and without what reads ask for, in all orders.

    Args:
        added_fields: the further fields that a key may hold.
        unique_field: one that replaces the terms of the key that no read asks for; None if there is
            none.
    """
    own = tuple(strip_spreading_terms(design.key))
    constants = tuple(term for term in own if isinstance(term, Constant))
    terms = tuple(term for term in own if not isinstance(term, Constant))
    addable = set(added_fields) - set(design.key.fields)
    added = [tuple(FieldRef(name) for name in read.key_fields if name in addable) for read in reads]
    together = tuple(dict.fromkeys(term for terms in added for term in terms))
    clear = _replace_scrambled_terms(design, terms, reads)
    asked = clear if unique_field is None else _keep_asked_terms(design, clear, reads, unique_field)
    for extra in dict.fromkeys([(), *added, together]):  # of several tables, each has them all
        for some in dict.fromkeys([terms, clear, asked]):
            for order in _permute_terms(tuple(dict.fromkeys((*some, *extra))), reads):
                for directed in _list_directions(order, reads):
                    yield (*constants, *_remove_redundant_terms(design, directed))


def _replace_scrambled_terms(design: Design, terms: Terms, reads: Sequence[ExampleRead]) -> Terms:
    """Return terms with fields in place of what hides the order of those that reads ask for.

    A digest of two fields serves no read that gives one of them, and a reversed time no range.
    """
    asked = {name for read in reads for name in read.key_fields}
    asked |= {name for read in reads for name in read.bounds}
    clear: list[Term] = []
    key = build_key(terms, design.fields, Mistakes())
    if key is None:
        return terms
    for term, part in zip(terms, key.parts, strict=True):
        is_hidden = part.order is Order.NONE and not asked.isdisjoint(part.fields)
        clear += map(FieldRef, part.fields) if is_hidden else [term]
    return tuple(dict.fromkeys(clear))


def _keep_asked_terms(
    design: Design, terms: Terms, reads: Sequence[ExampleRead], unique_field: str
) -> Terms:
    """Return the terms that a read or the order of time asks for, and a field that is unique."""
    asked = {name for read in reads for name in (*read.bounds, *read.key_fields)}
    if design.writes.time is not None:
        asked.add(design.writes.time.name)
    kept = [term for term in terms if not asked.isdisjoint(_list_names(term))]
    return tuple(dict.fromkeys((*kept, FieldRef(unique_field))))


def _permute_terms(terms: Terms, reads: Sequence[ExampleRead]) -> Iterator[Terms]:
    """Yield orders of terms: all of few; of many those that put the fields of a read first."""
    if len(terms) <= MAX_PERMUTED_TERMS:
        yield from permutations(terms)
        return
    yield terms
    for read in reads:
        wanted = (*read.key_fields, *read.bounds)

        def place(term: Term, wanted: Sequence[str] = wanted) -> int:
            names = _list_names(term)
            return min((wanted.index(name) for name in names if name in wanted), default=99)

        yield tuple(sorted(terms, key=place))


def _list_directions(terms: Terms, reads: Sequence[ExampleRead]) -> Iterator[Terms]:
    """Yield terms with each field in the directions in which reads sort by it, then as it was."""
    wanted = {(one.field, one.descending) for read in reads for one in read.order}
    choices = []
    for term in terms:
        bare = term.terms[0] if isinstance(term, FunctionCall) and term.name == "desc" else term
        variants = []
        if len(names := _list_names(bare)) == 1:  # a field, or a step of its time
            variants += [
                build_ordering_term(bare, descending=descending)
                for descending in (False, True)
                if (names[0], descending) in wanted
            ]
        choices.append(dict.fromkeys((*variants, term)))
    yield from product(*choices)


def _list_fronts(
    design: Design, tail: Terms, reads: Sequence[ExampleRead]
) -> Iterator[FunctionCall | None]:
    """Yield the fronts that can spread the rows of a tail: None, buckets, then a salt."""
    names = list(dict.fromkeys(name for term in tail for name in _list_names(term)))
    buckets = BUCKETS_PER_SERVER * design.cluster.servers
    yield None
    sets = [
        *(read.single_value_fields for read in reads),
        *({name} for name in names),
        set(names) - find_sliced_fields(design.key),
        set(names),
    ]
    ordered = [name for name in design.fields if name in names]
    combined = dict.fromkeys(tuple(name for name in ordered if name in one) for one in sets)
    for fields in combined:
        if fields and not has_only_times(design.fields, fields):
            for factor in BUCKET_FACTORS:
                yield build_bucket(fields, factor * buckets)
    yield build_salt(buckets)  # the last, because a row that is written again gets a second salt


def _list_names(term: Term) -> list[str]:
    """Return the fields of a term."""
    return [ref.name for ref in find_field_refs(term)]


def _remove_redundant_terms(design: Design, terms: Terms) -> Terms:
    """Return the terms of a key without those that change neither its rows nor their order.

    A step of a time says nothing behind that time, nor directly before it in the same direction.
    """
    key = build_key(terms, design.fields, Mistakes())
    if key is None:
        return terms
    return tuple(
        term
        for place, term in enumerate(terms)
        if not _follows_from(key.parts[place], key.parts[:place])
        and not any(_is_ordered_by(key.parts[place], one) for one in key.parts[place + 1 :][:1])
    )


def _follows_from(part: Part, earlier: Sequence[Part]) -> bool:
    """Return whether equal bytes of earlier parts make the bytes of a part equal."""
    if part.determined_by is not Determinant.FIELDS or not part.fields:
        return False
    known = {name for one in earlier for name in one.fields if one.residue(name).is_empty}
    return known.issuperset(part.fields) or any(_is_finer(one, part) for one in earlier)


def _is_finer(part: Part, coarse: Part) -> bool:
    """Return whether each step of a time lies within one step of another part of that time."""
    if part.fields != coarse.fields or part.order is Order.NONE:
        return False
    if not part.resolution_ns or not coarse.resolution_ns:
        return False
    return coarse.resolution_ns % part.resolution_ns == 0


def _is_ordered_by(coarse: Part, part: Part) -> bool:
    """Return whether a part sorts rows as they are sorted with a coarser one before it."""
    if part.fields != coarse.fields or not all(part.residue(one).is_empty for one in part.fields):
        return False
    is_weak = coarse.order in {Order.WEAK, Order.WEAK_REVERSED}
    return is_weak and part.order.weaken() is coarse.order
