"""What would spread the load: parts and whole keys, proposed and never applied."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.design import example_values, toml_value
from rowkey.errors import DeclarationError, Mistakes, ReadError
from rowkey.heat.evidence import ENOUGH
from rowkey.heat.leading import values_together
from rowkey.keys import bound_key
from rowkey.plan import plan_read, spreading
from rowkey.schema import Call, Constant, Equal, FieldRef, print_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rowkey.design import Design
    from rowkey.keys import Key
    from rowkey.plan import Plan
    from rowkey.schema import Bounds, Facts, Ordering, Term

SPREAD = "bucket"
"""The transform that spreads the values listed as heavy."""
PER_BUCKET = "per_bucket"


@dataclass(frozen=True, slots=True)
class Spreading:
    """A part that spreads the rows of every moment, and the key that begins with it.

    Args:
        part: what stands in front, in the notation.
        key: the whole key, in which it takes the place of what spread before.
        splits: what is said of the splits beside it; empty where they may stay as they are.
        costs: what it costs the reads, as the end of a sentence.
    """

    part: str
    key: str
    splits: str
    costs: str

    @property
    def words(self) -> str:
        """The key, and the splits it needs, as they are written into a file."""
        return " and ".join(filter(None, (f"key = {toml_value(self.key)}", self.splits)))

    @property
    def in_front(self) -> str:
        """The part in front, and the splits it needs."""
        return f"{self.part} in front{self.splits and ' and cut with '}{self.splits}"


def spread_key(
    design: Design,
    facts: Mapping[str, Facts],
    terms: Sequence[Term] | None = None,
    beside: Sequence[str] = (),
) -> Spreading:
    """A key whose rows of one moment lie in all regions, at the least cost to the declared reads.

    Two buckets a server, over the fields that reads give, where those have values enough and none
    of them is heavy; else over all fields of the key, and what that costs is said. A time of which
    a row holds a stretch is left out where the others are enough: rows stay whole then. A salt
    where the key has times alone, for events of one moment would meet in one bucket.

    Args:
        design: the design.
        facts: what is known of its fields.
        terms: the key, if it is to be another than the design's.
        beside: fields that do not spread the rows by themselves.
    """
    key = design.key if terms is None else bound_key(tuple(terms), design.fields, Mistakes())
    key = key or design.key
    if all(design.fields[name].type.tick is not None for name in key.fields):
        return _with_salt(design, key)
    asked = list(_asked(design, facts))
    tried = [
        (_ranges(design, asked, (_bucket(design, names), *_behind(key))), names)
        for names in _candidates(design, facts, key, asked)
        if not set(names) <= set(beside) or set(names) == set(key.fields)
    ]
    now = [_ranges_of(one.plan) for one in asked]

    def cost(one: tuple[Sequence[float], Sequence[str]]) -> tuple[int, int, float, int]:
        ranges, names = one
        served = [each for each in ranges if each < math.inf]
        scans = len(ranges) - len(served)
        return len(_dearer(now, ranges)), scans, sum(served), -len(names)

    ranges, names = min(tried, key=cost)
    dearer = [asked[place].name for place in _dearer(now, ranges)]
    return _with_bucket(design, key, names, dearer)


def salted_key(design: Design) -> Spreading:
    """A key in which chance decides, where the fields have too few values together."""
    return _with_salt(design, design.key)


def splits_at_quantiles(design: Design) -> str:
    """Splits that follow the keys which came, and the recording of them where none is declared.

    Args:
        design: the design.

    Returns:
        Both, as they are written into a file.
    """
    words = 'splits = "sample"'
    if design.sample_path is None:
        words += ' and declare [sample] path = "…", a recording of what comes'
    return words


def _behind(key: Key) -> Iterator[Term]:
    """The terms of a key without those that only spread its rows."""
    count = spreading(key)
    for place, term in enumerate(key.terms):
        if place >= count or isinstance(term, Constant):
            yield term


def _bucket(design: Design, names: Sequence[str]) -> Call:
    """Two buckets a server, of some fields."""
    return Call(SPREAD, tuple(map(FieldRef, names)), (2 * design.cluster.servers,))


def _salt(design: Design) -> Call:
    """Two salts a server."""
    return Call("salt", (), (2 * design.cluster.servers,))


def _with_bucket(
    design: Design, key: Key, names: Sequence[str], dearer: Sequence[str]
) -> Spreading:
    part = _bucket(design, names)
    whole = print_key((part, *_behind(key)))
    return Spreading(f"[{part}]", whole, _splits(design), _costs(names, dearer))


def _with_salt(design: Design, key: Key) -> Spreading:
    part = _salt(design)
    costs = "a read then asks every salt, and a row written twice may stand twice"
    return Spreading(f"[{part}]", print_key((part, *_behind(key))), _splits(design), costs)


def _splits(design: Design) -> str:
    """What is said of the splits where buckets come in front; nothing if they are cut so."""
    is_cut = design.cut.algorithm == PER_BUCKET and design.cut.request.regions is None
    return "" if is_cut else f'splits = "{PER_BUCKET}"'


@dataclass(frozen=True, slots=True)
class _Asked:
    """A declared read, what it asks, and how the design's own key serves it."""

    name: str
    bounds: Bounds
    order: Sequence[Ordering]
    plan: Plan

    @property
    def given(self) -> set[str]:
        """The fields of which it gives one value."""
        return {name for name, bound in self.bounds.items() if isinstance(bound, Equal)}


def _asked(design: Design, facts: Mapping[str, Facts]) -> Iterator[_Asked]:
    for read in design.reads:
        try:
            bounds = read.bounds(example_values(read, facts))
            plan = plan_read(design.key, bounds, read.order)
        except ReadError:
            continue
        yield _Asked(read.name, bounds, read.order, plan)


def _candidates(
    design: Design, facts: Mapping[str, Facts], key: Key, asked: Sequence[_Asked]
) -> list[tuple[str, ...]]:
    """Fields to make a bucket of: all of the key, those that a read gives, those that all give.

    Those that stand whole in the key alone, where they are enough, in the place of all.
    """
    fields, cut = tuple(key.fields), _sliced(key)
    given = [one.given & set(fields) for one in asked]
    sets = [set(fields) - cut, *given, *([set.intersection(*given)] if given else [])]
    named = [tuple(name for name in fields if name in one) for one in sets]
    found = [names for names in dict.fromkeys(named) if _can_spread(design, facts, names)]
    return found if named[0] in found else [fields, *(one for one in found if one != fields)]


def _sliced(key: Key) -> set[str]:
    """The times of which a row holds a stretch: a bucket of one divides its rows."""
    return {part.rest.field for part in key.parts if part.rest is not None}


def _can_spread(design: Design, facts: Mapping[str, Facts], names: Sequence[str]) -> bool:
    """Whether nothing is known against it: times alone, few values, or one that is heavy."""
    if all(design.fields[name].type.tick is not None for name in names):
        return False  # of no fields as well
    known = [facts.get(name) for name in names]
    values = values_together(design, facts, names)
    if values is not None and values < ENOUGH * 2 * design.cluster.servers:
        return False
    shares = [one.heaviest_share if one is not None else None for one in known]
    heaviest = min((share for share in shares if share is not None), default=0.0)
    return None in shares or heaviest <= 0.5 / design.cluster.servers


def _ranges(design: Design, asked: Sequence[_Asked], terms: tuple[Term, ...]) -> Sequence[float]:
    """How many ranges each read asks under a key; a full scan more than any other."""
    key = bound_key(terms, design.fields, Mistakes())
    if key is None:
        return [math.inf] * len(asked)
    return [_ranges_of(plan_read(key, one.bounds, one.order)) for one in asked]


def _ranges_of(plan: Plan) -> float:
    return math.inf if plan.is_full_scan else plan.fan_out


def _dearer(now: Sequence[float], then: Sequence[float]) -> list[int]:
    """The places of reads that are served now, and ask more ranges then."""
    return [
        place for place, (before, after) in enumerate(zip(now, then, strict=True)) if before < after
    ]


def _costs(names: Sequence[str], dearer: Sequence[str]) -> str:
    """Which reads ask every bucket, those that are declared by name."""
    all_of = "all of " if len(names) > 1 else ""
    told = f"a read that does not give {all_of}{_listed(names)} then asks every bucket"
    does = "does" if len(dearer) == 1 else "do"
    return f"{told}, as {_listed(dearer)} {does}" if dearer else told


def _listed(names: Sequence[str]) -> str:
    """Names as they are spoken.

    >>> _listed(["a"]), _listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def wider_bucket(design: Design, more: Sequence[str] = ()) -> str:
    """What would spread the rows of every moment and of every value, in the notation.

    Two buckets a server, over all fields of the key; a salt where it has times alone, for events of
    one moment would meet in one bucket.

    Args:
        design: the design.
        more: fields that the key should have besides.
    """
    names = (*design.key.fields, *more)
    is_of_times = all(design.fields[name].type.tick is not None for name in names)
    return f"[{_salt(design) if is_of_times else _bucket(design, names)}]"


def proposed_spread(
    design: Design,
    facts: Mapping[str, Facts],
    names: Sequence[str],
    heavy: Sequence[tuple[Any, float]],
) -> dict[str, Any] | None:
    """The same design with the heavy values over several buckets; None if no such design binds.

    It is proposed, never applied: the list of heavy values is part of the bytes of a table.

    Args:
        design: the design.
        facts: what is known of its fields.
        names: the fields whose values are heavy; only one field has a list.
        heavy: those values, each with its share of the events.

    Returns:
        The words that change: `key`, `splits`, and the values of `heavy` by field.
    """
    name = names[0]
    values = [value for value, _ in heavy if isinstance(value, str | int | float)]
    others = tuple(map(FieldRef, _beside(design, facts, name)))
    if len(names) > 1 or not values or len(values) < len(heavy) or not others:
        return None
    listed = [*dict.fromkeys([*design.fields[name].heavy, *values])]
    servers, share = design.cluster.servers, max(share for _, share in heavy)
    terms = design.key.terms
    place, is_bucket = _bucket_of(terms, name)
    old = terms[place]
    buckets, options = 2 * servers, {}
    declared: list[int] = []
    first: Term = FieldRef(name)
    if is_bucket and isinstance(old, Call) and isinstance(old.scalars[0], int):
        first, buckets, options = old.terms[0], old.scalars[0], old.options
        declared = [scalar for scalar in old.scalars[1:] if isinstance(scalar, int)]
    # Half a server's fair share a bucket, so that the others' load finds room beside it.
    spread = min(max([1 << max(math.ceil(math.log2(2 * servers * share)), 1), *declared]), buckets)
    new = Call(SPREAD, (first, *others), (buckets, spread), options)
    # What only spreads is replaced, for a bucket in front of a bucket would divide its rows twice.
    count = spreading(design.key)
    kept = (
        term
        for index, term in enumerate(terms)
        if index >= place + is_bucket and (index >= count or isinstance(term, Constant))
    )
    key = (*terms[:place], new, *kept)
    words = design.declaration.model_dump(by_alias=True, exclude_defaults=True)
    words |= {"key": print_key(key), "splits": "per_bucket"}
    words["fields"][name] |= {"heavy": listed}
    try:
        type(design)(**words)
    except DeclarationError:
        return None
    return {"key": words["key"], "splits": words["splits"], "heavy": {name: listed}}


def _beside(design: Design, facts: Mapping[str, Facts], name: str) -> tuple[str, ...]:
    """The fields that tell the rows of one value apart: as few as reads of it give, if enough."""
    others = [other for other in design.key.fields if other != name]
    given = [one.given - {name} for one in _asked(design, facts) if name in one.given]
    sets = [*([set.intersection(*given)] if given else []), set(others) - _sliced(design.key)]
    for one in sets:
        found = tuple(other for other in others if other in one)
        if _can_spread(design, facts, found):
            return found
    return tuple(others)


def _bucket_of(terms: Sequence[Term], name: str) -> tuple[int, bool]:
    """Where the bucket of a field stands, or where one would: behind leading constants."""
    place = next(n for n, term in enumerate(terms) if not isinstance(term, Constant))
    term = terms[place]
    if not isinstance(term, Call) or term.kind != SPREAD or not term.terms:
        return place, False
    first = term.terms[0]
    is_whole = isinstance(first, FieldRef) and first.name == name
    return place, is_whole and (len(term.terms) == 1 or len(term.scalars) > 1)
