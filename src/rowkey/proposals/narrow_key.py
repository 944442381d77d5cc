"""Proposals of a row key under which a read asks fewer ranges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.errors import Mistakes, ReadError
from rowkey.keys import build_key
from rowkey.plan import plan_read
from rowkey.proposals.bucket_fields import can_spread, plan_example_reads
from rowkey.proposals.key_proposal import PER_BUCKET, KeyProposal
from rowkey.proposals.spreading_terms import (
    BUCKETS_PER_SERVER,
    build_bucket,
    count_spreading_terms,
    strip_spreading_terms,
)
from rowkey.schema import FunctionCall, format_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rowkey.design import Design
    from rowkey.plan import DeclaredRead
    from rowkey.proposals.bucket_fields import ExampleRead
    from rowkey.schema import FieldFacts, Term


@dataclass(frozen=True, slots=True, kw_only=True)
class NarrowKeyProposal(KeyProposal):
    """A proposed key under which a read asks fewer ranges.

    Args:
        bucket_fields: the fields of its bucket, all of which the read gives; none if only the
            number of buckets or salts is another.
        has_salts: whether it has a salt.
        ranges: ranges of the read under this key.
        present_ranges: its ranges under the present key.
    """

    bucket_fields: tuple[str, ...]
    has_salts: bool
    ranges: int
    present_ranges: int


def list_narrow_keys(
    design: Design, facts: Mapping[str, FieldFacts], read: DeclaredRead
) -> Iterator[NarrowKeyProposal]:
    """Yield keys under which a read asks fewer ranges, the best first.

    First a bucket of the key fields that the read gives, if these spread the rows; then one bucket
    or salt for each server in place of more. What they cost the other reads is not weighed.

    Args:
        design: the design.
        facts: the facts of its fields.
        read: one of its reads.
    """
    example = next(
        (one for one in plan_example_reads(design, facts) if one.name == read.name), None
    )
    if example is None:
        return
    present = example.plan.fan_out
    for names, terms in _list_candidates(design, facts, example):
        key = build_key(terms, design.fields, Mistakes())
        if key is None:
            continue
        try:
            plan = plan_read(key, example.bounds, example.order)
        except ReadError:
            continue
        if plan.fan_out < present and not plan.is_full_scan:
            yield NarrowKeyProposal(
                key=format_key(terms),
                splits=PER_BUCKET,
                bucket_fields=names,
                has_salts=key.is_salted,
                ranges=plan.fan_out,
                present_ranges=present,
            )


def _list_candidates(
    design: Design, facts: Mapping[str, FieldFacts], example: ExampleRead
) -> Iterator[tuple[tuple[str, ...], tuple[Term, ...]]]:
    """Yield the fields of the bucket and the terms of each key to try, the best first."""
    servers, given_fields = design.cluster.servers, example.given_fields
    given = tuple(
        name
        for name in design.key.fields
        if name in given_fields and design.fields[name].type.unit_ns is None
    )
    if given and can_spread(design, facts, given):
        bucket = build_bucket(given, BUCKETS_PER_SERVER * servers)
        yield given, (bucket, *strip_spreading_terms(design.key))
    terms = design.key.terms
    for place, term in enumerate(terms[: count_spreading_terms(design.key)]):
        if not isinstance(term, FunctionCall) or not term.scalars:
            continue
        count = term.scalars[0]
        if isinstance(count, int) and count > servers:
            others = [min(one, servers) for one in term.scalars[1:] if isinstance(one, int)]
            fewer = FunctionCall(term.name, term.terms, (servers, *others), term.options)
            yield (), (*terms[:place], fewer, *terms[place + 1 :])
