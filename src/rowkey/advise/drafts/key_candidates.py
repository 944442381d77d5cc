"""Proposes row keys for a sample, the cheapest to read first, with the reason of every part."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rowkey.advise.drafts.roles import MIN_SPREADING_VALUES, count_lost_rows, is_measured, is_prose
from rowkey.keys import TRANSFORMS, Determinant
from rowkey.messages import pluralize
from rowkey.regions import SPLIT_ALGORITHMS
from rowkey.schema import FieldRef, FunctionCall, format_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rowkey.advise.drafts.inferred_schema import InferredColumn
    from rowkey.advise.drafts.roles import ColumnRoles
    from rowkey.schema import Term

BUCKETS_PER_SERVER = 2
"""Buckets a server: one more server, or one that is slow, then finds a whole one to take over."""
DIGEST_BYTES = 8
"""Bytes of a digest: a million values meet with odds of 3 in 100 million."""
MAX_HEAVY_VALUES = 8
"""Heavy values that are listed: the list is part of the bytes of a table."""
HEAVY_SHARE = 0.25
"""Share of a server's fair share from which a value is listed."""

VALUE_COUNT_RULES = ("few-leading-values", "hot-entity", "one-hot-row")
"""Rules that tell how many values lead a key."""


@dataclass(frozen=True, slots=True)
class KeyCandidate:
    """A proposed row key with the reason for each part.

    Args:
        key: in the notation.
        splits: the word for where regions begin.
        reasons: why each part stands where it does, as sentences.
        heavy_values: values that are listed as heavy, by field.
        allowed_rules: rules that find something which the sample is too small to tell, with the
            reason.
    """

    key: str
    splits: str
    reasons: tuple[str, ...]
    heavy_values: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    allowed_rules: Mapping[str, str] = field(default_factory=dict)


def propose_key_candidates(
    roles: ColumnRoles, servers: int, find_objection: Callable[[], str] = str
) -> Iterator[KeyCandidate]:
    """Yield proposed row keys, those with the fewest ranges per read first.

    Args:
        roles: what the columns are for.
        servers: region servers.
        find_objection: what spoke against the proposal before, asked when there was one.
    """
    n = BUCKETS_PER_SERVER * servers
    tail, reasons = _build_key_tail(roles)
    entity = roles.entity
    adds = [one for one in roles.extra_columns if not is_measured(one)]
    adds = [one for one in adds if not is_prose(one)] or adds * (entity is None)
    columns = [one for one in (entity, roles.time, *adds) if one is not None]
    columns = columns or list(roles.extra_columns)
    splits = _find_prefix_splits()

    def led(front: FunctionCall, why: str, **more: Any) -> KeyCandidate:
        return KeyCandidate(
            format_key((front, *tail)),
            splits,
            (_format_reason(front, why, n, servers), *reasons),
            **more,
        )

    first = entity or (adds[0] if adds else None)
    if first is not None:
        why = f"{first.name} spreads the rows"
        if entity is not None or len(columns) == 1:
            why = f"rows of one {first.name} share a bucket, so its reads scan one bucket"
        yield led(_build_bucket([first], n), why, allowed_rules=_allow_few_values(roles, first))
    if entity is not None and roles.is_missing_time:
        return
    heavy = _find_heavy_values(entity, servers) if entity is not None else ()
    if entity is not None and heavy and len(columns) > 1:
        spread = _count_heavy_buckets(heavy, n, servers)
        shown = ", ".join(entity.field.type.format_value(value)[:24] for value, _ in heavy)
        yield led(
            _build_bucket(columns, n, spread),
            f"each heavy value of {entity.name} ({shown}) is spread over "
            f"{pluralize(spread, 'bucket')}, so its reads need {pluralize(spread, 'range')}; "
            "every other value has one bucket",
            heavy_values={entity.name: tuple(value for value, _ in heavy)},
        )
    if first is not None and len(adds) > (entity is None):
        names = list(dict.fromkeys(one.name for one in (first, *adds)))
        some = [one for one in columns if one.name in names]
        why = (
            f"a bucket of {first.name} alone was rejected ({find_objection()}), so it is "
            f"computed from {_join_names(names)}"
        )
        yield led(_build_bucket(some, n), why)
    if len(columns) > 1:
        why = "the fields that distinguish rows also spread them"
        if entity is not None:
            why = (
                f"the key tried before was rejected ({find_objection()}), so rows of one "
                f"{entity.name} are spread too: its reads scan all {n} buckets and merge them"
            )
        yield led(_build_bucket(columns, n), why)
    why = "no field spreads the rows, so a random salt does; a row put twice may be stored twice"
    drawn = next(
        name for name, kind in TRANSFORMS.items() if kind.determined_by is Determinant.CHANCE
    )
    yield led(FunctionCall(drawn, (), (n,)), why)


def _find_prefix_splits() -> str:
    """Return the name of the split algorithm that needs only the key's leading values."""
    kinds = SPLIT_ALGORITHMS.items()
    return next(name for name, kind in kinds if kind.required_fields == {"prefixes"})


def _build_bucket(columns: list[InferredColumn], n: int, *more: int) -> FunctionCall:
    """Return a bucket term that hashes columns into `n` buckets."""
    return FunctionCall("bucket", tuple(FieldRef(column.name) for column in columns), (n, *more))


def _format_reason(spreading_term: FunctionCall, reason: str, n: int, servers: int) -> str:
    """Return the reason for the key part that spreads the writes."""
    return (
        f"[{spreading_term}]: {pluralize(n, 'bucket')}, {BUCKETS_PER_SERVER} for each of "
        f"{pluralize(servers, 'server')}; {reason}."
    )


def _build_key_tail(roles: ColumnRoles) -> tuple[tuple[Term, ...], tuple[str, ...]]:
    """Return the key parts after the bucket, and the reason for each."""
    terms: list[Term] = []
    reasons = []
    if (entity := roles.entity) is not None:
        term = _build_term(entity)
        terms.append(term)
        why = f"rows of one {entity.name} lie together"
        reasons.append(f"[{term}]: {why}.{_explain_digest(entity, term)}")
    if (time := roles.time) is not None:
        terms.append(_build_term(time))
        within = f"of one {roles.entity.name} " if roles.entity is not None else ""
        reasons.append(
            f"[{terms[-1]}]: rows {within}are sorted by time, so in each bucket a time range "
            "is one range of keys, and the latest rows are a reversed scan."
        )
    for column in roles.extra_columns:
        term = _build_term(column)
        terms.append(term)
        reasons.append(
            f"[{term}]: {_explain_addition(roles, column)}.{_explain_digest(column, term)}"
        )
    return tuple(terms), tuple(reasons)


def _explain_addition(roles: ColumnRoles, column: InferredColumn) -> str:
    """Return the reason for a key column that is neither the entity nor the time."""
    if roles.key_columns == (column,):
        return f"{column.name} is different in every row of the sample"
    lost = count_lost_rows(roles, column)
    if not lost and roles.rejected_sets:
        return "without it, rows of the file overwrite each other"
    if not lost:
        return "it keeps rows of the same moment apart"
    rows = "row of the sample overwrites" if lost == 1 else "rows of the sample overwrite"
    why = f"without it {lost:,} {rows} another"
    if is_measured(column):
        return f"{why}; leave it out if such rows are corrections of a value"
    return why


def _build_term(column: InferredColumn) -> Term:
    """Return the key part of a column; free text becomes a digest."""
    field_type = column.field.type
    if field_type.name == "hex":
        return FieldRef(column.name, "bytes")
    if is_prose(column):
        return FunctionCall("digest", (FieldRef(column.name),), (DIGEST_BYTES,))
    return FieldRef(column.name)


def _explain_digest(column: InferredColumn, term: Term) -> str:
    """Return a sentence on where the full value is stored, if the key has its digest."""
    if not isinstance(term, FunctionCall):
        return ""
    size = column.facts.max_bytes or 0
    return (
        f" The full text of up to {size:,} bytes is stored in a column, because every cell "
        "repeats the key."
    )


def _find_heavy_values(entity: InferredColumn, servers: int) -> tuple[tuple[Any, float], ...]:
    """Return the heavy values of the entity, if they are few enough to list."""
    heavy_values = [one for one in entity.facts.heaviest_values if one[1] * servers >= HEAVY_SHARE]
    writable = [one for one in heavy_values if isinstance(one[0], str | int)]
    other_count = (entity.facts.distinct_count or 0) - len(heavy_values)
    fits = (
        len(heavy_values) == len(writable) <= MAX_HEAVY_VALUES
        and other_count >= MIN_SPREADING_VALUES
    )
    return tuple(writable) if fits else ()


def _count_heavy_buckets(heavy: tuple[tuple[Any, float], ...], n: int, servers: int) -> int:
    """Return over how many buckets a heavy value must be spread."""
    share = max(share for _, share in heavy)
    spread = 2
    while spread < n and share * servers / spread > 1 / BUCKETS_PER_SERVER:
        spread *= 2
    return min(spread, n)


def _allow_few_values(roles: ColumnRoles, column: InferredColumn) -> dict[str, str]:
    """Return the rules to allow, with reasons, if the sample cannot show all values."""
    distinct, events = column.facts.distinct_count or 0, roles.schema.event_count
    if roles.is_missing_time:
        missed = roles.schema.unparsed_time_columns[0].name
        return dict.fromkeys(
            VALUE_COUNT_RULES,
            f"the key has no time yet, because {missed} has an unsupported format",
        )
    if distinct >= MIN_SPREADING_VALUES or distinct * 20 <= events:
        return {}
    why = (
        f"{pluralize(distinct, 'value')} in {pluralize(events, 'row')} do not show how many "
        "values there are"
    )
    return dict.fromkeys(VALUE_COUNT_RULES, why)


def _join_names(names: list[str]) -> str:
    """Join names with commas and a final `and`."""
    return f"{', '.join(names[:-1])} and {names[-1]}"
