"""Proposals of a first row key for a sample, the cheapest to read first, with reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.messages import join_names, pluralize
from rowkey.proposals.candidates import MAX_HEAVY_VALUES
from rowkey.proposals.key_proposal import PER_BUCKET, KeyProposal
from rowkey.proposals.spreading_terms import (
    BUCKETS_PER_SERVER,
    MIN_VALUES_PER_REGION,
    build_bucket,
    build_salt,
    count_heavy_buckets,
)
from rowkey.schema import FieldRef, FunctionCall, format_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rowkey.keys import Field
    from rowkey.schema import FieldFacts, Term

DIGEST_BYTES = 8
"""Bytes of a digest: a million values meet with odds of 3 in 100 million."""
MIN_HEAVY_SHARE = 0.25
"""Share of a server's fair share from which a value is listed as heavy."""
MIN_SPREADING_VALUES = MIN_VALUES_PER_REGION * BUCKETS_PER_SERVER * 8
"""Values from which a hash fills the buckets of eight servers evenly."""


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A column of a sample that a first key holds.

    Args:
        field: the field of the column.
        facts: what the sample shows of its values.
        is_prose: whether it holds free text, of which the key holds a digest.
        is_measured: whether it holds a measured quantity, which does not spread rows.
        reason: why the key holds it besides the entity and the time; empty for these two.
    """

    field: Field
    facts: FieldFacts
    is_prose: bool
    is_measured: bool
    reason: str = ""

    @property
    def name(self) -> str:
        """Return the name of the field."""
        return self.field.name


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstKeyProposal(KeyProposal):
    """A proposed first key of a table, with the reason for each part.

    Args:
        reasons: the reason for each part, as sentences.
        bucket_fields: the fields of the bucket in front; none for a salt.
    """

    reasons: tuple[str, ...]
    bucket_fields: tuple[str, ...]


def propose_first_keys(
    entity: KeyColumn | None,
    time: KeyColumn | None,
    extra_columns: Sequence[KeyColumn],
    servers: int,
    *,
    is_missing_time: bool = False,
    find_objection: Callable[[], str] = str,
) -> Iterator[FirstKeyProposal]:
    """Yield proposed first keys, those with the fewest ranges per read first.

    Args:
        entity: the column whose rows are read together, if there is one.
        time: the column with the time of the events, if there is one.
        extra_columns: the columns that keep rows of one entity and time apart.
        servers: region servers.
        is_missing_time: whether the key will get a time later.
        find_objection: returns why the previous proposal was rejected; called only after one.
    """
    n = BUCKETS_PER_SERVER * servers
    tail, reasons = _build_key_tail(entity, time, extra_columns)
    adds = [one for one in extra_columns if not one.is_measured]
    adds = [one for one in adds if not one.is_prose] or adds * (entity is None)
    columns = [one for one in (entity, time, *adds) if one is not None] or list(extra_columns)

    def build_proposal(
        front: FunctionCall, reason: str, heavy_values: Mapping[str, tuple[Any, ...]] | None = None
    ) -> FirstKeyProposal:
        return FirstKeyProposal(
            key=format_key((front, *tail)),
            splits=PER_BUCKET,
            heavy_values=heavy_values or {},
            reasons=(_format_reason(front, reason, n, servers), *reasons),
            bucket_fields=tuple(ref.name for ref in front.terms if isinstance(ref, FieldRef)),
        )

    first = entity or (adds[0] if adds else None)
    if first is not None:
        why = f"{first.name} spreads the rows"
        if entity is not None or len(columns) == 1:
            why = f"rows of one {first.name} share a bucket, so its reads scan one bucket"
        yield build_proposal(build_bucket([first.name], n), why)
        objection = find_objection()
    if entity is not None and is_missing_time:
        return
    heavy = _find_heavy_values(entity, servers) if entity is not None else ()
    if entity is not None and heavy and len(columns) > 1:
        value_texts = ", ".join(entity.field.type.format_value(value)[:24] for value, _ in heavy)
        for spread in _list_spreads(heavy, servers, n):
            yield build_proposal(
                build_bucket([one.name for one in columns], n, spread),
                f"each heavy value of {entity.name} ({value_texts}) is spread over "
                f"{pluralize(spread, 'bucket')}, so its reads need {pluralize(spread, 'range')}; "
                "every other value has one bucket",
                {entity.name: tuple(value for value, _ in heavy)},
            )
    if first is not None and len(adds) > (entity is None):
        names = list(dict.fromkeys(one.name for one in (first, *adds)))
        why = (
            f"a bucket of {first.name} alone was rejected ({objection}), so it is "
            f"computed from {join_names(names)}"
        )
        bucketed = [one.name for one in columns if one.name in names]
        yield build_proposal(build_bucket(bucketed, n), why)
    if len(columns) > 1:
        why = "the fields that distinguish rows also spread them"
        if entity is not None:
            why = (
                f"the key tried before was rejected ({find_objection()}), so rows of one "
                f"{entity.name} are spread too: its reads scan all {n} buckets and merge them"
            )
        yield build_proposal(build_bucket([one.name for one in columns], n), why)
    why = (
        "no field spreads the rows, so a random salt does; "
        "a row that is put twice may be stored under two salts"
    )
    yield build_proposal(build_salt(n), why)


def _list_spreads(heavy: Sequence[tuple[Any, float]], servers: int, buckets: int) -> Iterator[int]:
    """Yield over how many buckets heavy values can be spread, the fewest that are enough first."""
    spread = count_heavy_buckets(max(share for _, share in heavy), servers, buckets)
    while spread < buckets:
        yield spread
        spread *= 2
    yield buckets


def _format_reason(spreading_term: FunctionCall, reason: str, n: int, servers: int) -> str:
    """Return the reason for the key part that spreads the writes."""
    return (
        f"[{spreading_term}]: {pluralize(n, 'bucket')}, {BUCKETS_PER_SERVER} for each of "
        f"{pluralize(servers, 'server')}; {reason}."
    )


def _build_key_tail(
    entity: KeyColumn | None, time: KeyColumn | None, extra_columns: Sequence[KeyColumn]
) -> tuple[tuple[Term, ...], tuple[str, ...]]:
    """Return the key parts after the bucket, and the reason for each."""
    terms: list[Term] = []
    reasons = []
    if entity is not None:
        term = _build_term(entity)
        terms.append(term)
        why = f"rows of one {entity.name} lie together"
        reasons.append(f"[{term}]: {why}.{_explain_digest(entity, term)}")
    if time is not None:
        terms.append(_build_term(time))
        within = f"of one {entity.name} " if entity is not None else ""
        reasons.append(
            f"[{terms[-1]}]: rows {within}are sorted by time, so in each bucket a time range "
            "is one range of keys, and the latest rows are a reversed scan."
        )
    for column in extra_columns:
        term = _build_term(column)
        terms.append(term)
        reasons.append(f"[{term}]: {column.reason}.{_explain_digest(column, term)}")
    return tuple(terms), tuple(reasons)


def _build_term(column: KeyColumn) -> Term:
    """Return the key part of a column; free text becomes a digest."""
    field_type = column.field.type
    if field_type.name == "hex":
        return FieldRef(column.name, "bytes")
    if column.is_prose:
        return FunctionCall("digest", (FieldRef(column.name),), (DIGEST_BYTES,))
    return FieldRef(column.name)


def _explain_digest(column: KeyColumn, term: Term) -> str:
    """Return a sentence on where the full value is stored, if the key has its digest."""
    if not isinstance(term, FunctionCall):
        return ""
    size = column.facts.max_bytes or 0
    return (
        f" The full text of up to {size:,} bytes is stored in a column, because every cell "
        "repeats the key."
    )


def _find_heavy_values(entity: KeyColumn, servers: int) -> tuple[tuple[Any, float], ...]:
    """Return the heavy values of the entity, if they are few enough to list."""
    heavy_values = [
        one for one in entity.facts.heaviest_values if one[1] * servers >= MIN_HEAVY_SHARE
    ]
    writable = [one for one in heavy_values if isinstance(one[0], str | int)]
    other_count = (entity.facts.distinct_count or 0) - len(heavy_values)
    is_list_useful = (
        len(heavy_values) == len(writable) <= MAX_HEAVY_VALUES
        and other_count >= MIN_SPREADING_VALUES
    )
    return tuple(writable) if is_list_useful else ()
