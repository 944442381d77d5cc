"""Proposals of a row key that spreads the rows of each moment by a bucket or a salt in front."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.errors import Mistakes
from rowkey.keys import build_key
from rowkey.messages import join_names
from rowkey.plan import plan_read
from rowkey.proposals.bucket_fields import can_spread, find_sliced_fields, plan_example_reads
from rowkey.proposals.key_proposal import PER_BUCKET, KeyProposal, has_bucket_splits
from rowkey.proposals.spreading_terms import (
    BUCKETS_PER_SERVER,
    build_bucket,
    build_salt,
    has_only_times,
    strip_spreading_terms,
)
from rowkey.schema import FunctionCall, format_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.design import Design
    from rowkey.keys import Key
    from rowkey.plan import Plan
    from rowkey.proposals.bucket_fields import ExampleRead
    from rowkey.schema import FieldFacts, Term


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadKeyProposal(KeyProposal):
    """A proposed key that spreads the rows of each moment by a part in front.

    Args:
        part: the part in front, in key notation; it replaces the parts that only spread rows.
        cost_phrase: the cost for the reads, as the end of a sentence.
    """

    part: str
    cost_phrase: str

    @property
    def prefix_phrase(self) -> str:
        """Return the part to put in front of the key, and its splits, as a phrase."""
        return f"{self.part} in front{self.splits and ' and set '}{self.splits_text}"


def propose_spread_key(
    design: Design,
    facts: Mapping[str, FieldFacts],
    terms: Sequence[Term] | None = None,
    insufficient_fields: Sequence[str] = (),
) -> SpreadKeyProposal:
    """Propose the key that spreads each moment over all regions at the least cost to reads.

    It has two buckets a server, over fields that the reads give if those have enough values and
    none is heavy; else over all key fields, and the cost to reads is reported. A time that slices
    rows is left out if the other fields are enough. A key gets a salt if no bucket spreads it: one
    of times alone, because events of one moment would all fall into one bucket, and one that needs
    the time that slices its rows.

    Args:
        design: the design.
        facts: the facts of its fields.
        terms: the terms of the key; those of the design if None.
        insufficient_fields: fields that do not spread the rows by themselves.
    """
    key = design.key if terms is None else build_key(tuple(terms), design.fields, Mistakes())
    key = key or design.key
    buckets = BUCKETS_PER_SERVER * design.cluster.servers
    if has_only_times(design.fields, key.fields):
        return _propose_salt(design, key)
    reads = list(plan_example_reads(design, facts))
    candidates = [
        (
            _count_read_ranges(
                design, reads, (build_bucket(names, buckets), *strip_spreading_terms(key))
            ),
            names,
        )
        for names in _list_candidates(design, facts, key, reads)
        if not set(names) <= set(insufficient_fields) or set(names) == set(key.fields)
    ]
    if not candidates:
        return _propose_salt(design, key)
    current_ranges = [_count_ranges(one.plan) for one in reads]

    def cost(one: tuple[Sequence[float], Sequence[str]]) -> tuple[int, int, float, int]:
        ranges, names = one
        served = [each for each in ranges if each < math.inf]
        scans = len(ranges) - len(served)
        return len(_find_dearer_reads(current_ranges, ranges)), scans, sum(served), -len(names)

    ranges, names = min(candidates, key=cost)
    dearer = [reads[place].name for place in _find_dearer_reads(current_ranges, ranges)]
    return _build_proposal(design, key, build_bucket(names, buckets), _format_costs(names, dearer))


def propose_salted_key(design: Design) -> SpreadKeyProposal:
    """Propose the key with a salt in front, for keys with too few different values."""
    return _propose_salt(design, design.key)


def _propose_salt(design: Design, key: Key) -> SpreadKeyProposal:
    """Propose a key with a salt in front."""
    costs = "a read then asks every salt, and a row that is put twice may be stored under two salts"
    salt = build_salt(BUCKETS_PER_SERVER * design.cluster.servers)
    return _build_proposal(design, key, salt, costs)


def _build_proposal(
    design: Design, key: Key, term: FunctionCall, cost_phrase: str
) -> SpreadKeyProposal:
    """Return the proposal of a key with a spreading term in front."""
    return SpreadKeyProposal(
        key=format_key((term, *strip_spreading_terms(key))),
        splits="" if has_bucket_splits(design) else PER_BUCKET,
        part=f"[{term}]",
        cost_phrase=cost_phrase,
    )


def propose_bucket_count(design: Design, index: int, buckets: int) -> KeyProposal:
    """Propose the key of a design with another number of buckets or salts.

    Args:
        design: the design.
        index: which term of its key declares the number, as its first argument.
        buckets: the new number.
    """
    terms = design.key.terms
    term = terms[index]
    assert isinstance(term, FunctionCall)
    counted = FunctionCall(term.name, term.terms, (buckets, *term.scalars[1:]), term.options)
    return KeyProposal(key=format_key((*terms[:index], counted, *terms[index + 1 :])))


def _list_candidates(
    design: Design, facts: Mapping[str, FieldFacts], key: Key, reads: Sequence[ExampleRead]
) -> list[tuple[str, ...]]:
    """Return the field combinations to try in a bucket.

    If the fields that no row slices are enough, they replace all key fields.
    """
    fields, cut = tuple(key.fields), find_sliced_fields(key)
    given = [one.given_fields & set(fields) for one in reads]
    sets = [set(fields) - cut, *given, *([set.intersection(*given)] if given else [])]
    named = [tuple(name for name in fields if name in one) for one in sets]
    found = [names for names in dict.fromkeys(named) if can_spread(design, facts, names)]
    return found if named[0] in found else [fields, *(one for one in found if one != fields)]


def _count_read_ranges(
    design: Design, reads: Sequence[ExampleRead], terms: tuple[Term, ...]
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
    cost = f"a read that does not give {all_of}{join_names(names)} then asks every bucket"
    does = "does" if len(dearer_reads) == 1 else "do"
    return f"{cost}, as {join_names(dearer_reads)} {does}" if dearer_reads else cost


def format_wider_bucket(design: Design, extra_fields: Sequence[str] = ()) -> str:
    """Return the notation of a bucket of all key fields and some extra fields.

    It has two buckets a server, over all key fields. A key of times alone gets a salt, because
    events of one moment would all fall into one bucket.

    Args:
        design: the design.
        extra_fields: fields to add to those of the key.
    """
    names = (*design.key.fields, *extra_fields)
    buckets = BUCKETS_PER_SERVER * design.cluster.servers
    is_timed = has_only_times(design.fields, names)
    return f"[{build_salt(buckets) if is_timed else build_bucket(names, buckets)}]"
