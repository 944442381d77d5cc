"""Proposals that spread load: key parts, whole keys and splits. They are never applied."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.design import choose_example_values, format_toml_value
from rowkey.errors import InvalidDesign, Mistakes, ReadError
from rowkey.hotspots.leading_parts import count_combined_values
from rowkey.hotspots.load_result import MIN_VALUES_PER_REGION
from rowkey.keys import build_key
from rowkey.plan import count_spreading_parts, plan_read, propose_key
from rowkey.schema import (
    Constant,
    Equal,
    FieldRef,
    FunctionCall,
    find_field_refs,
    format_key,
    parse_key,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rowkey.design import Design
    from rowkey.keys import Key
    from rowkey.plan import Plan
    from rowkey.schema import Bounds, FieldFacts, Ordering, Term

BUCKET_TRANSFORM = "bucket"
"""The transform that spreads the values listed as heavy."""
PER_BUCKET = "per_bucket"


@dataclass(frozen=True, slots=True)
class SpreadProposal:
    """A proposed key part that spreads the rows of each moment, with the whole key.

    Args:
        part: the part to put in front, in key notation.
        key: the whole key, in which it replaces the parts that only spread rows.
        splits: the `splits` option that it needs; empty if the present one fits.
        cost_phrase: what it costs the reads, as the end of a sentence.
    """

    part: str
    key: str
    splits: str
    cost_phrase: str

    @property
    def toml_text(self) -> str:
        """Return the proposed key and splits as a design file writes them."""
        return " and ".join(filter(None, (f"key = {format_toml_value(self.key)}", self.splits)))

    @property
    def prefix_phrase(self) -> str:
        """Return the part to put in front of the key, and its splits, as a phrase."""
        return f"{self.part} in front{self.splits and ' and set '}{self.splits}"


def propose_spread_key(
    design: Design,
    facts: Mapping[str, FieldFacts],
    terms: Sequence[Term] | None = None,
    insufficient_fields: Sequence[str] = (),
) -> SpreadProposal:
    """Propose the key that spreads each moment over all regions at the least cost to reads.

    It has two buckets a server, over fields that the reads give if those have enough values and
    none is heavy; else over all key fields, and the cost to reads is reported. A time that slices
    rows is left out if the other fields are enough. A key of times alone gets a salt, because
    events of one moment would all fall into one bucket.

    Args:
        design: the design.
        facts: what is known of its fields.
        terms: the key, if it is to be another than the design's.
        insufficient_fields: fields that do not spread the rows by themselves.
    """
    key = design.key if terms is None else build_key(tuple(terms), design.fields, Mistakes())
    key = key or design.key
    if _are_times(design, tuple(key.fields)):
        return _propose_salt(design, key)
    asked = list(_plan_reads(design, facts))
    tried = [
        (
            _count_read_ranges(
                design, asked, (_build_bucket(design, names), *_strip_spreading(key))
            ),
            names,
        )
        for names in _list_candidates(design, facts, key, asked)
        if not set(names) <= set(insufficient_fields) or set(names) == set(key.fields)
    ]
    now = [_count_ranges(one.plan) for one in asked]

    def cost(one: tuple[Sequence[float], Sequence[str]]) -> tuple[int, int, float, int]:
        ranges, names = one
        served = [each for each in ranges if each < math.inf]
        scans = len(ranges) - len(served)
        return len(_find_dearer_reads(now, ranges)), scans, sum(served), -len(names)

    ranges, names = min(tried, key=cost)
    dearer = [asked[place].name for place in _find_dearer_reads(now, ranges)]
    return _propose_bucket(design, key, names, dearer)


def propose_salted_key(design: Design) -> SpreadProposal:
    """Propose the key with a salt in front, for keys with too few different values."""
    return _propose_salt(design, design.key)


def propose_read_table(
    design: Design, bounds: Bounds, order: Sequence[Ordering]
) -> SpreadProposal | None:
    """Return the key and splits of a second table that serves a read; None if none is known.

    A bucket of the fields to which the read gives one value spreads its rows, unless these fields
    are all times, which are equal for the events of one moment; then the parts in front of the
    design's own key do.

    Args:
        design: the design, whose key does not serve the read.
        bounds: the bounds of the read, in internal values.
        order: the order of the read.
    """
    served = propose_key(design.key, bounds, order)
    if served is None:
        return None
    terms = tuple(parse_key(served.key))
    pinned = [name for name, bound in bounds.items() if isinstance(bound, Equal)]
    if not design.key.is_salted and not _are_times(design, pinned):
        key = build_key(terms, design.fields, Mistakes())
        tail = terms[count_spreading_parts(key) :] if key is not None else terms
        bucket = _build_bucket(design, pinned)
        splits = f'splits = "{PER_BUCKET}"'
        return SpreadProposal(f"[{bucket}]", format_key((bucket, *tail)), splits, "")
    if _are_times(design, [ref.name for ref in find_field_refs(terms[0])]):
        return None
    return SpreadProposal("", served.key, "", "")


def _are_times(design: Design, names: Sequence[str]) -> bool:
    """Return whether all of some fields are times; true for no fields."""
    return all(design.fields[name].type.unit_ns is not None for name in names)


def format_quantile_splits(design: Design) -> str:
    """Return the TOML options for splits at quantiles of a sample.

    Args:
        design: the design.

    Returns:
        Both, as a design file has them.
    """
    options = 'splits = "sample"'
    if design.sample_path is None:
        options += ' and declare [sample] path = "…", a recording of your events'
    return options


def _strip_spreading(key: Key) -> Iterator[Term]:
    """Yield the terms of a key without buckets and salts that only spread rows."""
    count = count_spreading_parts(key)
    for place, term in enumerate(key.terms):
        if place >= count or isinstance(term, Constant):
            yield term


def _build_bucket(design: Design, names: Sequence[str]) -> FunctionCall:
    """Return a bucket term over some fields, with two buckets for each server."""
    return FunctionCall(
        BUCKET_TRANSFORM, tuple(map(FieldRef, names)), (2 * design.cluster.servers,)
    )


def _build_salt(design: Design) -> FunctionCall:
    """Return a salt term with two salts for each server."""
    return FunctionCall("salt", (), (2 * design.cluster.servers,))


def _propose_bucket(
    design: Design, key: Key, names: Sequence[str], dearer_reads: Sequence[str]
) -> SpreadProposal:
    """Propose the key with a bucket of some fields in front."""
    part = _build_bucket(design, names)
    whole = format_key((part, *_strip_spreading(key)))
    return SpreadProposal(
        f"[{part}]", whole, _format_splits(design), _format_costs(names, dearer_reads)
    )


def _propose_salt(design: Design, key: Key) -> SpreadProposal:
    """Propose the key with a salt in front."""
    part = _build_salt(design)
    costs = "a read then asks every salt, and a row written twice may be stored twice"
    return SpreadProposal(
        f"[{part}]", format_key((part, *_strip_spreading(key))), _format_splits(design), costs
    )


def _format_splits(design: Design) -> str:
    """Return the splits option that buckets need; empty if the design has it."""
    is_cut = design.splits.algorithm == PER_BUCKET and design.splits.request.regions is None
    return "" if is_cut else f'splits = "{PER_BUCKET}"'


@dataclass(frozen=True, slots=True)
class _ExampleRead:
    """A declared read with example bounds, and how many ranges it needs under the present key."""

    name: str
    bounds: Bounds
    order: Sequence[Ordering]
    plan: Plan

    @property
    def given_fields(self) -> set[str]:
        """Return the fields for which the read gives exactly one value."""
        return {name for name, bound in self.bounds.items() if isinstance(bound, Equal)}


def _plan_reads(design: Design, facts: Mapping[str, FieldFacts]) -> Iterator[_ExampleRead]:
    """Yield the declared reads, each planned with example values."""
    for read in design.reads:
        try:
            bounds = read.build_bounds(choose_example_values(read, facts))
            plan = plan_read(design.key, bounds, read.order)
        except ReadError:
            continue
        yield _ExampleRead(read.name, bounds, read.order, plan)


def _list_candidates(
    design: Design, facts: Mapping[str, FieldFacts], key: Key, reads: Sequence[_ExampleRead]
) -> list[tuple[str, ...]]:
    """Return the field combinations to try in a bucket.

    If the fields that no row slices are enough, they replace all key fields.
    """
    fields, cut = tuple(key.fields), _find_sliced_fields(key)
    given = [one.given_fields & set(fields) for one in reads]
    sets = [set(fields) - cut, *given, *([set.intersection(*given)] if given else [])]
    named = [tuple(name for name in fields if name in one) for one in sets]
    found = [names for names in dict.fromkeys(named) if _can_spread(design, facts, names)]
    return found if named[0] in found else [fields, *(one for one in found if one != fields)]


def _find_sliced_fields(key: Key) -> set[str]:
    """Return the time fields of which one row holds a whole interval."""
    return {part.time_remainder.field for part in key.parts if part.time_remainder is not None}


def _can_spread(design: Design, facts: Mapping[str, FieldFacts], names: Sequence[str]) -> bool:
    """Return whether a bucket of some fields can spread the load evenly."""
    if _are_times(design, names):
        return False
    known = [facts.get(name) for name in names]
    values = count_combined_values(design, facts, names)
    if values is not None and values < MIN_VALUES_PER_REGION * 2 * design.cluster.servers:
        return False
    shares = [one.heaviest_share if one is not None else None for one in known]
    heaviest = min((share for share in shares if share is not None), default=0.0)
    return None in shares or heaviest <= 0.5 / design.cluster.servers


def _count_read_ranges(
    design: Design, reads: Sequence[_ExampleRead], terms: tuple[Term, ...]
) -> Sequence[float]:
    """Return how many ranges each read needs under another key."""
    key = build_key(terms, design.fields, Mistakes())
    if key is None:
        return [math.inf] * len(reads)
    return [_count_ranges(plan_read(key, one.bounds, one.order)) for one in reads]


def _count_ranges(plan: Plan) -> float:
    """Return the number of ranges of a read plan; infinite for a full scan."""
    return math.inf if plan.is_full_scan else plan.fan_out


def _find_dearer_reads(old_ranges: Sequence[float], new_ranges: Sequence[float]) -> list[int]:
    """Return the indexes of reads that need more ranges under the new key."""
    return [
        place
        for place, (before, after) in enumerate(zip(old_ranges, new_ranges, strict=True))
        if before < after
    ]


def _format_costs(names: Sequence[str], dearer_reads: Sequence[str]) -> str:
    """Return the clause that says which reads must query every bucket."""
    all_of = "all of " if len(names) > 1 else ""
    cost = f"a read that does not give {all_of}{_join_names(names)} then asks every bucket"
    does = "does" if len(dearer_reads) == 1 else "do"
    return f"{cost}, as {_join_names(dearer_reads)} {does}" if dearer_reads else cost


def _join_names(names: Sequence[str]) -> str:
    """Join names with commas and a final `and`.

    >>> _join_names(["a"]), _join_names(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def format_wider_bucket(design: Design, extra_fields: Sequence[str] = ()) -> str:
    """Return the notation of a bucket of all key fields and some extra fields.

    It has two buckets a server, over all key fields. A key of times alone gets a salt, because
    events of one moment would all fall into one bucket.

    Args:
        design: the design.
        extra_fields: fields that the key should have besides.
    """
    names = (*design.key.fields, *extra_fields)
    return f"[{_build_salt(design) if _are_times(design, names) else _build_bucket(design, names)}]"


def propose_heavy_spread(
    design: Design,
    facts: Mapping[str, FieldFacts],
    names: Sequence[str],
    heavy_values: Sequence[tuple[Any, float]],
) -> dict[str, Any] | None:
    """Propose a design that spreads heavy values over several buckets; None if none is valid.

    It is proposed, never applied: the list of heavy values is part of the bytes of a table.

    Args:
        design: the design.
        facts: what is known of its fields.
        names: the fields whose values are heavy; only one field has a list.
        heavy_values: those values, each with its share of the events.

    Returns:
        The options that change: `key`, `splits`, and the values of `heavy` by field.
    """
    name = names[0]
    values = [value for value, _ in heavy_values if isinstance(value, str | int | float)]
    others = tuple(map(FieldRef, _find_distinguishing_fields(design, facts, name)))
    if len(names) > 1 or not values or len(values) < len(heavy_values) or not others:
        return None
    listed = [*dict.fromkeys([*design.fields[name].heavy_values, *values])]
    servers, share = design.cluster.servers, max(share for _, share in heavy_values)
    terms = design.key.terms
    place, is_bucket = _find_bucket(terms, name)
    old = terms[place]
    buckets, options = 2 * servers, {}
    declared: list[int] = []
    first: Term = FieldRef(name)
    if is_bucket and isinstance(old, FunctionCall) and isinstance(old.scalars[0], int):
        first, buckets, options = old.terms[0], old.scalars[0], old.options
        declared = [scalar for scalar in old.scalars[1:] if isinstance(scalar, int)]
    # Half a server's fair share a bucket, so that the others' load finds room beside it.
    spread = min(max([1 << max(math.ceil(math.log2(2 * servers * share)), 1), *declared]), buckets)
    new = FunctionCall(BUCKET_TRANSFORM, (first, *others), (buckets, spread), options)
    # What only spreads is replaced, for a bucket in front of a bucket would divide its rows twice.
    count = count_spreading_parts(design.key)
    kept = (
        term
        for index, term in enumerate(terms)
        if index >= place + is_bucket and (index >= count or isinstance(term, Constant))
    )
    key = (*terms[:place], new, *kept)
    words = design.declaration.model_dump(by_alias=True, exclude_defaults=True)
    words |= {"key": format_key(key), "splits": "per_bucket"}
    words["fields"][name] |= {"heavy": listed}
    try:
        type(design)(**words)
    except InvalidDesign:
        return None
    return {"key": words["key"], "splits": words["splits"], "heavy": {name: listed}}


def _find_distinguishing_fields(
    design: Design, facts: Mapping[str, FieldFacts], name: str
) -> tuple[str, ...]:
    """Return the fewest fields that divide the rows of one value and that its reads give."""
    others = [other for other in design.key.fields if other != name]
    given = [
        one.given_fields - {name} for one in _plan_reads(design, facts) if name in one.given_fields
    ]
    sets = [
        *([set.intersection(*given)] if given else []),
        set(others) - _find_sliced_fields(design.key),
    ]
    for one in sets:
        found = tuple(other for other in others if other in one)
        if _can_spread(design, facts, found):
            return found
    return tuple(others)


def _find_bucket(terms: Sequence[Term], name: str) -> tuple[int, bool]:
    """Return the index of a field's bucket in the key, or where it would be inserted."""
    place = next(n for n, term in enumerate(terms) if not isinstance(term, Constant))
    term = terms[place]
    if not isinstance(term, FunctionCall) or term.name != BUCKET_TRANSFORM or not term.terms:
        return place, False
    first = term.terms[0]
    is_whole = isinstance(first, FieldRef) and first.name == name
    return place, is_whole and (len(term.terms) == 1 or len(term.scalars) > 1)
